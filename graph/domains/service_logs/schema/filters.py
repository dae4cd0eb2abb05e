"""The filter of service logs, and their enums."""

from datetime import datetime

import strawberry

from graph.api.fields import optional, shows
from graph.core.described import DescribedText
from graph.core.times import first_microsecond, last_microsecond
from graph.domains.service_logs import model
from graph.domains.service_logs.model import ServiceLogLevel, ServiceLogType
from graph.domains.service_logs.selection import ServiceLogSelection


class ServiceLogOrder(DescribedText):
    """The order of service logs. Their cursors are valid in both orders."""

    TIME_DESC = "TIME_DESC", "Newest first."
    TIME_ASC = "TIME_ASC", "Oldest first."


@strawberry.input(description="A name and a value of a log's metadata.")
class ServiceLogMetadataInput:
    key: str = shows("The name.")
    value: str = shows("The value as text: 500 is `500`, true is `true`.")


@strawberry.input(description="The selected logs: those that fulfil all given conditions.")
class ServiceLogFilter:
    services: list[str] | None = optional("Names of services, at most 100.")
    types: list[ServiceLogType] | None = optional("Types of logs.")
    levels: list[ServiceLogLevel] | None = optional("Levels of logs.")
    min_severity: int | None = optional(f"Least severity number of OpenTelemetry, 1 … {model.MOST_SEVERE}, inclusive.")
    text: str | None = optional("Text in the message, without regard to case, accents and apostrophes.")
    trace_id: str | None = optional("Trace id, 32 hexadecimal digits.")
    metadata: list[ServiceLogMetadataInput] | None = optional("Metadata that a log has, all of them; at most 100.")
    start_time: datetime | None = optional("Earliest time, inclusive.")
    end_time: datetime | None = optional(
        "Latest time, inclusive. A date includes that whole day, a millisecond all of its microseconds."
    )

    @property
    def selection(self) -> ServiceLogSelection:
        """The filter as a selection."""
        return ServiceLogSelection(
            first=first_microsecond(self.start_time) if self.start_time else None,
            last=last_microsecond(self.end_time) if self.end_time else None,
            services=None if self.services is None else tuple(self.services),
            types=None if self.types is None else tuple(self.types),
            levels=None if self.levels is None else tuple(self.levels),
            min_severity=self.min_severity,
            text=self.text,
            trace_id=self.trace_id,
            metadata=tuple((each.key, each.value) for each in self.metadata or ()),
        )


def selection_of(filter: ServiceLogFilter | None) -> ServiceLogSelection:
    """The selection of a filter; all logs without one."""
    return filter.selection if filter else ServiceLogSelection()
