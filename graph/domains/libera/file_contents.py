"""Reads data files: their checksums and sizes, and construction records whole. Every function blocks."""

import hashlib
from dataclasses import replace
from pathlib import Path

from graph.domains.data_files.new_files import NewFile
from graph.domains.libera.collecting import DataSource
from graph.domains.libera.construction_records import LARGEST_RECORD, read_construction_record
from graph.domains.libera.described import described
from graph.domains.libera.edos_layout import BrokenRecord
from graph.domains.libera.names import Level0Name

BLOCK = 1 << 20  # bytes
MD5 = "md5"  # in the metadata of a file, whose checksum is its SHA-256; manifests have the MD5


class FileProblem(Exception):
    """Why a file is not registered."""


def read_source(source: DataSource) -> NewFile:
    """Read a data file. One that is only listed is registered with the checksum of its manifest.

    Raises:
        FileProblem: It cannot be read, is not what its manifest says, or is a broken construction record.
    """
    if source.path is None:
        return replace(described(source.name), checksum=source.md5)
    try:
        md5, sha256, size = _digests(source.path)
        if source.md5 not in (None, md5):
            raise FileProblem(f"Its MD5 checksum is {md5}, and its manifest says {source.md5}.")
        file = _described(source, source.path)
    except OSError as error:
        raise FileProblem(f"It cannot be read: {error.strerror or error}.") from error
    except BrokenRecord as error:
        raise FileProblem(f"It is no construction record of a known form. {error}") from error
    return replace(file, checksum=sha256, size=size, metadata={**file.metadata, MD5: md5})


def _digests(path: Path) -> tuple[str, str, int]:
    """MD5, SHA-256, and the number of bytes."""
    md5, sha256, size = hashlib.md5(usedforsecurity=False), hashlib.sha256(), 0
    with path.open("rb") as file:
        while block := file.read(BLOCK):
            md5.update(block)
            sha256.update(block)
            size += len(block)
    return md5.hexdigest(), sha256.hexdigest(), size


def _described(source: DataSource, path: Path) -> NewFile:
    file = described(source.name)
    if not isinstance(source.name, Level0Name) or not source.name.is_construction_record:
        return file
    with path.open("rb") as record:
        data = record.read(LARGEST_RECORD + 1)
    if len(data) > LARGEST_RECORD:
        raise BrokenRecord(f"It is larger than {LARGEST_RECORD:,} bytes.")
    made = read_construction_record(source.name, data)
    return replace(made, metadata={**file.metadata, **made.metadata})
