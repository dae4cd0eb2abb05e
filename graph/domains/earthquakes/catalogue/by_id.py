"""Finds events by any id: their own, an alias, or that of an event that turned out to be another one."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from graph.domains.earthquakes.entities import ALIAS, EVENT
from graph.domains.earthquakes.model import day_of, possible_id
from graph.domains.earthquakes.revisions.merges import follow_merges
from graph.domains.earthquakes.selection import Selection
from graph.store.contract import Database
from graph.store.entity import Item
from graph.store.query import Needed
from graph.work.account import charge_rows

PLACE = frozenset({"eventId", "dayBucket", "mergedInto"})


async def find(database: Database, event_id: str, attributes: Needed = None) -> Item | None:
    """The event with this id, or else the one that it is an alias of."""
    item = await database.get(EVENT.key_for(event_id), attributes=attributes)
    if item is not None or (alias := await database.get(ALIAS.key_for(event_id))) is None:
        return item
    read = partial(_read, database, None if attributes is None else attributes | {"mergedInto"})
    return await follow_merges(await read(alias["eventId"]), read)


async def locate(database: Database, selection: Selection) -> Selection:
    """The selection, with the days of the events that it names by their ids, and what these turned out to be."""
    if selection.nested:
        any_of = tuple([await locate(database, each) for each in selection.any_of])
        none_of = await locate(database, selection.none_of) if selection.none_of else None
        selection = replace(selection, any_of=any_of, none_of=none_of)
    if selection.event_ids is None:
        return selection
    ids = [each for each in selection.event_ids if possible_id(each)]
    await charge_rows(read=len(ids))
    found = await _stored(database, ids)
    aliases = await database.get_many([ALIAS.key_for(each) for each in ids if each not in found])
    found |= await _stored(database, [alias["eventId"] for alias in aliases.values()])
    for item in list(found.values()):
        if (end := await follow_merges(item, partial(_read, database, PLACE))) is not None:
            found[end["eventId"]] = end
    days = frozenset(day_of(item["dayBucket"]) for item in found.values())
    return replace(selection, event_ids=tuple(found), days=days)


async def _stored(database: Database, event_ids: Sequence[str]) -> dict[str, Item]:
    """The places of the existing events, by their own ids."""
    items = await database.get_many([EVENT.key_for(each) for each in event_ids], attributes=PLACE)
    return {item["eventId"]: item for item in items.values()}


async def _read(database: Database, attributes: Needed, event_id: str) -> Item | None:
    return await database.get(EVENT.key_for(event_id), attributes=attributes)
