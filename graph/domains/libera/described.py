"""What the name of a data file tells of it. No I/O."""

from dataclasses import replace

from graph.domains.data_files.new_files import CalibrationMetadata, NewFile, SortableMetadata
from graph.domains.data_files.times import time_text
from graph.domains.libera.apids import CONSTRUCTION_RECORD, product_of
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
        name=name.text,
        level="L0",
        product=CONSTRUCTION_RECORD if name.is_construction_record else product_of(name.apid),
        metadata={"SCID": name.spacecraft, "APID": name.apid, "created-time": time_text(name.created)},
    )


def _product(name: ProductName) -> NewFile:
    is_calibration = name.level == CALIBRATION_LEVEL
    return NewFile(
        name=name.text,
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
        calibrations=[CalibrationMetadata(name.product, name.version)] if is_calibration else [],
    )
