"""Names of files of the Libera science data centre: data products, Level 0 files of EDOS, and manifests.

A name is read strictly: all of it follows its pattern, and its times are possible. All times in names are UTC.

Source: libera_utils, `io/filenaming.py`, https://github.com/LASP-Libera/libera_utils
"""

import re
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from enum import StrEnum
from typing import Self, TypeAlias
from uuid import UUID

from graph.domains.data_files.times import days_of

LEVELS = ("L0", "SPICE", "CAL", "L1A", "L1B", "L2", "ANC", "AUX")
# Crockford's base 32: no I, L, O and U.
ULID_ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"  # pragma: allowlist secret
ULID = f"[0-7][{ULID_ALPHABET}]{{25}}"  # 128 bits in 26 characters of 5 bits
LONGEST_NAME = 255  # characters, as in a file system
LONGEST_RANGE = timedelta(days=366)  # of a data product
SECONDS = "%Y%m%dT%H%M%S"
DAY_OF_YEAR = "%y%j%H%M%S"  # the years 1969 to 2068

PRODUCT = re.compile(
    rf"LIBERA_(?P<level>{'|'.join(LEVELS)})"
    r"_(?P<product>[A-Z0-9]+(?:-[A-Z0-9]+)*)"
    r"_V(?P<version>[0-9]+-[0-9]+-[0-9]+(?:RC[0-9]+)?)"
    r"_(?P<utc_start>[0-9]{8}T[0-9]{6})_(?P<utc_end>[0-9]{8}T[0-9]{6})"
    rf"_(?P<revision>R[0-9]{{11}}|{ULID})"
    r"\.(nc|h5|bsp|bc|cmr\.json)"
)
LEVEL_0 = re.compile(
    r"[PX](?P<spacecraft>[0-9]{3})(?P<apid>[0-9]{4})[A-Z0-9]{14}"
    r"(?P<created>[0-9]{11})[0-9](?P<file_number>[0-9]{2})\.(PDS|PDR)(\.XFR)?"
)
_FILE_NUMBER = re.compile(r"[0-9]{2}\.")
MANIFEST = re.compile(rf"LIBERA_(?P<kind>INPUT|OUTPUT)_MANIFEST_(?P<ulid>{ULID})\.json")


class UnknownName(ValueError):
    """A name follows no pattern of Libera, or has an impossible time."""


class ManifestKind(StrEnum):
    """Which side of a run a manifest lists."""

    INPUT = "INPUT"
    OUTPUT = "OUTPUT"


@dataclass(frozen=True, slots=True, kw_only=True)
class ProductName:
    """`LIBERA_{level}_{product}_V{version}_{start}_{end}_{revision}.{extension}`."""

    text: str
    level: str
    product: str  # such as `RAD-4CH`
    version: str  # such as `1.2.3RC1`, of the algorithm or of the calibration
    utc_start: datetime
    utc_end: datetime
    revision: str  # a ULID, or `R` with the two-digit year, the day of the year and the time

    @classmethod
    def parse(cls, name: str) -> Self:
        """Read a name; UnknownName where it breaks the pattern."""
        parts = _match(PRODUCT, name, "a data product")
        start, end = (_time(parts[each], SECONDS, name) for each in ("utc_start", "utc_end"))
        if end < start:
            raise UnknownName(f"{name!r} ends before it begins.")
        if end - start > LONGEST_RANGE:
            raise UnknownName(f"{name!r} covers more than {LONGEST_RANGE.days} days.")
        if len(parts["revision"]) == len("R") + 11:
            _time(parts["revision"][1:], DAY_OF_YEAR, name)
        return cls(
            text=name,
            level=parts["level"],
            product=parts["product"],
            version=parts["version"].replace("-", "."),
            utc_start=start,
            utc_end=end,
            revision=parts["revision"],
        )

    @property
    def holds_data(self) -> bool:
        """Whether it is a data file, and not metadata of the one with the same name, `.cmr.json`."""
        return not self.text.endswith("json")

    @property
    def applicable_dates(self) -> list[date]:
        """Every day that the time range covers. A range that ends at midnight does not cover the next day.

        In libera_utils, the only one is the day of the middle of the range.
        """
        last = max(self.utc_start, self.utc_end - timedelta(microseconds=1))
        return days_of(self.utc_start, last)


@dataclass(frozen=True, slots=True, kw_only=True)
class Level0Name:
    """A file of EDOS: `P1590011AAAAAAAAAAAAAT21099051420501.PDS`."""

    text: str
    spacecraft: int
    apid: int  # the first one in the file
    created: datetime
    file_number: int  # 0: the construction record

    @classmethod
    def parse(cls, name: str) -> Self:
        """Read a name; UnknownName where it breaks the pattern."""
        parts = _match(LEVEL_0, name, "a Level 0 file")
        return cls(
            text=name,
            spacecraft=int(parts["spacecraft"]),
            apid=int(parts["apid"]),
            created=_time(parts["created"], DAY_OF_YEAR, name),
            file_number=int(parts["file_number"]),
        )

    @property
    def data_set(self) -> str:
        """The name without the number of the file, which all files of a data set share."""
        return _FILE_NUMBER.sub(".", self.text)

    @property
    def construction_record(self) -> str:
        """The name of the construction record of its data set."""
        return _FILE_NUMBER.sub("00.", self.text)

    @property
    def holds_data(self) -> bool:
        """Whether it is a file of a production data set (`P`), and not the announcement of one (`X`, PDR or XFR)."""
        return self.text.startswith("P") and self.text.endswith(".PDS")

    @property
    def is_construction_record(self) -> bool:
        """Whether it tells how its data set was made."""
        return self.holds_data and self.file_number == 0


@dataclass(frozen=True, slots=True, kw_only=True)
class ManifestName:
    """`LIBERA_{INPUT|OUTPUT}_MANIFEST_{ULID}.json`. Both manifests of a run have the same ULID."""

    text: str
    kind: ManifestKind
    ulid: str

    @classmethod
    def parse(cls, name: str) -> Self:
        """Read a name; UnknownName where it breaks the pattern."""
        parts = _match(MANIFEST, name, "a manifest")
        return cls(text=name, kind=ManifestKind(parts["kind"]), ulid=parts["ulid"])

    @property
    def run_id(self) -> UUID:
        """The id of the run: the 128 bits of the ULID."""
        number = 0
        for character in self.ulid:
            number = number * 32 + ULID_ALPHABET.index(character)
        return UUID(int=number)


LiberaName: TypeAlias = ProductName | Level0Name | ManifestName


def parse_name(name: str) -> LiberaName:
    """What a file of Libera is, by its name; UnknownName if it has none of the patterns."""
    if LEVEL_0.fullmatch(name):
        return Level0Name.parse(name)
    if MANIFEST.fullmatch(name):
        return ManifestName.parse(name)
    return ProductName.parse(name)


def _match(pattern: re.Pattern[str], name: str, what: str) -> dict[str, str]:
    found = pattern.fullmatch(name) if len(name) <= LONGEST_NAME else None
    if found is None:
        raise UnknownName(f"{name[:LONGEST_NAME]!r} is not the name of {what} of Libera.")
    return found.groupdict()


def _time(text: str, form: str, name: str) -> datetime:
    try:
        time = datetime.strptime(text, form).replace(tzinfo=UTC)
    except ValueError as error:
        raise UnknownName(f"{name!r} has an impossible time, {text}.") from error
    if time.strftime(form) != text:  # the 366th day of a common year is read as 1 January
        raise UnknownName(f"{name!r} has an impossible time, {text}.")
    return time
