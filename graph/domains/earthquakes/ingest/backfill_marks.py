"""The parts of a back-fill, and the marks of the finished ones in the catalogue's table, from which it resumes.

The item `BACKFILL`, or `CHANGES_BACKFILL` for a query that includes deleted events, names the unfinished run of
the query's conditions, which its key holds. Each finished part of this run has an item `BACKFILL_PART`. A
finished run lets the first item expire, and this one write removes all marks: the next run fetches everything
again, since USGS revises old events too. For the same reason marks are kept for at most 30 days.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from uuid import uuid4

from graph.core.clock import Clock
from graph.domains.earthquakes.entities import BACKFILL, BACKFILL_PART, CHANGES_BACKFILL
from graph.domains.earthquakes.usgs.requests import EventQuery
from graph.store.conditions import Compare
from graph.store.contract import Database, Put, Update
from graph.store.query import Query

KEPT_S = 30 * 86_400


@dataclass(frozen=True, slots=True, order=True)
class Window:
    """A time range of at least one millisecond."""

    start_ms: int  # epoch milliseconds, inclusive
    end_ms: int  # epoch milliseconds, inclusive

    def halves(self) -> list["Window"]:
        """The earlier and the later half, without overlap or gap. A single millisecond has no halves."""
        if self.start_ms == self.end_ms:
            return []
        middle_ms = (self.start_ms + self.end_ms) // 2
        return [Window(self.start_ms, middle_ms), Window(middle_ms + 1, self.end_ms)]

    def without(self, others: Iterable["Window"]) -> list["Window"]:
        """The parts of this window that the others do not cover, in order of time."""
        left, start_ms = [], self.start_ms
        for other in sorted(others):
            end_ms = min(other.start_ms - 1, self.end_ms)
            if start_ms <= end_ms:
                left.append(Window(start_ms, end_ms))
            start_ms = max(start_ms, other.end_ms + 1)
        if start_ms <= self.end_ms:
            left.append(Window(start_ms, self.end_ms))
        return left


@dataclass(frozen=True, slots=True)
class FinishedPart:
    """A finished part: every event is stored, or was rejected."""

    window: Window
    events: int  # in USGS's answer


class BackfillMarks:
    """The marks of the back-fill with a query's conditions. It has at most one unfinished run."""

    def __init__(self, database: Database, query: EventQuery, clock: Clock) -> None:
        self._database = database
        self._clock = clock
        conditions = [
            "" if value is None else str(value) for value in (query.start_ms, query.end_ms, query.min_magnitude)
        ]
        if query.include_deleted:
            since = "" if query.updated_after is None else str(query.updated_after)
            self._key = CHANGES_BACKFILL.key_for(since, *conditions)
        else:
            self._key = BACKFILL.key_for(*conditions)
        self._run = ""  # the run's id, once it was found or begun
        self.began_s = clock() // 1000  # when the run began, epoch seconds

    async def resume(self) -> list[FinishedPart] | None:
        """The finished parts of the unfinished run; None if there is no such run."""
        found = await self._database.get(self._key)
        if found is None:
            return None
        self._run, self.began_s = found["run"], found["ttl"] - KEPT_S
        marks = await self._database.query(Query(entity=BACKFILL_PART, partitions=((self._run,),)))
        return [FinishedPart(Window(mark["startMs"], mark["endMs"]), mark["events"]) for mark in marks.items]

    async def begin(self) -> None:
        """Begin a run, or join the run that another process has begun meanwhile."""
        self._run = uuid4().hex
        entity = self._key.entity
        conditions = dict(zip(entity.key_names, self._key.values, strict=True))
        begun = Put(entity, {**conditions, "run": self._run, "ttl": self._now_s + KEPT_S}, if_absent=True)
        if not await self._database.put(begun) and (other := await self._database.get(self._key)):
            self._run = other["run"]

    async def add(self, done: FinishedPart) -> None:
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
        """Remove the run and its marks."""
        its_own = Compare("run", "=", self._run)
        # A time so long ago that the item has expired by any machine's clock.
        await self._database.update(Update(self._key, set={"ttl": self._now_s - KEPT_S}, condition=its_own))

    @property
    def _now_s(self) -> int:
        return self._clock() // 1000


class NoMarks:
    """Marks that are not kept: each run does everything."""

    def __init__(self, clock: Clock) -> None:
        self.began_s = clock() // 1000  # when the run began, epoch seconds

    async def resume(self) -> list[FinishedPart] | None:
        """No run is unfinished."""
        return None

    async def begin(self) -> None:
        """Mark nothing."""

    async def add(self, done: FinishedPart) -> None:
        """Mark nothing."""

    async def forget(self) -> None:
        """Mark nothing."""
