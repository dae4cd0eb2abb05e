"""Collecting data files from paths: what is found, ignored and rejected."""

import os
from pathlib import Path

import pytest

from graph.domains.libera.collecting import PathRejection, collect
from graph.domains.libera.construction_records import LARGEST_RECORD
from graph.domains.libera.file_contents import FileProblem, read_source
from tests.domains.libera.edos_records import NAME
from tests.domains.libera.files import MANIFEST, data, manifest, product

pytestmark = pytest.mark.usefixtures("folder")

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
