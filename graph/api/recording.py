"""Recording: each root field of each operation is counted, and logged if a domain provides a recorder.

    field → Recorded → Recording → the domain's recorder

The assembly of the schema puts `Recorded` around every root field. The route is derived from the
field's name, unless the field names one. A field may also add facts:

    @strawberry.field(metadata=recorded("/earthquakes", facts=window_facts))

A query is recorded after its answer, a mutation before it. A request that is refused before any root field runs
is recorded by `graph.transport.refusals`. A service may record its own work by
`Recording.write`, such as an ingest, which has no field during polling. The field around it then
writes no second record.
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
"""Status of a field that was cancelled, because another field had failed the whole request."""

_RECORDED = "recorded"

logger = get_logger(__name__)

Facts = Callable[["Context", Mapping[str, Any], Any], Mapping[str, Any]]
"""(context, arguments, result or None) → more values for the record, by names in snake case."""


@dataclass(slots=True, kw_only=True)  # not frozen, which would take 2 µs more for each root field
class Record:
    """The record of one root field of a request, of a refused request, or of work without one. It is never changed."""

    request_id: str  # UUID v4, unique to this record
    timestamp: int  # its beginning, epoch milliseconds
    route: str  # one stable path for each root field
    writes: bool  # whether it is a mutation
    status: int  # as in HTTP
    latency_ms: int
    error: str | None = None  # a stable code
    facts: Mapping[str, Any] = field(default_factory=dict)
    is_refusal: bool = False  # whether the request was refused before any root field ran


class Recorder(Protocol):
    """Keeps records."""

    def add(self, record: Record) -> None:
        """Take a record, which is written later."""

    async def write(self, record: Record) -> None:
        """Write a record now.

        Raises:
            DatabaseUnavailable: The store cannot write it.
        """


class Unrecorded:
    """Keeps no records."""

    def add(self, record: Record) -> None:
        """Drop it."""

    async def write(self, record: Record) -> None:
        """Drop it."""


@dataclass(slots=True)
class _Field:
    """A root field that is being resolved."""

    is_written: bool = False  # whether a service has written its record


_current: ContextVar[_Field | None] = ContextVar("root field", default=None)


class Recording:
    """Counts and records root fields. There is one for each process."""

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
        """Record after the answer."""
        self.recorder.add(record)

    async def write(self, record: Record) -> None:
        """Record before the answer. A failed field keeps its own error, even if it could not be recorded.

        Raises:
            DatabaseUnavailable: A successful field could not be recorded.
        """
        if root_field := _current.get():
            root_field.is_written = True
        try:
            await self.recorder.write(record)
        except GraphError as failure:
            if record.error is None:
                raise
            cause = failure.detail or str(failure)
            logger.error(
                "A request log could not be written", route=record.route, log_id=record.request_id, cause=cause
            )


@dataclass(frozen=True, slots=True)
class _Options:
    """How a field is recorded."""

    route: str | None = None
    facts: Facts | None = None


def recorded(route: str | None = None, *, facts: Facts | None = None) -> dict[str, Any]:
    """The metadata of a root field with a route or facts of its own."""
    return {_RECORDED: _Options(route, facts)}


class Recorded(FieldExtension):
    """Times a root field, counts it and records it."""

    def __init__(self, root: str, name: str, metadata: Mapping[Any, Any]) -> None:
        """Record a field.

        Args:
            root: Query, Mutation or Subscription.
            name: the field's name in the schema.
            metadata: the field's.
        """
        options: _Options = metadata.get(_RECORDED, _Options())
        self._route = options.route or route_of(name)
        self._facts = options.facts
        self._name = name if root == "Query" else f"{root}.{name}"
        self._writes = root == "Mutation"
        self._streams = root == "Subscription"  # its resolver may be a generator instead of a coroutine

    async def resolve_async(
        self, next_: AsyncExtensionResolver, source: Any, info: "Info[Context, None]", **kwargs: Any
    ) -> Any:
        """Resolve the field, and record the outcome."""
        context = info.context
        context.is_recorded = True
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
    """The default route of a field: `popularFilters` has `/popular-filters`."""
    return "/" + re.sub(r"(?<=[a-z0-9])[A-Z]", lambda found: f"-{found[0]}", name).lower()
