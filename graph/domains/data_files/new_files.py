"""What registers a data file: the file, with its sortable and additional metadata and its calibrations. No I/O."""

from collections.abc import Iterable, Mapping, Sequence, Sized
from datetime import date, datetime
from typing import Any

from graph.core.described import described, optional, value


@value
class SortableMetadata:
    """What the data of a file are, and when they apply. Each of its days finds the file."""

    applicable_dates: Sequence[date] = described("Every UTC day that they apply to.")
    type: str | None = optional("The type of the data, such as `APID11`.")
    first_packet_time: datetime | None = optional("As documented: the time of the first packet.")
    last_packet_time: datetime | None = optional("As documented: the time of the last packet.")
    missing_packet_count: int | None = optional("Packets that are missing.")
    filled_gap_count: int | None = optional("Gaps that were filled.")


@value
class AdditionalMetadata:
    """An item of a file's further metadata."""

    identifier: str = described("Its key, such as `PDS` or `APID11#SSC-GAPS`. Several items may have the same one.")
    attributes: Mapping[str, Any] = described("Its attributes, an object.")


@value
class CalibrationMetadata:
    """What a calibration file calibrates."""

    calibrates: str = described("The level or product, such as `L0`.")
    calibration_version: str = described("The version of the calibration, such as `1.0.0`.")


@value
class NewFile:
    """A data file. Without a checksum, it is the same as one with the same metadata."""

    name: str = described("Its unique name, 1 to 400 characters, at most 1,000 bytes, without control characters.")
    level: str | None = optional("The level, such as `L1A`. A file with applicable dates needs one.")
    product: str | None = optional("The product.")
    archive_time: datetime | None = optional("As documented: when it was archived.")
    ingest_time: datetime | None = optional("As documented: when it was ingested.")
    algorithm_version: str | None = optional("The version of the algorithm that made it, such as `1.0.0`.")
    checksum: str | None = optional(
        "MD5, SHA-1, SHA-256 or SHA-512 of its content, hexadecimal digits. With another one than that of "
        "the file's latest revision, it is a new revision."
    )
    size: int | None = optional("Its size, bytes.")
    url: str | None = optional("Where it is.")
    namespace: str | None = optional("Where it is, as OpenLineage names that.")
    dataset_version: str | None = None  # of OpenLineage
    applicable_dates: Sequence[date] = described(
        "Every UTC day that its data apply to, if they have no further sortable metadata.", default=()
    )
    metadata: Mapping[str, Any] = described("What else is known of it, an object.", default_factory=dict)
    sortable: Sequence[SortableMetadata] = described("What its data are.", default=())
    additional: Sequence[AdditionalMetadata] = described("Further metadata.", default=())
    calibrations: Sequence[CalibrationMetadata] = described("What it calibrates, if it is a calibration.", default=())

    @property
    def all_sortable(self) -> Sequence[SortableMetadata]:
        """The sortable metadata, with days that have no further ones."""
        further = [SortableMetadata(self.applicable_dates)] if self.applicable_dates else []
        return [*self.sortable, *further]


MOST_ITEMS = 400  # further items of a file


def too_many_items(days: Iterable[Sequence[date]], *others: Sized) -> str | None:
    """Why a file cannot have its further items; None if it can. No item is made for the answer.

    Args:
        days: the applicable dates of each part of the sortable metadata. Each different one of a part is an item.
        others: the additional metadata and the calibrations.
    """
    count = sum(len(set(each)) for each in days) + sum(map(len, others))
    return f"A file has at most {MOST_ITEMS} items, and this one {count:,}." if count > MOST_ITEMS else None
