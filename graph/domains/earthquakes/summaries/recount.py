"""Counts events anew, where summaries are wrong: another program replaced, changed or removed some.

Only events that have a number are counted, see `summary`. What another program wrote is adopted before.
Ingests may go on meanwhile. A summary is rewritten only if it has not changed since its events were counted. If an
ingest was faster, everything is counted again.
"""

from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace

from graph.domains.earthquake_events import TIME_ORDERED
from graph.domains.earthquakes.entities import (
    DAY_FACETS,
    DAY_SUMMARY,
    EVENT,
    EVENT_SEQUENCE,
    REVISION,
    YEAR_FACETS,
    YEAR_SUMMARY,
)
from graph.domains.earthquakes.facets import ATTRIBUTES, name_of_year
from graph.domains.earthquakes.model import day_of, is_foreign
from graph.domains.earthquakes.summaries.state import forget_differences
from graph.domains.earthquakes.summaries.summary import SUMMARIES, Tally, day_key, facets_key, year_of
from graph.store.conditions import Present, unchanged
from graph.store.contract import Database, Update
from graph.store.entity import Item, Key
from graph.store.query import Query
from graph.store.rounds import rounds

COUNTED_ATTRIBUTES = ATTRIBUTES | {"dayBucket", "mag", "arrival"}
ITEMS_AT_ONCE = 500
_BINS = ("bin", "edge", "past", "gone")


async def recount(database: Database, day: str, event_ids: Collection[str] = ()) -> bool:
    """Make the summaries of a day, and of its year, agree with its events.

    Args:
        day: `YYYYMMDD`.
        event_ids: events that the index may not have yet, as it may not have an event's number.

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
    unsure = {*event_ids, *(event_id for event_id, item in events.items() if is_foreign(item))}
    keys = list(EVENT.keys_for(unsure))
    found = await database.get_many(keys, attributes=COUNTED_ATTRIBUTES | {"eventId"}) if keys else {}
    events |= {item["eventId"]: item for item in found.values()}
    for item in events.values():
        if day_of(item["dayBucket"]) == day and not is_foreign(item):
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
    return not await database.transact([*corrected, *of_year, EVENT_SEQUENCE.new_state()])


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


ROUNDS = 10  # each counts every event; a permanent ingest must not keep this going for ever


@dataclass(frozen=True, slots=True)
class RebuildReport:
    """The result of a rebuild."""

    events: int  # in the catalogue
    days: int  # that have events
    corrected: int  # summaries that were wrong or missing


async def rebuild_summaries(database: Database) -> RebuildReport:
    """Make every summary agree with the events that have a number.

    Raises:
        DatabaseUnavailable: The store does not answer, or other writers kept changing the summaries.
    """
    corrected = 0
    others = rounds("other writers kept changing the summaries: run this again when fewer ingest", ROUNDS)
    while True:
        next(others)
        before = {
            entity.key_of(item): item
            for entity in (DAY_SUMMARY, YEAR_SUMMARY, DAY_FACETS, YEAR_FACETS)
            async for item in database.scan(entity)
        }
        tally = Tally()
        async for item in database.scan(EVENT, attributes=COUNTED_ATTRIBUTES):
            if not is_foreign(item):
                tally.add(item)
        async for item in database.scan(REVISION, attributes=COUNTED_ATTRIBUTES):
            tally.add_superseded(item)
        counts = tally.counts()
        periods = {key for key in (*counts, *before) if key.entity in SUMMARIES}
        wrong = {key: found for key in periods if (found := corrections(key, counts, before))}
        applied = [not await database.transact([*found, EVENT_SEQUENCE.new_state()]) for found in wrong.values()]
        for year in {year_of(key) for key in wrong}:
            # Processes that have cached the year's days, some perhaps uncorrected, must read them again.
            present = Present("events")
            of_year = Update(year, add={"revision": 1}, condition=present)
            of_facets = Update(facets_key(year), add={"revision": 1})
            await database.transact([of_year, of_facets, EVENT_SEQUENCE.new_state()])
        corrected += sum(applied)
        if all(applied):
            await forget_differences(database)
            days = [of["events"] for key, of in counts.items() if key.entity is DAY_SUMMARY]
            days = [events for events in days if events]
            return RebuildReport(sum(days), len(days), corrected)
