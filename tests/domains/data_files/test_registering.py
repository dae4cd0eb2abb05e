"""Files are registered once, as revisions of their content, each with its own items and counts, on either engine.

Wherever the store fails, each is registered wholly or not at all; to register it again completes the work.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from graph.domains.data_files.entities import ENTITIES, FILE_REVISION
from graph.domains.data_files.model import RegistrationProblem
from graph.domains.data_files.new_files import NewFile, SortableMetadata
from graph.domains.data_files.references import Version
from graph.store.dynamodb.engine import ACTIONS_PER_TRANSACTION
from tests.domains.data_files.in_store import (
    FileStore,
    a_calibration,
    a_file,
    checksum,
    data_files,
    data_files_at,
    day,
    items,
)
from tests.domains.data_files.whole import assert_whole, counters
from tests.domains.earthquakes.strategies import A_FEW
from tests.domains.watches.cuts import ACTIONS, Cut, cut_off, either_way
from tests.effort import rounds
from tests.store.engines import new_store

NAMES = ("a.nc", "b.nc", "c.nc")


async def totals(ours: FileStore, *files: NewFile) -> tuple[int, int]:
    """How many files are registered and skipped."""
    report = await ours.register(*files)
    return report.registered, report.skipped


async def revisions(ours: FileStore, name: str) -> list[dict[str, Any]]:
    """A file's revisions, the first one first."""
    found = [item for item in await ours.items(FILE_REVISION) if item["file-name"] == name]
    return sorted(found, key=lambda item: int(item["revision"]))


async def test_the_same_checksum_is_the_same_file_and_another_one_its_next_revision(engine: str) -> None:
    first, second = (a_file("a.nc", 1, checksum=checksum(number)) for number in (1, 2))
    async with data_files(engine) as ours:
        assert await totals(ours, first) == (1, 0)
        assert await totals(ours, first, replace(first, size=7, checksum=checksum(1).upper())) == (0, 2)
        ours.clock.now += 1000
        assert await totals(ours, second) == (1, 0)
        before, latest = await revisions(ours, "a.nc")
        assert (before["checksum"], latest["checksum"]) == (checksum(1), checksum(2))
        assert before["invalidated-at"] == latest["registered-at"] != before["registered-at"]
        assert "invalidated-at" not in latest
        assert await totals(ours, first) == (1, 0)  # the earlier content once more, as a third revision
        assert (await ours.files.by_name(["a.nc"]))["a.nc"].version == Version("a.nc", 3)
        await assert_whole(ours)


async def test_a_file_without_a_checksum_is_known_by_its_metadata(engine: str) -> None:
    file = a_file("a.nc", 1, metadata={"x": 1, "y": 2})
    async with data_files(engine, [file]) as ours:
        assert await totals(ours, replace(file, metadata={"y": 2, "x": 1})) == (0, 1)
        assert await totals(ours, replace(file, metadata={"x": 2})) == (1, 0)
        assert len(await revisions(ours, "a.nc")) == 2


@settings(A_FEW, max_examples=rounds(60))
@given(
    calls=st.lists(
        st.lists(
            st.builds(
                lambda name, content, days, level, version, calibrates: (
                    name,
                    a_file(
                        name,
                        *days,
                        level=level,
                        algorithm_version=version,
                        checksum=content and checksum(content),
                        calibrations=a_calibration(name, version or "1", calibrates).calibrations if calibrates else (),
                    ),
                ),
                st.sampled_from(NAMES),
                st.sampled_from([None, 1, 2]),
                st.lists(st.integers(1, 3), max_size=3),
                st.sampled_from(["L0", "L1A"]),
                st.sampled_from([None, "1.0", "2.0"]),
                st.sampled_from([None, "L0", "L1A"]),
            ),
            max_size=4,
        ),
        max_size=5,
    )
)
async def test_after_any_registrations_the_store_is_what_a_model_has(
    engine: str, calls: Sequence[Sequence[tuple[str, NewFile]]]
) -> None:
    model: dict[str, list[NewFile]] = {}
    registered = skipped = 0
    async with data_files(engine) as ours:
        for call in calls:
            report = await ours.register(*(file for _, file in call))
            expected = 0
            for name, file in call:
                known = model.setdefault(name, [])
                if not known or not _is_same(known[-1], file):
                    known.append(file)
                    expected += 1
            assert (report.registered, report.skipped) == (expected, len(call) - expected)
            registered, skipped = registered + report.registered, skipped + report.skipped
        await assert_whole(ours)
        for name, known in model.items():
            latest = (await ours.files.by_name([name]))[name]
            assert latest.revision == len(known)
            assert latest.applicable_dates == sorted({each for p in known[-1].sortable for each in p.applicable_dates})
        days = [each for known in model.values() for part in known[-1].sortable for each in set(part.applicable_dates)]
        counted = await counters(ours)
        assert {day for day, name in counted if name == "items" and day[0] == "2"} == {d.isoformat() for d in days}
        assert sum(n for (day, name), n in counted.items() if name == "items" and day[0] == "2") == len(days)


def _is_same(known: NewFile, new: NewFile) -> bool:
    """Whether a file is registered as it is: two checksums decide, otherwise all that is told of it."""
    if known.checksum and new.checksum:
        return known.checksum == new.checksum
    return _told(known) == _told(new)


def _told(file: NewFile) -> NewFile:
    parts = [replace(part, applicable_dates=sorted(set(part.applicable_dates))) for part in file.sortable]
    return replace(file, sortable=[part for part in parts if part.applicable_dates])


async def test_a_file_of_more_days_than_a_transaction_takes_is_refused_alone() -> None:
    """A transaction of DynamoDB has at most 100 actions: two of the file, and two for each day."""
    most = (ACTIONS_PER_TRANSACTION - 2) // 2
    fits, too_long = (_of_days(name, number) for name, number in (("fits.nc", most), ("long.nc", most + 1)))
    async with data_files("sqlite") as ours:
        ours.database.transaction_limit = ACTIONS_PER_TRANSACTION
        report = await ours.registration.register([fits, too_long, a_file("a.nc")])
        (rejection,) = report.rejections
        assert (report.registered, rejection.index, rejection.name) == (2, 1, "long.nc")
        assert rejection.code is RegistrationProblem.TOO_MANY_ITEMS
        assert "fewer days" in rejection.message
        await assert_whole(ours)


def _of_days(name: str, number: int) -> NewFile:
    days = [day(1).replace(year=1901 + at) for at in range(number)]
    return NewFile(name=name, level="L0", sortable=[SortableMetadata(applicable_dates=days)])


async def test_what_two_processes_register_at_once_is_registered_once(engine: str, tmp_path: Path) -> None:
    files = [a_file(f"{number}.nc", 1, 2, checksum=checksum(number)) for number in range(20)]
    url = await new_store(engine, tmp_path, ENTITIES)
    async with data_files_at(url) as first, data_files_at(url) as second:
        reports = await asyncio.gather(first.register(*files), second.register(*files[::-1]))
        assert sum(report.registered for report in reports) == len(files)
        assert sum(report.skipped for report in reports) == len(files)
        assert {item["revision"] for item in await first.items(FILE_REVISION)} == {1}

        for number in range(4):  # other contents are revisions in a row
            contents = [a_file("a.nc", 1 + at, type=f"T{at}", checksum=checksum(2 * number + at)) for at in (0, 1)]
            reports = await asyncio.gather(first.register(contents[0]), second.register(contents[1]))
            assert [report.registered for report in reports] == [1, 1]
        assert len(await second.items(FILE_REVISION)) == len(files) + 2 * 4
        await assert_whole(second)


def files(number: int) -> list[NewFile]:
    """Files of several transactions of a `Cut`. Two are the next revisions of those of the number before."""
    return [
        a_file("a.nc", 1, 1 + number % 3, type="APID11", checksum=checksum(number), additional=items(number % 5)),
        a_calibration("cal.nc", f"1.{number}", "L0", "L1A"),
        a_file(f"{number}.nc", 1, 2, algorithm_version="1.0"),
        a_file(f"long-{number}.nc", 3, additional=items(2 * ACTIONS)),
    ]


@either_way
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
