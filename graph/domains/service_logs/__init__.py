"""Service logs: written by any shipper, read by service, type and time."""

from collections.abc import Sequence
from pathlib import Path

from graph.domain import Domain, Resources
from graph.domains.service_logs.access_patterns import ServiceLogs
from graph.domains.service_logs.adoption import ADOPT_LOGS
from graph.domains.service_logs.commands import logs
from graph.domains.service_logs.entities import ENTITIES
from graph.domains.service_logs.live import ServiceLogBroadcast
from graph.domains.service_logs.log_file import LogReaders
from graph.domains.service_logs.schema.service_logs import ServiceLog, ServiceLogQueries, ServiceLogSubscriptions
from graph.domains.service_logs.schema.volumes import LogVolumeQueries
from graph.domains.service_logs.schema.writing import ServiceLogMutations
from graph.domains.service_logs.scopes import SERVICE_LOGS_READ, SERVICE_LOGS_WRITE
from graph.domains.service_logs.services import LoggingServices
from graph.domains.service_logs.settings import ServiceLogSettings
from graph.domains.service_logs.writing import LogWriter


async def open_services(resources: Resources) -> Sequence[object]:
    """Open the logs, their services, their writer and their broadcast."""
    settings = resources.settings.part(ServiceLogSettings)
    database, clock = resources.database, resources.clock
    services = LoggingServices(database, clock, hot=frozenset(settings.hot_services), most=settings.max_services)
    stored = ServiceLogs(database, services)
    writer = LogWriter(database, services, settings, clock, resources.metrics)
    broadcast = await resources.closing.enter_async_context(ServiceLogBroadcast(writer.sequence, stored))
    resources.endings.add(broadcast.end)
    return services, stored, writer, broadcast, LogReaders()


DOMAIN = Domain(
    name="service_logs",
    entities=ENTITIES,
    scopes=(SERVICE_LOGS_READ, SERVICE_LOGS_WRITE),
    settings=ServiceLogSettings,
    open=open_services,
    queries=(ServiceLogQueries, LogVolumeQueries),
    mutations=(ServiceLogMutations,),
    subscriptions=(ServiceLogSubscriptions,),
    nodes=(ServiceLog,),
    adoptions=(ADOPT_LOGS,),
    commands=(logs,),
    examples=Path(__file__).parent / "examples",
)
