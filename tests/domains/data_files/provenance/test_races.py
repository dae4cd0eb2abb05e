"""Whatever several writers do at the same time, runs are whole, and none closes a cycle, alone or with others."""

import asyncio
from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from graph.domains.data_files.entities import ENTITIES
from graph.domains.data_files.errors import ProvenanceCycle
from graph.domains.data_files.new_files import NewFile
from graph.domains.data_files.provenance.reports import RunReport, UsedFile
from graph.store.contract import Database
from tests.domains.data_files.in_store import FileStore, a_report, checksum, data_files, data_files_at, names
from tests.domains.data_files.provenance.in_turn import in_turn
from tests.domains.data_files.whole import assert_whole
from tests.effort import THOROUGH, rounds
from tests.store.engines import new_store

FILES = ("a", "b", "c", "d", "unknown")
"""All are registered but the last one."""


def recorded(report: RunReport) -> Callable[[Database], Awaitable[object]]:
    """The recording of a report, with a store of its own."""

    async def work(database: Database) -> object:
        return await FileStore(database).runs.record(report)

    return work


@st.composite
def reports(draw: st.DrawFn) -> RunReport:
    """A report of one of three runs, of which each may use and generate what others do."""
    some = partial(st.lists, st.sampled_from(FILES), max_size=3, unique=True)
    contents = st.sampled_from([None, None, None, 1, 2])
    return a_report(
        draw(st.integers(0, 2)),
        used=[UsedFile(name, may_be_unknown=True) for name in draw(some())],
        makes=[
            NewFile(name=name, checksum=None if (new := draw(contents)) is None else checksum(new))
            for name in draw(some())
        ],
    )


LIMITS = st.sampled_from([None, None, 4, 5, 6, 8, 11])
"""Actions of a transaction: with few, parts of a run are written before it."""

SCHEDULES = st.lists(st.integers(0, 2), min_size=1, max_size=25)
ALL_FOUR = a_report(0, used=FILES[:-1])
LARGE = a_report(0, used=["a"], makes=["b", *names(8)])


@given(st.lists(reports(), max_size=2), st.lists(reports(), min_size=2, max_size=3), SCHEDULES, LIMITS)
@settings(max_examples=rounds(250))
@example([], [ALL_FOUR, ALL_FOUR], [0, 1], 5)
@example([], [LARGE, LARGE], [0, 0, 1], 7)
@example([], [LARGE, LARGE], [*[0] * 7, *[1] * 50], 7)
@example([a_report(2, used=["a", "b"])], [a_report(0, ["a"], ["b"]), a_report(1, ["b"], ["a"])], [0, 1], None)
async def test_runs_that_are_recorded_at_once_are_whole_and_close_no_cycle(
    before: list[RunReport], together: list[RunReport], order: list[int], limit: int | None
) -> None:
    """Some are recorded one after the other, then others at the same time, and all of these once more."""
    async with data_files("sqlite") as ours:
        await ours.register(*FILES[:-1])
        for report in before:
            await in_turn(ours.database, [recorded(report)], [0], limit)
        errors = await in_turn(ours.database, [recorded(report) for report in together], order, limit)
        await assert_whole(ours)
        stored = await ours.everything()
        for report, error in zip(together, errors, strict=True):
            (again,) = await in_turn(ours.database, [recorded(report)], [0], limit)
            if error is None:
                assert again is None
        await assert_whole(ours)
        if not any(errors):
            assert await ours.everything() == stored


TO_C_FROM_D = a_report(0, used=["a", "b", "c"], makes=["d"])
TO_D_FROM_C = a_report(1, used=["d", "b", "a"], makes=["c"])
BEFORE = {
    "new": [],
    "used": [a_report(2, used=["c", "d"])],
    "one used": [a_report(2, used=["c"])],
    "recorded": [a_report(0, used=["a"]), a_report(1, makes=["c"])],
    "generated": [a_report(0, makes=["d"]), a_report(2, used=["c"])],
    "over others": [a_report(3, used=["d"], makes=["e"]), a_report(4, used=["e"], makes=["f"])],
}
TURNS = [[0] * 50, [0, 1], *([of] * calls + [1 - of] * 50 for calls in range(1, 12) for of in (0, 1))]
"""One after the other, alternately, or one after some calls of the other."""


@pytest.mark.parametrize("before", BEFORE.values(), ids=BEFORE)
async def test_of_two_runs_that_close_a_cycle_only_together_one_is_recorded(
    engine: str, before: list[RunReport]
) -> None:
    step = 1 if THOROUGH else 5
    every = [(None, TURNS[::step]), (5, TURNS[1 :: 3 * step]), (2, TURNS[2 :: 3 * step])]
    if engine == "dynamodb":
        every = [(None, TURNS[1:2])]
    for limit, order in ((limit, order) for limit, orders in every for order in orders):
        async with data_files(engine) as ours:
            await ours.register(*FILES[:-1])
            for report in before:
                await ours.runs.record(report)
            errors = await in_turn(ours.database, [recorded(TO_C_FROM_D), recorded(TO_D_FROM_C)], order, limit)
            assert [type(error) for error in errors if error] == [ProvenanceCycle]
            await assert_whole(ours)


@pytest.mark.parametrize("limit", [None, 8, 2])
async def test_of_three_runs_that_close_a_cycle_only_together_two_are_recorded(engine: str, limit: int | None) -> None:
    reports = [a_report(0, ["a", "d"], ["b"]), a_report(1, ["b", "d"], ["c"]), a_report(2, ["c", "d"], ["a"])]
    orders = [[0, 1, 2], [2, 1, 0, 0, 1, 2], [0, 0, 1, 1, 2, 2], [0] * 5 + [1] * 6 + [0] * 50]
    for order in orders if engine == "sqlite" else orders[:1]:
        async with data_files(engine) as ours:
            await ours.register(*FILES[:-1])
            errors = await in_turn(ours.database, [recorded(report) for report in reports], order, limit)
            assert [type(error) for error in errors if error] == [ProvenanceCycle]
            await assert_whole(ours)


async def test_two_services_on_one_store_never_record_both_halves_of_a_cycle(engine: str, tmp_path: Path) -> None:
    url = await new_store(engine, tmp_path, ENTITIES)
    async with data_files_at(url) as one, data_files_at(url) as other:
        pairs = [(f"x{number}", f"y{number}") for number in range(40 if engine == "sqlite" else 10)]
        await one.register(*(name for pair in pairs for name in pair))
        if engine == "sqlite":
            await one.run(0, used=[name for pair in pairs[::2] for name in pair])
        for number, (x, y) in enumerate(pairs):
            results = await asyncio.gather(
                one.run(2 * number + 1, used=[x], makes=[y]),
                other.run(2 * number + 2, used=[y], makes=[x]),
                return_exceptions=True,
            )
            assert [type(result) for result in results if isinstance(result, Exception)] == [ProvenanceCycle]
        await assert_whole(one)


async def test_runs_that_replace_the_same_file_at_once_each_make_a_revision(engine: str) -> None:
    reports = [a_report(run, makes=[NewFile(name="latest", metadata={"run": run})]) for run in range(3)]
    for order in ([0, 1, 2], [0, 0, 1, 1, 1, 1, 1, 2, 2, 2], [0, 0, 0, 1, 1, 1, 1, 1]):
        async with data_files(engine) as ours:
            assert await in_turn(ours.database, [recorded(report) for report in reports], order) == [None] * 3
            assert (await ours.files.by_name(["latest"]))["latest"].revision == 3
            await assert_whole(ours)
