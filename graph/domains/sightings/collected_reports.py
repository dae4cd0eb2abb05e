"""Reads the collected answers: of those who name an earthquake, and of a region's others within some minutes."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Self

from graph.domains.sightings.entities import ANSWERS, FELT_REPORTS
from graph.domains.sightings.felt_reports import place_of_event, place_of_region
from graph.domains.sightings.grid import KM1
from graph.domains.sightings.iso import minute_of, seconds_of
from graph.domains.sightings.questionnaire import Community
from graph.store.contract import Database
from graph.store.entity import Item
from graph.store.query import UNBOUNDED, Bounds, Query
from graph.work.account import charge_rows

AT_ONCE = 500  # items, in some milliseconds
MOST_ITEMS = 10_000  # of one reading


class FeltAt(NamedTuple):
    """Where and when somebody reports."""

    lat: float  # degrees north
    lon: float  # degrees east
    time: float  # epoch seconds


class Collected(NamedTuple):
    """The answers from a cell of 1 km within a minute."""

    cell: str
    felt_at: FeltAt  # the cell's middle, and the minute's beginning
    community: Community
    place: str  # where they are stored

    @classmethod
    def of(cls, item: Item) -> Self:
        """Those of an item."""
        given = {name: item[each] for name in ANSWERS if (each := f"{name}Given") in item}
        sums = {name: item[f"{name}Sum"] for name in given}
        community = Community(item["reports"], given, sums)
        felt_at = FeltAt(*KM1.centre(item["cell"]), seconds_of(item["minute"]))
        return cls(item["cell"], felt_at, community, item["place"])


@dataclass(frozen=True, slots=True)
class Found:
    """Answers, perhaps not all: of each place those that came first, one place after the other."""

    reports: Sequence[Collected]
    is_complete: bool


@dataclass(frozen=True, slots=True)
class CollectedReports:
    """The stored answers of everybody."""

    database: Database
    most: int = MOST_ITEMS  # to read at a time; each has the answers from a cell of 1 km within a minute

    async def naming(self, event_ids: Iterable[str]) -> Found:
        """The answers of those who name an earthquake by one of its ids."""
        return await self._read(map(place_of_event, event_ids))

    async def naming_none(self, cells: Collection[str], first_ms: int, last_ms: int) -> Found:
        """The answers of those who name none, from the minute of one time to that of another.

        Args:
            cells: of 1,000 km.
            first_ms: epoch milliseconds.
            last_ms: epoch milliseconds, at most an hour later.
        """
        first, last = minute_of(first_ms // 1000), minute_of(last_ms // 1000)
        places = [place_of_region(cell, minute) for minute in (first, last) for cell in cells]
        return await self._read(places, ((first,), (last,)))

    async def _read(self, places: Iterable[str], between: Bounds = UNBOUNDED) -> Found:
        partitions = [(place,) for place in dict.fromkeys(places)]
        query = Query(entity=FELT_REPORTS, partitions=partitions, between=between, limit=AT_ONCE)
        reports: list[Collected] = []
        async for items in self.database.pages(query):
            # There are seldom any, so what was read is charged for when it is known.
            await charge_rows(read=len(items))
            reports += map(Collected.of, items)
            if len(reports) > self.most:
                break
        return Found(reports[: self.most], is_complete=len(reports) <= self.most)
