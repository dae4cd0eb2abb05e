"""Reads data files: their checksums and sizes, and construction records whole. Every function blocks.

A file counts as archived when it was written where it is, and one that is only listed with its manifest. Data of
Level 0 have the version of their construction record: that of EDOS, which made both.
"""

import hashlib
from dataclasses import replace
from datetime import UTC, datetime
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
    try:
        if source.path is None:
            return replace(_described(source), checksum=source.md5)
        md5, sha256, size = _digests(source.path)
        if source.md5 not in (None, md5):
            raise FileProblem(f"Its MD5 checksum is {md5}, and its manifest says {source.md5}.")
        file = _described(source)
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


def _described(source: DataSource) -> NewFile:
    file = replace(described(source.name), archive_time=_archive_time(source))
    if not isinstance(source.name, Level0Name) or source.record is None:
        return file
    if source.name.is_construction_record:
        made = _read_record(source.record)
        return replace(made, archive_time=file.archive_time, metadata={**file.metadata, **made.metadata})
    try:
        return replace(file, algorithm_version=_read_record(source.record).algorithm_version)
    except (BrokenRecord, OSError):
        return file  # the record itself is rejected, if it is given


def _archive_time(source: DataSource) -> datetime | None:
    archived = source.path or source.manifest
    return datetime.fromtimestamp(int(archived.stat().st_mtime), UTC) if archived else None


def _read_record(path: Path) -> NewFile:
    with path.open("rb") as record:
        data = record.read(LARGEST_RECORD + 1)
    if len(data) > LARGEST_RECORD:
        raise BrokenRecord(f"It is larger than {LARGEST_RECORD:,} bytes.")
    return read_construction_record(Level0Name.parse(path.name), data)
