"""The service's own logs, kept as service logs. A request's log leads to its lines, and back."""

from collections.abc import Sequence

from graph.domain import Contribution, Domain, Resources, Task
from graph.domains.own_logs.own_logs import OwnLogs, keeping_own_logs
from graph.domains.own_logs.schema import LogsOfRequest, RequestOfLog
from graph.domains.own_logs.settings import OwnLogSettings
from graph.domains.request_logs.schema import RequestLog
from graph.domains.service_logs.schema.service_logs import ServiceLog
from graph.domains.service_logs.writing import LogWriter
from graph.work.write_buffer import measure_waiting


async def open_own_logs(resources: Resources) -> Sequence[object]:
    """Open the own logs, which are kept if the setting says so."""
    settings = resources.settings.part(OwnLogSettings)
    own = OwnLogs(resources.services.of(LogWriter), settings.max_own_logs_per_minute)
    measure_waiting(own, resources.metrics, "own_logs", "Own logs")
    resources.closing.push_async_callback(own.close)
    if settings.own_logs:
        resources.closing.enter_context(keeping_own_logs(own, resources.recording, resources.clock))
    return [own]


DOMAIN = Domain(
    name="own_logs",
    requires=("request_logs",),
    part_of="service_logs",
    settings=OwnLogSettings,
    open=open_own_logs,
    contributions=(Contribution(RequestLog, LogsOfRequest), Contribution(ServiceLog, RequestOfLog)),
    tasks=(Task("writing own logs", lambda services: services.of(OwnLogs).flush_forever()),),
)
