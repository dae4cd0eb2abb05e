"""The areas that have active sightings. An area is active as long as the last of its sightings to expire.

Each change of an area's sightings counts in the area's item. If one is stored while a sighting is hidden, the hiding is
tried again, since the other sighting may keep the area active.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from graph.core.clock import Clock
from graph.core.paging import Page
from graph.domains.sightings.areas import NamedArea
from graph.domains.sightings.entities import AREA, AREAS, SIGHTING
from graph.domains.sightings.iso import iso_of
from graph.domains.sightings.model import ActiveArea
from graph.domains.sightings.slugs import slug_in_key
from graph.store.conditions import Compare, unchanged
from graph.store.contract import Action, Database, Put, Update
from graph.store.entity import Item, Key
from graph.store.ordering import PageRequest
from graph.store.query import Query

READ_AT_ONCE = 1000
MOST_SPELLINGS = 16  # of an area in keys, beside its slug


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
        optional = area.centre._asdict() if area.centre else {}
        if sighting["areaSlug"] != area.slug:
            optional["spellings"] = [sighting["areaSlug"]]
        new = {"areaSlug": area.slug, "name": area.name, "expiresAt": sighting["expiresAt"], "changes": 1, **optional}
        return [Put(AREA, new, if_absent=True)]

    async def with_longer(self, sighting: Item) -> list[Action]:
        """The changes for a sighting that expires later than before, unless its area ends earlier meanwhile."""
        item = await self.database.get(_key_of(sighting))
        return [_extended(item, sighting)] if item else []

    async def without(self, sighting: Item) -> list[Action]:
        """The changes for a sighting that is hidden, if no other changes meanwhile: its area lasts as the others do."""
        item = await self.database.get(_key_of(sighting))
        if item is None:
            return []
        ends = item["expiresAt"]
        if ends <= sighting["expiresAt"]:
            ends = await self._last_expiry(_names_of(item), sighting["sightingId"])
        as_read = unchanged(item, "changes")
        return [Update(AREA.key_of(item), set={"expiresAt": ends}, add={"changes": 1}, condition=as_read)]

    async def _last_expiry(self, names: Iterable[str], without: str) -> int:
        """When the last of an area's sightings expires, but for one; now without any."""
        now = self.clock() // 1000
        last: int = now
        query = Query(
            entity=SIGHTING,
            partitions=[(name,) for name in names],
            between=(iso_of(now - self.longest_s), None),
            attributes=frozenset({"expiresAt"}),
            limit=READ_AT_ONCE,
        )
        async for items in self.database.pages(query):
            last = max([last, *(item["expiresAt"] for item in items if item["sightingId"] != without)])
        return last


def _key_of(sighting: Item) -> Key:
    """The key of a sighting's area."""
    return AREA.key_for(slug_in_key(sighting["areaSlug"]))


def _names_of(area: Item) -> list[str]:
    """How keys of sightings name an area."""
    return [area["areaSlug"], *area.get("spellings", ())]


def _extended(item: Item, sighting: Item) -> Update:
    """The change by which an area lasts as long as a sighting, if it does not, and notes how that names it."""
    key, expires_at = AREA.key_of(item), sighting["expiresAt"]
    if (name := sighting["areaSlug"]) not in (known := _names_of(item)) and len(known) <= MOST_SPELLINGS:
        longer = {"expiresAt": max(expires_at, item["expiresAt"]), "spellings": [*known[1:], name]}
        return Update(key, set=longer, add={"changes": 1}, condition=unchanged(item, "changes"))
    if item["expiresAt"] >= expires_at:
        return Update(key, add={"changes": 1}, condition=Compare("expiresAt", ">=", expires_at))
    return Update(
        key, set={"expiresAt": expires_at}, add={"changes": 1}, condition=Compare("expiresAt", "<", expires_at)
    )
