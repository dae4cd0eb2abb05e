"""The access patterns that read sightings: by area, category, place, earthquake, reporter, id, and by confidence.

None of them is a scan, and none reads more of what has expired than was reported since the longest life of a sighting.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from graph.core.clock import Clock
from graph.core.paging import Page
from graph.domains.sightings.categories import Categories
from graph.domains.sightings.entities import (
    AREA,
    BY_CONFIDENCE,
    HOURS,
    PROFILE,
    SEEN_CATEGORY,
    SIGHTING,
    SIGHTING_BY_ID,
    TALLY,
    TRENDING,
)
from graph.domains.sightings.iso import iso_of
from graph.domains.sightings.model import Profile, Sighting, documented_key, node_key
from graph.domains.sightings.selection import SightingSelection
from graph.domains.sightings.slugs import slug_in_key, spellings_of
from graph.domains.sightings.tiers import TrustTier
from graph.store.between import Between, ItemsFound, Reader, page_between
from graph.store.client_input import find, possible_key
from graph.store.conditions import Compare
from graph.store.contract import Database
from graph.store.entity import Item
from graph.store.merging import MergedPartitions
from graph.store.ordering import PageRequest
from graph.store.query import Needed, Query
from graph.store.records import Records
from graph.store.rows import values_of
from graph.store.time_walk import SOME, Walk
from graph.work.account import charge_rows, give_way

IN_ORDER = ("reportedAt", "sightingId")
HOUR_S = 3600
LONGEST_WINDOW_S = 86_400
MOST_SEEN = 100  # categories of other programs


@dataclass(frozen=True, slots=True)
class Trend:
    """The active sightings of a category that were reported since a time."""

    category: str
    since: int  # epoch seconds, a whole hour
    count: int


@dataclass(frozen=True, slots=True)
class Sightings:
    """The active sightings."""

    database: Database
    clock: Clock
    categories: Categories
    longest_s: int  # the longest time that a sighting is active, seconds

    async def page(self, selection: SightingSelection, request: PageRequest) -> Page[Sighting]:
        """A page of the selected sightings, newest first.

        Raises:
            QueryTooComplex: The operation in progress may not read so many sightings.
        """
        categories = await self._categories() if selection.is_of_all_categories else ()
        source = selection.source(categories, await self._partitions_of(selection.areas or ()))
        first, last = selection.reported
        query = Query(
            entity=source.entity,
            index=source.index,
            partitions=source.partitions,
            between=(max(self._since, first or ""), last),
            attributes=self._read_with(request.attributes),
        )
        keep = selection.keep(source)
        merged = MergedPartitions(self.database, query, keep, order=IN_ORDER)

        async def read(size: int, within: Between, *, forward: bool) -> ItemsFound:
            found = await merged.read(size, within, forward=forward)
            return found._replace(items=await self._with_tiers(found.items, request.attributes))

        def to_count() -> list[Reader]:
            alone = replace(query, attributes=self._read_with(frozenset()))
            return [Reader(MergedPartitions(self.database, alone, keep, order=IN_ORDER).read, merged.place_of)]

        return await page_between(
            read,
            request.paging,
            forward=False,
            place_of=merged.place_of,
            record_of=Sighting.reading(request.attributes),
            to_count=to_count,
        )

    async def by_confidence(self, category: str, since: int, request: PageRequest) -> Page[Sighting]:
        """A page of a category's sightings that were reported since a time, the most trusted first.

        A cursor of any category suits all of them.

        Args:
            since: epoch seconds.
        """
        query = self._ranked([category], since, request.attributes)
        return await Walk(self.database, query).page(
            request.paging,
            forward=False,
            place_of=lambda place: {**place, "category": category},
            record_of=BY_CONFIDENCE.record_class(Sighting).reading(request.attributes),
        )

    async def most_trusted(
        self, categories: Iterable[str], first: tuple[int, PageRequest]
    ) -> Mapping[str, Page[Sighting]]:
        """Category → its first page of `by_confidence`, which takes the same time and request."""
        since, request = first
        names, size, attributes = list(dict.fromkeys(categories)), request.paging.size, request.attributes
        query = replace(self._ranked(names, since, attributes), forward=False)
        await charge_rows(tested=SOME * len(query.partitions))
        await give_way()
        record = BY_CONFIDENCE.record_class(Sighting).reading(attributes)
        return {
            name: Page(
                records=Records(record, items[:size]),
                partitions=1,
                backward=False,
                has_more=len(items) > size,
                has_behind=False,
            )
            for name, items in zip(names, await self.database.first_of_each(query, size + 1), strict=True)
        }

    def _ranked(self, categories: Iterable[str], since: int, attributes: Needed) -> Query:
        return Query(
            entity=SIGHTING_BY_ID,
            index=TRENDING,
            partitions=[(category,) for category in categories],
            between=(self._now() + 1, None),  # what would have lost all confidence by now has expired
            where=Compare("reportedAt", ">=", iso_of(since)),
            attributes=self._read_with(attributes),
        )

    async def trends(self, window_s: int) -> list[Trend]:
        """The number of active sightings of each category, the greatest first. No sighting is read for it.

        Args:
            window_s: 1 … 86,400 seconds. The window begins at a whole hour, so it may be up to an hour longer.
        """
        now = self._now()
        since = (now - window_s) // HOUR_S * HOUR_S
        hours = _hours_between(since, now)
        names = await self._categories()
        partitions = [(name,) for name in sorted(names)]
        tallies = await self.database.query(
            Query(entity=TALLY, partitions=partitions, between=(now + 1, None), attributes=frozenset(hours))
        )
        await charge_rows(read=len(tallies.items))
        counts = dict.fromkeys(names, 0)
        for category, *numbers in values_of(tallies.items, ("category", *hours)):
            counts[category] += sum(filter(None, numbers))
        trends = [Trend(category, since, count) for category, count in counts.items()]
        return sorted(trends, key=lambda trend: -trend.count)

    async def by_id(self, ids: Iterable[str], attributes: Needed = None) -> Mapping[str, Sighting]:
        """The active ones of these sightings, by the keys of their global ids or their own ids."""
        documented = {key: parts for key in set(ids) if (parts := documented_key(key))}
        found = await find(self.database, Sighting, set(ids) - documented.keys(), self._read_with(attributes))
        keys = {each.values for parts in documented.values() if (each := possible_key(SIGHTING, *parts))}
        items = await self.database.items_at(SIGHTING, keys, attributes=self._read_with(attributes)) if keys else ()
        record = Sighting.reading(attributes)
        for item in await self._with_tiers(items, attributes):
            if item["reportedAt"] >= self._since:
                found[node_key(item)] = record(item)
        return found

    def _read_with(self, attributes: Needed) -> Needed:
        """The attributes with those that a global id is made of, and with what other programs' sightings need."""
        if attributes is None:
            return None
        # What nobody needs is not checked. So these show that a sighting is broken, whatever is needed of it.
        foreign = {"userId", "category", "expiresAt", "confirmationCount"} if self.database.other_writers else set()
        return attributes | {"areaSlug", "reportedAt"} | foreign

    async def _with_tiers(self, items: Sequence[Item], attributes: Needed) -> Sequence[Item]:
        """Sightings, those without a tier of their own with that of their reporter's profile."""
        if self.database.other_writers is None or (attributes is not None and "reporterTier" not in attributes):
            return items
        users = {item["userId"] for item in items if "userId" in item and "reporterTier" not in item}
        if not users:
            return items
        profiles = await self.database.get_many({PROFILE.key_for(user_id) for user_id in users})
        tiers = {key.values[0]: Profile(item).tier.value for key, item in profiles.items()}
        return [{"reporterTier": tiers.get(item.get("userId"), TrustTier.BRONZE.value), **item} for item in items]

    async def _categories(self) -> Sequence[str]:
        """All categories that sightings may have."""
        names = self.categories.names
        if self.database.other_writers is None:
            return names
        seen = await self.database.query(Query(entity=SEEN_CATEGORY, limit=MOST_SEEN))
        return list(dict.fromkeys([*names, *(item["category"] for item in seen.items)]))

    async def _partitions_of(self, areas: Sequence[str]) -> Callable[[str], Iterable[str]]:
        """What finds how keys name these areas."""
        if self.database.other_writers is None:
            return lambda area: (slug_in_key(area),)
        keys = {each for area in areas if (each := possible_key(AREA, slug_in_key(area)))}
        items = await self.database.get_many(keys) if keys else {}
        noted = {item["areaSlug"]: (item["name"], *item.get("spellings", ())) for item in items.values()}
        return lambda area: [*spellings_of(area), *noted.get(slug_in_key(area), ())]

    @property
    def _since(self) -> str:
        """When the oldest active sighting may have been reported."""
        return iso_of(self._now() - self.longest_s)

    def _now(self) -> int:
        return self.clock() // 1000


def _hours_between(since: int, now: int) -> list[str]:
    """The hours of the day from one time to another, each once. Active sightings are less than a day old."""
    first, last = since // HOUR_S, now // HOUR_S
    return list(dict.fromkeys(HOURS[hour % len(HOURS)] for hour in range(max(first, last - 23), last + 1)))
