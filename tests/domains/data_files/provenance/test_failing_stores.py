"""Wherever the store fails, a run is there whole or not at all, and recording it again completes it."""

from itertools import count

import pytest

from graph.core.errors import BadUserInput
from graph.domains.data_files.new_files import NewFile
from graph.domains.data_files.provenance.lineage import Direction
from graph.domains.data_files.provenance.reports import RunReport, UsedFile
from tests.domains.data_files.in_store import FileStore, a_file, a_report, data_files, distances, names, references
from tests.domains.data_files.whole import assert_whole
from tests.domains.triggers.watching.cuts import ACTIONS, Cut, cut_off

SIZES = {"small": 3, "large": 2 * ACTIONS}


def numbered(number: int, inputs: int) -> RunReport:
    """A run that uses known files and a new one, makes two, and replaces one of those that it used."""
    known = names(inputs)
    return a_report(
        number,
        used=[*known, UsedFile(f"named{number}", may_be_unknown=True)],
        makes=[
            *(a_file(f"{name}{number}", 1, 2, level="L1A") for name in ("made", "named")),
            NewFile(name=known[0], metadata={"run": number}),
        ],
    )


async def seen(ours: FileStore, number: int) -> bool:
    """Whether anything is seen of a numbered run. All of it has to be, or nothing."""
    run = await ours.found(number)
    files = await ours.files.by_name([f"made{number}", f"named{number}"])
    if run is None:
        assert not files
        return False
    assert len(files) == 2
    assert f"made{number}@1" in references(run.generated)
    for used in references(run.used):
        assert f"made{number}@1" in distances(await ours.lineage(used, Direction.DOWNSTREAM, 1))
    return True


@pytest.mark.parametrize("inputs", SIZES.values(), ids=SIZES)
@pytest.mark.parametrize("way", Cut.WAYS)
async def test_a_run_that_breaks_off_at_any_call_is_whole_or_not_there_and_can_be_repeated(
    way: str, inputs: int
) -> None:
    await breaks_off("sqlite", way, inputs)


@pytest.mark.parametrize(("way", "inputs"), [("refused", 3), ("answer lost", ACTIONS)], ids=["refused", "lost"])
async def test_it_is_so_on_dynamodb(dynamodb_endpoint: str, way: str, inputs: int) -> None:
    await breaks_off("dynamodb", way, inputs)


async def breaks_off(engine: str, way: str, inputs: int) -> None:
    """Let recording break off at each call in turn, and repeat it."""
    async with data_files(engine) as ours:
        await ours.register(*names(inputs))
        database = Cut(ours.database, way)
        cut = FileStore(database)
        for failing in count(1):
            database.left = failing
            await cut_off(cut.runs.record(numbered(failing, inputs)))
            broke_off, database.left = database.left <= 0, 0
            await ours.register(f"behind{failing}")  # a cancelled write ends before this one
            await assert_whole(ours)
            assert await seen(ours, failing) or broke_off

            await cut.runs.record(numbered(failing, inputs))
            await assert_whole(ours)
            assert await seen(ours, failing)
            if not broke_off:
                break
        assert failing > (4 if inputs < ACTIONS else 6)


@pytest.mark.parametrize("inputs", SIZES.values(), ids=SIZES)
async def test_a_run_that_broke_off_keeps_no_other_from_what_it_would_have_made(inputs: int) -> None:
    async with data_files("sqlite") as ours:
        await ours.register(*names(inputs), "made")
        database = Cut(ours.database, "refused")
        for failing in count(1):
            database.left = failing
            await cut_off(FileStore(database).run(1, used=names(inputs), makes=["made"]))
            broke_off, database.left = database.left <= 0, 0
            if not broke_off:
                break
            assert await ours.found(1) is None
        await ours.run(2, used=["made"], makes=["other"])
        with pytest.raises(BadUserInput):
            await ours.run(3, used=["other"], makes=["made"])
        await assert_whole(ours)
