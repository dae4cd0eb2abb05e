"""The areas that have active sightings. An area is active as long as the last of its sightings to expire.

Each change of an area's sightings counts in the area's item. If one is stored while a sighting is hidden, the hiding is
tried again, since the other sighting may keep the area active.
"""

from dataclasses import dataclass

from graph.core.clock import Clock
from graph.core.paging import Page
from graph.domains.sightings.areas import NamedArea
from graph.domains.sightings.entities import AREA, AREAS, SIGHTING
from graph.domains.sightings.iso import iso_of
from graph.domains.sightings.model import ActiveArea
from graph.store.conditions import Compare, unchanged
from graph.store.contract import Action, Database, Put, Update
from graph.store.entity import Item
from graph.store.ordering import PageRequest
from graph.store.query import Query

READ_AT_ONCE = 1000


@dataclass(frozen=True, slots=True)
class ActiveAreas:
    """The active areas."""

    database: Database
    clock: Clock
    longest_s: int  # the longest time that a sighting is active, seconds

    async def page(self, request: PageRequest) -> Page[ActiveArea]:
        """A page of the active areas. Those that stay so for longest come first."""
        return await AREAS.page(self.database, request, [()], ActiveArea)

    async def with_new(self, sighting: Item, area: NamedArea) -> list[Action]:
        """The changes for a new sighting in an area, unless the area ends earlier meanwhile."""
        item = await self.database.get(AREA.key_for(area.slug))
        if item:
            return [_extended(item, sighting)]
        centre = area.centre._asdict() if area.centre else {}
        new = {"areaSlug": area.slug, "name": area.name, "expiresAt": sighting["expiresAt"], "changes": 1, **centre}
        return [Put(AREA, new, if_absent=True)]

    async def with_longer(self, sighting: Item) -> list[Action]:
        """The changes for a sighting that expires later than before, unless its area ends earlier meanwhile."""
        item = await self.database.get(AREA.key_for(sighting["areaSlug"]))
        return [_extended(item, sighting)] if item else []

    async def without(self, sighting: Item) -> list[Action]:
        """The changes for a sighting that is hidden, if no other changes meanwhile: its area lasts as the others do."""
        item = await self.database.get(AREA.key_for(sighting["areaSlug"]))
        if item is None:
            return []
        ends = item["expiresAt"]
        if ends <= sighting["expiresAt"]:
            ends = await self._last_expiry(sighting["areaSlug"], sighting["sightingId"])
        as_read = unchanged(item, "changes")
        return [Update(AREA.key_of(item), set={"expiresAt": ends}, add={"changes": 1}, condition=as_read)]

    async def _last_expiry(self, slug: str, without: str) -> int:
        """When the last of an area's sightings expires, but for one; now without any."""
        now = self.clock() // 1000
        last: int = now
        query = Query(
            entity=SIGHTING,
            partitions=((slug,),),
            between=(iso_of(now - self.longest_s), None),
            attributes=frozenset({"expiresAt"}),
            limit=READ_AT_ONCE,
        )
        async for items in self.database.pages(query):
            last = max([last, *(item["expiresAt"] for item in items if item["sightingId"] != without)])
        return last


def _extended(item: Item, sighting: Item) -> Update:
    """The change by which an area lasts as long as a sighting, if it does not."""
    key, expires_at = AREA.key_of(item), sighting["expiresAt"]
    if item["expiresAt"] >= expires_at:
        return Update(key, add={"changes": 1}, condition=Compare("expiresAt", ">=", expires_at))
    return Update(
        key, set={"expiresAt": expires_at}, add={"changes": 1}, condition=Compare("expiresAt", "<", expires_at)
    )
