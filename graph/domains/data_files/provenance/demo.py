"""The demo: two days of a radiometer, from packets to radiances, of which one is made again with a new calibration.

    data sets, one a day → L1A → L1B, with the calibration → L2

The second data set begins two seconds before midnight, so the first day is made from both. Names follow the patterns of
Libera, and the contents are made up: each checksum is that of a name. The services that register any file store it.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from uuid import NAMESPACE_URL, uuid5

from graph.domain import Resources, Services
from graph.domains.data_files.new_files import AdditionalMetadata, CalibrationMetadata, NewFile, SortableMetadata
from graph.domains.data_files.provenance.recording import Runs
from graph.domains.data_files.provenance.reports import RunReport, UsedFile
from graph.domains.data_files.registering import Registration
from graph.domains.data_files.times import days_of, time_text
from graph.domains.earthquakes.settings import EarthquakeSettings

SPACECRAFT, APID = 177, 1036  # JPSS-2, and samples of the radiometer
PACKETS_A_SECOND, PACKET_BYTES = 4, 1012
DAYS = (date(2024, 1, 1), date(2024, 1, 2))
NAMESPACE = "https://data.example/libera"


def _utc(day: int, hour: int, minute: int = 0, second: int = 0) -> datetime:
    """A time in January 2024."""
    return datetime(2024, 1, day, hour, minute, second, tzinfo=UTC)


def _with_content(file: NewFile, content: str = "") -> NewFile:
    """The file with a checksum and an address."""
    checksum = hashlib.sha256(f"{file.name}{content}".encode()).hexdigest()
    return replace(file, checksum=checksum, url=f"{NAMESPACE}/{file.name}")


def _data_set(created: datetime, first: datetime, last: datetime, *, missing: int = 0) -> tuple[NewFile, NewFile]:
    """The construction record of a data set of Level 0, and the file with its packets."""
    record, packets = (f"P{SPACECRAFT}{APID}{'A' * 13}T{created:%y%j%H%M%S}0{number:02}.PDS" for number in (0, 1))
    count = PACKETS_A_SECOND * int((last - first).total_seconds()) - missing
    times = {"first-packet-utc-time": time_text(first), "last-packet-utc-time": time_text(last)}
    level_0 = NewFile(
        name=packets,
        level="L0",
        product="RAD-SAMPLE-PDS",
        archive_time=created + timedelta(minutes=1),
        ingest_time=created,
        algorithm_version="1.0.0",
        size=count * PACKET_BYTES,
    )
    construction_record = replace(
        level_0,
        name=record,
        product="PDS-CR",
        size=408,
        sortable=[
            SortableMetadata(
                type=f"APID{APID}",
                applicable_dates=days_of(first, last),
                first_packet_time=first,
                last_packet_time=last,
                missing_packet_count=missing,
                filled_gap_count=0,
            )
        ],
        additional=[
            AdditionalMetadata(identifier="PDS", attributes={"filename": packets}),
            AdditionalMetadata(
                identifier=f"APID{APID}",
                attributes={"SCID": SPACECRAFT, "APID": APID, "n-in-the-data-set": count, **times},
            ),
        ],
    )
    return _with_content(construction_record), _with_content(level_0)


def _calibration(version: str, measured: datetime) -> NewFile:
    name = f"LIBERA_CAL_GAIN_V{version.replace('.', '-')}_{measured:%Y%m%dT%H%M%S}_{measured:%Y%m%d}T060000"
    return _with_content(
        NewFile(
            name=f"{name}_R{measured:%y%j}070000.nc",
            level="CAL",
            product="GAIN",
            archive_time=measured.replace(hour=7),
            size=48_120,
            calibrations=[CalibrationMetadata(calibrates="GAIN", calibration_version=version)],
        )
    )


def _product(level: str, product: str, day: date, size: int) -> NewFile:
    """A file with a day's data."""
    name = f"LIBERA_{level}_{product}_V1-0-0_{day:%Y%m%d}T000000_{day:%Y%m%d}T235959_R24003010000.nc"
    return _with_content(
        NewFile(
            name=name,
            level=level,
            product=product,
            algorithm_version="1.0.0",
            size=size,
            sortable=[SortableMetadata(type=product, applicable_dates=[day])],
        )
    )


def _run(algorithm: str, started_at: datetime, used: Sequence[NewFile], generated: NewFile) -> RunReport:
    """A run of ten minutes, which makes one file. It has the same id each time."""
    ended_at = started_at + timedelta(minutes=10)
    return RunReport(
        algorithm=algorithm,
        version="1.0.0",
        run_id=str(uuid5(NAMESPACE_URL, f"{NAMESPACE}/{algorithm}/{started_at.isoformat()}")),
        started_at=started_at,
        ended_at=ended_at,
        used=[UsedFile(file.name) for file in used],
        generated=[replace(generated, archive_time=ended_at)],
    )


DATA_SETS = (
    _data_set(_utc(2, 0, 5), _utc(1, 0), _utc(1, 23, 59, 58)),
    _data_set(_utc(3, 0, 5), _utc(1, 23, 59, 58), _utc(2, 23, 59, 58), missing=12),
)
GAINS = (_calibration("1.0.0", datetime(2023, 12, 1, tzinfo=UTC)), _calibration("1.1.0", _utc(5, 0)))
L1A = [_product("L1A", "RAD-SAMPLE-DECODED", day, 291_402_780) for day in DAYS]
L1B = [_product("L1B", "RAD-4CH", day, 118_244_016) for day in DAYS]
L2 = [_product("L2", "UNF-RAD-CAM", day, 97_031_552) for day in DAYS]

REGISTERED = (*DATA_SETS[0], *DATA_SETS[1], *GAINS)
RUNS = (
    _run("l1a-rad-sample", _utc(3, 1), (*DATA_SETS[0], *DATA_SETS[1]), L1A[0]),
    _run("l1a-rad-sample", _utc(3, 1, 10), DATA_SETS[1], L1A[1]),
    _run("l1b-rad", _utc(3, 2), (L1A[0], GAINS[0]), L1B[0]),
    _run("l1b-rad", _utc(3, 2, 10), (L1A[1], GAINS[0]), L1B[1]),
    _run("l2-unfiltered", _utc(3, 3), (L1B[0],), L2[0]),
    _run("l2-unfiltered", _utc(3, 3, 10), (L1B[1],), L2[1]),
    _run("l1b-rad", _utc(5, 8), (L1A[0], GAINS[1]), _with_content(L1B[0], content=" with gain 1.1.0")),
)
"""In the order in which they ran. The last one makes the next revision of a file."""


async def prepare(services: Services) -> str | None:
    """Store the demo, if it is switched on and not stored yet."""
    runs = services.of(Runs)
    last = str(RUNS[-1].run_id)
    if not services.of(Resources).settings.part(EarthquakeSettings).demo or await runs.by_id([last], frozenset()):
        return None
    report = await services.of(Registration).register(REGISTERED)
    for run in RUNS:
        await runs.record(run)
    made = {file.name for run in RUNS for file in run.generated}
    return f"Registered {len(report.judged) + len(made)} data files of two days, and {len(RUNS)} runs, as a demo."
