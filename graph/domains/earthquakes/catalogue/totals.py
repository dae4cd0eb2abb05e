"""Counts selected events exactly: from summaries, and by reading the days that these do not decide.

The streams of a view are counted one after the other, and a version may move to another one in between: it would be
counted twice, or not at all. So a total of several streams holds only if no version was stored while they were counted.
"""

from collections.abc import Sequence
from sys import maxsize

from graph.domains.earthquakes.catalogue.planning import MostRead, Planner
from graph.domains.earthquakes.revisions.live import event_sequence
from graph.domains.earthquakes.revisions.views import Stream
from graph.domains.earthquakes.selection import Selection
from graph.store.contract import Database
from graph.store.time_walk import count_of, items_of, reading_for

EVERYTHING = MostRead(maxsize, maxsize, maxsize, attempts=50)
"""For a count that is needed."""


async def count_at_rest(
    database: Database, planner: Planner, selection: Selection, streams: Sequence[Stream], most: MostRead
) -> int | None:
    """The number of selected versions, counted while none was stored; None if that failed, or takes too much.

    Raises:
        QueryTooComplex: The operation in progress may not read so many.
    """
    if len(streams) == 1:
        return await _count(database, planner, selection, streams, most)
    sequence = event_sequence(database)
    latest = await sequence.latest()
    for _ in range(most.attempts):
        total, before = await _count(database, planner, selection, streams, most), latest
        if total is None or (latest := await sequence.latest()) == before:
            return total
    return None


async def _count(
    database: Database, planner: Planner, selection: Selection, streams: Sequence[Stream], most: MostRead
) -> int | None:
    total = 0
    for stream in streams:
        known = await planner.known(selection, stream, most)
        if known is None:
            return None
        total += known.counted
        query = stream.query(selection, frozenset())
        if (keep := selection.keep) is None:
            total += await count_of(database, query, known.unsure)
            continue
        async for items in items_of(database, reading_for(query, keep), known.unsure):
            total += sum(map(keep.holds, items))
    return total
