"""Reads data files: their checksums and sizes, and construction records whole. Every function blocks."""

import hashlib
from dataclasses import replace
from pathlib import Path

from graph.domains.data_files.new_files import CalibrationMetadata, NewFile, SortableMetadata
from graph.domains.data_files.times import time_text
from graph.domains.libera.apids import CONSTRUCTION_RECORD, product_of
from graph.domains.libera.collecting import DataSource
from graph.domains.libera.construction_records import LARGEST_RECORD, read_construction_record
from graph.domains.libera.edos_layout import BrokenRecord
from graph.domains.libera.manifests import ManifestFile
from graph.domains.libera.names import Level0Name, ProductName, UnknownName, parse_name

CALIBRATION_LEVEL = "CAL"


def described(name: ProductName | Level0Name) -> NewFile:
    """The file with this name, without its checksum and its size.

    A Level 0 file has no applicable dates of its own: its construction record has them. A calibration has none, as
    documented. It is known by its product, such as `GAIN`.
    """
    return _level_0_file(name) if isinstance(name, Level0Name) else _product(name)


def listed_file(listed: ManifestFile) -> NewFile:
    """A file that a manifest lists. It may be of another project, with a name of any form."""
    try:
        name = parse_name(listed.name)
    except UnknownName:
        name = None
    file = described(name) if isinstance(name, ProductName | Level0Name) else NewFile(name=listed.name)
    return replace(file, checksum=listed.md5)


def _level_0_file(name: Level0Name) -> NewFile:
    return NewFile(
        name=str(name),
        level="L0",
        product=CONSTRUCTION_RECORD if name.is_construction_record else product_of(name.apid),
        metadata={"SCID": name.spacecraft, "APID": name.apid, "created-time": time_text(name.created)},
    )


def _product(name: ProductName) -> NewFile:
    is_calibration = name.level == CALIBRATION_LEVEL
    return NewFile(
        name=str(name),
        level=name.level,
        product=name.product,
        algorithm_version=name.version,
        metadata={
            "utc-start": time_text(name.utc_start),
            "utc-end": time_text(name.utc_end),
            "file-revision": name.revision,
        },
        sortable=[]
        if is_calibration
        else [SortableMetadata(type=name.product, applicable_dates=name.applicable_dates)],
        calibrations=[CalibrationMetadata(calibrates=name.product, version=name.version)] if is_calibration else [],
    )


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
