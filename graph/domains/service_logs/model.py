"""A service log, before it is stored and as it is stored, and a service that writes logs. No I/O."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from decimal import Decimal
from math import nextafter
from typing import Any, ClassVar

from graph.core.days import datetime_of, datetime_of_seconds
from graph.core.described import Described, DescribedText, described, value
from graph.core.times import rfc3339_of_seconds
from graph.store.attributes import Filled, JsonMapping, Real, Text, Truth, Whole
from graph.store.entity import Item
from graph.store.records import Converted, Derived, Record, Stored, optional, stored

LONGEST_SERVICE = 64  # characters; names are part of global ids
LONGEST_FOREIGN_SERVICE = 256  # of another program; four bytes each still fit a sort key
LONGEST_MESSAGE = 65_536  # characters; four bytes each still fit DynamoDB's 400 KB
LARGEST_METADATA = 65_536  # bytes
LONGEST_EVENT_NAME = 256  # characters
LONGEST_SEVERITY = 64  # characters
LONGEST_LOG_ID = 256  # characters; a UUID has 36, but another program may have its own ids
LAST_SECOND = 9_999_999_999  # of a log; a time in milliseconds lies behind it
LAST_EXPIRY = 253_402_300_799  # epoch seconds; the last second of the year 9999
MICROSECONDS = 1_000_000  # of a second
DAY_S = 86_400
MOST_SHIFT = 200_000  # slots from a log's time to its own; a fifth of a second
SHARDS = 10  # partitions of a hot service: `checkout#0` to `checkout#9`
INFO = 9  # the severity number of a log without one

OWN_SERVICE = "quakegraph"  # the name of this service; other senders cannot use it
REQUEST_ID = "requestId"  # the name in its logs' metadata of the request that they belong to


class ServiceLogType(DescribedText):
    """The category of a service log."""

    APPLICATION = "application", "What a program does."
    SYSTEM = "system", "What the system below it does."
    AUDIT = "audit", "Who did what."


class ServiceLogLevel(Described):
    """The level of a service log.

    Its value is the least severity number of OpenTelemetry that is stored under this level.
    """

    _value_: int

    DEBUG = 1, "For developers; severity numbers 1 … 8."
    INFO = 9, "What usually happens; 9 … 12."
    WARN = 13, "Something unexpected; 13 … 16."
    ERROR = 17, "A failure; 17 … 24."

    @staticmethod
    def of(severity: int) -> "ServiceLogLevel":
        """The level of a severity number, 1 to 24."""
        return _LEVELS[severity]

    @staticmethod
    def name_of(severity: int) -> str:
        """The name of its level."""
        return _NAMES[severity]

    @property
    def usual_severity(self) -> int:
        """The severity number of a log that only names its level."""
        return 5 if self is ServiceLogLevel.DEBUG else self.value


MOST_SEVERE = 24  # the greatest severity number of OpenTelemetry
_LEVELS = [
    [level for level in ServiceLogLevel if level.value <= max(severity, 1)][-1]  # in ascending order
    for severity in range(MOST_SEVERE + 1)
]
_NAMES = [level.name for level in _LEVELS]
LEVELS = tuple(ServiceLogLevel.__members__)


class LogProblem(DescribedText):
    """Why a log is rejected."""

    SERVICE_INVALID = "SERVICE_INVALID", "Its service has no valid name."
    TOO_MANY_SERVICES = "TOO_MANY_SERVICES", "Its service is new, and there may be no more services."
    TIME_CROWDED = "TIME_CROWDED", "Too many logs of its service have its time."
    TIME_INVALID = "TIME_INVALID", "Its time cannot be stored."
    TIME_IN_FUTURE = "TIME_IN_FUTURE", "Its time is more than two hours ahead."
    EXPIRED = "EXPIRED", "It is older than its type is kept."
    LOG_ID_INVALID = "LOG_ID_INVALID", "Its id is no UUID."
    METADATA_INVALID = "METADATA_INVALID", "Its metadata cannot be stored."
    LOG_INVALID = "LOG_INVALID", "It cannot be read, or breaks another rule."


@value
class RejectedLog:
    """A log that was not stored."""

    index: int = described("Its place among the given logs, from 0.")
    code: LogProblem = described("Why, as a stable code.")
    message: str = described("Why, in words.")


class InvalidLog(Exception):
    """Why a log cannot be read or stored."""

    def __init__(self, message: str, code: LogProblem = LogProblem.LOG_INVALID) -> None:
        super().__init__(message)
        self.code = code

    def at(self, index: int) -> RejectedLog:
        """The rejection of the log, which is at a place of its batch."""
        return RejectedLog(index, self.code, str(self))


@dataclass(slots=True)
class NewLog:
    """A log as its sender gives it. Nothing is checked yet."""

    service: str
    message: str
    time_ns: int  # epoch nanoseconds
    log_type: ServiceLogType = ServiceLogType.APPLICATION
    severity: int = INFO  # 1 to 24
    log_id: str | None = None  # UUID; None for one that is derived
    metadata: Mapping[str, Any] | None = None
    trace_id: str | None = None  # 32 hexadecimal digits
    span_id: str | None = None  # 16 hexadecimal digits
    event_name: str | None = None
    severity_text: str | None = None  # as the sender has it
    changed: tuple[str, ...] = ()  # what was left out of it while it was read


@value
class WriteReport:
    """What became of the logs. Each is judged by itself."""

    accepted: int = described("Number of stored logs.")
    skipped: int = described("Number of logs that were stored already.")
    rejections: tuple[RejectedLog, ...] = described("The rejected ones, with reasons.")
    stored: Sequence[Item] = field(default=(), compare=False)  # the first ones that were accepted
    changed: Mapping[int, str] = field(default_factory=dict)  # what was changed in logs, by their index

    @property
    def rejected(self) -> int:
        """Number of logs that break a rule."""
        return len(self.rejections)

    @property
    def logs(self) -> list["ServiceLog"]:
        """The stored ones by service and time, at most the first 100."""
        return list(map(ServiceLog, self.stored))


def service_of(service_name: str) -> str:
    """The service of a stored `service_name`, which may name one of the partitions of a hot service."""
    return (service_name[:-2] if is_shard(service_name) else "") or service_name


def shards_of(service: str) -> list[str]:
    """The partitions of a hot service."""
    return [f"{service}#{shard}" for shard in range(SHARDS)]


def is_shard(service_name: str) -> bool:
    """Whether a name is that of one partition of a hot service."""
    return service_name[-2:-1] == "#" and service_name[-1] in "0123456789"


def shard_of(service: str, slot: int) -> str:
    """The partition of a hot service that holds a slot.

    The document derives it from the log's id. Derived from the slot, it keeps slots unique among all partitions, so
    logs of one microsecond keep their order, and a log that is sent again is found.
    """
    return f"{service}#{(slot * 2_654_435_761 % 2**32) * SHARDS >> 32}"


def timestamp_of(slot: int) -> float:
    """A slot in epoch microseconds as epoch seconds, which a double holds exactly enough to read it back."""
    return slot / MICROSECONDS


def slot_of(timestamp: float) -> int:
    """The slot that holds a timestamp, epoch microseconds. Another program may have written a more exact one."""
    nearest = round(timestamp * MICROSECONDS)
    return nearest if timestamp_of(nearest) <= timestamp else nearest - 1


def end_of_slot(slot: int) -> float:
    """The last timestamp that a slot holds."""
    return nextafter(timestamp_of(slot + 1), 0)


def nanoseconds_of(timestamp: float) -> str:
    """The time of a log that has only its timestamp: epoch nanoseconds as text."""
    return str(int(Decimal(repr(timestamp)) * 1_000_000_000))


def checked_nanoseconds(time_unix_nano: str) -> str:
    """Epoch nanoseconds as text. Raises ValueError for another text."""
    if not (time_unix_nano.isascii() and time_unix_nano.isdigit()):
        raise ValueError("`time_unix_nano` must have digits alone")
    return time_unix_nano


def level_named(name: str) -> ServiceLogLevel:
    """The level of this name. Raises ValueError for another name."""
    if name not in ServiceLogLevel.__members__:
        raise ValueError(f"`level` must be one of {', '.join(ServiceLogLevel.__members__)}")
    return ServiceLogLevel[name]


def severity_of_level(name: str) -> int:
    """The severity number of a log that only names its level."""
    return level_named(name).usual_severity


def time_of(time_unix_nano: str) -> datetime:
    """The time of epoch nanoseconds, rounded down to microseconds."""
    seconds, rest = divmod(int(time_unix_nano), 1_000_000_000)
    return datetime.fromtimestamp(seconds, UTC).replace(microsecond=rest // 1000)


def node_key(service_name: str, timestamp: float) -> str:
    """The key of a log in its global id and in the sequence of changes."""
    slot = slot_of(timestamp)
    return f"{slot if timestamp_of(slot) == timestamp else repr(timestamp)}@{service_name}"


class ServiceLog(Record):
    """A stored log. It never changes.

    Other programs write logs as the document has them: without what OpenTelemetry adds, and with a timestamp of whole
    seconds. Their bounds are wider than those of our own logs, which `checking` tests.
    """

    cursor: ClassVar[Derived[str]]  # its position, see `entities.BY_TIME`
    service_name = stored("service_name", Text(shortest=1, longest=LONGEST_FOREIGN_SERVICE + 2))  # may be `checkout#7`
    service = Derived(service_of, "service_name", description="The service that wrote it.")
    timestamp = stored("timestamp", Real(least=0, greatest=LAST_SECOND, unit="epoch seconds"))  # the slot
    log_id = stored("log_id", Text(longest=LONGEST_LOG_ID), "The log's own id, a UUID.")
    log_type = stored("log_type", Converted(Text(shortest=1, longest=11), ServiceLogType), "Its category.")
    level = stored("level", Converted(Text(longest=5), level_named), "Its level.")
    message = stored("message", Text(), "What happened, as the service wrote it.")
    metadata: Stored[Mapping[str, Any] | None] = optional(
        "metadata", JsonMapping(), "Additional context, by names that the service chose."
    )
    time_unix_nano = stored(
        "time_unix_nano",
        Converted(Text(shortest=1, longest=19, absent=Filled(nanoseconds_of, "timestamp")), checked_nanoseconds),
        "When it happened, exact: epoch nanoseconds as text, as OTLP has them.",
    )
    logged_at = Derived(time_of, "time_unix_nano", description="When it happened.")
    severity_number = stored(
        "severity_number",
        Whole(least=1, greatest=MOST_SEVERE, absent=Filled(severity_of_level, "level", values=LEVELS)),
        "Its severity number as of OpenTelemetry, 1 … 24.",
    )
    severity_text = optional(
        "severity_text",
        Text(longest=LONGEST_SEVERITY),
        "Its severity as the sender wrote it, such as `SEVERE`; null if it named none.",
    )
    trace_id = optional("trace_id", Text(longest=32), "Trace that it belongs to, 32 hexadecimal digits.")
    span_id = optional("span_id", Text(longest=16), "Span that it belongs to, 16 hexadecimal digits.")
    event_name = optional(
        "event_name", Text(longest=LONGEST_EVENT_NAME), "Name of the event that it records, as of OpenTelemetry."
    )
    expires_at = optional(
        "ttl",
        Converted(Whole(greatest=LAST_EXPIRY, unit="epoch seconds"), datetime_of_seconds, rfc3339_of_seconds),
        "When it will be deleted; null for never.",
    )

    @property
    def identity(self) -> tuple[str, str]:
        """Type and key, unique in the graph."""
        return "ServiceLog", node_key(self.service_name, self.timestamp)


class LoggingService(Record):
    """A service that writes logs."""

    name = stored("service", Text(shortest=1, longest=LONGEST_FOREIGN_SERVICE), "Its name, as logs have it.")
    first_log_at = stored("since", Converted(Whole(unit="epoch ms"), datetime_of), "When its first log was stored.")
    is_spread = optional("is_spread", Truth())  # whether logs of it were ever spread over partitions
    added_by = optional("added_by", Text())  # who sent its first log; None for this service
