"""Registering collected files and manifests in a store, on both engines."""

from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import date
from hashlib import md5, sha256
from pathlib import Path

import pytest

from graph.domains.data_files.entities import ENTITIES
from graph.domains.data_files.libera.collecting import PathRejection, collect
from graph.domains.data_files.libera.registering import FileRegistering, FilesReport
from graph.domains.data_files.model import Run
from graph.domains.data_files.new_files import NewFile
from graph.domains.data_files.provenance.recording import Runs
from graph.domains.data_files.reading import DataFiles
from graph.domains.data_files.references import Version
from graph.domains.data_files.registering import Registration
from graph.domains.data_files.selection import FileSelection
from graph.store.ordering import PageRequest
from tests.domains.data_files.libera.edos_records import DATA, NAME, Apid, Gap, Record
from tests.domains.data_files.libera.files import MANIFEST, RUN_ID, data, level_0, manifest, product
from tests.store.engines import empty_database
from tests.store.samples import HeldClock

pytestmark = pytest.mark.usefixtures("folder")

RAD, CAM = product(), product(name="CAM")
L1A = product("L1A", "RAD-SAMPLE-DECODED")


@dataclass
class Registered:
    """A store, and what registers in it."""

    files: DataFiles
    registration: Registration
    runs: Runs

    async def register(self, *paths: str) -> FilesReport:
        """Register what is at these paths."""
        registering = FileRegistering(self.files, self.registration, self.runs)
        return await registering.register(collect(paths or ["."]), lambda done: None)

    async def run(self) -> Run | None:
        """The run of the manifest."""
        return (await self.runs.by_id([RUN_ID])).get(RUN_ID)


@pytest.fixture
async def store(engine: str) -> AsyncIterator[Registered]:
    async with empty_database(engine, ENTITIES) as database:
        clock = HeldClock()
        yield Registered(DataFiles(database), Registration(database, clock), Runs(database, clock))


async def test_a_folder_is_registered_once(store: Registered) -> None:
    data(RAD, b"radiances", "L1B/2027")
    data("README.txt")
    level_0("L0")

    first, again = await store.register(), await store.register()

    assert first == FilesReport(registered=3, ignored=1)
    assert again == FilesReport(skipped=3, ignored=1)
    file = (await store.files.by_name([RAD]))[RAD]
    assert (file.level, file.product, file.algorithm_version, file.size) == ("L1B", "RAD-4CH", "1.2.3", 9)
    assert file.checksum == sha256(b"radiances").hexdigest()
    assert file.metadata is not None
    assert file.metadata["md5"] == md5(b"radiances", usedforsecurity=False).hexdigest()


async def test_a_file_across_midnight_is_found_on_its_second_day(store: Registered) -> None:
    data(RAD)
    level_0()
    await store.register()

    for day in (date(2027, 3, 1), date(2027, 3, 2)):
        page = await store.files.page(FileSelection(first=day, last=day), PageRequest.of_first(10))
        assert sorted(file.name for file in page.records) == [RAD, NAME]


async def test_every_item_of_a_construction_record_is_stored(store: Registered) -> None:
    level_0(record=Record(apids=[Apid(gaps=[Gap(17, 2), Gap(90, 40)], fill=[(5, 355, 12), (6, 426, 0)])]))
    await store.register()

    parts = {part["identifier"]: part for part in (await store.files.parts([NAME]))[NAME]}

    assert parts.keys() == {
        "CR",
        "SCS-START-STOP#1",
        "L0#APID11",
        "L0#APID11#0002",
        "APID11",
        "APID11#VCID",
        "APID11#SSC-GAPS",
        "APID11#SSC-GAPS#0002",
        "APID11#EDOS-FILL",
        "APID11#EDOS-FILL#0002",
        "PDS",
        "PDS#APID11",
    }
    assert [parts[each]["first-missing-ssc"] for each in ("APID11#SSC-GAPS", "APID11#SSC-GAPS#0002")] == [17, 90]
    assert (parts["L0#APID11"]["missing-packet-count"], parts["L0#APID11"]["filled-gap-count"]) == (42, 2)
    assert parts["PDS"]["filename"] == DATA


async def test_changed_content_is_the_next_revision(store: Registered) -> None:
    data(RAD, b"first")
    await store.register()
    data(RAD, b"second")

    assert await store.register() == FilesReport(registered=1)
    assert (await store.files.by_name([RAD]))[RAD].revision == 2


async def test_a_manifest_registers_its_files_and_its_run(store: Registered) -> None:
    data(L1A, b"given")
    await store.register()
    data(RAD, b"made", "out")
    manifest([(f"/gone/{RAD}", b"made"), (f"s3://bucket/{CAM}", b"elsewhere")], [(f"/gone/{L1A}", b"given")], "out")

    first, again = await store.register("out"), await store.register("out")

    assert first == FilesReport(registered=2, runs=1)
    assert again == FilesReport(skipped=2, runs=1)
    run = await store.run()
    assert run is not None
    assert (run.algorithm, run.version, run.facets) == ("CAM+RAD-4CH", "1.2.3", {"manifest": MANIFEST})
    assert run.used == [Version(L1A, 1)]
    assert sorted(run.generated) == [Version(CAM, 1), Version(RAD, 1)]
    found = await store.files.by_name([RAD, CAM])
    assert (found[RAD].checksum, found[RAD].size) == (sha256(b"made").hexdigest(), 4)
    assert (found[CAM].checksum, found[CAM].size) == (md5(b"elsewhere", usedforsecurity=False).hexdigest(), None)


async def test_a_run_used_the_version_that_its_manifest_lists(store: Registered) -> None:
    for content in (b"first", b"second", b"third"):
        data(L1A, content)
        await store.register()
    manifest([(RAD, b"made")], [(L1A, b"second")])
    await store.register(MANIFEST)

    run = await store.run()

    assert run is not None
    assert run.used == [Version(L1A, 2)]


async def test_an_input_with_new_content_is_its_next_revision(store: Registered) -> None:
    data(L1A, b"first")
    await store.register()
    manifest([(RAD, b"made")], [(L1A, b"second")])

    assert await store.register(MANIFEST) == FilesReport(registered=2, runs=1)
    assert await store.register(MANIFEST) == FilesReport(skipped=1, runs=1)
    run = await store.run()
    assert run is not None
    assert run.used == [Version(L1A, 2)]


async def test_an_input_that_cannot_be_compared_is_the_latest_version(store: Registered) -> None:
    await store.registration.register([NewFile(name=L1A, checksum="0" * 64)])
    manifest([(RAD, b"made")], [(L1A, b"given")])
    await store.register(MANIFEST)

    run = await store.run()

    assert run is not None
    assert run.used == [Version(L1A, 1)]


async def test_inputs_need_not_be_registered_and_may_be_of_other_projects(store: Registered) -> None:
    manifest([(RAD, b"made")], [(f"/in/{L1A}", b"given"), ("/in/naif0012.tls", b"leap seconds")])

    assert await store.register(MANIFEST) == FilesReport(registered=1, runs=1)
    assert await store.register(MANIFEST) == FilesReport(skipped=1, runs=1)
    data(L1A, b"given")
    assert await store.register(L1A) == FilesReport(registered=1)
    run = await store.run()
    assert run is not None
    assert run.used == [Version(L1A, 1), Version("naif0012.tls", 1)]
    assert (await store.files.by_name([L1A]))[L1A].size == 5


async def test_a_file_that_differs_from_its_manifest_is_rejected_with_its_run(store: Registered) -> None:
    data(RAD, b"damaged")
    data(CAM, b"made")
    manifest([(RAD, b"made"), (CAM, b"made")])
    damaged, made = (md5(each, usedforsecurity=False).hexdigest() for each in (b"damaged", b"made"))

    report = await store.register()

    assert (report.registered, report.runs) == (1, 0)
    assert report.rejections == [
        PathRejection(RAD, f"Its MD5 checksum is {damaged}, and its manifest says {made}."),
        PathRejection(MANIFEST, f"The run is not recorded: 1 of its files are rejected, such as {RAD!r}."),
    ]
    assert await store.run() is None
    assert RAD not in await store.files.by_name([RAD])


async def test_a_run_that_would_be_its_own_input_is_rejected(store: Registered) -> None:
    manifest([(RAD, b"made")], [(RAD, b"made")])

    report = await store.register(MANIFEST)

    assert report.runs == 0
    assert [each.path for each in report.rejections] == [MANIFEST]
    assert await store.run() is None


async def test_a_run_made_the_version_that_was_registered_by_its_manifest_alone(store: Registered) -> None:
    manifest([(RAD, b"made")], None)
    await store.register(MANIFEST)
    data(RAD, b"made")
    manifest([(RAD, b"made")], [])

    assert await store.register() == FilesReport(skipped=1, runs=1)
    run = await store.run()
    assert run is not None
    assert run.generated == [Version(RAD, 1)]


async def test_a_manifest_without_inputs_records_no_run(store: Registered) -> None:
    manifest([(RAD, b"made")], None)

    assert await store.register(MANIFEST) == FilesReport(registered=1)
    assert await store.run() is None


async def test_what_the_registration_refuses_is_rejected_by_its_path(store: Registered) -> None:
    level_0(record=Record(apids=[Apid(gaps=[Gap(number, 1) for number in range(500)])]))

    report = await store.register()

    assert report.registered == 1
    assert [each.path for each in report.rejections] == [str(Path(NAME))]
