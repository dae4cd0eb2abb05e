"""Recording: each root field of each operation is counted, and logged where somebody records.

    field → Recorded → Recording → the recorder, which a domain provides

The assembly of the schema puts `Recorded` around every root field by itself. A field may name its
route, which is otherwise derived from its name, and hand over facts:

    @strawberry.field(metadata=recorded("/earthquakes", facts=window_facts))

What only reads is recorded behind its answer, and a mutation before it. A service that records its
own work, such as an ingest, which has no field when it is polled, does so through `Recording.write`;
the field around it then writes no second record.
"""

import re
from collections.abc import Callable, Mapping
from contextvars import ContextVar
from dataclasses import dataclass, field
from inspect import isawaitable
from time import perf_counter
from typing import TYPE_CHECKING, Any, Protocol

from strawberry.extensions import FieldExtension
from strawberry.extensions.field_extension import AsyncExtensionResolver
from strawberry.types import Info

from graph.core.errors import GraphError, outcome_of
from graph.observability.logs import get_logger
from graph.observability.metrics import FIELD_SECONDS, OK, Metrics

if TYPE_CHECKING:
    from graph.api.context import Context

ABANDONED = 499
"""Status of a field that was not waited for to its end: another field had failed the whole request by then."""

_RECORDED = "recorded"

logger = get_logger(__name__)

Facts = Callable[["Context", Mapping[str, Any], Any], Mapping[str, Any]]
"""(context, arguments, result or None) → what else is recorded of a field, by names in snake case."""


@dataclass(slots=True, kw_only=True)  # not frozen: that takes 2 µs more, for each root field
class Record:
    """What is known of one root field of one request, or of work that was done without a request. Never changed."""

    request_id: str  # UUID v4, which no other record has
    timestamp: int  # when it was begun, epoch milliseconds
    route: str  # one stable path for each root field
    writes: bool  # whether it may change something
    status: int  # as HTTP means it
    latency_ms: int
    error: str | None = None  # a stable code
    facts: Mapping[str, Any] = field(default_factory=dict)


class Recorder(Protocol):
    """Keeps records."""

    def add(self, record: Record) -> None:
        """Take a record that is written later."""

    async def write(self, record: Record) -> None:
        """Write a record by now.

        Raises:
            DatabaseUnavailable: The store does not take it.
        """


class Unrecorded:
    """Keeps none."""

    def add(self, record: Record) -> None:
        """Forget it."""

    async def write(self, record: Record) -> None:
        """Forget it."""


@dataclass(slots=True)
class _Field:
    """A root field that is being resolved."""

    is_written: bool = False  # whether a service has written its record


_current: ContextVar[_Field | None] = ContextVar("root field", default=None)


class Recording:
    """Where fields and services record. One for each process."""

    def __init__(self, metrics: Metrics) -> None:
        self.recorder: Recorder = Unrecorded()  # until a domain provides one
        self._fields = metrics.timed(
            metrics.counter("fields", "Root fields of queries, by outcome.", "field", "code"),
            *("field", "Time to resolve a root field of a query.", "field", FIELD_SECONDS),
        )

    def count(self, name: str, code: str, seconds: float) -> None:
        """Count a root field, with the code of its error or OK."""
        self._fields.add(name, code, seconds)

    def add(self, record: Record) -> None:
        """Record behind the answer."""
        self.recorder.add(record)

    async def write(self, record: Record) -> None:
        """Record before the answer. What failed is told by its own error, whether or not it could be recorded.

        Raises:
            DatabaseUnavailable: What succeeded could not be recorded.
        """
        if root_field := _current.get():
            root_field.is_written = True
        try:
            await self.recorder.write(record)
        except GraphError as failure:
            if record.error is None:
                raise
            cause = failure.detail or str(failure)
            logger.error("A request log is lost", route=record.route, log_id=record.request_id, cause=cause)


@dataclass(frozen=True, slots=True)
class _How:
    """How a field is recorded."""

    route: str | None = None
    facts: Facts | None = None


def recorded(route: str | None = None, *, facts: Facts | None = None) -> dict[str, Any]:
    """The metadata of a root field that names its route, or records more than how it went."""
    return {_RECORDED: _How(route, facts)}


class Recorded(FieldExtension):
    """Times a root field, counts it and records it."""

    def __init__(self, root: str, name: str, metadata: Mapping[Any, Any]) -> None:
        """Record a field.

        Args:
            root: Query, Mutation or Subscription.
            name: the field's name in the schema.
            metadata: the field's.
        """
        how: _How = metadata.get(_RECORDED, _How())
        self._route = how.route or route_of(name)
        self._facts = how.facts
        self._name = name if root == "Query" else f"{root}.{name}"
        self._writes = root == "Mutation"
        self._streams = root == "Subscription"  # whose resolver may be a generator, and not a coroutine

    async def resolve_async(
        self, next_: AsyncExtensionResolver, source: Any, info: "Info[Context, None]", **kwargs: Any
    ) -> Any:
        """Resolve the field, and record how that went."""
        context = info.context
        started, began = context.clock(), perf_counter()
        this = _Field()
        token = _current.set(this) if self._writes else None
        result, status, code = None, ABANDONED, None
        try:
            answer = next_(source, info, **kwargs)
            result = answer if self._streams and not isawaitable(answer) else await answer
            status, code = outcome_of(None)
            return result
        except Exception as error:
            status, code = outcome_of(error)
            raise
        finally:
            if token:
                _current.reset(token)
            context.recording.count(self._name, code or (OK if status == 200 else "ABANDONED"), perf_counter() - began)
            if not this.is_written:
                record = Record(
                    request_id=context.next_log_id(),
                    timestamp=started,
                    route=self._route,
                    writes=self._writes,
                    status=status,
                    latency_ms=max(context.clock() - started, 0),
                    error=code,
                    facts=self._facts(context, kwargs, result) if self._facts else {},
                )
                if self._writes and status != ABANDONED:
                    await context.recording.write(record)
                else:
                    context.recording.add(record)


def route_of(name: str) -> str:
    """The route of a field that names none: `popularFilters` has `/popular-filters`."""
    return "/" + re.sub(r"(?<=[a-z0-9])[A-Z]", lambda found: f"-{found[0]}", name).lower()
