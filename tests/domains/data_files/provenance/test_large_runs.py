"""Runs that generate more files than a transaction takes are recorded whole or not at all, like any other."""

from collections.abc import Sequence
from itertools import count

import pytest

from graph.domains.data_files.entities import FILE_REVISION
from graph.domains.data_files.errors import AlreadyGenerated
from graph.domains.data_files.new_files import NewFile
from graph.domains.data_files.provenance.reports import UsedFile
from tests.domains.data_files.in_store import (
    FileStore,
    a_report,
    checksum,
    data_files,
    distances,
    names,
    references,
    run_id,
)
from tests.domains.data_files.provenance.in_turn import in_turn
from tests.domains.data_files.provenance.test_races import recorded
from tests.domains.data_files.whole import assert_whole
from tests.domains.watches.cuts import ACTIONS, Cut, cut_off
from tests.effort import THOROUGH

MANY = names(2 * ACTIONS, "made")
FIRST = [f"{name}@1" for name in MANY]


async def test_a_run_generates_files_of_more_bytes_than_a_transaction_takes(engine: str) -> None:
    large = [NewFile(name=name, metadata={"text": "x" * 60_000}) for name in names(70)]
    async with data_files(engine) as ours:
        run = await ours.run(1, makes=large)
        assert references(run.generated) == [f"{name}@1" for name in names(70)]
        await assert_whole(ours)


async def test_what_a_large_run_replaces_is_what_it_used(engine: str) -> None:
    async with data_files(engine) as ours:
        await ours.register("latest")
        small = FileStore(Cut(ours.database, "refused"))
        unknown = UsedFile("unknown", may_be_unknown=True)
        makes = [*MANY, *(NewFile(name=name, checksum=checksum(1)) for name in ("latest", "unknown"))]
        run = await small.run(1, used=["latest", unknown], makes=makes)
        assert references(run.used) == ["latest@1", "unknown@1"]
        assert references(run.generated) == [*FIRST, "latest@2", "unknown@2"]
        assert set(distances(await ours.lineage("latest@1"))) == {"latest@1", *references(run.generated)}
        await assert_whole(ours)


async def claimed(ours: FileStore, number: int, makes: Sequence[str]) -> None:
    """Let a large run break off when it has claimed what it generates."""
    stored = len(await ours.items(FILE_REVISION))
    database = Cut(ours.database, "refused")
    for failing in count(1):
        database.left = failing
        await cut_off(FileStore(database).run(number, makes=makes))
        assert database.left <= 0
        revisions = await ours.items(FILE_REVISION)
        if len([each for each in revisions if each.get("generated-by") == run_id(number)]) == len(makes):
            assert len(revisions) == stored + len(makes)
            return


@pytest.mark.parametrize("makes", [MANY[:1], MANY], ids=["small", "large"])
async def test_what_a_run_that_broke_off_would_have_generated_can_be_anothers(
    engine: str, makes: Sequence[str]
) -> None:
    async with data_files(engine) as ours:
        await claimed(ours, 1, MANY)
        assert await ours.found(1) is None
        other = FileStore(Cut(ours.database, "refused"))
        run = await other.run(2, makes=makes)
        assert references(run.generated) == FIRST[: len(makes)]
        with pytest.raises(AlreadyGenerated):
            await other.run(1, makes=MANY)
        await assert_whole(ours)


@pytest.mark.parametrize("calls", [8, 9, 10, 50])
async def test_of_large_runs_that_generate_the_same_at_once_one_is_recorded(calls: int) -> None:
    """One goes on when the other has made so many calls: it has taken over claims by then, or is recorded."""
    few = names(8)
    for behind in range(1, 20, 1 if THOROUGH else 2):
        async with data_files("sqlite") as ours:
            works = [recorded(a_report(number, makes=few)) for number in (1, 2)]
            errors = await in_turn(ours.database, works, [0] * behind + [1] * calls + [0] * 50, 7)
            assert [type(error) for error in errors if error] == [AlreadyGenerated]
            await assert_whole(ours)
