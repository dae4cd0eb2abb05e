"""A change may expire with its records. What is left is in order, and no number is taken twice."""

from collections.abc import AsyncIterator
from contextlib import aclosing

import pytest

from graph.feed.sequence import Change
from graph.store.contract import Database
from tests.domains.earthquakes.builders import at
from tests.domains.entities import documented
from tests.feed.notes import ENTITIES, EXPIRING_SEQUENCE, Notebook, cursor, everything, sent, some
from tests.store.engines import empty_database
from tests.store.samples import HeldClock

NOW = at("2100-03-02T12:00:00")  # the emulator deletes what has expired by the machine's clock
SOON, LATER = NOW // 1000 + 10, NOW // 1000 + 20


@pytest.fixture
async def database(engine: str, clock: HeldClock) -> AsyncIterator[Database]:
    clock.now = NOW
    async with empty_database(engine, ENTITIES, clock=clock, stream=True) as database:
        yield database


@pytest.fixture
async def notes(database: Database) -> Notebook:
    notes = Notebook(database, EXPIRING_SEQUENCE)
    await notes.write("a", ttl=SOON)
    await notes.write("b")
    await notes.write("c", "d", ttl=LATER)
    return notes


async def test_a_change_says_when_it_expires_and_one_that_stays_does_not(database: Database, notes: Notebook) -> None:
    change = EXPIRING_SEQUENCE.change
    items = [documented(change, item) async for item in database.scan(change)]

    of_all = {"pk": "EXPIRING", "entity": "EXPIRING_CHANGE"}
    assert sorted(items, key=lambda item: str(item["sk"])) == [
        {**of_all, "sk": "000000000001", "noteIds": ["a"], "ttl": SOON},
        {**of_all, "sk": "000000000002", "noteIds": ["b"]},
        {**of_all, "sk": "000000000003", "noteIds": ["c", "d"], "ttl": LATER},
    ]


async def test_numbers_go_on_when_changes_have_expired_even_all_of_the_latest(
    database: Database, notes: Notebook, clock: HeldClock
) -> None:
    clock.now = 1000 * SOON
    assert await notes.sequence.since(0, 1) == [Change(2, ("b",))]
    clock.now = 1000 * LATER
    assert await notes.sequence.since(0, 10) == [Change(2, ("b",))]
    assert await notes.sequence.latest() == 3

    await Notebook(database, EXPIRING_SEQUENCE).write("e", ttl=LATER + 1)
    assert await notes.sequence.since(0, 10) == [Change(2, ("b",)), Change(4, ("e",))]


async def test_a_cursor_replays_what_is_left_behind_a_change_that_has_expired(
    notes: Notebook, clock: HeldClock
) -> None:
    new: list[str] = []
    for expired, after, left in (
        (SOON, "a", "bcd"),
        (SOON, "b", "cd"),
        (SOON, "c", "d"),
        (SOON, "d", ""),
        (LATER, "c", ""),
        (LATER, "d", ""),
    ):
        clock.now = 1000 * expired
        broadcast = notes.broadcast()
        async with aclosing(await broadcast.subscribe(everything, cursor(after))) as notices:
            assert sent(await some(notices, len(left) + len(new))) == [*left, *new]
            new.append(f"new{len(new)}")
            await notes.write(new[-1])
            assert sent(await some(notices, 1)) == new[-1:]
        await broadcast.close()
