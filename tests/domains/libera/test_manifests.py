"""Reading manifests: the files of both sides of a run, and what is refused."""

from hashlib import sha256
from typing import Any

import orjson
import pytest

from graph.domains.libera.manifests import (
    LARGEST_MANIFEST,
    MOST_FILES,
    BrokenManifest,
    Manifest,
    ManifestFile,
    read_manifest,
)
from graph.domains.libera.names import ManifestName

NAME = "LIBERA_OUTPUT_MANIFEST_01GDHWG4R0W8KXWY0KRDD6BZTT.json"
MD5 = "d41d8cd98f00b204e9800998ecf8427e"  # pragma: allowlist secret
FILE = {"filename": "/out/made.nc", "checksum": MD5}


def read(document: Any, name: str = NAME) -> Manifest:
    """Read a manifest. Bytes stand for themselves."""
    data = document if isinstance(document, bytes) else orjson.dumps(document)
    return read_manifest(ManifestName.parse(name), data)


def test_an_output_manifest_has_the_files_of_both_sides() -> None:
    inputs = [{"filename": "s3://bucket/L1A\u30002024/given.nc", "checksum": MD5.upper()}]
    manifest = read({"manifest_type": "OUTPUT", "files": [FILE], "configuration": {"input_manifest_files": inputs}})

    assert manifest.files == [ManifestFile("/out/made.nc", MD5)]
    assert manifest.inputs == [ManifestFile("s3://bucket/L1A\u30002024/given.nc", MD5)]
    assert [each.name for each in (*manifest.files, *manifest.inputs)] == ["made.nc", "given.nc"]
    copy = {**FILE, "filename": "/copy/made.nc"}
    assert read({"files": [FILE, copy]}).files == [ManifestFile("/out/made.nc", MD5)], "a file that is listed twice"


def test_a_manifest_may_tell_no_inputs() -> None:
    assert read({"files": []}) == Manifest(ManifestName.parse(NAME), [], None)
    assert read({"files": [], "configuration": None}).inputs is None
    assert read({"files": [], "configuration": {"input_manifest_files": []}}).inputs == []


def test_the_rest_of_the_configuration_has_a_hash() -> None:
    inputs: dict[str, Any] = {"input_manifest_files": []}
    hashes = [
        read({"files": [], "configuration": each}).configuration_hash
        for each in ({"a": 1, "b": 2, **inputs}, {"b": 2, "a": 1}, {"a": 2, "b": 1}, inputs)
    ]

    assert hashes[0] == hashes[1] == sha256(b'{"a":1,"b":2}').hexdigest()
    assert hashes[2] not in (None, hashes[0])
    assert hashes[3] is None


REFUSED: list[tuple[Any, str]] = [
    (b'{"files": [', "It is no JSON: "),
    (b'{"files": [\xff]}', "It is no JSON: "),
    (b"[" * 100_000, "It is no JSON: "),
    (b" " * (LARGEST_MANIFEST + 1), "It is larger than 8,388,608 bytes."),
    ([], "It is no JSON object."),
    ({}, "Its `files` is no list."),
    ({"manifest_type": "INPUT", "files": []}, "Its `manifest_type` is 'INPUT', and its name says OUTPUT."),
    ({"files": [], "configuration": []}, "Its `configuration` is no JSON object."),
    ({"files": [], "configuration": {"input_manifest_files": {}}}, "Its `configuration.input_manifest_files` is"),
    ({"files": ["/out/made.nc"]}, "`files[0].filename` must be the path of a file"),
    ({"files": [FILE, {**FILE, "filename": "/out/a\nb.nc"}]}, "`files[1].filename` must be the path of a file"),
    ({"files": [{**FILE, "filename": "/" * 5000}]}, "`files[0].filename` must be the path of a file"),
    ({"files": [{**FILE, "filename": "/out/"}]}, "`files[0].filename` must end with the name of a file."),
    ({"files": [{**FILE, "checksum": None}]}, "`files[0].checksum` must be an MD5 checksum"),
    ({"files": [{**FILE, "checksum": MD5[:-1] + "g"}]}, "`files[0].checksum` must be an MD5 checksum"),
    ({"files": [FILE, {**FILE, "checksum": "0" * 32}]}, "Its `files` has two files 'made.nc' with different"),
    ({"files": [FILE] * (MOST_FILES + 1)}, "Its `files` has more than 20,000 files."),
]


def test_what_is_no_manifest_is_refused() -> None:
    for document, reason in REFUSED:
        with pytest.raises(BrokenManifest) as refused:
            read(document)
        assert str(refused.value).startswith(reason)
