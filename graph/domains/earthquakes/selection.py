"""A selection of events: a filter's values, and their meaning for items."""

from collections.abc import Callable
from dataclasses import dataclass, field
from math import asin, cos, degrees, radians, sin, sqrt
from typing import Self

from graph.core.days import DAY_MS, FIRST_MS, LAST_MS
from graph.core.errors import BadUserInput
from graph.domains.earthquakes.entities import LONGEST_TEXT
from graph.domains.earthquakes.magnitudes import MagnitudeRange
from graph.domains.earthquakes.model import Event
from graph.store.conditions import Absent, AllOf, AnyOf, Compare, Condition, OneOf, all_of, predicate
from graph.store.entity import Item
from graph.store.time_walk import Keep
from graph.store.values import InvalidItem, check_value

EARTH_RADIUS_KM = 6371.0088  # mean radius, IUGG
GREATEST_RADIUS_KM = 40_100  # once around the earth; half of it already covers everything
MOST_TYPES = 50
MOST_DAYS_AROUND = 3_653  # ten years


@dataclass(frozen=True, slots=True)
class Box:
    """An area between two latitudes and two longitudes, edges included, in degrees."""

    min_lat: float
    max_lat: float
    min_lon: float
    max_lon: float  # less than min_lon: the area crosses the 180th meridian

    def __post_init__(self) -> None:
        if not (-90 <= self.min_lat <= self.max_lat <= 90):
            raise BadUserInput("`box` needs -90 ≤ minLat ≤ maxLat ≤ 90.")
        if not (-180 <= self.min_lon <= 180 and -180 <= self.max_lon <= 180):
            raise BadUserInput("`box` needs minLon and maxLon from -180 to 180; minLon > maxLon crosses the dateline.")
        _possible("minLat", self.min_lat)
        _possible("maxLat", self.max_lat)
        _possible("minLon", self.min_lon)
        _possible("maxLon", self.max_lon)

    @property
    def condition(self) -> Condition | None:
        return all_of(
            Compare("lat", ">=", self.min_lat),
            Compare("lat", "<=", self.max_lat),
            _longitudes(self.min_lon, self.max_lon),
        )


@dataclass(frozen=True, slots=True)
class Circle:
    """An area within a great-circle distance of a point, edge included."""

    lat: float  # degrees north
    lon: float  # degrees east
    radius_km: float

    def __post_init__(self) -> None:
        if not (-90 <= self.lat <= 90 and -180 <= self.lon <= 180):
            raise BadUserInput("`circle` needs lat from -90 to 90 and lon from -180 to 180.")
        if not 0 <= self.radius_km <= GREATEST_RADIUS_KM:
            raise BadUserInput(f"`circle` needs a radiusKm from 0 to {GREATEST_RADIUS_KM:,}.")

    def holds(self, item: Item) -> bool:
        """Whether an event is inside. The haversine formula is exact at the poles and the dateline."""
        lat, other = radians(self.lat), radians(item["lat"])
        h = sin((other - lat) / 2) ** 2 + cos(lat) * cos(other) * sin(radians(item["lon"] - self.lon) / 2) ** 2
        return 2 * EARTH_RADIUS_KM * asin(min(1.0, sqrt(h))) <= self.radius_km

    @property
    def condition(self) -> Condition | None:
        """The smallest box around the circle, slightly enlarged, by which a store can drop most other events."""
        reach = degrees(self.radius_km / EARTH_RADIUS_KM) + 1e-6
        south, north = self.lat - reach, self.lat + reach
        latitudes = all_of(Compare("lat", ">=", max(south, -90.0)), Compare("lat", "<=", min(north, 90.0)))
        if south <= -90 or north >= 90:
            return latitudes  # with a pole inside, every longitude is
        sine = sin(radians(reach)) / cos(radians(self.lat))
        half = degrees(asin(sine)) + 1e-6 if sine < 1 else 180.0
        if half >= 180:
            return latitudes
        west, east = self.lon - half, self.lon + half
        return all_of(latitudes, _longitudes(west + 360 if west < -180 else west, east - 360 if east > 180 else east))


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
        _ordered("startTime", self.start_ms, "endTime", self.end_ms)
        _ordered("minMagnitude", self.magnitudes.minimum, "maxMagnitude", self.magnitudes.maximum)
        _ordered("minDepth", self.min_depth, "maxDepth", self.max_depth)
        _possible("minMagnitude", self.magnitudes.minimum)
        _possible("maxMagnitude", self.magnitudes.maximum)
        _possible("minDepth", self.min_depth)
        _possible("maxDepth", self.max_depth)
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
    def summarised(self) -> bool:
        """Whether summaries and whole days give the exact number of matching events."""
        others = (self.min_depth, self.max_depth, self.box, self.circle, self.types, self.updated_since_ms, self.but)
        return self.magnitudes.on_tenths and all(other is None for other in others)

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
            self.box.condition if self.box else None,
            self.circle.condition if self.circle else None,
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
        circle, but = self.circle, self.but
        reads = frozenset(("lat", "lon") if circle else ())
        if but is None:
            return Keep(circle.holds, reads) if circle else None
        holds = circle.holds if circle else None
        return Keep(lambda item: item["eventId"] != but and (holds is None or holds(item)), reads | {"eventId"})


def _at_least(attribute: str, value: float | None) -> Condition | None:
    return None if value is None else Compare(attribute, ">=", value)


def _recorded_since(time_ms: int | None) -> Condition | None:
    if time_ms is None:
        return None
    unversioned = AllOf((Absent("recordedAt"), Compare("ingestedAt", ">=", time_ms)))
    return AnyOf((Compare("recordedAt", ">=", time_ms), unversioned))


def _at_most(attribute: str, value: float | None) -> Condition | None:
    return None if value is None else Compare(attribute, "<=", value)


def _longitudes(west: float, east: float) -> Condition:
    """From `west` eastward to `east`, if necessary across the 180th meridian."""
    bounds = (Compare("lon", ">=", west), Compare("lon", "<=", east))
    return AnyOf(bounds) if west > east else AllOf(bounds)


def _ordered(low_name: str, low: float | None, high_name: str, high: float | None) -> None:
    if low is not None and high is not None and low > high:
        raise BadUserInput(f"`{low_name}` must not be greater than `{high_name}`.")


def _possible(name: str, value: float | None) -> None:
    """Refuse a number that stores cannot compare: beyond 1e126, or too close to zero."""
    if value is None:
        return
    try:
        check_value(value)
    except InvalidItem as error:
        raise BadUserInput(f"`{name}` is outside of all possible values: choose a realistic one.") from error
