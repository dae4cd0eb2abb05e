"""Recording: each root field of each operation is counted, and logged if a domain provides a recorder.

    field → `recorded.Recorded` → Recording → the domain's recorder

A query is recorded after its answer, a mutation before it. A request that is refused before any root field runs
is recorded by `graph.transport.exchange`. A service may record its own work by
`Recording.write`, such as an ingest, which has no field during polling. The field around it, whose id and time
it takes from `current`, then writes no second record.
"""

from collections.abc import Mapping
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any

from graph.core.errors import GraphError
from graph.observability.logs import get_logger
from graph.observability.metrics import FIELD_SECONDS, Metrics

logger = get_logger(__name__)


@dataclass(slots=True, kw_only=True)  # not frozen, which would take 2 µs more for each root field
class RecordedWork:
    """The record of one root field of a request, of a refused request, or of work without one. It is never changed."""

    request_id: str  # UUID v4
    timestamp: int  # its beginning, epoch milliseconds; no other record of the request has the same
    route: str  # one stable path for each root field
    writes: bool  # whether it is a mutation
    status: int  # as in HTTP
    latency_ms: int
    error: str | None = None  # a stable code
    facts: Mapping[str, Any] = field(default_factory=dict)
    is_refusal: bool = False  # whether the request was refused before any root field ran


class Recorder:
    """Keeps records. This one keeps none."""

    def add(self, record: RecordedWork) -> None:
        """Take a record, which is written later."""

    async def write(self, record: RecordedWork) -> None:
        """Write a record now.

        Raises:
            DatabaseUnavailable: The store cannot write it.
        """


@dataclass(slots=True)
class RootField:
    """A root field that is being resolved, and the id and the time of its record."""

    request_id: str
    timestamp: int  # epoch milliseconds
    is_written: bool = False  # whether a service has written its record


current: ContextVar[RootField | None] = ContextVar("root field", default=None)


class Recording:
    """Counts and records root fields. There is one for each process."""

    def __init__(self, metrics: Metrics) -> None:
        self.recorder: Recorder = Recorder()  # until a domain provides one
        self._fields = metrics.timed(
            metrics.counter("fields", "Root fields of queries, by outcome.", "field", "code"),
            *("field", "Time to resolve a root field of a query.", "field", FIELD_SECONDS),
        )

    def count(self, name: str, code: str, seconds: float) -> None:
        """Count a root field, with the code of its error or OK."""
        self._fields.add(name, code, seconds)

    def add(self, record: RecordedWork) -> None:
        """Record after the answer."""
        self.recorder.add(record)

    async def write(self, record: RecordedWork) -> None:
        """Record before the answer. A failed field keeps its own error, even if it could not be recorded.

        Raises:
            DatabaseUnavailable: A successful field could not be recorded.
        """
        if root_field := current.get():
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
