"""The record of one logged root field, or of a refused request: its arguments, outcome and latency. No I/O."""

from collections.abc import Mapping
from typing import Any

import orjson

from graph.core.days import FIRST_MS, LAST_MS, datetime_of, day_bucket
from graph.core.described import DescribedText
from graph.core.paging import Position
from graph.domains.earthquakes.model import CATALOGUE_ROUTE, INT, INT_END
from graph.store.attributes import JsonDocument, Real, Text, Truth, Whole
from graph.store.entity import Item
from graph.store.ordering import Order
from graph.store.records import Converted, Derived, Record, Stored, optional, stored
from graph.store.values import InvalidItem, check_value

LONGEST_ID = 64  # characters of a request id; ours are UUIDs
TIME_DIGITS = 13  # of epoch milliseconds, until the year 2286

REQUEST_ID = Text("requestId", shortest=1, longest=LONGEST_ID, in_cursor=True)
BY_TIME = Order("logs", Whole("timestamp", least=FIRST_MS, greatest=LAST_MS), REQUEST_ID)

RETENTION_DAYS = 7
MOST_WEIGHT = 2**30  # of a log in a sample; a power of `budget.THINNING`


class RequestLogType(DescribedText):
    """Whether a request stored events or read."""

    INGEST = "INGEST", "An ingest."
    QUERY = "QUERY", "A query."


class Measured(Whole):
    """A whole number, where other programs may store the fraction that they have measured."""

    __slots__ = ()

    def check(self, value: Any) -> None:
        super().check(int(value) if isinstance(value, float) else value)


def node_key(timestamp: int, request_id: str) -> str:
    """The key of a log in its global id."""
    return f"{timestamp}#{request_id}"


def place_of(position: Position) -> Item:
    """The place of a position among the stored logs.

    A client may send any time. A time that no log can have is replaced by the nearest possible one.
    """
    timestamp = min(max(position["timestamp"], 0), 10**TIME_DIGITS - 1)
    return {**position, "day": day_bucket(timestamp), "timestamp": timestamp}


class RequestLog(Record):
    """One root field of one request. What does not apply is None, and absent from the item."""

    log_type = stored("logType", Converted(Text(), RequestLogType), "Whether it stored events or read.")
    request_id = stored("requestId", REQUEST_ID, "UUID of the request.")
    timestamp = stored(
        "timestamp", Whole(unit="epoch ms", digits=TIME_DIGITS), "As documented: when it began, epoch milliseconds."
    )
    requested_at = Derived(datetime_of, "timestamp", description="When it began.")
    cursor = BY_TIME.cursors()  # its position, as text
    route = stored("route", Text(), "The field's stable path, such as `/earthquakes`; `/graphql` of a refused request.")
    status = stored("status", Whole(least=200, greatest=599), "Its outcome as an HTTP status, 200 … 599.")
    latency_ms = stored(
        "latencyMs", Converted(Measured(least=0, greatest=INT_END, unit="ms"), int), "How long it took, milliseconds."
    )
    fetched = optional("fetched", INT, "INGEST: events given or fetched.")
    upserted = optional("upserted", INT, "INGEST: events inserted.")
    revised = optional("revised", INT, "INGEST: events changed by a new version.")
    skipped = optional("skipped", INT, "INGEST: events that were stored already.")
    rejected = optional("rejected", INT, "INGEST: events that break a rule of the catalogue.")
    retries = optional("retries", INT, "INGEST: attempts on USGS after the first.")
    upstream_size = optional("upstreamSize", Whole(unit="bytes"), "INGEST: size of the body or file.")
    upstream_hash = optional("upstreamHash", Text(), "INGEST: SHA-256 of the same, hexadecimal.")
    starttime = optional(
        "starttime", Whole(unit="epoch ms"), "QUERY, as documented: the filter's startTime, epoch milliseconds."
    )
    endtime = optional(
        "endtime", Whole(unit="epoch ms"), "QUERY, as documented: the filter's endTime, epoch milliseconds."
    )
    minmagnitude = optional("minmagnitude", Real(), "QUERY, as documented: the filter's minMagnitude.")
    page_size = optional("pageSize", INT, "QUERY: the requested page size.")
    result_count = optional("resultCount", INT, "QUERY: records on the page.")
    has_next_token = optional("hasNextToken", Truth(), "QUERY: whether more follow in the direction of paging.")
    buckets_scanned = optional("bucketsScanned", INT, "QUERY: day buckets read for the page.")
    error = optional("error", Text(), "Stable error code, if it failed.")
    weight = optional("weight", Whole(least=2, greatest=MOST_WEIGHT), "The logs for which it stands; absent for 1.")
    facts: Stored[Mapping[str, Any] | None] = optional("facts", JsonDocument())  # of other domains, by their own names

    @property
    def stands_for(self) -> int:
        """The number of logs for which it stands: more than 1 in a sample."""
        return self.weight or 1

    @property
    def is_of_catalogue(self) -> bool:
        """Whether it is the log of a query of the catalogue."""
        return self.route == CATALOGUE_ROUTE and self.log_type is RequestLogType.QUERY

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
