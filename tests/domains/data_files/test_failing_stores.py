"""Wherever the store fails, each file is registered wholly or not at all; to register it again completes the work."""

from itertools import count

import pytest

from graph.domains.data_files.new_files import NewFile
from tests.domains.data_files.in_store import FileStore, a_calibration, a_file, checksum, data_files, items
from tests.domains.data_files.whole import assert_whole
from tests.domains.watches.cuts import ACTIONS, Cut, cut_off


def files(number: int) -> list[NewFile]:
    """Files of several transactions of a `Cut`. Two are the next revisions of those of the number before."""
    return [
        a_file("a.nc", 1, 1 + number % 3, type="APID11", checksum=checksum(number), additional=items(number % 5)),
        a_calibration("cal.nc", f"1.{number}", "L0", "L1A"),
        a_file(f"{number}.nc", 1, 2, algorithm_version="1.0"),
        a_file(f"long-{number}.nc", 3, additional=items(2 * ACTIONS)),
    ]


@pytest.mark.parametrize("way", ["refused", "answer lost"])
async def test_a_registration_that_breaks_off_at_any_call_leaves_no_file_half_registered(engine: str, way: str) -> None:
    async with data_files(engine) as ours:
        database = Cut(ours.database, way)
        for failing in count(1):
            database.left = failing
            cut = FileStore(database, ours.clock)
            await cut_off(cut.register(*files(failing)))
            broke_off, database.left = database.left <= 0, 0
            await assert_whole(ours)

            report = await cut.register(*files(failing))
            assert report.registered + report.skipped == 4
            assert (await cut.register(*files(failing))).skipped == 4
            await assert_whole(ours)
            if not broke_off:
                break
        assert failing >= 6


async def test_items_of_a_registration_that_broke_off_are_none_of_the_file_that_is_registered_later(
    engine: str,
) -> None:
    async with data_files(engine) as ours:
        database = Cut(ours.database, "refused")
        database.left = 2  # the file is looked for, and its items are written; then comes the transaction
        await cut_off(FileStore(database, ours.clock).register(a_file("a.nc", additional=items(2 * ACTIONS))))
        assert await ours.files.by_name(["a.nc"]) == {}
        assert await ours.identifiers("a.nc") == []

        for number, identifiers in ((1, ["PDS"]), (2, ["PDS", "PDS#0002"])):
            await ours.register(a_file("a.nc", additional=items(number)))
            assert await ours.identifiers("a.nc") == identifiers
            await assert_whole(ours)
