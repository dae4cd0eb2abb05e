"""Reads manifests of Libera: the files that a run was given, and those that it made.

Both manifests of a run have the same ULID. The output manifest has the files of the input manifest in its configuration
as `input_manifest_files`, and so tells the whole lineage of the run.

Source: libera_utils, `io/manifest.py`, https://github.com/LASP-Libera/libera_utils
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

import orjson

from graph.core.names import is_line
from graph.domains.libera.names import LONGEST_NAME, ManifestName

INPUTS = "input_manifest_files"  # in the configuration
LARGEST_MANIFEST = 8 << 20  # bytes
MOST_FILES = 20_000  # of a manifest, and as many inputs
LONGEST_PATH = 4096  # characters

MD5 = re.compile(r"[0-9a-fA-F]{32}")


class BrokenManifest(ValueError):
    """Why a manifest is not read."""


@dataclass(frozen=True, slots=True)
class ManifestFile:
    """A file that a manifest lists."""

    path: str  # absolute, or an address such as `s3://bucket/file`
    md5: str  # 32 lower-case hexadecimal digits

    @property
    def name(self) -> str:
        """The file's name, without folders."""
        return self.path.rpartition("/")[2]


@dataclass(frozen=True, slots=True)
class Manifest:
    """The files of one side of a run."""

    name: ManifestName
    files: Sequence[ManifestFile]
    inputs: Sequence[ManifestFile] | None  # of the run, if this is its output manifest and lists them
    configuration_hash: str | None = None  # SHA-256 of all else in the configuration


def read_manifest(name: ManifestName, data: bytes) -> Manifest:
    """Read a manifest; BrokenManifest if it breaks the format, or names a file twice with different content."""
    if len(data) > LARGEST_MANIFEST:
        raise BrokenManifest(f"It is larger than {LARGEST_MANIFEST:,} bytes.")
    try:
        document = orjson.loads(data)
    except orjson.JSONDecodeError as error:
        raise BrokenManifest(f"It is no JSON: {error}.") from error
    if not isinstance(document, dict):
        raise BrokenManifest("It is no JSON object.")
    kind = document.get("manifest_type", name.kind.value)
    if kind != name.kind.value:
        raise BrokenManifest(f"Its `manifest_type` is {str(kind)[:LONGEST_NAME]!r}, and its name says {name.kind}.")
    configuration = document.get("configuration")
    if not isinstance(configuration, dict | None):
        raise BrokenManifest("Its `configuration` is no JSON object.")
    rest = dict(configuration or {})
    inputs = rest.pop(INPUTS, None)
    return Manifest(
        name=name,
        files=_files(document.get("files"), "files"),
        inputs=None if inputs is None else _files(inputs, f"configuration.{INPUTS}"),
        configuration_hash=sha256(orjson.dumps(rest, option=orjson.OPT_SORT_KEYS)).hexdigest() if rest else None,
    )


def _files(listed: Any, field: str) -> list[ManifestFile]:
    """The files of a list, each once."""
    if not isinstance(listed, list):
        raise BrokenManifest(f"Its `{field}` is no list.")
    if len(listed) > MOST_FILES:
        raise BrokenManifest(f"Its `{field}` has more than {MOST_FILES:,} files.")
    files: dict[str, ManifestFile] = {}
    for index, each in enumerate(listed):
        file = _file(each, f"{field}[{index}]")
        if files.setdefault(file.name, file).md5 != file.md5:
            raise BrokenManifest(f"Its `{field}` has two files {file.name!r} with different checksums.")
    return list(files.values())


def _file(listed: Any, place: str) -> ManifestFile:
    entry: Mapping[str, Any] = listed if isinstance(listed, dict) else {}
    path, checksum = entry.get("filename"), entry.get("checksum")
    if not isinstance(path, str) or not is_line(path) or len(path) > LONGEST_PATH:
        raise BrokenManifest(f"`{place}.filename` must be the path of a file, without control characters.")
    if not isinstance(checksum, str) or not MD5.fullmatch(checksum):
        raise BrokenManifest(f"`{place}.checksum` must be an MD5 checksum of 32 hexadecimal digits.")
    file = ManifestFile(path, checksum.lower())
    if not 0 < len(file.name) <= LONGEST_NAME:
        raise BrokenManifest(f"`{place}.filename` must end with the name of a file.")
    return file
