"""The mutation that writes service logs."""

from datetime import datetime
from typing import Any

import strawberry
from strawberry.scalars import JSON

from graph.api.context import Info
from graph.api.fields import optional, shows
from graph.api.mutations import mutation
from graph.api.record_type import value_type
from graph.api.sizes import ListSize
from graph.core.errors import BadUserInput
from graph.core.times import first_microsecond
from graph.domains.service_logs import model
from graph.domains.service_logs.model import LogProblem, NewLog, RejectedLog, ServiceLogLevel, ServiceLogType
from graph.domains.service_logs.scopes import SERVICE_LOGS_WRITE
from graph.domains.service_logs.writing import MOST_LOGS, LogWriter

strawberry.enum(LogProblem, name="ServiceLogProblem")


@strawberry.input(description="A log to write.")
class ServiceLogInput:
    service: str = shows("The service that writes it, 1 to 64 characters, without control characters.")
    message: str = shows("What happened. Of a text of more than 65,536 characters, the beginning is stored.")
    log_type: ServiceLogType = shows("Its category.", name="type", default=ServiceLogType.APPLICATION)
    level: ServiceLogLevel = shows("Its level.", default=ServiceLogLevel.INFO)
    logged_at: datetime | None = optional("When it happened, exact to the microsecond; by default now.")
    log_id: strawberry.ID | None = optional(
        "A UUID, no global id. A log that is sent again with the same id and time is skipped. By default, the id is "
        "derived from service, time and message, and the log's ordinal among equal ones of the call.",
    )
    metadata: JSON | None = optional("Additional context: an object with at most 128 names, at most 65,536 bytes.")
    trace_id: str | None = optional("Trace id, 32 hexadecimal digits.")
    span_id: str | None = optional("Span id, 16 hexadecimal digits.")

    def log(self, index: int, now: int) -> NewLog | RejectedLog:
        """The log; `now` in epoch milliseconds."""
        metadata: Any = self.metadata
        if not isinstance(metadata, dict | None):
            return RejectedLog(index, LogProblem.METADATA_INVALID, "The metadata must be an object.")
        return NewLog(
            service=self.service,
            message=self.message,
            time_ns=1000 * first_microsecond(self.logged_at) if self.logged_at else 1_000_000 * now,
            log_type=self.log_type,
            severity=self.level.usual_severity,
            log_id=self.log_id,
            metadata=metadata,
            trace_id=self.trace_id,
            span_id=self.span_id,
        )


@strawberry.input(description="Logs to write.")
class WriteServiceLogsInput:
    logs: list[ServiceLogInput] = shows(f"At most {MOST_LOGS:,}.")


value_type(RejectedLog, "ServiceLogRejection")
value_type(model.WriteReport, computed=["rejected", "logs"])


class ServiceLogMutations:
    @mutation(
        "Write logs. To write the same logs again is safe: those that are stored are skipped.",
        scope=SERVICE_LOGS_WRITE,
        size=ListSize(slicing_arguments=["input.logs"], sized_fields=["rejections", "logs"]),
    )
    async def write_service_logs(self, info: Info, input: WriteServiceLogsInput) -> model.WriteReport:
        if len(input.logs) > MOST_LOGS:
            raise BadUserInput(f"`logs` takes at most {MOST_LOGS:,} logs.")
        now = info.context.clock()
        logs = [each.log(index, now) for index, each in enumerate(input.logs)]
        return await info.context.service(LogWriter).write(logs)
