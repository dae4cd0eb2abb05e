"""The record of one logged root field: what was asked, how it went, how long it took. No I/O."""

from dataclasses import dataclass, fields
from datetime import datetime
from enum import Enum
from typing import Any

from graph.days import DAY_MS, datetime_of, day_bucket
from graph.paging import Position
from graph.store.contract import InvalidItem, Item
from graph.store.limits import check_value

REQUEST_LOGS = "logs"  # the connection's name in cursors

RETENTION_DAYS = 7


class LogType(Enum):
    """Whether a request wrote events or read."""

    INGEST = "INGEST"
    QUERY = "QUERY"


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestLog:
    """One root field of one request. What does not apply is None, and absent from the item."""

    log_type: LogType
    request_id: str  # UUID v4
    timestamp: int  # when the field was begun, epoch milliseconds
    route: str  # one stable path for each root field, "/earthquakes"
    status: int  # 200 to 599, as HTTP means it
    latency_ms: int
    error: str | None = None  # a stable code such as INVALID_CURSOR, never a message
    # INGEST
    fetched: int | None = None
    upserted: int | None = None
    skipped: int | None = None
    rejected: int | None = None
    retries: int | None = None
    upstream_size: int | None = None  # bytes
    upstream_hash: str | None = None  # SHA-256, hexadecimal
    # QUERY
    starttime: int | None = None  # epoch milliseconds
    endtime: int | None = None  # epoch milliseconds
    minmagnitude: float | None = None
    page_size: int | None = None
    result_count: int | None = None
    has_next_token: bool | None = None
    buckets_scanned: int | None = None

    @property
    def time(self) -> datetime:
        """When the field was begun, UTC."""
        return datetime_of(self.timestamp)

    @property
    def identity(self) -> tuple[str, str]:
        """Type and key, which no other object of the graph has."""
        return "RequestLog", sort_key(self.timestamp, self.request_id)

    @property
    def position(self) -> Position:
        """Where the record stands among the request logs."""
        return Position(REQUEST_LOGS, self.timestamp, self.request_id)


# Attribute of the item → field of the record: the names differ in their case alone.
ATTRIBUTES = {
    field.name.split("_")[0] + "".join(word.capitalize() for word in field.name.split("_")[1:]): field.name
    for field in fields(RequestLog)
}


def day_partition(bucket: str) -> str:
    """The partition that holds the logs of a day."""
    return f"LOG#{bucket}"


def sort_key(timestamp: int, request_id: str) -> str:
    """Where a log stands within its day. Epoch milliseconds have 13 digits until the year 2286."""
    return f"{timestamp}#{request_id}"


def position_of(sort_key: str) -> Position | None:
    """The position that a sort key names; None where no log has such a key."""
    timestamp, _, request_id = sort_key.partition("#")
    if not (timestamp.isascii() and timestamp.isdigit() and len(timestamp) <= 13 and request_id):
        return None
    return Position(REQUEST_LOGS, int(timestamp), request_id)


def log_key(position: Position) -> dict[str, Any]:
    """The primary key of the log at a position."""
    partition = day_partition(day_bucket(position.time_ms))
    return {"pk": partition, "sk": sort_key(position.time_ms, position.key)}


def log_item(log: RequestLog) -> Item:
    """A log as an item, which expires after `RETENTION_DAYS`.

    What a client asked may be a number that no item can hold, such as a magnitude of 1e200. That
    attribute is left out then, since a log that cannot be written would hold up those behind it.
    """
    item: Item = {
        **log_key(log.position),
        "entity": "LOG",
        "ttl": (log.timestamp + RETENTION_DAYS * DAY_MS) // 1000,
    }
    for attribute, name in ATTRIBUTES.items():
        value = getattr(log, name)
        if value is not None and (not isinstance(value, float) or _storable(value)):
            item[attribute] = value.value if isinstance(value, Enum) else value
    return item


def _storable(number: float) -> bool:
    try:
        check_value(number)
    except InvalidItem:
        return False
    return True


def log_of(item: Item) -> RequestLog:
    """The log that an item holds."""
    values = {name: item[attribute] for attribute, name in ATTRIBUTES.items() if attribute in item}
    return RequestLog(**values | {"log_type": LogType(values["log_type"])})
