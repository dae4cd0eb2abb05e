"""A selection of events: a filter's values, and their meaning for items."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Self

from graph.core.days import DAY_MS, FIRST_MS, LAST_MS
from graph.core.errors import BadUserInput
from graph.domains.earthquakes.areas import GREATEST_RADIUS_KM, Area, Box, Circle
from graph.domains.earthquakes.bounds import check_order, check_possible
from graph.domains.earthquakes.entities import LONGEST_TEXT
from graph.domains.earthquakes.magnitudes import MagnitudeRange
from graph.domains.earthquakes.model import Event
from graph.domains.earthquakes.polygon import Polygon
from graph.store.conditions import Absent, AllOf, AnyOf, Compare, Condition, OneOf, all_of, predicate
from graph.store.entity import Item
from graph.store.time_walk import Keep, keep_all

MOST_TYPES = 50
MOST_DAYS_AROUND = 3_653  # ten years


@dataclass(frozen=True, slots=True)
class Selection:
    """The events of a query. None means no condition; every bound is inclusive."""

    start_ms: int | None = None  # origin time, epoch milliseconds
    end_ms: int | None = None
    magnitudes: MagnitudeRange = field(default_factory=MagnitudeRange)
    min_depth: float | None = None  # km; an event without a depth matches neither bound
    max_depth: float | None = None
    box: Box | None = None
    circle: Circle | None = None
    polygon: Polygon | None = None
    types: tuple[str, ...] | None = None
    updated_since_ms: int | None = None  # only events whose version was recorded at this time or later
    but: str | None = None  # id of an excluded event

    @classmethod
    def around(cls, event: Event, *, radius_km: float, days: float) -> Self:
        """The other events within a distance and within so many days on either side.

        Raises:
            BadUserInput: The distance or the time is not possible.
        """
        if not 0 <= days <= MOST_DAYS_AROUND:
            raise BadUserInput(f"`days` must be from 0 to {MOST_DAYS_AROUND:,}.")
        if not 0 <= radius_km <= GREATEST_RADIUS_KM:
            raise BadUserInput(f"`radiusKm` must be from 0 to {GREATEST_RADIUS_KM:,}.")
        reach = int(days * DAY_MS)
        return cls(
            start_ms=event.event_ts_ms - reach,
            end_ms=event.event_ts_ms + reach,
            circle=Circle(event.lat, event.lon, radius_km),
            but=event.event_id,
        )

    def __post_init__(self) -> None:
        check_order("startTime", self.start_ms, "endTime", self.end_ms)
        check_order("minMagnitude", self.magnitudes.minimum, "maxMagnitude", self.magnitudes.maximum)
        check_order("minDepth", self.min_depth, "maxDepth", self.max_depth)
        check_possible("minMagnitude", self.magnitudes.minimum)
        check_possible("maxMagnitude", self.magnitudes.maximum)
        check_possible("minDepth", self.min_depth)
        check_possible("maxDepth", self.max_depth)
        if self.types is not None:
            if len(self.types) > MOST_TYPES:
                raise BadUserInput(f"`types` takes at most {MOST_TYPES} values.")
            if any(len(kind) > LONGEST_TEXT for kind in self.types):
                raise BadUserInput(f"`types` takes values of at most {LONGEST_TEXT:,} characters.")

    @property
    def span(self) -> tuple[int, int]:
        """The first and last millisecond; by default those of the calendar."""
        first = FIRST_MS if self.start_ms is None else max(self.start_ms, FIRST_MS)
        return first, LAST_MS if self.end_ms is None else min(self.end_ms, LAST_MS)

    @property
    def areas(self) -> tuple[Area, ...]:
        """The areas that all of the events lie in."""
        return tuple(area for area in (self.box, self.circle, self.polygon) if area is not None)

    @property
    def summarised(self) -> bool:
        """Whether summaries and whole days give the exact number of matching events."""
        others = (self.min_depth, self.max_depth, self.types, self.updated_since_ms, self.but)
        return self.magnitudes.on_tenths and not self.areas and all(other is None for other in others)

    @property
    def condition(self) -> Condition | None:
        """The part of the filter, beside time, that a store can test."""
        types: Condition | None = None
        if self.types is not None:
            types = OneOf("type", self.types)
        return all_of(
            _at_least("mag", self.magnitudes.minimum),
            _at_most("mag", self.magnitudes.maximum),
            _at_least("depth", self.min_depth),
            _at_most("depth", self.max_depth),
            *(area.condition for area in self.areas),
            types,
            _recorded_since(self.updated_since_ms),
        )

    @property
    def admits(self) -> Callable[[Item], bool]:
        """A function that returns whether an event's item matches."""
        first, last = self.span
        matches = predicate(self.condition) if self.condition else None
        keep = self.keep

        def admitted(item: Item) -> bool:
            return (
                first <= item["eventTsMs"] <= last
                and (matches is None or matches(item))
                and (keep is None or keep.holds(item))
            )

        return admitted

    @property
    def keep(self) -> Keep | None:
        """The rest of the filter, which stores cannot test."""
        but = self.but
        keeps = [Keep(lambda item: item["eventId"] != but, frozenset(("eventId",)))] if but is not None else []
        keeps += [Keep(holds, frozenset(("lat", "lon"))) for area in self.areas if (holds := area.holds) is not None]
        return keep_all(keeps)


def _at_least(attribute: str, value: float | None) -> Condition | None:
    return None if value is None else Compare(attribute, ">=", value)


def _recorded_since(time_ms: int | None) -> Condition | None:
    if time_ms is None:
        return None
    unversioned = AllOf((Absent("recordedAt"), Compare("ingestedAt", ">=", time_ms)))
    return AnyOf((Compare("recordedAt", ">=", time_ms), unversioned))


def _at_most(attribute: str, value: float | None) -> Condition | None:
    return None if value is None else Compare(attribute, "<=", value)
