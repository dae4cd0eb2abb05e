"""The table `libera-metadata`, its items and its indexes are those of document 001, to any client of DynamoDB.

What differs is said beside the test: the document leaves higher levels open, and its original overwrote items that
repeat, and found a file on one of its days alone.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from graph.core.times import rfc3339, utc_time
from graph.domains.data_files.entities import ENTITIES as OURS
from graph.domains.data_files.entities import LIBERA_METADATA
from graph.domains.data_files.new_files import AdditionalMetadata, NewFile, SortableMetadata
from graph.domains.data_files.times import time_text, written
from tests.domains.data_files.followed import RawTable
from tests.domains.data_files.foreign import DOCUMENTED as EXAMPLES
from tests.domains.data_files.in_store import FileStore, a_calibration, a_file, day
from tests.domains.entities import ENTITIES
from tests.service import Service, running
from tests.settings import Settings
from tests.store.engines import make_tables, open_dynamodb
from tests.store.samples import HeldClock

RECORD = "L0_CONS_file.PDS"
CALIBRATION = "Example_calibration_file.nc"
MIDNIGHT = datetime(2024, 1, 1, tzinfo=UTC)

REGISTER = """mutation($files: [DataFileInput!]!) {
  registerFiles(input: {files: $files}) {
    registered skipped files { index outcome file { name } } rejections { index code message } }
}"""

DOCUMENTED: list[dict[str, Any]] = [
    {
        "name": "Example_file.nc",
        "archiveTime": "2024-01-01T00:00:00Z",
        "algorithmVersion": "1.0.0",
        "level": "L0",
        "sortable": [{"type": "SPICE#AZ", "applicableDates": ["2024-01-01"]}],
    },
    {
        "name": RECORD,
        "ingestTime": "2024-01-01T00:00:00Z",
        "archiveTime": "2024-01-01T00:01:00Z",
        "algorithmVersion": "1.0.0",
        "level": "L0",
        "sortable": [
            {
                "type": "APID11",
                "applicableDates": ["2024-01-01"],
                "firstPacketTime": "2024-01-01T00:00:00Z",
                "lastPacketTime": "2024-01-01T00:00:00Z",
                "missingPacketCount": 0,
                "filledGapCount": 0,
            }
        ],
        "additional": [
            {"identifier": "PDS", "attributes": {"filename": "L0_PDS_file.PDS"}},
            {"identifier": "APID11", "attributes": {"edos-version": "1.0.0", "SCID": 1, "APID": 11}},
        ],
    },
    {
        "name": "L0_file.nc",
        "ingestTime": "2024-01-01T00:00:00Z",
        "archiveTime": "2024-01-01T00:01:00Z",
        "algorithmVersion": "1.0.0",
    },
    {
        "name": CALIBRATION,
        "archiveTime": "2024-01-01T00:00:00Z",
        "calibrations": [{"calibrates": "L0", "calibrationVersion": "1.0.0"}],
    },
]
"""Every example of the document, as clients register it."""


def table_at(prefix: str) -> RawTable:
    return RawTable(LIBERA_METADATA, prefix)


def one(raw: RawTable, name: str, sort_key: str) -> dict[str, Any]:
    """The item with this key."""
    (item,) = raw.query("PK = :name AND SK = :item", name=name, item=sort_key)
    return item


@pytest.fixture(scope="module")
def documented(dynamodb_endpoint: str) -> RawTable:
    """The table after every example of the document was registered through the graph."""
    del dynamodb_endpoint  # it has set AWS's configuration
    prefix = make_tables(ENTITIES)
    with running(Settings(store=f"dynamodb://{prefix}"), clock=HeldClock()) as service:
        for registered, skipped, outcome in ((4, 0, "REGISTERED"), (0, 4, "SKIPPED")):
            assert _registered(service, DOCUMENTED) == {
                "registered": registered,
                "skipped": skipped,
                "files": [
                    {"index": index, "outcome": outcome, "file": {"name": file["name"]}}
                    for index, file in enumerate(DOCUMENTED)
                ],
                "rejections": [],
            }
    return table_at(prefix)


def _registered(service: Service, files: list[dict[str, Any]]) -> Any:
    return service.ask(REGISTER, {"files": files})["registerFiles"]


@asynccontextmanager
async def ours_and_raw() -> AsyncIterator[tuple[FileStore, RawTable]]:
    """The service's own view of an empty table, and the table."""
    prefix = make_tables(OURS)
    async with open_dynamodb(OURS, prefix=prefix) as database:
        yield FileStore(database), table_at(prefix)


def test_each_documented_item_stands_under_its_key_with_its_attributes(documented: RawTable) -> None:
    for expected in EXAMPLES:
        item = one(documented, expected["PK"], expected["SK"])
        assert {attribute: item[attribute] for attribute in expected} == expected
        if expected["SK"] in ("#PDS", "#APID11"):  # nothing of ours among what others have named
            assert item.keys() == expected.keys()


def test_the_table_has_the_documented_keys_and_indexes(documented: RawTable) -> None:
    assert documented.name.endswith("libera-metadata")
    assert documented.keys() == {
        "": ["PK S", "SK S"],
        "ApplicableDateIndex": ["applicable-date S", "SK S"],
        "CalibrationIndex": ["SK S", "PK S"],
        "CalibrationOrderIndex": ["SK S", "calibration-order S"],  # ours
        "OpenRunsIndex": ["SK S", "open-since S"],  # ours
    }

    of_day = documented.query("applicable-date = :day", "ApplicableDateIndex", day="2024-01-01")
    assert [(item["SK"], item["PK"]) for item in of_day] == [
        ("#L0#APID11", RECORD),
        ("#L0#SPICE#AZ", "Example_file.nc"),
    ]
    of_type = "applicable-date = :day AND SK = :type"
    (only,) = documented.query(of_type, "ApplicableDateIndex", day="2024-01-01", type="#L0#APID11")
    assert only["PK"] == RECORD
    found = documented.query("SK = :of", "CalibrationIndex", of="#CAL#L0")
    assert [(item["PK"], item["calibration-version"]) for item in found] == [(CALIBRATION, "1.0.0")]


# What the original lost


@pytest.mark.usefixtures("dynamodb_endpoint")
async def test_a_file_across_midnight_and_repeated_items_of_a_construction_record_are_all_found() -> None:
    repeated: dict[str, list[dict[str, Any]]] = {
        "APID11#SSC-GAPS": [{"first-missing-count": number, "missing-count": 1} for number in range(3)],
        "APID11#EDOS-FILL": [{"fill-start": "2024-01-01 00:00:01", "fill-count": number} for number in (2, 7)],
        "PDS": [{"filename": f"{number}.PDS"} for number in range(2)],
    }
    async with ours_and_raw() as (ours, raw):
        packets = SortableMetadata(
            type="APID11",
            applicable_dates=[day(31), day(30)],
            first_packet_time=MIDNIGHT,
            last_packet_time=MIDNIGHT,
            missing_packet_count=3,
        )
        items = [
            AdditionalMetadata(identifier=identifier, attributes=each)
            for identifier, every in repeated.items()
            for each in every
        ]
        await ours.register(NewFile(name=RECORD, level="L0", sortable=[packets], additional=items))
        assert len((await ours.files.parts([RECORD]))[RECORD]) == 9

    for identifier, each in repeated.items():
        sort_keys = [f"#{identifier}", *(f"#{identifier}#{number:04}" for number in range(2, len(each) + 1))]
        found = [one(raw, RECORD, sort_key) for sort_key in sort_keys]
        assert [{name: item[name] for name in each[0]} for item in found] == each
    for day_, sort_key in (("2024-01-30", "#L0#APID11"), ("2024-01-31", "#L0#APID11#0002")):
        (item,) = raw.query("applicable-date = :day", "ApplicableDateIndex", day=day_)
        assert (item["PK"], item["SK"], item["missing-packet-count"]) == (RECORD, sort_key, 3)


@pytest.mark.usefixtures("dynamodb_endpoint")
async def test_files_of_every_level_are_found_by_their_day_and_calibrations_in_the_order_of_versions() -> None:
    levels = ("SPICE", "CAL", "L1A", "L1B", "L2", "ANC")
    versions = ("1.9.0", "1.10.0", "1.10.0rc1", "2.0.0")
    async with ours_and_raw() as (ours, raw):
        await ours.register(*(a_file(f"{level}.nc", 1, type="AZ", level=level) for level in levels))
        await ours.register(*(a_calibration(f"{version}.nc", version) for version in versions))
    for level in levels:
        of_type = "applicable-date = :day AND SK = :type"
        (item,) = raw.query(of_type, "ApplicableDateIndex", day="2024-01-01", type=f"#{level}#AZ")
        assert item["PK"] == f"{level}.nc"
        assert one(raw, f"{level}.nc", "#")["level"] == level
    found = raw.query("SK = :of", "CalibrationOrderIndex", forward=False, of="#CAL#L0")
    assert [item["calibration-version"] for item in found] == ["2.0.0", "1.10.0", "1.10.0rc1", "1.9.0"]


@given(st.datetimes(timezones=st.just(UTC)))
@example(datetime(2024, 1, 1, tzinfo=UTC))
@example(datetime.min.replace(tzinfo=UTC))
@example(datetime.max.replace(tzinfo=UTC))
@example(datetime(2024, 1, 1, microsecond=1, tzinfo=UTC))
def test_a_time_is_written_as_if_it_had_been_read(time: datetime) -> None:
    text = time_text(time)

    assert utc_time(text) == time
    assert written(text) == rfc3339(time)
