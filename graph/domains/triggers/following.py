"""Follows feeds, and makes events of what each brings, exactly one for each who wants it.

    the feed's next change → who wants what of it → events, and how far this has come

Events are stored in the same transaction as the position behind them, and only if nobody else has moved it. So neither
a crash nor a second process repeats or leaves out one.

Users take turns. One who wants more of a change than a turn has falls behind, with a position of their own, and gets a
turn after each change, while all others go on. One whose quota is spent is told so, and gets nothing more of the hour.
"""

import asyncio
from collections import Counter
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from typing import NamedTuple, Protocol

from graph.domains.triggers.entities import FEED_BACKLOG, FEED_POSITION
from graph.domains.triggers.event_types import LIMITED, payload_of_limited
from graph.domains.triggers.model import API_VERSION, NewTriggerEvent
from graph.domains.triggers.outbox import Outbox
from graph.feed.sequence import Change, ChangeSequence
from graph.store.conditions import Condition, unchanged
from graph.store.contract import Action, Database, Delete, Put, Update
from graph.store.entity import Item, Key
from graph.store.query import Query
from graph.work.tasks import Sleep, attempt

CHANGES_AT_ONCE = 32
EVENTS_AT_ONCE = 100
TURN = 100  # events of a user
KEPT_EVERY = 1000  # changes without events, after which the position is stored
PAUSE_S = 1.0  # after a failure of the store


class FeedPosition(NamedTuple):
    """How far a feed is followed. Everything before it is done."""

    number: int = 0  # of the last change that is wholly done
    version: int = 0  # versions of the next change that are done, if its records have versions
    watch_id: str = ""  # the last watch that got what follows; empty for none


@dataclass(frozen=True, slots=True)
class Wanted:
    """An event that a watch wants."""

    event: NewTriggerEvent
    position: FeedPosition  # behind it


IsTold = Callable[[str], bool]
"""Whether a user is told of a change. It is asked for each watch, since that may change meanwhile."""


class WatchedFeed(Protocol):
    """A feed, and what its watches want."""

    feed: str  # its name, under which the position is stored
    sequence: ChangeSequence

    async def since(self) -> int | None:
        """Learn of all watches until now. Returns the number of a change behind which all of them begin.

        Without watches, it is None, and the feed is not read.
        """

    def wanted(self, change: Change, behind: FeedPosition, is_told: IsTold) -> AsyncGenerator[Wanted, None]:
        """What the watches of some users want of a change behind a position, in the order of the positions."""


@dataclass(slots=True)
class _Kept:
    """A stored position: that of the feed, or of a user who is behind."""

    key: Key
    item: Item = field(default_factory=dict)  # empty if it is not stored

    @property
    def position(self) -> FeedPosition:
        """The position: the beginning, if none is stored."""
        return FeedPosition(*[self.item[name] for name in FeedPosition._fields]) if self.item else FeedPosition()

    @property
    def as_read(self) -> Condition:
        """That nobody else has moved it."""
        return unchanged(self.item, *FeedPosition._fields, "revision")

    def moved(self, position: FeedPosition, **more: int) -> Update:
        """The change that moves it, if nobody else has."""
        return Update(self.key, set={**position._asdict(), **more}, condition=self.as_read)

    def note_moved(self, position: FeedPosition, **more: int) -> None:
        """Take note that the change was stored."""
        self.item = {**self.item, **position._asdict(), **more}


class Follower:
    """Follows one feed."""

    def __init__(self, database: Database, source: WatchedFeed, outbox: Outbox, sleep: Sleep = asyncio.sleep) -> None:
        self._database = database
        self._source = source
        self._outbox = outbox
        self._sleep = sleep
        self._kept = _Kept(FEED_POSITION.key_for(source.feed))
        self._position = FeedPosition()
        self._behind: dict[str, _Kept] = {}  # the positions of users who are behind

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
        if since is None or (await self._source.sequence.latest() <= self._position.number and not self._behind):
            return  # as nearly always: what changes in the store is mostly something else
        await self._read_positions()
        while since is not None:
            self._position = max(self._position, FeedPosition(since))
            changes = await self._source.sequence.since(self._position.number, CHANGES_AT_ONCE)
            if not changes and not self._behind:
                return
            since = await self._source.since()  # so that every watch is known that is older than one of them
            try:
                for change in changes:
                    await self._follow(change)
                    await self._give_turns()
                if not changes:
                    await self._give_turns()
                if self._position.number - self._kept.position.number >= KEPT_EVERY:
                    await self._move()
            except _MovedByAnother:
                await self._read_positions()

    async def _move(self, *actions: Action) -> None:
        """Store the position, although no event has come of it, with a change of the users who are behind."""
        # Another process has to know of a change of these users before it moves the position.
        revision = self._kept.item.get("revision", 0) + 1
        if await self._database.transact([self._kept.moved(self._position, revision=revision), *actions]):
            raise _MovedByAnother
        self._kept.note_moved(self._position, revision=revision)

    async def _read_positions(self) -> None:
        known = self._kept.item.get("revision")
        self._kept = _Kept(self._kept.key, await self._database.get(self._kept.key) or {})
        stored = self._kept.position
        # Where others have changed who is behind, this has perhaps left out users who are not behind any more.
        self._position = max(self._position, stored) if self._kept.item.get("revision") == known else stored
        page = await self._database.query(Query(entity=FEED_BACKLOG, partitions=((self._source.feed,),)))
        self._behind = {item["user_id"]: _Kept(FEED_BACKLOG.key_of(item), item) for item in page.items}

    async def _follow(self, change: Change) -> None:
        """Make the events of a change, and move behind it."""
        some: list[Wanted] = []
        last: dict[str, FeedPosition] = {}  # by user
        turns: Counter[str] = Counter()
        behind = max(self._position, FeedPosition(change.number - 1))  # the changes between may have expired
        async with aclosing(self._source.wanted(change, behind, self._is_told)) as all_wanted:
            async for wanted in all_wanted:
                user_id = wanted.event.user_id
                if turns[user_id] == TURN:
                    await self._store(some)
                    some = []
                    await self._leave_behind(user_id, last[user_id])
                    continue
                turns[user_id] += 1
                last[user_id] = wanted.position
                some.append(self._within_quota(wanted))
                if len(some) == EVENTS_AT_ONCE:
                    await self._store(some)
                    some = []
        await self._store(some)
        self._position = FeedPosition(change.number)

    def _is_told(self, user_id: str) -> bool:
        return user_id not in self._behind and not self._outbox.quota.is_spent(user_id)

    def _within_quota(self, wanted: Wanted) -> Wanted:
        """The wanted event, or the notice that it and further ones are left out."""
        event, quota = wanted.event, self._outbox.quota
        if quota.take(event.user_id):
            return wanted
        payload = payload_of_limited(quota.most, quota.ends)
        return replace(wanted, event=NewTriggerEvent(event.user_id, LIMITED, payload, {"api_version": API_VERSION}))

    async def _store(self, wanted: Sequence[Wanted]) -> None:
        """Store events in order, with the position behind them."""
        await self._store_with(self._kept, wanted)
        if wanted:
            self._position = wanted[-1].position

    async def _store_with(self, kept: _Kept, wanted: Sequence[Wanted]) -> None:
        """Store events in order, with a position of their own behind them."""
        done = 0

        def moved(stored: int) -> Update:
            return kept.moved(wanted[done + stored - 1].position)

        while done < len(wanted):
            number = await self._outbox.create_some([each.event for each in wanted[done:]], moved)
            if not number:
                raise _MovedByAnother
            done += number
            kept.note_moved(wanted[done - 1].position)

    async def _leave_behind(self, user_id: str, position: FeedPosition) -> None:
        """Follow further changes without a user, who has a position of their own from now on."""
        item = {"feed": self._source.feed, "user_id": user_id, **position._asdict()}
        await self._move(Put(FEED_BACKLOG, item, if_absent=True))
        self._behind[user_id] = _Kept(FEED_BACKLOG.key_of(item), item)

    async def _give_turns(self) -> None:
        """Give each user who is behind a turn. Those who are not behind any more follow with the others again."""
        for user_id, kept in list(self._behind.items()):
            some, has_caught_up = await self._next_of(user_id, kept.position)
            within = [self._within_quota(each) for each in some if not self._outbox.quota.is_spent(user_id)]
            await self._store_with(kept, within)
            if kept.position > self._position:
                continue  # another process has given turns beyond what this one has followed
            if has_caught_up or self._outbox.quota.is_spent(user_id):
                await self._move(Delete(kept.key, condition=kept.as_read))
                del self._behind[user_id]

    async def _next_of(self, user_id: str, position: FeedPosition) -> tuple[list[Wanted], bool]:
        """What a user who is behind wants next, at most a turn of it, and whether that is all."""
        some: list[Wanted] = []
        while changes := await self._source.sequence.since(position.number, CHANGES_AT_ONCE):
            for change in changes:
                if change.number > self._position.number:
                    return some, True
                behind = max(position, FeedPosition(change.number - 1))
                async with aclosing(self._source.wanted(change, behind, user_id.__eq__)) as all_wanted:
                    async for wanted in all_wanted:
                        some.append(wanted)
                        if len(some) == TURN:
                            return some, False
                position = FeedPosition(change.number)
        return some, True


class _MovedByAnother(Exception):
    """Another process has stored events, so the position has to be read again."""


class Followers(list[Follower]):
    """The followers of all domains, which the process runs that delivers. A domain adds its own before it serves."""
