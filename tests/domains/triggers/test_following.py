"""Several feeds are followed, each with a position of its own, and a feed may lose changes that have expired."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing
from pathlib import Path
from typing import Any

import pytest

from graph.domain import Resources
from graph.domains import DOMAINS
from graph.domains.triggers import background, following
from graph.domains.triggers.entities import FEED_POSITION, TRIGGER_EVENT
from graph.domains.triggers.following import FeedPosition, Follower, Followers, IsTold, Wanted
from graph.domains.triggers.outbox import Outbox
from graph.domains.triggers.quotas import HOUR_MS, WatchQuota
from graph.domains.watches.entities import WATCH_CHANGES
from graph.feed.sequence import Change, ChangeSequence
from graph.opening import open_services
from graph.store.contract import Database, Put
from tests.domains.triggers.in_store import ANNA, NOON, a_new_event, held_clock, triggers
from tests.processes import TIMEOUT_S
from tests.settings import Settings

WATCHES = ("a", "b", "c")


class Steps:
    """A feed of changes that every watch wants, in a sequence that forgets."""

    def __init__(self, database: Database, feed: str) -> None:
        self.feed = feed
        self.sequence = ChangeSequence(database, WATCH_CHANGES)
        self._database = database

    async def since(self) -> int | None:
        return 0

    async def wanted(self, change: Change, behind: FeedPosition, is_told: IsTold) -> AsyncGenerator[Wanted, None]:
        for watch_id in WATCHES:
            if watch_id > behind.watch_id and is_told(ANNA):
                event = a_new_event(payload={"feed": self.feed, "change": change.number, "watch": watch_id})
                yield Wanted(event, FeedPosition(change.number - 1, 0, watch_id))

    async def store(self, *, ttl: int = NOON // 1000 + 3600) -> None:
        """Store a change that expires then, epoch seconds."""
        async with self.sequence.reserve() as reservation:
            assert not await self._database.transact(reservation.actions([], ttl=ttl))


async def told(database: Database, feed: str) -> list[tuple[int, str]]:
    """What a feed's watches were told of: the change and the watch, in the order in which the events were stored."""
    items: list[dict[str, Any]] = [dict(item) async for item in database.scan(TRIGGER_EVENT)]
    payloads = [item["payload"] for item in sorted(items, key=lambda item: item["timestamp"])]
    return [(each["change"], each["watch"]) for each in payloads if each["feed"] == feed]


def everything(*changes: int) -> list[tuple[int, str]]:
    """What all watches are told of these changes."""
    return [(change, watch_id) for change in changes for watch_id in WATCHES]


async def test_a_change_behind_one_that_has_expired_half_done_is_told_to_all(engine: str) -> None:
    async with triggers(engine, clock := held_clock()) as ours:
        feed = Steps(ours.database, "one")
        await feed.store(ttl=NOON // 1000 + 1)
        await feed.store()
        half_done = {"feed": "one", "number": 0, "version": 0, "watch_id": "b"}
        await ours.database.put(Put(FEED_POSITION, half_done))
        clock.now += 2000
        await Follower(ours.database, feed, ours.outbox).catch_up()

        assert await told(ours.database, "one") == everything(2)


async def test_a_user_whose_quota_is_spent_is_told_so_once_and_gets_nothing_more_within_the_hour(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for turn in (1, 100):
        monkeypatch.setattr(following, "TURN", turn)
        async with triggers("sqlite", clock := held_clock()) as ours:
            ours.outbox.quota = WatchQuota(clock, most=4)
            feed = Steps(ours.database, "one")
            follower = Follower(ours.database, feed, ours.outbox)
            for hour in range(2):
                for _ in range(3):
                    await feed.store(ttl=NOON // 1000 + 86_400)
                await follower.catch_up()
                (*told, notice) = [event.payload for event in await ours.events()][5 * hour :]
                first = 1 + 3 * hour
                assert [(each["change"], each["watch"]) for each in told] == everything(first, first + 1)[:4]
                assert notice == {"limit": 4, "until": f"2100-03-02T{13 + hour}:00:00.000Z"}
                clock.now += HOUR_MS


async def test_the_process_that_delivers_follows_every_feed_from_a_position_of_its_own(tmp_path: Path) -> None:
    settings = Settings(store=f"sqlite:///{tmp_path}/quakes.db", max_watch_events=99)
    async with open_services(settings, DOMAINS) as services, asyncio.timeout(TIMEOUT_S):
        database, outbox = services.of(Resources).database, services.of(Outbox)
        assert outbox.quota.most == 99
        feeds = [Steps(database, "one"), Steps(database, "two")]
        await feeds[0].store()
        await Follower(database, feeds[0], outbox).catch_up()
        for feed in feeds:
            services.of(Followers).append(Follower(database, feed, outbox))
        delivering = asyncio.create_task(background.deliver(services))
        async with aclosing(database.changes()) as changes:
            await feeds[0].store()
            while any([await told(database, feed.feed) != everything(1, 2) for feed in feeds]):
                await anext(changes)
        delivering.cancel()
        await asyncio.gather(delivering, return_exceptions=True)
