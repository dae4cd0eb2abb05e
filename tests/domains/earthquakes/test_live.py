"""Subscribers are told each event once, in the order in which they are stored, from wherever they begin."""

import asyncio
import random
from collections.abc import AsyncIterator
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass
from itertools import count
from pathlib import Path

import pytest
from hypothesis import given, settings

from graph.core.errors import DatabaseUnavailable, InvalidCursor, RateLimited
from graph.domains.earthquakes.entities import EVENT
from graph.domains.earthquakes.live import EventBroadcast
from graph.domains.earthquakes.magnitudes import MagnitudeRange
from graph.domains.earthquakes.model import Event
from graph.domains.earthquakes.selection import Circle, Selection
from graph.feed.broadcast import REPLAYED_AT_ONCE, Notice
from graph.feed.subscriber import BACKLOG, Subscriber
from graph.store.contract import Database, Put
from graph.store.entity import Item
from graph.store.query import Page, Query
from graph.store.sqlite import open_sqlite
from tests.domains.earthquakes.builders import NOON, an_event, catalogue_of, events_at, ids, ingest
from tests.domains.earthquakes.oracle import selects
from tests.domains.earthquakes.strategies import catalogues, selections
from tests.domains.earthquakes.watched_database import WatchedDatabase
from tests.domains.entities import ENTITIES
from tests.processes import PATIENCE_S
from tests.store.engines import empty_database

ALL = Selection()


@asynccontextmanager
async def live_on(database: Database) -> AsyncIterator[EventBroadcast]:
    live = EventBroadcast(database, catalogue_of(database))
    yield live
    await live.close()
    assert live.subscriptions == 0


@pytest.fixture
async def database(engine: str) -> AsyncIterator[Database]:
    async with empty_database(engine, ENTITIES, stream=True) as database:
        yield database


@pytest.fixture
async def live(database: Database) -> AsyncIterator[EventBroadcast]:
    async with live_on(database) as live:
        yield live


async def some(notices: AsyncIterator[Notice[Event]], number: int) -> list[Notice[Event]]:
    """The next of them, so many."""
    async with asyncio.timeout(PATIENCE_S):
        return [await anext(notices) for _ in range(number)]


def told(notices: list[Notice[Event]]) -> list[str]:
    """The ids of the events, of which none was lost."""
    assert [notice.dropped for notice in notices] == [0] * len(notices)
    assert [notice.cursor for notice in notices] == [notice.record.cursor for notice in notices if notice.record]
    return [notice.record.event_id for notice in notices if notice.record]


async def test_what_is_stored_from_now_on_is_told_in_that_order_and_what_was_there_is_not(
    database: Database, live: EventBroadcast
) -> None:
    await ingest(database, [an_event("old")])
    async with aclosing(await live.events(ALL, None)) as notices:
        first = asyncio.ensure_future(some(notices, 2))
        await ingest(database, [an_event("b", NOON), an_event("a", NOON - 1)])
        assert told(await first) == ["a", "b"]  # one transaction, in order of time

        await ingest(database, [an_event("much older", 0)])
        await ingest(database, [an_event("old"), an_event("newer", NOON + 1)])
        assert told(await some(notices, 2)) == ["much older", "newer"]


async def test_behind_a_cursor_comes_what_was_stored_since_whatever_its_time(
    database: Database, live: EventBroadcast
) -> None:
    together = events_at(10, 20, 30)
    await ingest(database, together)
    await ingest(database, [an_event("late", 0)])
    await ingest(database, [an_event("later", NOON)])

    async with aclosing(await live.events(ALL, together[1].cursor)) as notices:
        assert told(await some(notices, 3)) == ["e002", "late", "later"]
        await ingest(database, [an_event("now", 1)])
        assert told(await some(notices, 1)) == ["now"]


async def test_an_edge_of_a_page_and_a_notice_have_the_same_cursor(database: Database, live: EventBroadcast) -> None:
    await ingest(database, events_at(10, 20))
    async with aclosing(await live.events(ALL, events_at(10)[0].cursor)) as notices:
        (notice,) = await some(notices, 1)
    assert notice.cursor == events_at(10, 20)[1].cursor


async def test_a_cursor_of_no_event_here_is_refused(live: EventBroadcast) -> None:
    for cursor in ("", "nonsense", an_event("unknown").cursor):
        with pytest.raises(InvalidCursor):
            await live.events(ALL, cursor)


async def test_behind_an_event_of_an_older_table_comes_all_that_has_a_number(
    database: Database, live: EventBroadcast
) -> None:
    unnumbered = an_event("old")
    await database.put(Put(EVENT, unnumbered.item))
    await ingest(database, events_at(10, 20))

    async with aclosing(await live.events(ALL, unnumbered.cursor)) as notices:
        assert told(await some(notices, 2)) == ["e000", "e001"]


async def test_only_what_is_selected_is_told(database: Database, live: EventBroadcast) -> None:
    near = Selection(magnitudes=MagnitudeRange(4.5, None), circle=Circle(35.6, -117.6, 100))
    events = [
        *(an_event("small", mag=4.4), an_event("far", lat=0), an_event("it", mag=4.5)),
        *(an_event("too", mag=9, lat=35.5), an_event("end", mag=8)),
    ]
    await ingest(database, [an_event("before", 0)])
    async with (
        aclosing(await live.events(near, an_event("before", 0).cursor)) as replayed,
        aclosing(await live.events(near, None)) as lived,
    ):
        first = asyncio.ensure_future(some(lived, 3))
        await ingest(database, events)
        assert told(await first) == told(await some(replayed, 3)) == ["it", "too", "end"]


@settings(max_examples=200, deadline=None)
@given(catalogues, selections)
def test_a_selection_admits_what_a_query_would_find(events: list[Event], selection: Selection) -> None:
    admitted = [event for event in events if selection.admits(event.item)]
    assert ids(admitted) == ids([event for event in events if selects(selection, event)])


@pytest.mark.parametrize("engine", ["sqlite"])
async def test_a_thousand_subscribers_that_join_while_events_are_stored_miss_none_and_get_none_twice(
    database: Database, live: EventBroadcast
) -> None:
    chance = random.Random(1)
    stored = [f"e{number:05}" for number in range(300)]
    await ingest(database, [an_event(event_id, number) for number, event_id in enumerate(stored)])
    joined = 0

    async def store_on() -> None:
        while joined < 1000:
            event_id = f"e{len(stored):05}"
            await ingest(database, [an_event(event_id, len(stored))])
            stored.append(event_id)

    async def join() -> None:
        nonlocal joined
        for _ in range(chance.randrange(20)):
            await asyncio.sleep(0)
        begun = len(stored) - 1 - chance.randrange(100)
        after = an_event(stored[begun], begun).cursor
        there = len(stored)
        received: list[str] = []
        async with aclosing(await live.events(ALL, after)) as notices:
            while len(received) < there - begun + 5:  # beyond the seam, wherever that was
                received += told([await anext(notices)])
        assert received == [f"e{number:05}" for number in range(begun + 1, begun + 1 + len(received))]
        joined += 1

    storing = asyncio.create_task(store_on())
    async with asyncio.timeout(240):
        for _ in range(20):
            await asyncio.gather(*[join() for _ in range(50)])
        await storing
    assert joined == 1000


async def test_a_slow_subscriber_is_told_how_many_it_lost_and_where_to_get_them(
    database: Database, live: EventBroadcast
) -> None:
    events = events_at(*range(BACKLOG + 45), mag=1.0)
    async with (
        aclosing(await live.events(ALL, None)) as slow,
        aclosing(await live.events(ALL, None)) as quick,
    ):
        first = asyncio.gather(some(slow, 1), some(quick, 1))
        await ingest(database, events[:1])
        await first

        everything = asyncio.ensure_future(some(quick, len(events) - 1))
        await ingest(database, events)
        assert told(await everything) == ids(events[1:])  # and what reached it was handed to the slow one too

        assert told(await some(slow, BACKLOG)) == ids(events[1 : BACKLOG + 1])
        (notice,) = await some(slow, 1)
        assert notice == Notice(events[BACKLOG].cursor, None, 44)
        assert (live.sent, live.dropped) == (2 + BACKLOG + len(events) - 1, 44)

        await ingest(database, [an_event("afterwards")])
        assert told(await some(slow, 1)) == ["afterwards"]
        async with aclosing(await live.events(ALL, notice.cursor)) as again:
            assert told(await some(again, 45)) == [*ids(events[BACKLOG + 1 :]), "afterwards"]


async def test_what_is_read_and_told_of_the_past_is_charged_and_what_comes_is_not(
    database: Database, live: EventBroadcast
) -> None:
    events = [an_event(f"e{n:03}", NOON, mag=n % 2) for n in range(REPLAYED_AT_ONCE + 50)]
    await ingest(database, events)
    charged: list[tuple[int, int]] = []

    async def charge(read: int, told: int) -> None:
        charged.append((read, told))

    odd = Selection(magnitudes=MagnitudeRange(1, None))
    async with aclosing(await live.events(odd, events[0].cursor, charge)) as notices:
        await some(notices, len(events) // 2)
        await ingest(database, [an_event("new", mag=3)])
        assert told(await some(notices, 1)) == ["new"]

    read, told_ = zip(*charged, strict=True)
    assert (sum(read), sum(told_)) == (len(events) - 1, len(events) // 2)
    assert max(read) <= REPLAYED_AT_ONCE
    assert max(told_) == 1


async def test_who_cannot_be_charged_is_told_no_more(database: Database, live: EventBroadcast) -> None:
    events = events_at(*range(30))
    await ingest(database, events)

    async def charge(read: int, told: int) -> None:
        if told and next(charges) == 1:
            raise RateLimited(7)

    charges = count()
    async with aclosing(await live.events(ALL, events[0].cursor, charge)) as notices:
        assert told(await some(notices, 1)) == [events[1].event_id]
        with pytest.raises(RateLimited):
            await some(notices, 1)


async def test_a_replay_waits_for_its_reader_and_loses_nothing(database: Database, live: EventBroadcast) -> None:
    events = events_at(*range(BACKLOG + 100))
    await ingest(database, events[:100])
    async with aclosing(await live.events(ALL, events[0].cursor)) as notices:
        begun = await some(notices, 1)
        await ingest(database, events[100:])
        everything = begun + await some(notices, len(events) - 2)
    assert told(everything) == ids(events[1:])


async def test_what_another_connection_stores_is_told_too(tmp_path: Path) -> None:
    async with (
        open_sqlite(tmp_path / "q.db", ENTITIES) as ours,
        open_sqlite(tmp_path / "q.db", ENTITIES) as others,
        live_on(ours) as live,
        aclosing(await live.events(ALL, None)) as notices,
    ):
        first = asyncio.ensure_future(some(notices, 1))
        await ingest(others, [an_event("theirs")])
        assert told(await first) == ["theirs"]


class FailingDatabase(WatchedDatabase):
    """A real database, some readings of which fail."""

    def __init__(self, database: Database) -> None:
        super().__init__(database)
        self.failures: list[Exception] = []

    async def query(self, query: Query) -> Page:
        if self.failures:
            raise self.failures.pop()
        return await super().query(query)


async def test_subscribers_outlast_a_store_that_is_away_and_a_defect(database: Database) -> None:
    failing = FailingDatabase(database)
    async with live_on(failing) as live, aclosing(await live.events(ALL, None)) as notices:
        first = asyncio.ensure_future(some(notices, 1))
        await ingest(database, [an_event("a")])
        assert told(await first) == ["a"]

        failing.failures = [ValueError("a defect"), DatabaseUnavailable("away")]
        await ingest(database, [an_event("b")])
        assert told(await some(notices, 1)) == ["b"]
        assert failing.failures == []


@dataclass(frozen=True)
class Failing(Selection):
    """A selection with a defect that one event shows."""

    def admits(self, item: Item) -> bool:
        if item["eventId"] == "b":
            raise ValueError("a defect")
        return True


async def test_a_filter_that_fails_ends_its_own_subscription_alone(database: Database, live: EventBroadcast) -> None:
    async with (
        aclosing(await live.events(Failing(), None)) as failing,
        aclosing(await live.events(ALL, None)) as others,
    ):
        both = asyncio.gather(some(failing, 1), some(others, 3))
        for name in ("a", "b", "c"):
            await ingest(database, [an_event(name)])

        assert [told(notices) for notices in await both] == [["a"], ["a", "b", "c"]]
        with pytest.raises(ValueError, match="a defect"):
            await some(failing, 1)
        assert live.subscriptions == 1


async def test_at_the_end_all_subscriptions_are_complete(database: Database, live: EventBroadcast) -> None:
    await ingest(database, events_at(1, 2))
    async with (
        aclosing(await live.events(ALL, None)) as waiting,
        aclosing(await live.events(ALL, events_at(1)[0].cursor)) as reading,
    ):
        ending = asyncio.ensure_future(anext(waiting, None))
        await asyncio.sleep(0)  # so that it has begun
        assert told(await some(reading, 1)) == ["e001"]
        assert live.subscriptions == 2

        end = asyncio.ensure_future(live.end(PATIENCE_S))
        assert await ending is None
        assert await anext(reading, None) is None
        await end
        assert live.subscriptions == 0
    async with aclosing(await live.events(ALL, None)) as late:
        assert await anext(late, None) is None


async def test_the_end_waits_for_no_more_of_the_past(database: Database, live: EventBroadcast) -> None:
    await ingest(database, events_at(*range(30)))

    async def charge(read: int, told: int) -> None:
        if told and next(charges) == 1:
            asked.set()
            await asyncio.Event().wait()

    charges, asked, first = count(), asyncio.Event(), events_at(0)[0].cursor
    async with (
        aclosing(await live.events(ALL, first)) as reading,
        aclosing(await live.events(ALL, first, charge)) as waiting,
    ):
        await some(reading, 1)
        await some(waiting, 1)
        next_one = asyncio.ensure_future(anext(waiting, None))
        await asked.wait()

        end = asyncio.ensure_future(live.end(PATIENCE_S))
        await asyncio.sleep(0)

        assert await next_one is None
        assert await anext(reading, None) is None
        await end


def test_a_reader_that_was_waited_for_in_vain_is_not_waited_for_again_before_it_has_taken_everything() -> None:
    slow = Subscriber[Event](lambda event: True, 0)
    slow.slow = True
    slow.join()
    slow.hand(events_at(*range(BACKLOG)))

    for left in reversed(range(BACKLOG)):
        slow.take()
        assert slow.roomy.is_set() == (left <= BACKLOG // 2)
        assert slow.slow == (left > 0)


async def test_nothing_is_read_while_nobody_subscribes(database: Database) -> None:
    watched = WatchedDatabase(database)
    async with live_on(watched) as live:
        async with aclosing(await live.events(ALL, None)) as notices:
            first = asyncio.ensure_future(some(notices, 1))
            await ingest(database, [an_event("a")])
            await first
        await live.close()
        watched.calls.clear()
        await ingest(database, [an_event("b")])
        assert watched.calls == []
        async with aclosing(await live.events(ALL, an_event("a").cursor)) as notices:
            assert told(await some(notices, 1)) == ["b"]
