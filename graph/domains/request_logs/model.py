"""The record of one logged root field, or of a refused request: its arguments, outcome and latency. No I/O."""

from collections.abc import Mapping
from enum import Enum
from typing import Any, Self

import orjson

from graph.core.days import DAY_MS, FIRST_MS, LAST_MS, datetime_of, day_bucket
from graph.core.paging import Position
from graph.domains.request_logs.entities import LOG, LONGEST_ID, TIME_DIGITS
from graph.store.attributes import Text, Whole
from graph.store.entity import Item, Key
from graph.store.ordering import Order
from graph.store.records import Derived, Record, Stored
from graph.store.values import InvalidItem, check_value

BY_TIME = Order(
    "logs", Whole("timestamp", least=FIRST_MS, greatest=LAST_MS), Text("requestId", shortest=1, longest=LONGEST_ID)
)

RETENTION_DAYS = 7


class LogType(Enum):
    """Whether a request wrote events or read."""

    INGEST = "INGEST"
    QUERY = "QUERY"


def node_key(timestamp: int, request_id: str) -> str:
    """The key of a log in its global id."""
    return f"{timestamp}#{request_id}"


def key_of(node_key: str) -> Key | None:
    """The primary key of the log with this key of a node; None if no log can have it."""
    timestamp, _, request_id = node_key.partition("#")
    if not (timestamp.isascii() and timestamp.isdigit() and len(timestamp) <= TIME_DIGITS):
        return None
    if not 0 < len(request_id) <= LONGEST_ID:
        return None
    return LOG.key_of(place_of({"timestamp": int(timestamp), "requestId": request_id}))


def place_of(position: Position) -> Item:
    """The place of a position among the stored logs.

    A client may send any time. A time that no log can have is replaced by the nearest possible one.
    """
    timestamp = min(max(position["timestamp"], 0), 10**TIME_DIGITS - 1)
    return {**position, "day": day_bucket(timestamp), "timestamp": timestamp}


class RequestLog(Record):
    """One root field of one request. What does not apply is None, and absent from the item."""

    __slots__ = ()

    log_type = Stored("logType", LogType)
    request_id = Stored[str]("requestId")  # UUID v4
    timestamp = Stored[int]("timestamp")  # when the field was begun, epoch milliseconds
    time = Derived(datetime_of, "timestamp")  # the same, UTC
    cursor = BY_TIME.cursors()  # its position, as text
    route = Stored[str]("route")  # one stable path for each root field, "/earthquakes"; "/graphql" of a refused request
    status = Stored[int]("status")  # 200 to 599, as HTTP means it
    latency_ms = Stored[int]("latencyMs")
    error = Stored[str | None]("error", optional=True)  # a stable code such as INVALID_CURSOR, never a message
    # INGEST
    fetched = Stored[int | None]("fetched", optional=True)
    upserted = Stored[int | None]("upserted", optional=True)
    revised = Stored[int | None]("revised", optional=True)
    skipped = Stored[int | None]("skipped", optional=True)
    rejected = Stored[int | None]("rejected", optional=True)
    retries = Stored[int | None]("retries", optional=True)
    upstream_size = Stored[int | None]("upstreamSize", optional=True)  # bytes
    upstream_hash = Stored[str | None]("upstreamHash", optional=True)  # SHA-256, hexadecimal
    # QUERY
    starttime = Stored[int | None]("starttime", optional=True)  # epoch milliseconds
    endtime = Stored[int | None]("endtime", optional=True)  # epoch milliseconds
    minmagnitude = Stored[float | None]("minmagnitude", optional=True)
    page_size = Stored[int | None]("pageSize", optional=True)
    result_count = Stored[int | None]("resultCount", optional=True)
    has_next_token = Stored[bool | None]("hasNextToken", optional=True)
    buckets_scanned = Stored[int | None]("bucketsScanned", optional=True)
    # Any
    facts = Stored[Mapping[str, Any] | None]("facts", optional=True)  # what other domains record, by their own names

    @classmethod
    def of(
        cls,
        *,
        log_type: LogType,
        request_id: str,
        timestamp: int,
        route: str,
        status: int,
        latency_ms: int,
        **others: str | float | Mapping[str, Any] | None,
    ) -> Self:
        """The log with these values, which expires after `RETENTION_DAYS`.

        A client may have sent a number that no item can hold, such as a magnitude of 1e200. Such an
        attribute is left out: a log that cannot be written would block those after it.
        """
        item: Item = {
            "day": day_bucket(timestamp),
            "ttl": (timestamp + RETENTION_DAYS * DAY_MS) // 1000,
            "logType": log_type.value,
            "requestId": request_id,
            "timestamp": timestamp,
            "route": route,
            "status": status,
            "latencyMs": latency_ms,
        }
        for name, value in others.items():
            if value is not None and (not isinstance(value, float) or storable(value)):
                item[ATTRIBUTES[name]] = value
        return cls(item)

    @property
    def size(self) -> int:
        """Bytes of its item as JSON; 0 if it cannot be stored."""
        try:
            return len(orjson.dumps(self.item))
        except TypeError:
            return 0

    @property
    def identity(self) -> tuple[str, str]:
        """Type and key, unique in the graph."""
        return "RequestLog", node_key(self.timestamp, self.request_id)


ATTRIBUTES = {name: stored.attribute for name, stored in RequestLog.stored().items()}


def storable(value: Any) -> bool:
    """Whether an item can hold a value. A log that cannot be written would block those after it."""
    try:
        check_value(value)
    except InvalidItem:
        return False
    return value is not None
