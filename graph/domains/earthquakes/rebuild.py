"""Recomputes the summaries from the events, for a table that another writer filled.

Ingests may go on meanwhile. A summary is rewritten only if it has not changed since its events were
counted. If an ingest was faster, everything is counted again.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from graph.core.errors import DatabaseUnavailable
from graph.domains.earthquakes.entities import DAY_SUMMARY, EVENT, REVISION, YEAR_SUMMARY
from graph.domains.earthquakes.magnitudes import bin_of
from graph.domains.earthquakes.model import day_of, is_deleted, is_listed
from graph.domains.earthquakes.summaries import Alike, Counted, tally, year_of
from graph.domains.earthquakes.summary_state import forget_differences
from graph.store.conditions import Absent, Compare, Present
from graph.store.contract import Database, Update
from graph.store.entity import Entity, Item, Key

ROUNDS = 10  # each counts every event; a permanent ingest must not keep this going for ever


@dataclass(frozen=True, slots=True)
class RebuildReport:
    """The result of a rebuild."""

    events: int  # in the catalogue
    days: int  # that have events
    corrected: int  # summaries that were wrong or missing


async def rebuild_summaries(database: Database) -> RebuildReport:
    """Make every summary agree with the events.

    Raises:
        DatabaseUnavailable: The store does not answer, or other writers kept changing the summaries.
    """
    corrected = 0
    for _ in range(ROUNDS):
        before = {
            summary.key_of(item): item
            for summary in (DAY_SUMMARY, YEAR_SUMMARY)
            async for item in database.scan(summary)
        }
        alike: Counter[Alike] = Counter()
        for entity in (EVENT, REVISION):
            async for item in database.scan(entity, attributes=("dayBucket", "mag")):
                if counted := _counted(entity, item):
                    alike[counted, day_of(item["dayBucket"]), bin_of(item["mag"])] += 1
        counts = tally(alike)
        keys = counts.keys() | before.keys()
        wrong = [update for key in keys if (update := _correction(key, counts.get(key, {}), before.get(key, {})))]
        applied = [await database.update(update) for update in wrong]
        for year in {year_of(update.key) for update in wrong}:
            # Processes that have cached the year's days, some perhaps uncorrected, must read them again.
            await database.update(Update(year, add={"revision": 1}, condition=Present("events")))
        corrected += sum(applied)
        if all(applied):
            await forget_differences(database)
            days = [counted for key, counted in counts.items() if key.entity is DAY_SUMMARY and counted["events"]]
            return RebuildReport(sum(counted["events"] for counted in days), len(days), corrected)
    raise DatabaseUnavailable("other writers kept changing the summaries: run this again when fewer ingest")


def _counted(entity: Entity, item: Item) -> Counted | None:
    """As what a version is counted."""
    if is_listed(item):
        return "bin" if entity is EVENT else "past"
    return "gone" if is_deleted(item) else None


def _correction(key: Key, counted: Mapping[str, int], stored: Item) -> Update | None:
    """The update that corrects a summary; None if it is right. Empty bins become 0."""
    counts = {name for name in stored if name == "events" or name.startswith(("bin", "edge", "past", "gone"))}
    wanted = {name: counted.get(name, 0) for name in counts | counted.keys() | {"events"}}
    if all(stored.get(name) == number for name, number in wanted.items()):
        return None
    unchanged = Compare("revision", "=", stored["revision"]) if "revision" in stored else Absent("revision")
    return Update(key, set=wanted, add={"revision": 1}, condition=unchanged)
