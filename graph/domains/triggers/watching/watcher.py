"""Makes events of what the catalogue's feed brings, exactly one for each watch and version.

    the feed's next change → its versions → the watches that want each → events, and how far this has come

Events are stored in the same transaction as the position behind them, and only if nobody else has moved it. So neither
a crash nor a second process repeats or leaves out one.
"""

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

from graph.domains.earthquakes.revisions.history import History
from graph.domains.earthquakes.revisions.model import EventRevision
from graph.domains.triggers import event_types
from graph.domains.triggers.entities import FEED_POSITION
from graph.domains.triggers.model import API_VERSION, NewEvent, Watch
from graph.domains.triggers.outbox import Outbox
from graph.domains.triggers.watching.kinds import OF_REVISION, ChangeKind
from graph.domains.triggers.watching.known import KnownWatches
from graph.feed.sequence import Change, ChangeSequence
from graph.store.conditions import Absent, AllOf, Compare, Condition
from graph.store.contract import Database, Update
from graph.work.tasks import Sleep, attempt

CHANGES_AT_ONCE = 32
VERSIONS_AT_ONCE = 100
EVENTS_AT_ONCE = 100
KEPT_EVERY = 1000  # changes without events, after which the position is stored
PAUSE_S = 1.0  # after a failure of the store

FEED = "earthquakes"

TYPES = {
    ChangeKind.CREATED: event_types.CREATED,
    ChangeKind.REVISED: event_types.REVISED,
    ChangeKind.DELETED: event_types.DELETED,
}


class Position(NamedTuple):
    """How far the feed is followed. Everything before it is done."""

    number: int = 0  # of the last change whose versions are all done
    version: int = 0  # versions of the next change that are done
    watch_id: str = ""  # the last watch that got the version behind them; empty for none


@dataclass(frozen=True, slots=True)
class _Wanted:
    """A version that a watch wants."""

    watch: Watch
    version: EventRevision
    position: Position  # behind it

    @property
    def event(self) -> NewEvent:
        """The event that tells the watch's user of it."""
        endpoint_id = self.watch.endpoint_id
        return NewEvent(
            self.watch.user_id,
            TYPES[OF_REVISION[self.version.kind]],
            event_types.payload_of_watch(self.watch, self.version),
            metadata={"api_version": API_VERSION},
            endpoint_ids=() if endpoint_id is None else (endpoint_id,),
        )


class MovedByAnother(Exception):
    """Another process has stored events, so the position has to be read again."""


class Watcher:
    """Follows the catalogue's feed for all watches."""

    def __init__(
        self,
        database: Database,
        feed: ChangeSequence,
        history: History,
        known: KnownWatches,
        outbox: Outbox,
        sleep: Sleep = asyncio.sleep,
    ) -> None:
        self._database = database
        self._feed = feed
        self._history = history
        self._known = known
        self._outbox = outbox
        self._sleep = sleep
        self._stored: Position | None = None  # as the store has it; None for none
        self._position = Position()

    async def run(self) -> None:
        """Follow the feed, until this is cancelled."""
        async with aclosing(self._feed.notifications()) as notifications:
            await self._begin()
            async for _ in notifications:
                await self._begin()

    async def _begin(self) -> None:
        while not await attempt(self.catch_up, failure="Watches wait for the store"):
            await self._sleep(PAUSE_S)

    async def catch_up(self) -> None:
        """Make all events that the feed and the watches give now."""
        await self._known.update()
        if self._known.since is None:
            return
        await self._read_position()
        while (since := self._known.since) is not None:
            self._position = max(self._position, Position(since))
            changes = await self._feed.since(self._position.number, CHANGES_AT_ONCE)
            if not changes:
                return
            await self._known.update()  # so that every watch is known that is older than one of them
            try:
                for change in changes:
                    await self._follow(change)
                if self._position.number - (self._stored or Position()).number >= KEPT_EVERY:
                    await self._keep_position()
            except MovedByAnother:
                await self._read_position()

    async def _keep_position(self) -> None:
        """Store the position although no event has come of it, so that a later process need not come all this way."""
        if not await self._database.update(self._mark(self._position)):
            raise MovedByAnother
        self._stored = self._position

    async def _read_position(self) -> None:
        item = await self._database.get(FEED_POSITION.key_for(FEED))
        self._stored = Position(item["number"], item["version"], item["watch_id"]) if item else None
        self._position = max(self._position, self._stored or Position())

    async def _follow(self, change: Change) -> None:
        """Make the events of a change, and move behind it."""
        some: list[_Wanted] = []
        async with aclosing(self._wanted(change)) as all_wanted:
            async for wanted in all_wanted:
                some.append(wanted)
                if len(some) == EVENTS_AT_ONCE:
                    await self._store(some)
                    some = []
        await self._store(some)
        self._position = Position(change.number)

    async def _wanted(self, change: Change) -> AsyncGenerator[_Wanted, None]:
        """Who wants the versions of a change behind the position, in order of versions and watches."""
        begin = self._position
        for at in range(begin.version, len(change.keys), VERSIONS_AT_ONCE):
            keys = change.keys[at : at + VERSIONS_AT_ONCE]
            versions = await self._history.revisions(keys)
            for place, key in enumerate(keys, at):
                if version := versions.get(key):
                    done = begin.watch_id if place == begin.version else ""
                    for watch_id in await self._known.index.wanting_in_pieces(version, change.number):
                        if watch_id > done:
                            behind = Position(change.number - 1, place, watch_id)
                            yield _Wanted(self._known.by_id[watch_id], version, behind)

    async def _store(self, wanted: Sequence[_Wanted]) -> None:
        """Store events in order, with the position behind them."""
        events = [each.event for each in wanted]
        positions = [each.position for each in wanted]
        while events:
            number = await self._outbox.create_some(events, partial(self._mark_of, positions))
            if not number:
                raise MovedByAnother
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
        return Update(FEED_POSITION.key_for(FEED), set=position._asdict(), condition=unchanged)
