"""Changes are numbered in the order in which they are stored, without a gap, whichever process stores them."""

import asyncio
from itertools import chain

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graph.feed.sequence import STATE_BYTES, Change, Reservation, sliced
from graph.store.contract import Database
from graph.store.entity import Item
from tests.domains.entities import documented
from tests.feed.notes import ENTITIES, NOTE_SEQUENCE, Notebook


async def changes(notes: Notebook) -> list[Change]:
    """Every change."""
    return await notes.sequence.since(0, 10_000)


async def test_each_transaction_has_the_next_number_and_its_records_have_it_too(notes: Notebook) -> None:
    assert await notes.sequence.latest() == 0

    await notes.write("b", "a")
    await notes.write("c")

    assert await changes(notes) == [Change(1, ("b", "a")), Change(2, ("c",))]
    assert {note.note_id: note.number for note in (await notes.load("abc")).values()} == {"a": 1, "b": 1, "c": 2}
    assert await notes.sequence.latest() == 2


async def test_the_changes_after_a_number_come_in_order_and_at_most_so_many(notes: Notebook) -> None:
    for number in range(12):
        await notes.write(f"n{number}")

    assert [change.number for change in await notes.sequence.since(3, 2)] == [4, 5]
    assert [change.number for change in await notes.sequence.since(8, 100)] == [9, 10, 11, 12]
    assert await notes.sequence.since(12, 100) == []


async def test_the_items_have_the_names_that_the_domain_gives(database: Database, notes: Notebook) -> None:
    await notes.write("a")

    items = [documented(entity, item) for entity in ENTITIES async for item in database.scan(entity)]

    assert len(items[-1].pop("state")) == 2 * STATE_BYTES
    assert items == [
        {"pk": "NOTE#a", "sk": "NOTE", "entity": "NOTE", "noteId": "a", "change": 1},
        {"pk": "NOTES", "sk": "000000000001", "entity": "CHANGE", "noteIds": ["a"]},
        {"pk": "NOTES#LATEST", "sk": "STATE", "entity": "CHANGE", "number": 1},
    ]


@pytest.mark.parametrize("processes", [1, 4])
async def test_tasks_of_any_processes_share_the_numbers_without_a_gap(database: Database, processes: int) -> None:
    notebooks = [Notebook(database) for _ in range(processes)]

    async def several(task: int) -> int:
        notes = notebooks[task % processes]
        return sum([await notes.write(f"{task}-{number}", f"both{number}") for number in range(10)])

    written = await asyncio.gather(*map(several, range(4)))

    notes = Notebook(database)
    stored = await changes(notes)
    assert [change.number for change in stored] == list(range(1, len(stored) + 1))
    keys = list(chain.from_iterable(change.keys for change in stored))
    tasks = [f"{task}-" for task in range(4)]
    assert sorted(keys) == sorted(f"{name}{number}" for name in (*tasks, "both") for number in range(10))
    assert sum(written) == len(keys)
    loaded = await notes.load(keys)
    assert all(loaded[key].number == change.number for change in stored for key in change.keys)


async def test_a_number_whose_transaction_was_not_sent_is_given_again(notes: Notebook) -> None:
    await notes.write("a")

    async def reserve_and_fail() -> None:
        async with notes.sequence.reserve() as reservation:
            assert reservation.number == 2
            raise RuntimeError("before it was sent")

    with pytest.raises(RuntimeError):
        await reserve_and_fail()

    await notes.write("b")

    assert await changes(notes) == [Change(1, ("a",)), Change(2, ("b",))]


def test_to_number_a_record_makes_a_copy_of_it() -> None:
    item: Item = {"pk": "NOTE#a", "sk": "NOTE"}

    assert Reservation(7, 1, NOTE_SEQUENCE).numbered([item]) == [{"pk": "NOTE#a", "sk": "NOTE", "change": 7}]
    assert item == {"pk": "NOTE#a", "sk": "NOTE"}
    assert NOTE_SEQUENCE.number_of(item) == 0, "it was stored before all that have a number"


@given(st.lists(st.integers(0, 12), max_size=12), st.integers(1, 9))
def test_slices_hold_all_in_order_and_no_more_than_they_may(sizes: list[int], most: int) -> None:
    whole = [Change(number, tuple(f"n{number}-{each}" for each in range(size))) for number, size in enumerate(sizes, 1)]

    slices = list(sliced(whole, most))

    assert all(sum(len(change.keys) for change in some) <= most for some in slices)
    parts = [change for some in slices for change in some]
    assert [part.number for part in parts] == sorted(part.number for part in parts)
    for change in whole:
        assert tuple(chain.from_iterable(part.keys for part in parts if part.number == change.number)) == change.keys
    assert {part.number for part in parts} == {change.number for change in whole}
