"""The access patterns of area watches: the areas and categories whose sightings a user wants to hear of."""

from collections.abc import AsyncGenerator, Collection, Mapping, Sequence
from dataclasses import dataclass

from graph.core.clock import Clock
from graph.core.errors import NotThere, TooMany
from graph.core.paging import Page
from graph.core.uuid7 import uuid7
from graph.domains.area_watches.entities import AREA_WATCH, AREA_WATCHER, AREA_WATCHES, AREA_WATCHES_MADE, FOREIGN
from graph.domains.area_watches.model import AreaWatch, unique_id
from graph.domains.sightings.categories import ALL
from graph.domains.sightings.model import AREA_SLUG, CATEGORY
from graph.domains.sightings.slugs import slug_in_key
from graph.feed.sequence import ChangeSequence
from graph.store.between import Between
from graph.store.client_input import check_attribute
from graph.store.conditions import unchanged
from graph.store.contract import Database, Delete, Put, Update
from graph.store.entity import Item, Key
from graph.store.merging import MergedPartitions
from graph.store.ordering import PageRequest
from graph.store.query import Needed, Query
from graph.store.rounds import until_applied

READ_AT_ONCE = 100


@dataclass(frozen=True, slots=True)
class AreaWatches:
    """The stored watches."""

    database: Database
    clock: Clock
    sequence: ChangeSequence  # of the changes of sightings
    most: int  # of one user

    async def page(self, user_id: str, request: PageRequest) -> Page[AreaWatch]:
        """A page of a user's watches, in the order of areas and categories."""
        return await AREA_WATCHES.page(self.database, request, [(user_id,)], AreaWatch)

    async def of_user(self, user_id: str, attributes: Needed = None) -> list[AreaWatch]:
        """All watches of a user."""
        query = Query(entity=AREA_WATCH, partitions=((user_id,),), attributes=attributes)
        return list(map(AreaWatch.reading(attributes), (await self.database.query(query)).items))

    async def by_id(
        self, user_id: str, watch_ids: Collection[str], attributes: Needed = None
    ) -> Mapping[str, AreaWatch]:
        """The existing watches of a user with these ids. All of the user's are read, of which there are few."""
        watches = await self.of_user(user_id, attributes)
        return {each.watch_id: each for each in watches if each.watch_id in watch_ids}

    @until_applied("other watches of the same user kept coming first")
    async def create(self, user_id: str, area_slug: str, category: str = ALL) -> AreaWatch | None:
        """Watch an area for sightings that are stored from now on. If the user does so already, returns that watch.

        Args:
            category: one of the service's, or `ALL`.

        Raises:
            BadUserInput: A value is impossible.
            TooMany: The user has as many as allowed.
        """
        check_attribute(AREA_SLUG, area_slug)
        check_attribute(CATEGORY, category)
        key = AREA_WATCHES_MADE.key_for(user_id)
        made = await self.database.get(key)  # the write is refused if the user makes another watch from here on
        one_more = Update(key, add={"number": 1}, condition=unchanged(made, "number"))
        watches = await self.of_user(user_id)
        for watch in watches:
            if (watch.area_slug, watch.category) == (area_slug, category):
                return watch
        if len(watches) >= self.most:
            raise TooMany(self.most, "watched areas")
        now = self.clock()
        item: Item = {
            "watchId": uuid7(now),
            "userId": user_id,
            "areaSlug": area_slug,
            "category": category,
            "since": await self.sequence.latest(),
            "createdAt": now,
        }
        refused = await self.database.transact([Put(AREA_WATCH, item), Put(AREA_WATCHER, item), one_more])
        return None if refused else AreaWatch(item)

    async def delete(self, user_id: str, watch_id: str) -> None:
        """Delete a watch.

        Raises:
            NotThere: The user has no such watch.
        """
        await self._delete(user_id, watch_id)

    @until_applied("another process kept changing the watch")
    async def _delete(self, user_id: str, watch_id: str) -> bool | None:
        watch = (await self.by_id(user_id, [watch_id])).get(watch_id)
        if watch is None:
            raise NotThere("watchId", "watch")
        watcher = AREA_WATCHER.key_for(watch.area_slug, watch.category, unique_id(watch.item))
        beside = [] if await self.database.get(watcher) is None else [Delete(watcher)]  # none before it is adopted
        as_read = unchanged(watch.item, "since")
        return not await self.database.transact([Delete(AREA_WATCH.key_of(watch.item), as_read), *beside]) or None

    async def adopt(self, watches: Sequence[Item]) -> None:
        """Adopt watches that another program has made: they want the sightings that are stored from now on."""
        for watch in watches:
            await self._adopt(AREA_WATCH.key_of(watch))

    @until_applied("another process kept changing the watch")
    async def _adopt(self, key: Key) -> bool | None:
        found = await self.database.get(key)
        if found is None or found["since"] >= 0:
            return False
        own = {"since": await self.sequence.latest(), "createdAt": found.get("createdAt", self.clock())}
        unique = {"areaSlug": slug_in_key(found["areaSlug"]), "watchId": unique_id(found)}
        in_key = {"areaInKey": found["areaSlug"], "idInKey": found["watchId"]}
        watcher = Put(AREA_WATCHER, {**found, **own, **unique, **in_key})
        return not await self.database.transact([Update(key, set=own, condition=FOREIGN), watcher]) or None

    async def matching(self, area_slug: str, category: str, after: str = "") -> AsyncGenerator[AreaWatch, None]:
        """The watches of all users that a sighting concerns, in order of their ids.

        Args:
            category: of the sighting.
            after: the id behind which this begins; empty for the first.
        """
        query = Query(entity=AREA_WATCHER, partitions=[*dict.fromkeys([(area_slug, category), (area_slug, ALL)])])
        watches = MergedPartitions(self.database, query, order=("watchId",))
        more = True
        while more:
            items, more, _ = await watches.read(READ_AT_ONCE, Between((after,) if after else None), forward=True)
            for item in await self._existing(items):
                yield AreaWatch(item)
            after = items[-1]["watchId"] if items else after

    async def _existing(self, watchers: Sequence[Item]) -> Sequence[Item]:
        """Those whose watch is still there: another program may have deleted it."""
        if self.database.other_writers is None:
            return watchers
        keys = [
            AREA_WATCH.key_for(
                item["userId"],
                item.get("areaInKey", item["areaSlug"]),
                item["category"],
                item.get("idInKey", item["watchId"]),
            )
            for item in watchers
        ]
        there = await self.database.get_many(keys, attributes=("watchId",)) if keys else {}
        return [item for item, key in zip(watchers, keys, strict=True) if key in there]
