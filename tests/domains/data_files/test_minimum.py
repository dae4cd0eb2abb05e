"""Files that another program has written with the documented minimum are read, used and registered anew."""

import pytest

from graph.core.paging import Paging
from graph.domains.data_files.entities import FILE, PART
from graph.domains.data_files.model import MetadataPart
from graph.domains.data_files.references import Version
from graph.domains.data_files.selection import FileSelection, VersionRule
from graph.store.contract import Put
from graph.store.ordering import PageRequest
from tests.domains.data_files.in_store import FileStore, a_file, data_files, day, references

ARCHIVED = "2024-01-01 00:00:00"
NAMES = ["Example_file.nc", "Example_calibration_file.nc"]
MINIMUM = [
    Put(FILE, {"file-name": NAMES[0], "archive-time": ARCHIVED, "algorithm-version": "1.0.0"}),
    Put(PART, {"file-name": NAMES[0], "identifier": "L0#SPICE#AZ", "applicable-date": "2024-01-01"}),
    Put(FILE, {"file-name": NAMES[1]}),
    Put(
        PART,
        {
            "file-name": NAMES[1],
            "identifier": "CAL#L0",
            "archive-time": ARCHIVED,
            "calibration-version": "1.0.0",
        },
    ),
]


async def listed(ours: FileStore, rule: VersionRule) -> list[str]:
    page = await ours.files.page(FileSelection(version=rule), PageRequest(Paging(10), None))
    assert [each.values() for each in page.records]
    return [each.name for each in page.records]


@pytest.mark.usefixtures("dynamodb_endpoint")
async def test_a_file_with_the_documented_minimum_is_its_first_revision_and_keeps_what_it_has() -> None:
    async with data_files("dynamodb") as ours:
        await ours.database.put_many(MINIMUM)
        await ours.register(a_file("ours.nc", 1, algorithm_version="1.0.0"))  # so that the day is counted

        files = await ours.files.by_name(NAMES)
        assert [(each.revision, each.applicable_dates) for each in files.values()] == [(1, [])] * 2
        assert {file.registered_at.year for file in files.values()} == {2024, 1970}
        parts = await ours.files.parts(NAMES)
        assert [MetadataPart(item).is_sortable for item in parts[NAMES[0]]] == [True]
        assert [MetadataPart(item).is_calibration for item in parts[NAMES[1]]] == [True]
        for rule in (VersionRule.ALL, VersionRule.LATEST):
            assert sorted(await listed(ours, rule)) == [NAMES[0], "ours.nc"]
        assert (await ours.lineage(f"{NAMES[0]}@1")).nodes == []

        run = await ours.run(1, used=NAMES, makes=["l1a.nc"])
        assert references(run.used) == [f"{name}@1" for name in NAMES]
        assert (await ours.files.by_name(NAMES))[NAMES[0]].algorithm_version == "1.0.0"
        assert await ours.identifiers(NAMES[1]) == ["CAL#L0"]
        assert await ours.files.with_version(NAMES[1], "1.0.0") == [Version(NAMES[1], 1)]
        assert len((await ours.lineage("l1a.nc@1")).nodes) == 3


@pytest.mark.usefixtures("dynamodb_endpoint")
async def test_a_file_with_the_documented_minimum_is_registered_anew_beside_others() -> None:
    async with data_files("dynamodb") as ours:
        await ours.database.put_many(MINIMUM)

        report = await ours.register(a_file("a.nc", 1), a_file(NAMES[0], 2), a_file("b.nc", 1))

        assert report.registered == 3
        file = (await ours.files.by_name(NAMES))[NAMES[0]]
        assert (file.revision, file.applicable_dates) == (1, [day(2)])
        assert await ours.identifiers(NAMES[0]) == ["L0"]
        assert sorted(await listed(ours, VersionRule.ALL)) == [NAMES[0], "a.nc", "b.nc"]
