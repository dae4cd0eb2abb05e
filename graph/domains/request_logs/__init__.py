"""Request logs: the requests and their outcomes, and the most popular filters."""

from collections.abc import Sequence
from pathlib import Path

from graph.domain import Domain, Resources, Task
from graph.domains.request_logs.access_patterns import RequestLogs
from graph.domains.request_logs.budget import LogBudget
from graph.domains.request_logs.buffer import LogBuffer, LogRecorder, measure_buffer
from graph.domains.request_logs.entities import ENTITIES
from graph.domains.request_logs.schema import RequestLog, RequestLogQueries
from graph.domains.request_logs.scopes import LOGS_READ
from graph.domains.request_logs.settings import RequestLogSettings


async def open_services(resources: Resources) -> Sequence[object]:
    """Open the logs, and record all requests in them."""
    logs = RequestLogs(resources.database, resources.clock)
    buffer = LogBuffer(logs, LogBudget(resources.settings.part(RequestLogSettings)))
    measure_buffer(buffer, resources.metrics)
    resources.recording.recorder = LogRecorder(logs, buffer)
    resources.closing.push_async_callback(buffer.close)
    return logs, buffer


DOMAIN = Domain(
    name="request_logs",
    requires=("earthquakes",),  # they share its table
    entities=ENTITIES,
    scopes=(LOGS_READ,),
    settings=RequestLogSettings,
    open=open_services,
    queries=(RequestLogQueries,),
    nodes=(RequestLog,),
    tasks=(Task("flushing request logs", lambda services: services.of(LogBuffer).flush_forever()),),
    examples=Path(__file__).parent / "examples",
)
