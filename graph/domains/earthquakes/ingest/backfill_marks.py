"""Which parts of a back-fill are stored, kept in the catalogue's table so that it goes on where it stopped.

The item `BACKFILL`, found by what was asked, names the run that was begun and not completed. An item
`BACKFILL_PART` stands for each part that this run has done. A completed run lets the first one expire,
and with that one write all marks are forgotten: the next run asks for everything anew, since USGS
revises old events too. For the same reason nothing is kept for longer than 30 days.
"""

from dataclasses import dataclass
from uuid import uuid4

from graph.core.clock import Clock
from graph.domains.earthquakes.entities import BACKFILL, BACKFILL_PART
from graph.domains.earthquakes.usgs.requests import EventQuery
from graph.domains.earthquakes.usgs.windows import Window
from graph.store.conditions import Compare
from graph.store.contract import Database, Put, Update
from graph.store.query import Query

KEPT_S = 30 * 86_400


@dataclass(frozen=True, slots=True)
class Done:
    """A part of which every event is stored, or was rejected."""

    window: Window
    events: int  # that USGS gave


class BackfillMarks:
    """The marks of the back-fill with a query's conditions, of which one run is under way or none."""

    def __init__(self, database: Database, query: EventQuery, clock: Clock) -> None:
        self._database = database
        self._clock = clock
        asked = (query.start_ms, query.end_ms, query.min_magnitude)
        self._key = BACKFILL.key_for(*("" if value is None else str(value) for value in asked))
        self._run = ""  # its id, once it was found or begun

    async def resume(self) -> list[Done] | None:
        """What the run that was begun has done so far; None where there is none."""
        found = await self._database.get(self._key)
        if found is None:
            return None
        self._run = found["run"]
        marks = await self._database.query(Query(entity=BACKFILL_PART, partitions=((self._run,),)))
        return [Done(Window(mark["startMs"], mark["endMs"]), mark["events"]) for mark in marks.items]

    async def begin(self) -> None:
        """Begin a run, or join the one that another process has begun meanwhile."""
        self._run = uuid4().hex
        asked = dict(zip(BACKFILL.key_names, self._key.values, strict=True))
        begun = Put(BACKFILL, {**asked, "run": self._run, "ttl": self._now_s + KEPT_S}, if_absent=True)
        if not await self._database.put(begun) and (other := await self._database.get(self._key)):
            self._run = other["run"]

    async def add(self, done: Done) -> None:
        """Mark a part as done."""
        part = {
            "run": self._run,
            "startMs": done.window.start_ms,
            "endMs": done.window.end_ms,
            "events": done.events,
            "ttl": self._now_s + KEPT_S,
        }
        await self._database.put(Put(BACKFILL_PART, part))

    async def forget(self) -> None:
        """Forget the run and what it has done."""
        its_own = Compare("run", "=", self._run)
        # So long ago that it has expired by the clock of any machine.
        await self._database.update(Update(self._key, set={"ttl": self._now_s - KEPT_S}, condition=its_own))

    @property
    def _now_s(self) -> int:
        return self._clock() // 1000
