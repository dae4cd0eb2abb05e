"""Subscribers get each record once, in the order in which they are stored, from wherever they begin."""

import asyncio
import logging
import random
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, aclosing
from itertools import count

import pytest

from graph.core.errors import DatabaseUnavailable, InvalidCursor, RateLimited
from graph.feed.broadcast import REPLAYED_AT_ONCE, RETRY_S, Broadcast, SubscriberMessage
from graph.store.contract import Database, Put
from graph.store.query import ItemPage, Query
from tests.domains.earthquakes.watched_database import WatchedDatabase
from tests.effort import rounds
from tests.feed.notes import NOTE, Note, Notebook, broadcasting, cursor, everything, sent, some
from tests.held_time import Pauses
from tests.processes import TIMEOUT_S

BACKLOG = 40  # of the broadcasts that are about a full one
JOINERS = rounds(1000, at_least=200)

Notices = AsyncGenerator[SubscriberMessage[Note], None]


def ids(*numbers: int) -> list[str]:
    """The ids of numbered notes."""
    return [f"n{number:04}" for number in numbers]


async def test_only_records_stored_after_subscribing_are_sent_in_order(
    notes: Notebook, broadcast: Broadcast[Note]
) -> None:
    await notes.write("old")
    async with aclosing(await broadcast.subscribe(everything)) as notices:
        first = asyncio.ensure_future(some(notices, 2))
        await notes.write("b", "a")
        assert sent(await first) == ["b", "a"]

        await notes.write("c")
        await notes.write("old", "d")
        assert sent(await some(notices, 2)) == ["c", "d"]


async def test_a_cursor_replays_records_stored_since_or_is_refused(
    database: Database, notes: Notebook, broadcast: Broadcast[Note]
) -> None:
    await notes.write("a", "b", "c")
    await notes.write("d")

    await database.put(Put(NOTE, {"noteId": "without a number"}))
    async with (
        aclosing(await broadcast.subscribe(everything, cursor("b"))) as notices,
        aclosing(await broadcast.subscribe(everything, cursor("without a number"))) as whole,
    ):
        assert sent(await some(notices, 2)) == ["c", "d"]
        assert sent(await some(whole, 4)) == ["a", "b", "c", "d"]
        await notes.write("e")
        assert sent(await some(notices, 1)) == sent(await some(whole, 1)) == ["e"]
    for wrong in ("", "nonsense", cursor("unknown")):
        with pytest.raises(InvalidCursor):
            await broadcast.subscribe(everything, wrong)


async def test_only_what_passes_the_filter_is_sent(notes: Notebook, broadcast: Broadcast[Note]) -> None:
    await notes.write("before")

    def wants(note: Note) -> bool:
        return note.note_id in ("b", "d")

    async with (
        aclosing(await broadcast.subscribe(wants, cursor("before"))) as replayed,
        aclosing(await broadcast.subscribe(wants)) as joined,
    ):
        first = asyncio.ensure_future(some(joined, 2))
        await notes.write("a", "b", "c", "d")
        assert sent(await first) == sent(await some(replayed, 2)) == ["b", "d"]
        assert broadcast.sent == 4


@pytest.mark.repeated
@pytest.mark.parametrize("engine", ["sqlite"])
async def test_subscribers_that_join_while_records_are_stored_get_each_once(
    notes: Notebook, broadcast: Broadcast[Note]
) -> None:
    chance = random.Random(1)
    stored = ids(*range(300))
    for note_id in stored:
        await notes.write(note_id)
    joined = 0

    async def store_on() -> None:
        while joined < JOINERS:
            await notes.write(*ids(len(stored)))
            stored.extend(ids(len(stored)))

    async def join() -> None:
        nonlocal joined
        for _ in range(chance.randrange(20)):
            await asyncio.sleep(0)
        begun = len(stored) - 1 - chance.randrange(100)
        there = len(stored)
        received: list[str] = []
        async with aclosing(await broadcast.subscribe(everything, cursor(stored[begun]))) as notices:
            while len(received) < there - begun + 5:  # beyond the seam, wherever that was
                received += sent([await anext(notices)])
        assert received == ids(*range(begun + 1, begun + 1 + len(received)))
        joined += 1

    storing = asyncio.create_task(store_on())
    async with asyncio.timeout(240):
        for _ in range(JOINERS // 50):
            await asyncio.gather(*[join() for _ in range(50)])
        await storing
    assert joined == JOINERS


async def test_a_slow_subscriber_learns_how_many_were_dropped_and_a_cursor(database: Database, notes: Notebook) -> None:
    everyone = ids(*range(BACKLOG + 45))
    async with (
        broadcasting(database, backlog=BACKLOG) as broadcast,
        aclosing(await broadcast.subscribe(everything)) as slow,
        aclosing(await broadcast.subscribe(everything)) as quick,
    ):
        first = asyncio.gather(some(slow, 1), some(quick, 1))
        await notes.write(everyone[0])
        await first

        for at in range(1, len(everyone), 21):
            taken = asyncio.ensure_future(some(quick, 21))
            await notes.write(*everyone[at : at + 21])
            assert sent(await taken) == everyone[at : at + 21]  # and what reached it was handed to the slow one too

        assert sent(await some(slow, BACKLOG)) == everyone[1 : BACKLOG + 1]
        (notice,) = await some(slow, 1)
        assert notice == SubscriberMessage(cursor(everyone[BACKLOG]), None, 44)
        assert (broadcast.sent, broadcast.dropped) == (2 + BACKLOG + len(everyone) - 1, 44)

        await notes.write("afterwards")
        assert sent(await some(slow, 1)) == ["afterwards"]
        async with aclosing(await broadcast.subscribe(everything, notice.cursor)) as again:
            assert sent(await some(again, 45)) == [*everyone[BACKLOG + 1 :], "afterwards"]


async def test_nobody_waits_for_a_slow_subscriber_that_has_left(
    database: Database, notes: Notebook, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("graph.feed.broadcast.WAIT_S", 10 * TIMEOUT_S)
    some_more = ids(*range(BACKLOG // 2 + 1))
    async with (
        broadcasting(database, backlog=BACKLOG) as broadcast,
        aclosing(await broadcast.subscribe(everything)) as slow,
        aclosing(await broadcast.subscribe(everything)) as quick,
    ):
        first = asyncio.gather(some(slow, 1), some(quick, 1))
        await notes.write("first")
        await first
        await notes.write(*some_more)
        assert sent(await some(quick, len(some_more))) == some_more  # from here on, the slow one is waited for
        await notes.write("afterwards")

        await slow.aclose()

        assert sent(await some(quick, 1)) == ["afterwards"]


async def test_replayed_records_are_charged_before_they_are_sent_and_new_ones_are_not(
    notes: Notebook, broadcast: Broadcast[Note]
) -> None:
    everyone = ids(*range(REPLAYED_AT_ONCE + 50))
    for at in range(0, len(everyone), 50):
        await notes.write(*everyone[at : at + 50])
    charged: list[tuple[int, int]] = []

    async def charge(read: int, sent: int) -> None:
        charged.append((read, sent))

    def odd(note: Note) -> bool:
        return note.note_id[-1] in "13579w"

    async with aclosing(await broadcast.subscribe(odd, cursor(everyone[0]), charge)) as notices:
        await some(notices, len(everyone) // 2)
        await notes.write("new")
        assert sent(await some(notices, 1)) == ["new"]

    reads, sends = zip(*charged, strict=True)
    assert (sum(reads), sum(sends)) == (len(everyone) - 1, len(everyone) // 2)
    assert max(reads) <= REPLAYED_AT_ONCE
    assert max(sends) == 1

    async def refuse(read: int, sent: int) -> None:
        if sent and next(charges) == 1:
            raise RateLimited(7)

    charges = count()
    async with aclosing(await broadcast.subscribe(everything, cursor(everyone[0]), refuse)) as notices:
        assert sent(await some(notices, 1)) == [everyone[1]]
        with pytest.raises(RateLimited):
            await some(notices, 1)


async def test_a_replay_waits_for_its_reader_and_drops_nothing(database: Database, notes: Notebook) -> None:
    everyone = ids(*range(3 * BACKLOG))
    await notes.write(*everyone[:BACKLOG])
    async with (
        broadcasting(database, backlog=BACKLOG) as broadcast,
        aclosing(await broadcast.subscribe(everything, cursor(everyone[0]))) as notices,
    ):
        begun = await some(notices, 1)
        for at in (BACKLOG, 2 * BACKLOG):
            await notes.write(*everyone[at : at + BACKLOG])
        assert sent(begun + await some(notices, len(everyone) - 2)) == everyone[1:]


class FailingDatabase(WatchedDatabase):
    """A real database, some readings of which fail, and some of whose notifications end."""

    def __init__(self, database: Database) -> None:
        super().__init__(database)
        self.failures: list[Exception] = []
        self.crash: Exception | None = None

    async def query(self, query: Query) -> ItemPage:
        if self.failures:
            raise self.failures.pop()
        return await super().query(query)

    async def changes(self) -> AsyncGenerator[None, None]:
        async with aclosing(super().changes()) as changes:
            async for _ in changes:
                yield
                if self.crash:
                    crash, self.crash = self.crash, None
                    raise crash


async def test_subscribers_outlast_a_store_that_is_away_a_defect_and_the_end_of_notifications(
    database: Database, notes: Notebook, caplog: pytest.LogCaptureFixture
) -> None:
    failing, pauses = FailingDatabase(database), Pauses()
    async with (
        broadcasting(failing, sleep=pauses.sleep) as broadcast,
        aclosing(await broadcast.subscribe(everything)) as notices,
    ):
        first = asyncio.ensure_future(some(notices, 1))
        await notes.write("a")
        assert sent(await first) == ["a"]

        failing.failures = [ValueError("a defect"), DatabaseUnavailable("away")]
        await notes.write("b")
        assert sent(await some(notices, 1)) == ["b"]
        assert failing.failures == []

        failing.crash = ValueError("a defect of the notifications")
        await notes.write("c")
        await notes.write("d")
        assert sent(await some(notices, 2)) == ["c", "d"]

    assert pauses[:2] == [RETRY_S, RETRY_S]
    logged = [record for record in caplog.records if record.getMessage() == "Subscribers wait for the store"]
    assert [(record.levelno, bool(record.exc_info)) for record in logged] == [
        (logging.WARNING, False),
        (logging.ERROR, True),
    ]


async def test_a_failing_filter_ends_only_its_own_subscription(notes: Notebook, broadcast: Broadcast[Note]) -> None:
    def fails(note: Note) -> bool:
        if note.note_id == "b":
            raise ValueError("a defect")
        return True

    async with (
        aclosing(await broadcast.subscribe(fails)) as failing,
        aclosing(await broadcast.subscribe(everything)) as others,
    ):
        both = asyncio.gather(some(failing, 1), some(others, 3))
        for name in ("a", "b", "c"):
            await notes.write(name)

        assert [sent(notices) for notices in await both] == [["a"], ["a", "b", "c"]]
        with pytest.raises(ValueError, match="a defect"):
            await some(failing, 1)
        assert broadcast.subscriptions == 1


async def test_a_subscriber_may_leave_while_a_record_is_handed_to_others(
    notes: Notebook, broadcast: Broadcast[Note]
) -> None:
    async with AsyncExitStack() as stack:
        subscribers = [
            await stack.enter_async_context(aclosing(await broadcast.subscribe(everything))) for _ in range(25)
        ]
        firsts = asyncio.gather(*[some(notices, 1) for notices in subscribers])
        await notes.write("a")
        await firsts

        async def take_and_end_all() -> None:
            await some(subscribers[0], 1)
            for notices in subscribers[1:]:
                await notices.aclose()

        others = asyncio.ensure_future(take_and_end_all())
        await notes.write("b")
        await others
        await notes.write("c")
        assert sent(await some(subscribers[0], 1)) == ["c"]
        assert (broadcast.subscriptions, broadcast.dropped) == (1, 0)


async def test_at_the_end_all_subscriptions_are_complete(notes: Notebook, broadcast: Broadcast[Note]) -> None:
    await notes.write("a")
    await notes.write("b")
    async with (
        aclosing(await broadcast.subscribe(everything)) as waiting,
        aclosing(await broadcast.subscribe(everything, cursor("a"))) as reading,
    ):
        ending = asyncio.ensure_future(anext(waiting, None))
        await asyncio.sleep(0)  # so that it has begun
        assert sent(await some(reading, 1)) == ["b"]
        assert broadcast.subscriptions == 2

        await broadcast.end(0)  # which waits for no reader that does not come for more
        assert broadcast.subscriptions == 1
        end = asyncio.ensure_future(broadcast.end(TIMEOUT_S))
        assert await ending is None
        assert await anext(reading, None) is None
        await end
        assert broadcast.subscriptions == 0
    async with aclosing(await broadcast.subscribe(everything)) as late:
        assert await anext(late, None) is None


async def test_the_end_waits_for_no_more_of_the_past(notes: Notebook, broadcast: Broadcast[Note]) -> None:
    await notes.write(*ids(*range(30)))

    async def charge(read: int, sent: int) -> None:
        if sent and next(charges) == 1:
            waits.set()
            await asyncio.Event().wait()

    charges, waits, first = count(), asyncio.Event(), cursor(*ids(0))
    async with (
        aclosing(await broadcast.subscribe(everything, first)) as reading,
        aclosing(await broadcast.subscribe(everything, first, charge)) as waiting,
    ):
        await some(reading, 1)
        await some(waiting, 1)
        next_one = asyncio.ensure_future(anext(waiting, None))
        await waits.wait()

        end = asyncio.ensure_future(broadcast.end(TIMEOUT_S))
        await asyncio.sleep(0)

        assert await next_one is None
        assert await anext(reading, None) is None
        await end


async def test_nothing_is_read_without_subscribers(database: Database, notes: Notebook) -> None:
    watched = WatchedDatabase(database)
    async with broadcasting(watched) as broadcast:
        async with aclosing(await broadcast.subscribe(everything)) as notices:
            first = asyncio.ensure_future(some(notices, 1))
            await notes.write("a")
            await first
        await broadcast.close()
        watched.calls.clear()
        await notes.write("b")
        assert watched.calls == []
        async with aclosing(await broadcast.subscribe(everything, cursor("a"))) as notices:
            assert sent(await some(notices, 1)) == ["b"]
