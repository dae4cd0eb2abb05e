"""A selection of sightings: a filter's values, and where the sightings are found that it admits.

    by an earthquake or a user → their lists      near a point → the lists of the cells that the circle touches
    by areas → the areas' partitions              otherwise → the partitions of the categories

Other programs name an area in a key otherwise than by its slug, so an area may have several partitions.

What the partitions do not say is tested on the sightings that are read.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from graph.core.days import LAST_MS
from graph.core.errors import BadUserInput
from graph.core.times import millis_of, utc_time
from graph.domains.sightings.entities import LISTED_SIGHTING, SIGHTING, TRENDING
from graph.domains.sightings.grid import KM10, KM100, KM1000
from graph.domains.sightings.iso import iso_of
from graph.domains.sightings.slugs import slug_in_key
from graph.geography.areas import Circle
from graph.store.conditions import OneOf, predicate
from graph.store.design import Index
from graph.store.entity import Entity, Item
from graph.store.query import Partition
from graph.store.time_walk import Keep, keep_all

MOST_CELLS = 32  # that a page is read from; each takes a query
LAST_S = LAST_MS // 1000
MOST_AREAS = 100  # that a filter names
MOST_EVENTS = 20
GRIDS = (KM10, KM100, KM1000)  # whose cells have lists, the finest first


def list_of_event(event_id: str) -> str:
    """The list of the sightings whose reporters name an earthquake."""
    return f"event:{event_id}"


def list_of_user(user_id: str) -> str:
    """The list of what a user has reported."""
    return f"user:{user_id}"


def lists_of_position(lat: float, lon: float) -> list[str]:
    """The lists of the cells that a position lies in."""
    return [grid.cell(lat, lon) for grid in GRIDS]


@dataclass(frozen=True, slots=True)
class SightingSource:
    """Partitions that hold all selected sightings."""

    entity: Entity
    index: Index | None
    partitions: list[Partition]
    by: str  # the attribute that they are named by


@dataclass(frozen=True, slots=True)
class SightingSelection:
    """The sightings of a query. None means no condition."""

    areas: tuple[str, ...] | None = None  # names or slugs
    categories: tuple[str, ...] | None = None
    near: Circle | None = None
    event_ids: tuple[str, ...] | None = None  # of earthquakes
    user_id: str | None = None
    start_ms: int | None = None  # of the report, epoch milliseconds, inclusive
    end_ms: int | None = None

    def __post_init__(self) -> None:
        if self.start_ms is not None and self.end_ms is not None and self.start_ms > self.end_ms:
            raise BadUserInput("`startTime` must not be greater than `endTime`.")

    @property
    def reported(self) -> tuple[str | None, str | None]:
        """Bounds of `reportedAt` as texts, a little wider than the times: other programs write fractions, too."""
        first = None if self.start_ms is None else iso_of(max(self.start_ms // 1000 - 1, 0))
        return first, None if self.end_ms is None else iso_of(min(max(self.end_ms // 1000 + 60, 0), LAST_S))

    @property
    def is_of_all_categories(self) -> bool:
        """Whether the sightings are read from the partitions of all categories."""
        by_list = (
            self.user_id is not None or self.event_ids is not None or (self.near and _cells(self.near) is not None)
        )
        return not by_list and self.areas is None and self.categories is None

    def source(self, categories: Iterable[str], partitions_of: Callable[[str], Iterable[str]]) -> SightingSource:
        """Where the sightings are read.

        Args:
            categories: all of them, if it is of all categories.
            partitions_of: the names in keys of an area that has a name or slug.
        """
        if self.user_id is not None:
            return _lists("userId", [list_of_user(self.user_id)])
        if self.event_ids is not None:
            return _lists("eventId", map(list_of_event, self.event_ids))
        if self.near is not None and (cells := _cells(self.near)) is not None:
            return _lists("cell", cells)
        if self.areas is not None:
            named = (each for area in self.areas for each in partitions_of(area))
            return SightingSource(SIGHTING, None, _partitions(named), "areaSlug")
        names = categories if self.categories is None else self.categories
        return SightingSource(SIGHTING, TRENDING, _partitions(names), "category")

    def keep(self, source: SightingSource | None = None) -> Keep | None:
        """What is tested on each sighting, or of those that are read from a source."""
        by = source and source.by
        named = {"category": self.categories, "eventId": self.event_ids}
        keeps = [
            Keep(predicate(OneOf(attribute, values)), frozenset({attribute}))
            for attribute, values in named.items()
            if values is not None and attribute != by
        ]
        if self.areas is not None and by != "areaSlug":
            slugs = frozenset(map(slug_in_key, self.areas))
            keeps.append(Keep(lambda item: slug_in_key(item["areaSlug"]) in slugs, frozenset({"areaSlug"})))
        if circle := self.near:
            keeps.append(Keep(lambda item: "cell" in item and circle.holds(item), frozenset({"cell", "lat", "lon"})))
        if (self.start_ms, self.end_ms) != (None, None):
            keeps.append(Keep(self._is_reported_in_time, frozenset({"reportedAt"})))
        return keep_all(keeps)

    def _is_reported_in_time(self, item: Item) -> bool:
        time_ms = millis_of(utc_time(item["reportedAt"]))
        return (self.start_ms is None or self.start_ms <= time_ms) and (self.end_ms is None or time_ms <= self.end_ms)


def _partitions(names: Iterable[str]) -> list[Partition]:
    return [(name,) for name in dict.fromkeys(names)]


def _cells(circle: Circle) -> list[str] | None:
    """The cells of the finest grid of which the circle touches few enough; None if there is none."""
    return next((cells for grid in GRIDS if (cells := grid.cells_around(circle, MOST_CELLS)) is not None), None)


def _lists(by: str, names: Iterable[str]) -> SightingSource:
    return SightingSource(LISTED_SIGHTING, None, _partitions(names), by)
