"""Logs each root field of a query, and how a subscription begins: `strawberry.field(extensions=[Logged("/events")])`.

Ingests are not logged here: theirs is written before the answer, by `earthquakes.ingest`.
"""

from collections.abc import Callable, Mapping
from time import perf_counter
from typing import Any

from strawberry.extensions import FieldExtension
from strawberry.extensions.field_extension import AsyncExtensionResolver
from strawberry.types import Info

from graph.api.context import Context
from graph.core.errors import outcome_of
from graph.domains.request_logs.model import LogType, RequestLog

ABANDONED = 499
"""Status of a field that was not waited for to its end: another field had failed the whole request by then."""

Facts = Callable[[Context, Mapping[str, Any], Any], Mapping[str, Any]]
"""(context, arguments, result or None) → what else the log records, by its fields' names."""


class Logged(FieldExtension):
    """Times a root field, counts it and hands its log to the buffer."""

    def __init__(self, route: str, facts: Facts | None = None) -> None:
        self._route = route
        self._facts = facts

    async def resolve_async(
        self, next_: AsyncExtensionResolver, source: Any, info: Info[Context, None], **kwargs: Any
    ) -> Any:
        """Resolve the field, and log how that went."""
        context = info.context
        started, began = context.clock(), perf_counter()
        result, status, code = None, ABANDONED, None
        try:
            result = await next_(source, info, **kwargs)
            status, code = outcome_of(None)
            return result
        except Exception as error:
            status, code = outcome_of(error)
            raise
        finally:
            told = code or ("OK" if status == 200 else "ABANDONED")
            of = info._raw_info.parent_type.name
            name = info.field_name if of == "Query" else f"{of}.{info.field_name}"
            context.observe_field(name, told, perf_counter() - began)
            facts = self._facts(context, kwargs, result) if self._facts else {}
            context.log_buffer.add(
                RequestLog.of(
                    log_type=LogType.QUERY,
                    request_id=context.next_log_id(),
                    timestamp=started,
                    route=self._route,
                    status=status,
                    latency_ms=max(context.clock() - started, 0),
                    error=code,
                    **facts,
                )
            )
