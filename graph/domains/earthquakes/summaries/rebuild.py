"""Recomputes the summaries from the events, for a table that another writer filled.

Ingests may go on meanwhile. A summary is rewritten only if it has not changed since its events were
counted. If an ingest was faster, everything is counted again.
"""

from dataclasses import dataclass

from graph.domains.earthquakes.entities import DAY_FACETS, DAY_SUMMARY, EVENT, REVISION, YEAR_FACETS, YEAR_SUMMARY
from graph.domains.earthquakes.summaries.recount import COUNTED_ATTRIBUTES, corrections
from graph.domains.earthquakes.summaries.state import forget_differences
from graph.domains.earthquakes.summaries.summary import SUMMARIES, Tally, facets_key, year_of
from graph.store.conditions import Present
from graph.store.contract import Database, Update
from graph.store.rounds import rounds

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
            tally.add(item)
        async for item in database.scan(REVISION, attributes=COUNTED_ATTRIBUTES):
            tally.add_superseded(item)
        counts = tally.counts()
        periods = {key for key in (*counts, *before) if key.entity in SUMMARIES}
        wrong = {key: found for key in periods if (found := corrections(key, counts, before))}
        applied = [not await database.transact(found) for found in wrong.values()]
        for year in {year_of(key) for key in wrong}:
            # Processes that have cached the year's days, some perhaps uncorrected, must read them again.
            present = Present("events")
            await database.transact(
                [Update(year, add={"revision": 1}, condition=present), Update(facets_key(year), add={"revision": 1})]
            )
        corrected += sum(applied)
        if all(applied):
            await forget_differences(database)
            days = [of["events"] for key, of in counts.items() if key.entity is DAY_SUMMARY]
            days = [events for events in days if events]
            return RebuildReport(sum(days), len(days), corrected)
