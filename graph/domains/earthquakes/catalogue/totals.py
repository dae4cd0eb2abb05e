"""Counts selected events exactly: from summaries, and by reading the days that these do not decide.

The streams of a view are counted one after the other, and a version may move to another one in between: it would be
counted twice, or not at all. So a total of several streams holds only if no version was stored while they were counted.
"""

from collections.abc import Sequence
from sys import maxsize

from graph.core.errors import DatabaseUnavailable
from graph.domains.earthquakes.catalogue.planning import MostRead, Planner
from graph.domains.earthquakes.revisions.live import event_sequence
from graph.domains.earthquakes.revisions.views import Stream
from graph.domains.earthquakes.selection import Selection
from graph.store.contract import Database
from graph.store.time_walk import count_of, items_of, reading_for

MOST_ROWS_TESTED = 1_000_000  # by a store's own filter for a total; SQLite takes two tenths of a second
ATTEMPTS = 5  # to count several streams while no version is stored
PATIENT_ATTEMPTS = 50  # where a count is needed
MOST_ROWS_READ = 50_000  # for a total, where a part of the filter is tested here
EVERYTHING = MostRead(maxsize, maxsize, maxsize)


class Totals:
    """The totals of a catalogue."""

    def __init__(self, database: Database, planner: Planner, *, most_days: int) -> None:
        """Prepare to count.

        Args:
            most_days: read for a total.
        """
        self._database = database
        self._planner = planner
        self._sequence = event_sequence(database)
        self._most_read = MostRead(most_days, rows=MOST_ROWS_TESTED, matches=MOST_ROWS_READ)

    async def within_limits(self, selection: Selection, streams: Sequence[Stream]) -> int | None:
        """The number of selected versions; None if more would have to be read than for a total, or if they move.

        Raises:
            QueryTooComplex: The operation in progress may not read so many.
        """
        return await self._at_rest(selection, streams, self._most_read, ATTEMPTS)

    async def always(self, selection: Selection, streams: Sequence[Stream]) -> int:
        """The number of selected versions, however many days must be read.

        Raises:
            QueryTooComplex: The operation in progress may not read so many.
            DatabaseUnavailable: Versions were stored all the time.
        """
        total = await self._at_rest(selection, streams, EVERYTHING, PATIENT_ATTEMPTS)
        if total is None:
            raise DatabaseUnavailable("the events that are counted were revised all the time")
        return total

    async def _at_rest(
        self, selection: Selection, streams: Sequence[Stream], most: MostRead, attempts: int
    ) -> int | None:
        """The number of selected versions, counted while none was stored; None if that failed, or takes too much."""
        if len(streams) == 1:
            return await self._of(selection, streams, most)
        latest = await self._sequence.latest()
        for _ in range(attempts):
            total, before = await self._of(selection, streams, most), latest
            if total is None or (latest := await self._sequence.latest()) == before:
                return total
        return None

    async def _of(self, selection: Selection, streams: Sequence[Stream], most: MostRead) -> int | None:
        total = 0
        for stream in streams:
            known = await self._planner.known(selection, stream, most)
            if known is None:
                return None
            total += known.counted
            query = stream.query(selection, frozenset())
            if (keep := selection.keep) is None:
                total += await count_of(self._database, query, known.unsure)
                continue
            async for items in items_of(self._database, reading_for(query, keep), known.unsure):
                total += sum(map(keep.holds, items))
        return total
