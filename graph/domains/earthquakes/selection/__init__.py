"""A selection of events: a filter's values, and their meaning for items."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Self

from graph.core.days import DAY_MS, FIRST_MS, LAST_MS
from graph.core.errors import BadUserInput
from graph.domains.earthquakes.bounds import check_order, check_possible, check_texts
from graph.domains.earthquakes.facets import (
    ALERT,
    DEPTH,
    FELT,
    GAP,
    MAGNITUDE_TYPE,
    NETWORK,
    SIGNIFICANCE,
    STATUS,
    TSUNAMI,
    TYPE,
    NumberFacet,
    TextFacet,
)
from graph.domains.earthquakes.magnitudes import MagnitudeRange
from graph.domains.earthquakes.model import Event
from graph.domains.earthquakes.selection.areas import GREATEST_RADIUS_KM, Area, Box, Circle
from graph.domains.earthquakes.selection.criteria import ByArea, ByFacet, Criterion, OnDays
from graph.domains.earthquakes.selection.polygon import Polygon
from graph.store.conditions import Absent, AllOf, AnyOf, Compare, Condition, HasText, OneOf, SameText, all_of, predicate
from graph.store.entity import Item
from graph.store.time_walk import Keep, keep_all

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
    types: tuple[str, ...] | None = None  # all texts without regard to case, accents and `_`
    networks: tuple[str, ...] | None = None
    mag_types: tuple[str, ...] | None = None
    statuses: tuple[str, ...] | None = None
    alerts: tuple[str, ...] | None = None
    tsunami: bool | None = None  # an event that does not say matches false
    min_felt: int | None = None
    min_sig: int | None = None
    max_gap: float | None = None  # degrees
    place: str | None = None  # a part of the place's name
    ids: tuple[str, ...] | None = None
    days: frozenset[str] | None = None  # the day buckets of the events with these ids, if they are known
    updated_since_ms: int | None = None  # only events of which anything was stored at this time or later
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
        check_possible("maxGap", self.max_gap)
        for name, values in self._lists.items():
            if values is not None:
                check_texts(name, values)
        if self.place is not None:
            check_texts("place", (self.place,))

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
    def is_counted(self) -> bool:
        """Whether the criteria are the whole filter, beside time."""
        return self.place is None and self.ids is None and self.updated_since_ms is None and self.but is None

    @property
    def summarised(self) -> bool:
        """Whether summaries and the days at the ends of the time range give the exact number of matching events."""
        return self.is_counted and not self.criteria and self.magnitudes.on_tenths

    @property
    def criteria(self) -> list[Criterion]:
        """What summaries tell of the filter, beside time, magnitudes and `updated_since_ms`."""
        names = [facet.names(values) for facet, values in self._texts]
        names += [facet.names(least, greatest) for facet, least, greatest in self._numbers]
        if self.tsunami is not None:
            names.append(TSUNAMI.names([1] if self.tsunami else [0, None]))
        criteria: list[Criterion] = [*map(ByFacet, names), *(ByArea(area.cells) for area in self.areas)]
        if self.days is not None:
            criteria.append(OnDays(self.days))
        return criteria

    @property
    def condition(self) -> Condition | None:
        """The part of the filter, beside time, that a store can test."""
        return all_of(
            _at_least("mag", self.magnitudes.minimum),
            _at_most("mag", self.magnitudes.maximum),
            *(_at_least(facet.attribute, least) for facet, least, _ in self._numbers),
            *(_at_most(facet.attribute, greatest) for facet, _, greatest in self._numbers),
            *(area.condition for area in self.areas),
            *(SameText(facet.attribute, values) for facet, values in self._texts),
            None if self.tsunami is None else _is_linked_to_tsunami(self.tsunami),
            HasText("place", self.place) if self.place else None,
            OneOf("eventId", self.ids) if self.ids is not None else None,
            _changed_since(self.updated_since_ms),
        )

    @property
    def _lists(self) -> dict[str, tuple[str, ...] | None]:
        """The lists of texts, by their names in the graph."""
        return {
            "types": self.types,
            "networks": self.networks,
            "magTypes": self.mag_types,
            "status": self.statuses,
            "alerts": self.alerts,
            "ids": self.ids,
        }

    @property
    def _texts(self) -> list[tuple[TextFacet, tuple[str, ...]]]:
        """The given lists of texts, with their facets."""
        texts = [
            (TYPE, self.types),
            (NETWORK, self.networks),
            (MAGNITUDE_TYPE, self.mag_types),
            (STATUS, self.statuses),
            (ALERT, self.alerts),
        ]
        return [(facet, values) for facet, values in texts if values is not None]

    @property
    def _numbers(self) -> list[tuple[NumberFacet, float | None, float | None]]:
        """The given bounds of numbers, least and greatest, with their facets."""
        numbers = [
            (DEPTH, self.min_depth, self.max_depth),
            (FELT, self.min_felt, None),
            (SIGNIFICANCE, self.min_sig, None),
            (GAP, None, self.max_gap),
        ]
        return [each for each in numbers if each[1:] != (None, None)]

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


def _is_linked_to_tsunami(linked: bool) -> Condition:
    if linked:
        return Compare("tsunami", "=", 1)
    return AnyOf((Absent("tsunami"), Compare("tsunami", "=", 0)))


def _changed_since(time_ms: int | None) -> Condition | None:
    if time_ms is None:
        return None
    unversioned = AllOf((Absent("recordedAt"), Compare("ingestedAt", ">=", time_ms)))
    return AnyOf((Compare("recordedAt", ">=", time_ms), Compare("changedAt", ">=", time_ms), unversioned))


def _at_most(attribute: str, value: float | None) -> Condition | None:
    return None if value is None else Compare(attribute, "<=", value)
