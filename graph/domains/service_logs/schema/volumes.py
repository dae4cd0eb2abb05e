"""The numbers of service logs over time."""

from datetime import datetime
from typing import Annotated

import strawberry

from graph.api.context import Info
from graph.api.fields import field
from graph.api.record_type import value_type
from graph.core.times import first_microsecond, last_microsecond
from graph.domains.service_logs import volumes
from graph.domains.service_logs.access_patterns import ServiceLogs
from graph.domains.service_logs.model import MICROSECONDS
from graph.domains.service_logs.scopes import SERVICE_LOGS_READ
from graph.domains.service_logs.selection import ServiceLogSelection
from graph.domains.service_logs.volumes import ServiceLogInterval, VolumeBy

USUAL_COUNTS = 100  # for the price of a volume
PERIODS = 100  # of a volume without a beginning

strawberry.enum(VolumeBy, name="ServiceLogVolumeBy")


value_type(volumes.ServiceLogVolume, log_type={"name": "type"}, computed=["starts_at"])


class LogVolumeQueries:
    @field(
        "The number of logs over time, in order of time. Periods without logs are left out. A period is "
        "counted whole, also if the time range begins or ends inside it, and until its last log has expired.",
        scope=SERVICE_LOGS_READ,
        cost=10,
        size=USUAL_COUNTS,
    )
    async def service_log_volume(
        self,
        info: Info,
        interval: Annotated[ServiceLogInterval, "The length of a period."],
        by: Annotated[VolumeBy, "What logs are counted by."] = VolumeBy.LEVEL,
        start_time: Annotated[
            datetime | None,
            f"Earliest time, inclusive; by default that of {PERIODS} periods.",
        ] = None,
        end_time: Annotated[datetime | None, "Latest time, inclusive; by default now."] = None,
        services: Annotated[list[str] | None, "Names of services, at most 100; by default all."] = None,
    ) -> list[volumes.ServiceLogVolume]:
        now = 1000 * info.context.clock()
        named = None if services is None else tuple(services)
        selected = ServiceLogSelection(
            first_microsecond(start_time) if start_time else None,
            last_microsecond(end_time) if end_time else None,
            services=named,
        )
        last = (now if selected.last is None else selected.last) // MICROSECONDS
        first = last - (PERIODS - 1) * interval.value if selected.first is None else selected.first // MICROSECONDS
        return await info.context.service(ServiceLogs).volume(interval, by, max(first, 0), last, selected.services)
