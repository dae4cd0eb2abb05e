"""Finds events by any id: their own, an alias, or that of an event that turned out to be another one."""

from collections.abc import Sequence
from dataclasses import replace

from graph.domains.earthquakes.entities import ALIAS, EVENT
from graph.domains.earthquakes.model import day_of, possible_id
from graph.domains.earthquakes.revisions.merges import follow_merges
from graph.domains.earthquakes.selection import Selection
from graph.store.contract import Database
from graph.store.entity import Item
from graph.work.account import charge_rows

PLACE = frozenset({"eventId", "dayBucket", "mergedInto"})


class EventsById:
    """The stored events by their ids."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def find(self, event_id: str, attributes: frozenset[str] | None = None) -> Item | None:
        """The event with this id, or else the one that it is an alias of.

        Args:
            attributes: the needed ones; None for all.
        """
        item = await self._database.get(EVENT.key_for(event_id), attributes=attributes)
        if item is not None or (alias := await self._database.get(ALIAS.key_for(event_id))) is None:
            return item
        needed = None if attributes is None else attributes | {"mergedInto"}
        return await self._end_of_merges(await self._read(alias["eventId"], needed), needed)

    async def locate(self, selection: Selection) -> Selection:
        """The selection, with the days of the events that it names by their ids, and what these turned out to be."""
        if selection.ids is None:
            return selection
        ids = [each for each in selection.ids if possible_id(each)]
        await charge_rows(read=len(ids))
        found = await self._stored(ids)
        aliases = await self._database.get_many([ALIAS.key_for(each) for each in ids if each not in found])
        found |= await self._stored([alias["eventId"] for alias in aliases.values()])
        for item in list(found.values()):
            if (end := await self._end_of_merges(item, PLACE)) is not None:
                found[end["eventId"]] = end
        days = frozenset(day_of(item["dayBucket"]) for item in found.values())
        return replace(selection, ids=tuple(found), days=days)

    async def _stored(self, event_ids: Sequence[str]) -> dict[str, Item]:
        """The places of the existing events, by their own ids."""
        items = await self._database.get_many([EVENT.key_for(each) for each in event_ids], attributes=PLACE)
        return {item["eventId"]: item for item in items.values()}

    async def _end_of_merges(self, item: Item | None, needed: frozenset[str] | None) -> Item | None:
        async def read(event_id: str) -> Item | None:
            return await self._read(event_id, needed)

        return await follow_merges(item, read)

    async def _read(self, event_id: str, needed: frozenset[str] | None) -> Item | None:
        return await self._database.get(EVENT.key_for(event_id), attributes=needed)
