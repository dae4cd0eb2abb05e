"""Synthetic data files and the runs that made them: a mission of so many days, from packets to daily means.

Equal arguments give equal files. Each day has 250 files, all but 25 of them made by a run from some ten others:

    L0 → L1A → L1B → L2 → L2 of the next day, of the same granule, for 20 days at most

Calibrations hold for 45 days, and all runs of a level in that time use them. So some 3,000 runs use each calibration of
L1A, and some 10,000 files follow from it.
"""

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import NamedTuple
from uuid import UUID

from graph.domains.data_files.new_files import AdditionalMetadata, CalibrationMetadata, NewFile, SortableMetadata
from graph.domains.data_files.provenance.reports import RunReport, UsedFile

START = datetime(2028, 1, 1, tzinfo=UTC)
PACKETS_A_DAY, GRANULES = 23, 25  # files of L0, and of each product of the derived levels
APIDS = (11, 12, 1035, 1036)
PRODUCTS = {"L1A": ("RAD", "CAM", "AZEL"), "L1B": ("RAD", "CAM", "GEO"), "L2": ("SW", "LW", "SSW")}
CALIBRATIONS = {
    "L1A": ("gain", "offset", "dark", "thermal", "timing", "linearity"),
    "L1B": ("pointing", "alignment", "boresight"),
    "L2": ("albedo", "unfiltering"),
}
HOLDS_DAYS = 45  # a calibration
MEAN_DAYS = 20  # of which each L2 goes into the next one
REPROCESSED = 20  # granules of a day from this one on are made by the next version
VERSIONS = ("1.9.0", "1.10.0")
MISSING_EVERY = 5  # files of L0 without lost packets between two with some


class Granule(NamedTuple):
    """A file of a derived level."""

    level: str
    product: str
    day: int
    number: int

    @property
    def version(self) -> str:
        """The version of its algorithm."""
        return VERSIONS[self.number >= REPROCESSED]

    @property
    def begins(self) -> datetime:
        """The time of its first datum."""
        return START + timedelta(days=self.day, minutes=55 * self.number)

    @property
    def name(self) -> str:
        """Its name, by the documented pattern."""
        end = self.begins + timedelta(minutes=55)
        made = self.begins + timedelta(days=2)
        version = self.version.replace(".", "-")
        times = f"{self.begins:%Y%m%dT%H%M%S}_{end:%Y%m%dT%H%M%S}_R{made:%y%j%H%M%S}"
        return f"LIBERA_{self.level}_{self.product}_V{version}_{times}.nc"


class CalibrationFile(NamedTuple):
    """A calibration of a level, which holds for some days."""

    level: str
    kind: str
    number: int  # from 0

    @property
    def version(self) -> str:
        """Its version."""
        return f"1.{self.number + 1}.0"

    @property
    def name(self) -> str:
        """The name of its file."""
        begins = START + timedelta(days=self.number * HOLDS_DAYS)
        return f"LIBERA_CAL_{self.level}-{self.kind}_V1-{self.number + 1}-0_{begins:%Y%m%d}.nc"

    @property
    def file(self) -> NewFile:
        """What registers it."""
        return NewFile(
            name=self.name,
            level="CAL",
            product=f"{self.level}-{self.kind}",
            archive_time=START + timedelta(days=self.number * HOLDS_DAYS),
            checksum=_checksum(self.name),
            size=1_000_000,
            calibrations=[
                CalibrationMetadata(calibrates=f"{self.level}-{self.kind}", calibration_version=self.version)
            ],
        )


@dataclass(frozen=True)
class World:
    """The files of so many days."""

    days: int

    @property
    def files(self) -> int:
        """The number of files."""
        return self.days * (PACKETS_A_DAY + 2 + 9 * GRANULES) + len(self.calibrations)

    @property
    def calibrations(self) -> Sequence[CalibrationFile]:
        """All calibrations."""
        return [
            CalibrationFile(level, kind, number)
            for level, kinds in CALIBRATIONS.items()
            for kind in kinds
            for number in range(-(-self.days // HOLDS_DAYS))
        ]

    def originals(self) -> Iterator[NewFile]:
        """The files that no run of ours made, in the order of their days."""
        for calibration in self.calibrations:
            yield calibration.file
        for day in range(self.days):
            yield from (packets(day, number) for number in range(PACKETS_A_DAY))
            yield from (_daily(level, day) for level in ("SPICE", "ANC"))

    def granules(self, level: str, day: int) -> Iterator[Granule]:
        """The files of a derived level and day."""
        for product in PRODUCTS[level]:
            yield from (Granule(level, product, day, number) for number in range(GRANULES))

    def runs(self) -> Iterator[RunReport]:
        """All runs, each behind those that made what it used."""
        for day in range(self.days):
            for level in PRODUCTS:
                yield from map(run_of, self.granules(level, day))


def run_of(granule: Granule, *, used: Sequence[str] = ()) -> RunReport:
    """The run that made a file."""
    made = granule.begins + timedelta(days=2)
    return RunReport(
        algorithm=f"libera-{granule.level.lower()}-{granule.product.lower()}",
        version=granule.version,
        run_id=str(UUID(int=random.Random(granule.name).getrandbits(128), version=4)),  # noqa: S311 - reproducible
        started_at=made - timedelta(minutes=7),
        ended_at=made,
        configuration_hash=_checksum(granule.level + granule.version),
        used=[UsedFile(name) for name in used or inputs(granule)],
        generated=[file_of(granule)],
    )


def inputs(granule: Granule) -> list[str]:
    """What a file was made from."""
    level, product, day, number = granule
    calibrations = [CalibrationFile(level, kind, day // HOLDS_DAYS).name for kind in CALIBRATIONS[level]]
    if level == "L1A":
        return [packets(day, (number + apart) % PACKETS_A_DAY).name for apart in range(5)] + calibrations
    if level == "L1B":
        around = [(number + apart - 2) % GRANULES for apart in range(5)]
        before = [Granule("L1A", product if product in PRODUCTS["L1A"] else "AZEL", day, each) for each in around]
        return [*(each.name for each in before), _daily("SPICE", day).name, *calibrations]
    before = [Granule("L1B", each, day, (number + apart) % GRANULES) for each in PRODUCTS["L1B"] for apart in range(2)]
    if day % MEAN_DAYS:
        before.append(Granule("L2", product, day - 1, number))
    return [*(each.name for each in before), _daily("ANC", day).name, *calibrations]


def file_of(granule: Granule) -> NewFile:
    """What registers a file of a derived level."""
    made = granule.begins + timedelta(days=2)
    return NewFile(
        name=granule.name,
        level=granule.level,
        product=granule.product,
        archive_time=made + timedelta(hours=1),
        ingest_time=made,
        algorithm_version=granule.version,
        checksum=_checksum(granule.name),
        size=50_000_000 + granule.number,
        url=f"s3://libera-{granule.level.lower()}/{granule.name}",
        sortable=[SortableMetadata(applicable_dates=[date_of(granule.day)])],
    )


def packets(day: int, number: int) -> NewFile:
    """A file of packets, by the documented pattern. The last one of a day goes on to the next day."""
    apid = APIDS[number % len(APIDS)]
    first = START + timedelta(days=day, hours=number)
    last = first + timedelta(minutes=70)
    name = f"P159{apid:04}AAAAAAAAAAAAAA{first:%y%j%H%M%S}001.PDS"
    missing = day * PACKETS_A_DAY + number
    days = sorted({first.date(), last.date()})
    return NewFile(
        name=name,
        level="L0",
        archive_time=last + timedelta(hours=3),
        ingest_time=last + timedelta(hours=2),
        checksum=_checksum(name),
        size=10_000_000 + number,
        sortable=[
            SortableMetadata(
                type=f"APID{apid}",
                applicable_dates=days,
                first_packet_time=first,
                last_packet_time=last,
                missing_packet_count=0 if missing % MISSING_EVERY else missing % 97,
                filled_gap_count=0,
            )
        ],
        additional=[
            AdditionalMetadata(identifier="PDS", attributes={"construction-record": f"{name[:-6]}00.PDS"}),
            AdditionalMetadata(identifier=f"APID{apid}", attributes={"first-packet": 0, "packets": 86_400}),
        ],
    )


def _daily(level: str, day: int) -> NewFile:
    begins = START + timedelta(days=day)
    name = f"LIBERA_{level}_JPSS_V1-0-0_{begins:%Y%m%dT%H%M%S}_{begins:%Y%m%d}T235959_R{begins:%y%j}120000.nc"
    return NewFile(
        name=name,
        level=level,
        product="JPSS",
        archive_time=begins + timedelta(days=1),
        algorithm_version="1.0.0",
        checksum=_checksum(name),
        size=2_000_000,
        sortable=[SortableMetadata(applicable_dates=[begins.date()])],
    )


def date_of(day: int) -> date:
    """The date of a day of the mission."""
    return (START + timedelta(days=day)).date()


def _checksum(text: str) -> str:
    return f"{random.Random(text).getrandbits(256):064x}"  # noqa: S311 - reproducible on purpose
