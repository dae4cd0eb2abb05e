"""Counts the events of a day anew, where its summary does not count them: another program wrote or removed some."""

from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import replace

from graph.domains.earthquake_events import TIME_ORDERED
from graph.domains.earthquakes.entities import EVENT, REVISION
from graph.domains.earthquakes.facets import ATTRIBUTES, name_of_year
from graph.domains.earthquakes.model import day_of
from graph.domains.earthquakes.summaries.summary import Tally, day_key, facets_key, year_of
from graph.store.conditions import unchanged
from graph.store.contract import Database, Update
from graph.store.entity import Item, Key
from graph.store.query import Query

COUNTED_ATTRIBUTES = ATTRIBUTES | {"dayBucket", "mag"}
ITEMS_AT_ONCE = 500
_BINS = ("bin", "edge", "past", "gone")


async def recount(database: Database, day: str, event_ids: Collection[str] = ()) -> bool:
    """Make the summaries of a day, and of its year, agree with its events.

    Args:
        day: `YYYYMMDD`.
        event_ids: events that the index may not have yet.

    Returns:
        Whether it is done. If not, an ingest was faster.
    """
    key = day_key(day)
    facets = facets_key(key)
    before = await database.get_many([key, facets])
    events: dict[str, Item] = {}
    tally = Tally()
    query = Query(
        entity=EVENT,
        index=TIME_ORDERED,
        partitions=[(day,), (f"DELETED#{day}",)],
        attributes=COUNTED_ATTRIBUTES,
        limit=ITEMS_AT_ONCE,
    )
    for entity in (EVENT, REVISION):
        async for items in database.pages(replace(query, entity=entity)):
            for item in items:
                if entity is EVENT:
                    events[item["eventId"]] = item
                else:
                    tally.add_superseded(item)
    known = [EVENT.key_for(event_id) for event_id in event_ids]
    found = await database.get_many(known, attributes=COUNTED_ATTRIBUTES | {"eventId"}) if known else {}
    events |= {item["eventId"]: item for item in found.values()}
    for item in events.values():
        if day_of(item["dayBucket"]) == day:
            tally.add(item)
    corrected = corrections(key, tally.counts(), before)
    if not corrected:
        return True
    of_day, of_facets = corrected
    year = year_of(key)
    added = _differences(of_day.set, before.get(key, {}))
    names = Counter[str]()
    for name, number in _differences(of_facets.set, before.get(facets, {})).items():
        names[name_of_year(name)] += number
    of_year = [Update(year, add={**added, "revision": 1}), Update(facets_key(year), add={**names, "revision": 1})]
    return not await database.transact([*corrected, *of_year])


def corrections(key: Key, counted: Mapping[Key, Mapping[str, int]], stored: Mapping[Key, Item]) -> list[Update]:
    """The updates that correct a summary and its facets; none if both are right. Empty counts become 0."""
    facets = facets_key(key)
    of_summary, of_facets = stored.get(key, {}), stored.get(facets, {})
    summary = _wanted({"events": 0, **counted.get(key, {})}, of_summary)
    names = _wanted(counted.get(facets, {}), of_facets)
    revision = of_summary.get("revision", 0)
    if (
        of_facets.get("revision") == of_summary.get("revision")
        and summary.items() <= of_summary.items()
        and names.items() <= of_facets.items()
    ):
        return []
    return [
        Update(key, set=summary | {"revision": revision + 1}, condition=unchanged(of_summary, "revision")),
        Update(facets, set=names | {"revision": revision + 1}, condition=unchanged(of_facets, "revision")),
    ]


def _wanted(counted: Mapping[str, int], stored: Item) -> dict[str, int]:
    """Every count that there is or should be."""
    counts = {name for name in stored if name == "events" or name.startswith(_BINS) or ":" in name}
    return {name: counted.get(name, 0) for name in counts | counted.keys()}


def _differences(counts: Mapping[str, int], before: Item) -> dict[str, int]:
    """By how much each count changes. `events` is there in any case, since a summary has it."""
    changed = {name: number - int(before.get(name, 0)) for name, number in counts.items() if name != "revision"}
    return {name: number for name, number in changed.items() if number or name == "events"}
