"""What registers a data file: the file, with its sortable and additional metadata and its calibrations. No I/O."""

from collections.abc import Iterable, Mapping, Sequence, Sized
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class SortableMetadata:
    """What the data of a file are, and when they apply. Each of its days finds the file."""

    type: str | None = None  # such as `APID11`, or `SPICE#AZ`
    applicable_dates: Sequence[date]
    first_packet_time: datetime | None = None
    last_packet_time: datetime | None = None
    missing_packet_count: int | None = None
    filled_gap_count: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AdditionalMetadata:
    """An item of further metadata. Several may have the same identifier."""

    identifier: str  # such as `PDS`, `APID11` or `APID11#SSC-GAPS`
    attributes: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class CalibrationMetadata:
    """What a calibration file calibrates, and its version."""

    calibrates: str  # a level or a product, such as `L0`
    version: str


@dataclass(frozen=True, slots=True, kw_only=True)
class NewFile:
    """A data file to be registered. Without a checksum, a file is the same as one with the same metadata."""

    name: str
    namespace: str | None = None  # of OpenLineage: where the file is
    level: str | None = None  # L0, SPICE, CAL, L1A, L1B, L2 or ANC, or one of another project
    product: str | None = None
    archive_time: datetime | None = None
    ingest_time: datetime | None = None
    algorithm_version: str | None = None
    checksum: str | None = None  # hexadecimal digits of MD5, SHA-1, SHA-256 or SHA-512
    size: int | None = None  # bytes
    url: str | None = None
    dataset_version: str | None = None  # of OpenLineage
    metadata: Mapping[str, Any] = field(default_factory=dict)
    sortable: Sequence[SortableMetadata] = ()
    additional: Sequence[AdditionalMetadata] = ()
    calibrations: Sequence[CalibrationMetadata] = ()


MOST_ITEMS = 400  # further items of a file


def too_many_items(days: Iterable[Sequence[date]], *others: Sized) -> str | None:
    """Why a file cannot have its further items; None if it can. No item is made for the answer.

    Args:
        days: the applicable dates of each part of the sortable metadata. Each different one of a part is an item.
        others: the additional metadata and the calibrations.
    """
    count = sum(len(set(each)) for each in days) + sum(map(len, others))
    return f"A file has at most {MOST_ITEMS} items, and this one {count:,}." if count > MOST_ITEMS else None
