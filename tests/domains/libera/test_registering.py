"""Collecting data files from paths, and registering them and their manifests in a store."""

import os
from collections.abc import AsyncIterator, Sequence
from datetime import date
from hashlib import md5, sha256
from pathlib import Path

import pytest

from graph.domains.data_files.model import Run
from graph.domains.data_files.new_files import NewFile
from graph.domains.data_files.selection import FileSelection
from graph.domains.libera.collecting import PathRejection, collect
from graph.domains.libera.construction_records import LARGEST_RECORD
from graph.domains.libera.file_contents import FileProblem, read_source
from graph.domains.libera.registering import FileRegistering, FilesReport
from graph.store.ordering import PageRequest
from tests.domains.data_files.in_store import FileStore, data_files, references
from tests.domains.libera.edos_records import DATA, NAME, Apid, Gap, Record
from tests.domains.libera.files import MANIFEST, RUN_ID, data, level_0, manifest, product

pytestmark = pytest.mark.usefixtures("folder")

RAD, CAM = product(), product(name="CAM")
L1A = product("L1A", "RAD-SAMPLE-DECODED")


@pytest.fixture
async def store() -> AsyncIterator[FileStore]:
    async with data_files("sqlite") as store:
        yield store


IGNORED = [PathRejection("README.txt", "Ignored: 'README.txt' is not the name of a data product of Libera.")]


async def register(store: FileStore, *paths: str) -> FilesReport:
    """Register what is at these paths."""
    registering = FileRegistering(store.files, store.registration, store.runs, store.clock)
    return await registering.register(collect(paths or ["."]), lambda done: None)


async def run_of(store: FileStore) -> Run | None:
    """The run of the manifest."""
    return (await store.runs.by_id([RUN_ID])).get(RUN_ID)


async def used_in(store: FileStore) -> list[str]:
    """What the run of the manifest used."""
    run = await run_of(store)
    assert run is not None
    return references(run.used)


async def test_a_folder_is_registered_once_and_a_changed_file_again(engine: str) -> None:
    data(RAD, b"radiances", "L1B/2027")
    data("README.txt")
    level_0("L0")
    async with data_files(engine) as store:
        assert await register(store) == FilesReport(registered=3, ignored=1, ignored_paths=IGNORED)
        assert await register(store) == FilesReport(skipped=3, ignored=1, ignored_paths=IGNORED)

        file = (await store.files.by_name([RAD]))[RAD]
        assert (file.level, file.product, file.algorithm_version, file.size) == ("L1B", "RAD-4CH", "1.2.3", 9)
        assert file.checksum == sha256(b"radiances").hexdigest()
        assert file.metadata is not None
        assert file.metadata["md5"] == md5(b"radiances", usedforsecurity=False).hexdigest()
        for day in (date(2027, 3, 1), date(2027, 3, 2)):  # each is across midnight
            page = await store.files.page(FileSelection(first=day, last=day), PageRequest.of_first(10))
            assert sorted(file.name for file in page.records) == [RAD, NAME]

        data(RAD, b"changed", "L1B/2027")
        assert await register(store, "L1B") == FilesReport(registered=1)
        assert (await store.files.by_name([RAD]))[RAD].revision == 2


async def test_each_file_has_the_documented_times_and_the_version_of_what_made_it(engine: str) -> None:
    gain = product("CAL", "GAIN")
    for path in (data(RAD), data(gain), *level_0()):
        os.utime(path, (0, 1_700_000_000.75))
    manifest([(f"s3://bucket/{CAM}", b"elsewhere")])
    os.utime(MANIFEST, (0, 1_700_000_001))
    async with data_files(engine) as store:
        store.clock.now = 1_700_000_100_999
        await register(store)

        files = await store.files.by_name([RAD, gain, NAME, DATA, CAM])
        archived = {name: file.item["archive-time"] for name, file in files.items()}
        assert archived == dict.fromkeys((RAD, gain, NAME, DATA), "2023-11-14 22:13:20") | {CAM: "2023-11-14 22:13:21"}
        assert {file.item["ingest-time"] for file in files.values()} == {"2023-11-14 22:15:00"}
        versions = {name: file.algorithm_version for name, file in files.items()}
        assert versions == {RAD: "1.2.3", gain: "1.2.3", CAM: "1.2.3", NAME: "5.2", DATA: "5.2"}
        (calibration,) = (await store.files.parts([gain]))[gain]
        assert calibration["archive-time"] == "2023-11-14 22:13:20"


async def test_a_file_of_level_0_is_registered_beside_a_broken_record() -> None:
    data(NAME, b"broken")
    data(DATA)
    async with data_files("sqlite") as store:
        assert (await register(store)).registered == 1
        assert (await store.files.by_name([DATA]))[DATA].algorithm_version is None


async def test_a_manifest_registers_its_files_and_its_run(engine: str) -> None:
    data(L1A, b"given")
    data(RAD, b"made", "out")
    manifest([(f"/gone/{RAD}", b"made"), (f"s3://bucket/{CAM}", b"elsewhere")], [(f"/gone/{L1A}", b"given")], "out")
    async with data_files(engine) as store:
        await register(store, L1A)
        assert await register(store, "out") == FilesReport(registered=2, runs=1)
        assert await register(store, "out") == FilesReport(skipped=2, runs=1)

        run = await run_of(store)
        assert run is not None
        assert (run.algorithm, run.version, run.facets) == ("CAM+RAD-4CH", "1.2.3", {"manifest": MANIFEST})
        assert references(run.used) == [f"{L1A}@1"]
        assert sorted(references(run.generated)) == [f"{CAM}@1", f"{RAD}@1"]
        found = await store.files.by_name([RAD, CAM])
        assert (found[RAD].checksum, found[RAD].size) == (sha256(b"made").hexdigest(), 4)
        assert (found[CAM].checksum, found[CAM].size) == (md5(b"elsewhere", usedforsecurity=False).hexdigest(), None)


INPUTS: dict[str, tuple[Sequence[bytes], str]] = {
    "the version that the manifest lists": ((b"first", b"given", b"third"), f"{L1A}@2"),
    "new content is the next version": ((b"first",), f"{L1A}@2"),
    "what was never registered": ((), f"{L1A}@1"),
}
"""The contents of an input that are registered before a manifest that lists `given`, and what its run used."""


async def test_an_input_is_the_version_that_the_manifest_lists() -> None:
    for case, (contents, used) in INPUTS.items():
        async with data_files("sqlite") as store:
            for content in contents:
                data(L1A, content)
                await register(store, L1A)
            manifest([(RAD, b"made")], [(f"/in/{L1A}", b"given"), ("/in/naif0012.tls", b"of another project")])
            await register(store, MANIFEST)

            assert await register(store, MANIFEST) == FilesReport(skipped=1, runs=1), case
            assert await used_in(store) == [used, "naif0012.tls@1"], case
            if not contents:  # it was only named
                data(L1A, b"given")
                assert await register(store, L1A) == FilesReport(registered=1)
                assert (await store.files.by_name([L1A]))[L1A].size == 5


async def test_an_input_that_cannot_be_compared_is_the_latest_version(store: FileStore) -> None:
    await store.register(NewFile(name=L1A, checksum="0" * 64))
    manifest([(RAD, b"made")], [(L1A, b"given")])
    await register(store, MANIFEST)

    assert await used_in(store) == [f"{L1A}@1"]


async def test_a_file_that_differs_from_its_manifest_is_rejected_with_its_run(store: FileStore) -> None:
    data(RAD, b"damaged")
    data(CAM, b"made")
    manifest([(RAD, b"made"), (CAM, b"made")])
    damaged, made = (md5(each, usedforsecurity=False).hexdigest() for each in (b"damaged", b"made"))

    report = await register(store)

    assert (report.registered, report.runs) == (1, 0)
    assert report.rejections == [
        PathRejection(RAD, f"Its MD5 checksum is {damaged}, and its manifest says {made}."),
        PathRejection(MANIFEST, f"The run is not recorded: 1 of its files are rejected, such as {RAD!r}."),
    ]
    assert await run_of(store) is None
    assert RAD not in await store.files.by_name([RAD])


async def test_a_run_that_would_be_its_own_input_is_rejected(store: FileStore) -> None:
    manifest([(RAD, b"made")], [(RAD, b"made")])

    report = await register(store, MANIFEST)

    assert ([each.path for each in report.rejections], report.runs) == ([MANIFEST], 0)
    assert await run_of(store) is None


async def test_a_manifest_without_inputs_records_no_run_until_they_are_told(store: FileStore) -> None:
    manifest([(RAD, b"made")], None)
    assert await register(store, MANIFEST) == FilesReport(registered=1)
    assert await run_of(store) is None

    data(RAD, b"made")
    manifest([(RAD, b"made")], [])
    assert await register(store) == FilesReport(skipped=1, runs=1)
    run = await run_of(store)
    assert run is not None
    assert references(run.generated) == [f"{RAD}@1"]  # the version that was registered by its manifest alone


async def test_what_the_registration_refuses_is_rejected_by_its_path(store: FileStore) -> None:
    level_0(record=Record(apids=[Apid(gaps=[Gap(number, 1) for number in range(500)])]))

    report = await register(store)

    assert report.registered == 1
    assert [each.path for each in report.rejections] == [str(Path(NAME))]


RAD, CAM = product(), product(name="CAM")


def test_folders_are_searched_in_order_without_following_links() -> None:
    data(CAM, folder="a/b")
    data(RAD, folder="a")
    data("notes.txt", folder="a")
    data(RAD.replace(".nc", ".cmr.json"), folder="a")
    data(MANIFEST.replace("OUTPUT", "INPUT"), b"not read", "a")
    data(product(day=5), folder="elsewhere")
    Path("a/link").symlink_to(Path("elsewhere").absolute())
    Path("a", product(day=6)).symlink_to(Path("elsewhere", product(day=5)).absolute())
    Path("a/loop").symlink_to(Path("a").absolute())

    found = collect(["a"])

    assert [str(source.path) for source in found.sources.values()] == [f"a/{RAD}", f"a/b/{CAM}"]
    assert (found.ignored, len(found.ignored_paths), found.rejections) == (4, 4, [])
    (link,) = (path for path in Path("a").glob("*.nc") if path.is_symlink())
    assert list(collect([str(link)]).sources) == [link.name]  # one that is given is followed


def test_what_cannot_be_a_data_file_is_rejected() -> None:
    data("my\u3000notes.txt")
    data("a\nb.nc")
    data(MANIFEST, b"{}")
    os.mkfifo(RAD)
    Path("broken").symlink_to("nowhere")

    found = collect(["my\u3000notes.txt", "a\nb.nc", MANIFEST, RAD, "broken", "gone", "with\0zero"])

    assert not found.sources
    assert found.rejections == [
        PathRejection("my\u3000notes.txt", "'my\\u3000notes.txt' is not the name of a data product of Libera."),
        PathRejection("'a\\nb.nc'", "'a\\nb.nc' is not the name of a data product of Libera."),
        PathRejection(RAD, "It is neither a file nor a folder."),
        PathRejection("broken", "It cannot be read: No such file or directory."),
        PathRejection("gone", "It cannot be read: No such file or directory."),
        PathRejection("'with\\x00zero'", "It cannot be read: no file can have this path."),
        PathRejection(MANIFEST, "Its `files` is no list."),
    ]


def test_a_file_in_two_places_is_registered_from_the_first() -> None:
    data(RAD, b"one", "a")
    data(RAD, b"two", "b")

    found = collect(["a", "b", "a"])

    assert [str(source.path) for source in found.sources.values()] == [f"a/{RAD}"]
    assert found.rejections == [PathRejection(f"b/{RAD}", f"A file with the same name is given, too: a/{RAD}.")]


def test_a_manifest_that_lists_no_data_file_is_rejected_whole() -> None:
    for listed in (f"/out/{RAD}\n", "/etc/passwd", f"/out/{MANIFEST}"):
        manifest([(f"/out/{CAM}", b"made"), (listed, b"made")])

        found = collect([MANIFEST])

        assert [each.path for each in found.rejections] == [MANIFEST]
        assert not found.sources
        assert not found.manifests


def test_listed_files_are_looked_for_at_their_path_and_beside_the_manifest() -> None:
    data(RAD, folder="far")
    data(CAM, folder="out")
    manifest([(str(Path("far", RAD).absolute()), b"data"), (f"/gone/{CAM}", b"data")], folder="out")

    found = collect(["out"])

    assert found.rejections == []
    assert {source.path for source in found.sources.values()} == {Path("far", RAD).absolute(), Path("out", CAM)}


def test_two_manifests_cannot_list_a_file_with_different_checksums() -> None:
    manifest([(f"/out/{RAD}", b"one")])
    manifest([(f"/out/{RAD}", b"two")], folder="other")

    found = collect([MANIFEST, "other"])

    assert len(found.manifests) == 1
    assert [(each.path, each.message) for each in found.rejections] == [
        (f"other/{MANIFEST}", f"It lists {RAD!r} with another checksum than a manifest before.")
    ]


def test_what_cannot_be_read_when_its_turn_comes_is_refused() -> None:
    unknown = "It is no construction record of a known form. "
    for content, reason in (
        (b"", unknown + "It ends at byte 0"),
        (bytes(LARGEST_RECORD + 1), unknown + "It is larger than 4,194,304 bytes"),
        (None, "It cannot be read: No such file or directory."),
    ):
        path = data(NAME, content or b"")
        (source,) = collect([NAME]).sources.values()
        if content is None:
            path.unlink()

        with pytest.raises(FileProblem) as refused:
            read_source(source)
        assert str(refused.value).startswith(reason)
