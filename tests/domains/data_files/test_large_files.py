"""Several writers at once of a file with more further items than one transaction takes."""

from collections.abc import Awaitable, Callable

import pytest

from graph.core.clock import now_ms
from graph.domains.data_files.entities import PART
from graph.domains.data_files.model import identifier_of
from graph.domains.data_files.new_files import NewFile
from graph.domains.data_files.provenance.reports import UsedFile
from graph.domains.data_files.registering import Registration
from graph.store.contract import Database
from tests.domains.data_files.in_store import checksum, data_files, items
from tests.domains.data_files.provenance.in_turn import in_turn
from tests.domains.data_files.whole import assert_whole

NAME = "L0_CONS_file.PDS"


def registered(file: NewFile) -> Callable[[Database], Awaitable[object]]:
    """The registration of a file, with a store of its own."""

    async def work(database: Database) -> object:
        return await Registration(database, now_ms).register([file])

    return work


def content(number: int, of: int) -> NewFile:
    """A file of one name, with a content of its own for each number."""
    return NewFile(name=NAME, checksum=checksum(number), additional=items(of, "GAP", of=number))


ORDERS = [[0, 1], [1, 0], [0, 0, 1, 1], *([0] * calls + [1] * 20 for calls in range(1, 4))]


@pytest.mark.parametrize("before", [False, True], ids=["new", "named"])
@pytest.mark.parametrize("sizes", [(20, 20), (20, 30), (20, 2)], ids=["as many", "more", "fewer"])
async def test_of_different_contents_that_are_registered_at_once_a_file_has_one(
    engine: str, sizes: tuple[int, int], before: bool
) -> None:
    contents = [content(number, of) for number, of in enumerate(sizes)]
    for order in ORDERS if engine == "sqlite" else ORDERS[:1]:
        async with data_files(engine) as ours:
            if before:
                await ours.run(1, used=[UsedFile(NAME, may_be_unknown=True)])
            assert await in_turn(ours.database, [registered(file) for file in contents], order, 10) == [None, None]

            file = (await ours.files.by_name([NAME]))[NAME]
            (first,) = [number for number, each in enumerate(contents) if each.checksum == file.checksum]
            parts = (await ours.files.parts([NAME]))[NAME]
            assert [(identifier_of(part), part["n"], part["of"]) for part in parts] == [
                (f"GAP#{n + 1:04}" if n else "GAP", n, first) for n in range(sizes[first])
            ]
            stored = {part["identifier"] for part in await ours.items(PART)}
            assert stored == {part["identifier"] for part in parts}, "what came too late is removed"

            await ours.register(content(9, 3))
            assert {part["identifier"] for part in await ours.items(PART)} == {"GAP", "GAP#0002", "GAP#0003"}
            await assert_whole(ours)


async def test_the_same_content_that_is_registered_at_once_is_registered_once(engine: str) -> None:
    for order in ORDERS if engine == "sqlite" else ORDERS[:1]:
        async with data_files(engine) as ours:
            assert await in_turn(ours.database, [registered(content(1, 20))] * 2, order, 10) == [None, None]
            assert [part["n"] for part in (await ours.files.parts([NAME]))[NAME]] == list(range(20))
            assert (await ours.files.by_name([NAME]))[NAME].revision == 1
            await assert_whole(ours)
