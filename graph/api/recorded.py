"""Records root fields. The assembly of the schema puts `Recorded` around every one.

The route is derived from the field's name, unless the field names one. A field may also add facts:

    @strawberry.field(metadata=recorded("/earthquakes", facts=window_facts))
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from inspect import isawaitable
from time import perf_counter
from typing import Any

from strawberry.extensions import FieldExtension
from strawberry.extensions.field_extension import AsyncExtensionResolver
from strawberry.types import Info

from graph.api.context import Context
from graph.api.recording import RecordedWork, RootField, current
from graph.core.errors import outcome_of
from graph.observability.metrics import OK
from graph.observability.requests import ABANDONED, ABANDONED_STATUS

_RECORDED = "recorded"

Facts = Callable[[Context, Mapping[str, Any], Any], Mapping[str, Any]]
"""(context, arguments, result or None) → more values for the record, by names in snake case."""


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
        self, next_: AsyncExtensionResolver, source: Any, info: Info[Context, None], **kwargs: Any
    ) -> Any:
        """Resolve the field, and record the outcome."""
        context = info.context
        context.is_recorded = True
        started, began = context.clock(), perf_counter()
        this = RootField(context.request_id, context.log_time(started))
        token = current.set(this) if self._writes else None
        result, status, code = None, ABANDONED_STATUS, None  # of a field that another one's failure cancels
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
                current.reset(token)
            context.recording.count(self._name, code or (OK if status == 200 else ABANDONED), perf_counter() - began)
            if not this.is_written:
                record = RecordedWork(
                    request_id=this.request_id,
                    timestamp=this.timestamp,
                    route=self._route,
                    writes=self._writes,
                    status=status,
                    latency_ms=max(context.clock() - started, 0),
                    error=code,
                    facts=self._facts(context, kwargs, result) if self._facts else {},
                )
                if self._writes and status != ABANDONED_STATUS:
                    await context.recording.write(record)
                else:
                    context.recording.add(record)


def route_of(name: str) -> str:
    """The default route of a field: `popularFilters` has `/popular-filters`."""
    return "/" + re.sub(r"(?<=[a-z0-9])[A-Z]", lambda found: f"-{found[0]}", name).lower()
