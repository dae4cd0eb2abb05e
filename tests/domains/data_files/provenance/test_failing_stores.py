"""Wherever the store fails, a run is there whole or not at all, and recording it again completes it."""

from collections.abc import Awaitable, Callable, Sequence
from itertools import count
from typing import Any, TypeVar

import pytest

from graph.core.errors import BadUserInput
from graph.domains.data_files.model import RunState
from graph.domains.data_files.new_files import NewFile
from graph.domains.data_files.provenance.edges import Edges
from graph.domains.data_files.provenance.lineage import Direction
from graph.domains.data_files.provenance.reports import RunReport, UsedFile
from graph.store.contract import Database
from tests.domains.data_files.in_store import (
    FileStore,
    a_file,
    a_report,
    data_files,
    distances,
    names,
    references,
    run_id,
)
from tests.domains.data_files.whole import assert_whole
from tests.domains.watches.cuts import ACTIONS, Cut, cut_off, lose_connection
from tests.effort import THOROUGH

T = TypeVar("T")


WAYS = (*Cut.WAYS, "killed")


class Broken(Cut):
    """Breaks off. After it was killed, no call comes to the store, not even to clean up."""

    def __init__(self, database: Database, way: str, left: int) -> None:
        super().__init__(database, way)
        self.left = left

    async def around(self, method: str, asked: Any, call: Callable[[], Awaitable[T]]) -> T:
        if self.way == "killed" and self.left <= 0:
            await lose_connection()
        return await super().around(method, asked, call)


SIZES = {"small": (3, 1), "with many inputs": (2 * ACTIONS, 1), "with many outputs": (3, 2 * ACTIONS)}
"""The numbers of known files that a run uses, and of new ones that it makes."""


def reports(number: int, inputs: int, outputs: int) -> Sequence[RunReport]:
    """Of a run that begins with one file, and ends with others: it makes new ones, and replaces some that it used."""
    named = UsedFile(f"named{number}", may_be_unknown=True)
    makes = [
        *(a_file(name, 1, 2, level="L1A") for name in names(outputs, f"made{number}-")),
        a_file(f"named{number}", 1, 2, level="L1A"),
        NewFile(name=names(1)[0], metadata={"run": number}),
    ]
    return [
        a_report(number, used=[names(1)[0]], makes=[f"first{number}"], state=RunState.RUNNING),
        a_report(number, used=[*names(inputs), named], makes=makes),
    ]


async def seen(ours: FileStore, number: int, outputs: int) -> bool:
    """Whether anything is seen of the second report. All of it has to be, or nothing."""
    run = await ours.found(number)
    assert run is not None
    files = [f"named{number}", *names(outputs, f"made{number}-")]
    made = [f"{files[0]}@2", *(f"{name}@1" for name in files[1:])]  # the first of which it used before
    makers = await Edges(ours.database).makers(made)
    below = distances(await ours.lineage(references(run.used)[0], Direction.DOWNSTREAM, 1)).keys()
    if len(run.generated) == 1:
        assert makers == {}
        assert below.isdisjoint(made)
        assert outputs > ACTIONS or not await ours.files.by_name(files)  # of many, some are claimed before
        return False
    assert makers == dict.fromkeys(made, run_id(number))
    assert len(run.generated) == len(made) + 2
    assert below >= set(made)
    return True


@pytest.mark.parametrize("size", SIZES.values(), ids=SIZES)
@pytest.mark.parametrize("way", WAYS)
async def test_a_run_that_breaks_off_at_any_call_is_whole_or_not_there_and_can_be_repeated(
    way: str, size: tuple[int, int]
) -> None:
    is_quick = max(size) > ACTIONS and not THOROUGH  # then each way breaks off at other calls
    await breaks_off("sqlite", way, size, 1 + is_quick * WAYS.index(way), len(WAYS) if is_quick else 1)


@pytest.mark.parametrize("way", ["killed", "answer lost"])
async def test_it_is_so_on_dynamodb(dynamodb_endpoint: str, way: str) -> None:
    await breaks_off("dynamodb", way, SIZES["with many outputs" if THOROUGH else "small"], 1, 1)


async def breaks_off(engine: str, way: str, size: tuple[int, int], first: int, step: int) -> None:
    """Let recording break off at each call in turn, or at some, and repeat it."""
    inputs, outputs = size
    async with data_files(engine) as ours:
        await ours.register(*names(inputs))
        again = FileStore(Cut(ours.database, way))
        for failing in count(first, step):
            begins, ends = reports(failing, inputs, outputs)
            await ours.runs.record(begins)
            database = Broken(ours.database, way, failing)
            await cut_off(FileStore(database).runs.record(ends))
            broke_off = database.left <= 0
            await ours.register(f"behind{failing}")  # a cancelled write ends before this one
            await assert_whole(ours)
            assert await seen(ours, failing, outputs) or broke_off

            await again.runs.record(ends)
            await assert_whole(ours)
            assert await seen(ours, failing, outputs)
            if not broke_off:
                break
        assert failing > (4 if max(size) < ACTIONS else 6)


@pytest.mark.parametrize("inputs", [3, 2 * ACTIONS], ids=["few", "many"])
async def test_a_run_that_broke_off_keeps_no_other_from_what_it_would_have_made(inputs: int) -> None:
    async with data_files("sqlite") as ours:
        await ours.register(*names(inputs), "made")
        for failing in count(1):
            database = Broken(ours.database, "killed", failing)
            await cut_off(FileStore(database).run(1, used=names(inputs), makes=["made"]))
            if database.left > 0:
                break
            assert await ours.found(1) is None
        await ours.run(2, used=["made"], makes=["other"])
        with pytest.raises(BadUserInput):
            await ours.run(3, used=["other"], makes=["made"])
        await assert_whole(ours)
