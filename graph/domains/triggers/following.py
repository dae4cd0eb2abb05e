"""Follows feeds, and makes events of what each brings, exactly one for each who wants it.

    the feed's next change → who wants what of it → events, and how far this has come

Events are stored in the same transaction as the position behind them, and only if nobody else has moved it. So neither
a crash nor a second process repeats or leaves out one.
"""

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple, Protocol

from graph.domains.triggers.entities import FEED_POSITION
from graph.domains.triggers.model import NewEvent
from graph.domains.triggers.outbox import Outbox
from graph.feed.sequence import Change, ChangeSequence
from graph.store.conditions import Absent, AllOf, Compare, Condition
from graph.store.contract import Database, Update
from graph.work.tasks import Sleep, attempt

CHANGES_AT_ONCE = 32
EVENTS_AT_ONCE = 100
KEPT_EVERY = 1000  # changes without events, after which the position is stored
PAUSE_S = 1.0  # after a failure of the store


class Position(NamedTuple):
    """How far a feed is followed. Everything before it is done."""

    number: int = 0  # of the last change that is wholly done
    version: int = 0  # versions of the next change that are done, if its records have versions
    watch_id: str = ""  # the last watch that got what follows; empty for none


@dataclass(frozen=True, slots=True)
class Wanted:
    """An event that a watch wants."""

    event: NewEvent
    position: Position  # behind it


class Source(Protocol):
    """A feed, and what its watches want."""

    feed: str  # its name, under which the position is stored
    sequence: ChangeSequence

    async def since(self) -> int | None:
        """Learn of all watches until now. Returns the number of a change behind which all of them begin.

        Without watches, it is None, and the feed is not read.
        """

    def wanted(self, change: Change, behind: Position) -> AsyncGenerator[Wanted, None]:
        """What watches want of a change behind a position, in the order of the positions."""


class Follower:
    """Follows one feed."""

    def __init__(self, database: Database, source: Source, outbox: Outbox, sleep: Sleep = asyncio.sleep) -> None:
        self._database = database
        self._source = source
        self._outbox = outbox
        self._sleep = sleep
        self._key = FEED_POSITION.key_for(source.feed)
        self._stored: Position | None = None  # as the store has it; None for none
        self._position = Position()

    async def run(self) -> None:
        """Follow the feed, until this is cancelled."""
        async with aclosing(self._source.sequence.notifications()) as notifications:
            await self._begin()
            async for _ in notifications:
                await self._begin()

    async def _begin(self) -> None:
        while not await attempt(self.catch_up, failure="Watches wait for the store"):
            await self._sleep(PAUSE_S)

    async def catch_up(self) -> None:
        """Make all events that the feed and the watches give now."""
        since = await self._source.since()
        if since is None or await self._source.sequence.latest() <= self._position.number:
            return  # as nearly always: what changes in the store is mostly something else
        await self._read_position()
        while since is not None:
            self._position = max(self._position, Position(since))
            changes = await self._source.sequence.since(self._position.number, CHANGES_AT_ONCE)
            if not changes:
                return
            since = await self._source.since()  # so that every watch is known that is older than one of them
            try:
                for change in changes:
                    await self._follow(change)
                if self._position.number - (self._stored or Position()).number >= KEPT_EVERY:
                    await self._keep_position()
            except _MovedByAnother:
                await self._read_position()

    async def _keep_position(self) -> None:
        """Store the position although no event has come of it, so that a later process need not come all this way."""
        if not await self._database.update(self._mark(self._position)):
            raise _MovedByAnother
        self._stored = self._position

    async def _read_position(self) -> None:
        item = await self._database.get(self._key)
        self._stored = Position(item["number"], item["version"], item["watch_id"]) if item else None
        self._position = max(self._position, self._stored or Position())

    async def _follow(self, change: Change) -> None:
        """Make the events of a change, and move behind it."""
        some: list[Wanted] = []
        behind = max(self._position, Position(change.number - 1))  # the changes between may have expired
        async with aclosing(self._source.wanted(change, behind)) as all_wanted:
            async for wanted in all_wanted:
                some.append(wanted)
                if len(some) == EVENTS_AT_ONCE:
                    await self._store(some)
                    some = []
        await self._store(some)
        self._position = Position(change.number)

    async def _store(self, wanted: Sequence[Wanted]) -> None:
        """Store events in order, with the position behind them."""
        events = [each.event for each in wanted]
        positions = [each.position for each in wanted]
        while events:
            number = await self._outbox.create_some(events, partial(self._mark_of, positions))
            if not number:
                raise _MovedByAnother
            self._stored = self._position = positions[number - 1]
            events, positions = events[number:], positions[number:]

    def _mark_of(self, positions: Sequence[Position], stored: int) -> Update:
        """The change for so many stored events."""
        return self._mark(positions[stored - 1])

    def _mark(self, position: Position) -> Update:
        """The change that moves the stored position, if it is still as it was read."""
        unchanged: Condition = Absent("number")
        if self._stored is not None:
            unchanged = AllOf(tuple(Compare(name, "=", value) for name, value in self._stored._asdict().items()))
        return Update(self._key, set=position._asdict(), condition=unchanged)


class _MovedByAnother(Exception):
    """Another process has stored events, so the position has to be read again."""


class Followers:
    """The followers of all domains, which the process runs that delivers."""

    def __init__(self) -> None:
        self.all: list[Follower] = []

    def add(self, follower: Follower) -> None:
        """Add a follower, before the process serves."""
        self.all.append(follower)
