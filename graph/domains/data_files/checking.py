"""Checks a file that is to be registered, and makes its items. A file is judged by itself, never by its neighbours."""

import hashlib
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from operator import itemgetter
from typing import Any

import orjson

from graph.core.names import is_line
from graph.domains.data_files.entities import FILE, FILE_REVISION, MARK_LENGTH, ONLY_NAMED, PART
from graph.domains.data_files.model import (
    CALIBRATION,
    LONGEST_IDENTIFIER,
    LONGEST_NAME_BYTES,
    LONGEST_VERSION,
    RegistrationProblem,
)
from graph.domains.data_files.new_files import NewFile, too_many_items
from graph.domains.data_files.sortable import related
from graph.domains.data_files.times import time_text
from graph.domains.data_files.versions import place_in_order
from graph.store.entity import Item
from graph.store.values import InvalidItem, check_number_of_values

_WORD = re.compile(r"[-.0-9A-Z_a-z]+")
_VERSION = re.compile(r"[!-~]+")
_CHECKSUM = re.compile(r"[0-9a-f]{32}|[0-9a-f]{40}|[0-9a-f]{64}|[0-9a-f]{128}")


class FileRefused(Exception):
    """Why a file cannot be registered."""

    def __init__(self, code: RegistrationProblem, message: str) -> None:
        super().__init__(message)
        self.code = code


@dataclass(frozen=True, slots=True)
class FileDraft:
    """A checked file: its attributes, and its further items by their identifiers."""

    name: str
    attributes: Item  # of its revision, without what the store decides
    parts: Mapping[str, Item]
    index: int = 0  # its place among the given files

    @property
    def dataset_version(self) -> str | None:
        """Its version in OpenLineage."""
        return self.attributes.get("dataset-version")

    @property
    def only_tells_version(self) -> bool:
        """Whether nothing is known of it but its version in OpenLineage."""
        told = {name for name, value in self.attributes.items() if value != []}
        return not self.parts and told <= {"file-name", "namespace", "dataset-version", "fingerprint"}

    @property
    def fingerprint(self) -> str:
        """What it was registered with, in short."""
        return str(self.attributes["fingerprint"])


def drafted(file: NewFile, index: int = 0, *, is_known: bool = True) -> FileDraft:
    """Check a file.

    Args:
        index: its place among the given files.
        is_known: whether it is registered, and not only named by a run that uses it.

    Raises:
        FileRefused: It breaks a rule.
    """
    days_of_parts = [each.applicable_dates for each in file.all_sortable]
    if message := too_many_items(days_of_parts, file.additional, file.calibrations):
        raise FileRefused(RegistrationProblem.TOO_MANY_ITEMS, message)
    if not all(isinstance(each, Mapping) for each in (file.metadata, *(each.attributes for each in file.additional))):
        raise FileRefused(RegistrationProblem.METADATA_INVALID, "Metadata must be objects.")
    if not is_line(file.name) or not file.name or len(file.name.encode(errors="replace")) > LONGEST_NAME_BYTES:
        message = "The name must have 1 to 400 characters, at most 1,000 bytes, without control characters."
        raise FileRefused(RegistrationProblem.NAME_INVALID, message)
    for name, word in (("level", file.level), ("product", file.product)):
        if word is not None and not _WORD.fullmatch(word):
            raise FileRefused(
                RegistrationProblem.FILE_INVALID, f"`{name}` must have ASCII letters, digits, `_`, `.` and `-` only."
            )
    for each in (file.algorithm_version, *(calibration.calibration_version for calibration in file.calibrations)):
        if each is not None and not (len(each) <= LONGEST_VERSION and _VERSION.fullmatch(each)):
            message = f"A version must have 1 to {LONGEST_VERSION} visible ASCII characters."
            raise FileRefused(RegistrationProblem.FILE_INVALID, message)
    checksum = file.checksum.lower() if file.checksum else None
    if checksum is not None and not _CHECKSUM.fullmatch(checksum):
        raise FileRefused(
            RegistrationProblem.CHECKSUM_INVALID,
            "The checksum must be MD5, SHA-1, SHA-256 or SHA-512 in hexadecimal digits.",
        )
    days = sorted({day for part in file.all_sortable for day in part.applicable_dates})
    given = {
        "file-name": file.name,
        "archive-time": _time(file.archive_time),
        "ingest-time": _time(file.ingest_time),
        "algorithm-version": file.algorithm_version,
        "namespace": file.namespace,
        "level": file.level,
        "product": file.product,
        "checksum": checksum,
        "size": file.size,
        "url": file.url,
        "dataset-version": file.dataset_version,
        "metadata": dict(file.metadata) or None,
        "calibration-versions": [each.calibration_version for each in file.calibrations],
        "applicable-dates": [day.isoformat() for day in days],
    }
    parts = _parts(file)
    attributes: Item = {name: value for name, value in given.items() if value is not None}
    with _refusing(RegistrationProblem.METADATA_INVALID):
        FILE_REVISION.named["metadata"].check(given["metadata"] or {})
    with _refusing(RegistrationProblem.FILE_INVALID):
        FILE_REVISION.check({**attributes, "revision": 1, "registered-at": "", "fingerprint": ONLY_NAMED})
    with _refusing(RegistrationProblem.METADATA_INVALID):
        for identifier, part in parts.items():
            check_number_of_values(part)
            PART.check({**part, "file-name": file.name, "identifier": identifier})
    with _refusing(RegistrationProblem.METADATA_INVALID, "The identifiers of its items are too long together."):
        FILE.named["parts"].check([identifier + "#" * (1 + MARK_LENGTH) for identifier in parts])
    attributes["fingerprint"] = _fingerprint({**given, "parts": parts}) if is_known else ONLY_NAMED
    return FileDraft(file.name, attributes, parts, index)


@contextmanager
def _refusing(code: RegistrationProblem, message: str | None = None) -> Iterator[None]:
    """Refuse the file if the store could not have an item. Without a message, the store says why."""
    try:
        yield
    except InvalidItem as error:
        raise FileRefused(code, message or f"{error}.") from error


def _parts(file: NewFile) -> dict[str, Item]:
    """The further items of a file by their identifiers. What has the same identifier gets an ordinal."""
    parts: dict[str, Item] = {}
    ordinals: dict[str, int] = {}  # the last ones, so that no ordinal is tried twice
    for identifier, part in (*_calibrations(file), *_sortable(file), *_additional(file)):
        free, ordinal = identifier, ordinals.get(identifier, 1)
        while free in parts:
            ordinal += 1
            free = f"{identifier}#{ordinal:04}"
        ordinals[identifier] = ordinal
        parts[free] = {name: value for name, value in part.items() if value is not None}
    return parts


def _sortable(file: NewFile) -> Iterator[tuple[str, Item]]:
    """An item for each applicable day of each part of the sortable metadata, in order of the days."""
    found = ((day, part) for part in file.all_sortable for day in set(part.applicable_dates))
    listed = sorted(found, key=itemgetter(0))
    if listed and file.level is None:
        raise FileRefused(RegistrationProblem.FILE_INVALID, "A file with applicable dates needs a `level`.")
    counts = [(part.type, part.missing_packet_count) for part in file.all_sortable]
    items: list[Item] = []
    for day, part in listed:
        if part.type is not None and not _is_identifier(part.type):
            raise FileRefused(RegistrationProblem.FILE_INVALID, "A `type` must have visible characters only.")
        told = {
            "applicable-date": day.isoformat(),
            "first-packet-time": _time(part.first_packet_time),
            "last-packet-time": _time(part.last_packet_time),
            "missing-packet-count": part.missing_packet_count,
            "filled-gap-count": part.filled_gap_count,
            "data-type": part.type,
            "data-level": file.level,
            "data-product": file.product,
            "data-version": file.algorithm_version,
        }
        items.append(told)
    for (_, part), item, relations in zip(listed, items, related(items, counts), strict=True):
        yield "#".join(filter(None, (file.level, part.type))), item | relations


def _calibrations(file: NewFile) -> Iterator[tuple[str, Item]]:
    if len({each.calibrates for each in file.calibrations}) < len(file.calibrations):
        raise FileRefused(
            RegistrationProblem.FILE_INVALID, "A file is one version of a calibration of the same product."
        )
    for each in file.calibrations:
        if not _WORD.fullmatch(each.calibrates):
            raise FileRefused(RegistrationProblem.FILE_INVALID, "`calibrates` must be a level or a product.")
        yield (
            CALIBRATION + each.calibrates,
            {
                "archive-time": _time(file.archive_time),
                "calibration-version": each.calibration_version,
                "calibration-order": place_in_order(each.calibration_version, file.name),
            },
        )


def _additional(file: NewFile) -> Iterator[tuple[str, Item]]:
    for each in file.additional:
        if not _is_identifier(each.identifier):
            raise FileRefused(
                RegistrationProblem.METADATA_INVALID, "An `identifier` must have 1 to 100 visible characters."
            )
        if taken := sorted(PART.named.keys() & each.attributes.keys()):
            raise FileRefused(
                RegistrationProblem.METADATA_INVALID, f"Additional metadata cannot have an attribute `{taken[0]}`."
            )
        yield each.identifier, dict(each.attributes)


def _is_identifier(text: str) -> bool:
    return 0 < len(text) <= LONGEST_IDENTIFIER - 28 and is_line(text)


def _time(time: datetime | None) -> str | None:
    return time_text(time) if time else None


def _fingerprint(given: Mapping[str, Any]) -> str:
    text = orjson.dumps(given, option=orjson.OPT_SORT_KEYS)
    return hashlib.sha256(text).hexdigest()[:32]
