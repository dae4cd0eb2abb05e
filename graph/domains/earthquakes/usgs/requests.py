"""Requests to USGS: a feed, a query of its FDSN service, the number of events that match a query, or one event by id.

Source: https://earthquake.usgs.gov/fdsnws/event/1/ and
https://earthquake.usgs.gov/earthquakes/feed/v1.0/geojson.php
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import Enum
from math import isfinite
from typing import ClassVar, NamedTuple
from urllib.parse import urlencode

from graph.core.errors import BadUserInput
from graph.core.times import rfc3339_of_millis
from graph.domains.earthquakes.settings import PUBLIC_SERVICE

MAX_EVENTS = 20_000  # in one answer of the FDSN service
DEFAULT_EVENTS = 100

FIRST_EVENT_MS = -30_610_224_000_000  # the year 1000; USGS's earliest event is of the 16th century


class UsgsFeed(Enum):
    """A summary feed of USGS, renewed every minute."""

    ALL_HOUR = "all_hour"
    ALL_DAY = "all_day"
    ALL_WEEK = "all_week"
    ALL_MONTH = "all_month"
    M1_0_HOUR = "1.0_hour"
    M1_0_DAY = "1.0_day"
    M1_0_WEEK = "1.0_week"
    M1_0_MONTH = "1.0_month"
    M2_5_HOUR = "2.5_hour"
    M2_5_DAY = "2.5_day"
    M2_5_WEEK = "2.5_week"
    M2_5_MONTH = "2.5_month"
    M4_5_HOUR = "4.5_hour"
    M4_5_DAY = "4.5_day"
    M4_5_WEEK = "4.5_week"
    M4_5_MONTH = "4.5_month"
    SIGNIFICANT_HOUR = "significant_hour"
    SIGNIFICANT_DAY = "significant_day"
    SIGNIFICANT_WEEK = "significant_week"
    SIGNIFICANT_MONTH = "significant_month"

    @property
    def description(self) -> str:
        """Its least magnitude or significance, and its period."""
        least, period = self.value.split("_")
        events = {"all": "All events", "significant": "Significant events"}
        return f"{events.get(least, f'Events of magnitude {least} and more')} of the past {period}."

    @property
    def path(self) -> str:
        """The path of the feed."""
        return f"/earthquakes/feed/v1.0/summary/{self.value}.geojson"

    @property
    def parameters(self) -> None:
        """None: a feed is a file, which takes no parameters."""


@dataclass(frozen=True, slots=True)
class EventQuery:
    """The latest events of the FDSN service, within a window or without one."""

    path: ClassVar[str] = "/fdsnws/event/1/query"

    limit: int = DEFAULT_EVENTS  # events, 1 to 20,000
    start_ms: int | None = None  # epoch milliseconds, inclusive; USGS takes None for 30 days ago
    end_ms: int | None = None  # epoch milliseconds, inclusive; USGS takes None for now
    min_magnitude: float | None = None  # inclusive
    updated_after: int | None = None  # epoch milliseconds, inclusive: only events that changed since
    include_deleted: bool = False  # whether deleted events are sent too; they have the status `deleted`

    def __post_init__(self) -> None:
        if not 1 <= self.limit <= MAX_EVENTS:
            raise BadUserInput(f"`limit` must be from 1 to {MAX_EVENTS:,}.")
        if self.start_ms is not None and self.end_ms is not None and self.start_ms > self.end_ms:
            raise BadUserInput("`startTime` must not be later than `endTime`.")
        if self.min_magnitude is not None and not isfinite(self.min_magnitude):
            raise BadUserInput("`minMagnitude` must be a number.")

    @property
    def parameters(self) -> Mapping[str, str]:
        """The query as parameters of FDSN."""
        return {"format": "geojson", "orderby": "time", "limit": str(self.limit), **self.conditions}

    @property
    def conditions(self) -> Mapping[str, str]:
        """The conditions that an event must meet, as parameters of FDSN."""
        given = {
            "starttime": _text(self.start_ms),
            "endtime": _text(self.end_ms),
            "minmagnitude": None if self.min_magnitude is None else str(self.min_magnitude),
            "updatedafter": _text(self.updated_after),
            "includedeleted": "true" if self.include_deleted else None,
        }
        return {name: value for name, value in given.items() if value is not None}


def _text(ms: int | None) -> str | None:
    return None if ms is None else rfc3339_of_millis(ms)


UsgsRequest = EventQuery | UsgsFeed


class UsgsQuestion(NamedTuple):
    """A request to the FDSN service that is answered with no list of events."""

    path: str
    parameters: Mapping[str, str]


def count_of(query: EventQuery) -> UsgsQuestion:
    """The number of events that match the conditions of a query, whatever its limit."""
    return UsgsQuestion("/fdsnws/event/1/count", {"format": "geojson", **query.conditions})


def look_up_of(event_id: str) -> UsgsQuestion:
    """One event by any of its ids.

    Deleted events are not asked for: USGS then says that the event was deleted, and otherwise that it has none.
    """
    return UsgsQuestion(EventQuery.path, {"format": "geojson", "eventid": event_id})


def public_url(request: UsgsRequest) -> str:
    """The address of a request at USGS's public service, whichever server is asked in its place."""
    parameters = f"?{urlencode(request.parameters)}" if request.parameters else ""
    return f"{PUBLIC_SERVICE}{request.path}{parameters}"


def changes_since(updated_after: int, *, limit: int = MAX_EVENTS) -> EventQuery:
    """All events that changed since that epoch millisecond, also by deletion, whatever their origin time.

    Without a start, USGS would only look at the events of the last 30 days.
    """
    return EventQuery(limit, FIRST_EVENT_MS, updated_after=updated_after, include_deleted=True)


@dataclass(frozen=True, slots=True)
class RecentEvents:
    """The arguments of an ingest from USGS, as the caller gave them: a feed, or a query of the latest events."""

    limit: int | None = None  # default 100; with a window, `MAX_EVENTS`
    feed: UsgsFeed | None = None
    start_ms: int | None = None
    end_ms: int | None = None
    min_magnitude: float | None = None
    updated_since: int | None = None  # also deleted events; without a window, of any origin time

    @property
    def is_window(self) -> bool:
        """Whether the arguments mean all events of a window, and not only the latest ones."""
        return any(bound is not None for bound in (self.start_ms, self.end_ms, self.updated_since))

    @property
    def request(self) -> UsgsRequest:
        """The request for these arguments.

        Raises:
            BadUserInput: A feed is given together with another argument, or a value is out of range.
        """
        window = (self.start_ms, self.end_ms, self.min_magnitude)
        if self.feed is not None:
            if any(value is not None for value in (self.limit, *window, self.updated_since)):
                raise BadUserInput("`feed` names its events itself: give no other argument with it.")
            return self.feed
        # With a small default limit, the older events of a window would be missing, and nothing would say so.
        default = MAX_EVENTS if self.is_window else DEFAULT_EVENTS
        limit = default if self.limit is None else self.limit
        if self.updated_since is None:
            return EventQuery(limit, *window)
        changes = changes_since(self.updated_since, limit=limit)
        start_ms = changes.start_ms if self.start_ms is None else self.start_ms
        return replace(changes, start_ms=start_ms, end_ms=self.end_ms, min_magnitude=self.min_magnitude)
