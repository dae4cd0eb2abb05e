"""The table `libera-metadata`, its items and its indexes are those of document 001, to any client of DynamoDB.

What differs is said beside the test: the document leaves higher levels and the index of the calibrations open, and its
original overwrote items that repeat, and found a file on one of its days alone.
"""

import json
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from functools import cache
from typing import Any

import botocore.session
import pytest

from graph.domains.data_files.entities import ENTITIES as OURS
from graph.domains.data_files.entities import LIBERA_METADATA
from graph.domains.data_files.new_files import AdditionalMetadata, NewFile, SortableMetadata
from graph.domains.data_files.provenance.reports import RunReport, UsedFile
from graph.domains.data_files.references import Version
from graph.store.design import table_name
from graph.store.location import ENVIRONMENT
from tests.domains.data_files.in_store import FileStore, a_calibration, day, files_of
from tests.domains.entities import ENTITIES
from tests.service import Service, running
from tests.settings import Settings
from tests.store.engines import make_tables, open_dynamodb
from tests.store.samples import HeldClock

RECORD = "L0_CONS_file.PDS"
CALIBRATION = "Example_calibration_file.nc"
MIDNIGHT = datetime(2024, 1, 1, tzinfo=UTC)

REGISTER = """mutation($files: [DataFileInput!]!) {
  registerFiles(input: {files: $files}) { registered skipped rejections { index code message } }
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
        "calibrations": [{"calibrates": "L0", "version": "1.0.0"}],
    },
]
"""Every example of the document, as clients register it."""


@cache
def _client() -> Any:
    """A client that knows nothing of the service."""
    return botocore.session.get_session().create_client("dynamodb")


class Raw:
    """The table as it is in DynamoDB."""

    def __init__(self, prefix: str) -> None:
        self.prefix = prefix
        self.table = table_name(LIBERA_METADATA, prefix=prefix, environment=ENVIRONMENT)

    def query(self, index: str | None = None, *, forward: bool = True, **equal: str) -> list[dict[str, Any]]:
        """The items whose key attributes are these; `_` stands for a hyphen."""
        names = {f"#k{at}": name.replace("_", "-") for at, name in enumerate(equal)}
        values = {f":v{at}": {"S": value} for at, value in enumerate(equal.values())}
        conditions = [f"#k{at} = :v{at}" for at in range(len(equal))]
        answer = _client().query(
            TableName=self.table,
            KeyConditionExpression=" AND ".join(conditions),
            ExpressionAttributeNames=names,
            ExpressionAttributeValues=values,
            ScanIndexForward=forward,
            **({"IndexName": index} if index else {}),
        )
        return [{name: _value(**typed) for name, typed in item.items()} for item in answer["Items"]]

    def one(self, name: str, sort_key: str) -> dict[str, Any]:
        """The item with this key."""
        (item,) = self.query(PK=name, SK=sort_key)
        return item

    def schema(self) -> Any:
        """Keys and indexes, as DynamoDB describes them."""
        return _client().describe_table(TableName=self.table)["Table"]


def _value(*, S: str | None = None, N: str | None = None, **others: Any) -> Any:  # noqa: N803 - DynamoDB's
    """A text, a number, or another value as it is."""
    if N is not None:
        return json.loads(N)
    return others if S is None else S


@pytest.fixture(scope="module")
def documented(dynamodb_endpoint: str) -> Raw:
    """The table after every example of the document was registered through the graph."""
    del dynamodb_endpoint  # it has set AWS's configuration
    prefix = make_tables(ENTITIES)
    with running(Settings(store=f"dynamodb://{prefix}"), clock=HeldClock()) as service:
        assert _registered(service, DOCUMENTED) == {"registered": 4, "skipped": 0, "rejections": []}
        assert _registered(service, DOCUMENTED) == {"registered": 0, "skipped": 4, "rejections": []}
    return Raw(prefix)


def _registered(service: Service, files: list[dict[str, Any]]) -> Any:
    return service.ask(REGISTER, {"files": files})["registerFiles"]


@pytest.fixture
def raw(dynamodb_endpoint: str) -> Raw:
    """An empty table."""
    del dynamodb_endpoint
    return Raw(make_tables(OURS))


@asynccontextmanager
async def stored(raw: Raw) -> AsyncIterator[FileStore]:
    """The service's own view of a table."""
    clock = HeldClock()
    async with open_dynamodb(OURS, prefix=raw.prefix, clock=clock) as database:
        yield files_of(database, clock)


EXAMPLES: dict[tuple[str, str], dict[str, Any]] = {
    ("Example_file.nc", "#"): {"archive-time": "2024-01-01 00:00:00", "algorithm-version": "1.0.0"},
    ("Example_file.nc", "#L0#SPICE#AZ"): {"applicable-date": "2024-01-01"},
    (RECORD, "#"): {
        "ingest-time": "2024-01-01 00:00:00",
        "archive-time": "2024-01-01 00:01:00",
        "algorithm-version": "1.0.0",
    },
    (RECORD, "#L0#APID11"): {
        "applicable-date": "2024-01-01",
        "first-packet-time": "2024-01-01 00:00:00",
        "last-packet-time": "2024-01-01 00:00:00",
        "missing-packet-count": 0,
        "filled-gap-count": 0,
    },
    (RECORD, "#PDS"): {"filename": "L0_PDS_file.PDS"},
    (RECORD, "#APID11"): {"edos-version": "1.0.0", "SCID": 1, "APID": 11},
    ("L0_file.nc", "#"): {
        "ingest-time": "2024-01-01 00:00:00",
        "archive-time": "2024-01-01 00:01:00",
        "algorithm-version": "1.0.0",
    },
    (CALIBRATION, "#CAL#L0"): {"archive-time": "2024-01-01 00:00:00", "calibration-version": "1.0.0"},
}
"""The items of the document, by their keys."""


@pytest.mark.parametrize(("name", "sort_key"), EXAMPLES)
def test_each_documented_item_stands_under_its_key_with_its_attributes(
    documented: Raw, name: str, sort_key: str
) -> None:
    item = documented.one(name, sort_key)
    expected = EXAMPLES[name, sort_key]
    assert {attribute: item[attribute] for attribute in expected} == expected
    if sort_key in ("#PDS", "#APID11"):  # nothing of ours among what others have named
        assert item.keys() - expected.keys() == {"PK", "SK", "entity"}


def test_the_table_has_the_documented_keys_and_indexes(documented: Raw) -> None:
    described = documented.schema()

    def keys(of: Any) -> list[str]:
        return [each["AttributeName"] for each in of["KeySchema"]]

    assert described["TableName"].endswith("libera-metadata")
    assert keys(described) == ["PK", "SK"]
    assert {index["IndexName"]: keys(index) for index in described["GlobalSecondaryIndexes"]} == {
        "ApplicableDateIndex": ["applicable-date", "SK"],
        "CalibrationIndex": ["SK", "calibration-order"],  # documented as TBD
        "OpenRunsIndex": ["SK", "open-since"],  # ours
    }


def test_the_date_index_has_the_files_of_a_day_by_their_types(documented: Raw) -> None:
    found = documented.query("ApplicableDateIndex", applicable_date="2024-01-01")
    assert [(item["SK"], item["PK"]) for item in found] == [
        ("#L0#APID11", RECORD),
        ("#L0#SPICE#AZ", "Example_file.nc"),
    ]
    (only,) = documented.query("ApplicableDateIndex", applicable_date="2024-01-01", SK="#L0#APID11")
    assert only["PK"] == RECORD


def test_the_calibration_index_has_the_versions_of_what_is_calibrated(documented: Raw) -> None:
    found = documented.query("CalibrationIndex", SK="#CAL#L0")
    assert [(item["PK"], item["calibration-version"]) for item in found] == [(CALIBRATION, "1.0.0")]


# What the original lost


async def test_a_file_across_midnight_is_found_on_each_of_its_days(raw: Raw) -> None:
    async with stored(raw) as ours:
        await ours.register(_record(days=(31, 30)))
    for on, sort_key in (("2024-01-30", "#L0#APID11"), ("2024-01-31", "#L0#APID11#0002")):
        (item,) = raw.query("ApplicableDateIndex", applicable_date=on)
        assert (item["PK"], item["SK"], item["missing-packet-count"]) == (RECORD, sort_key, 3)


async def test_repeated_items_of_a_construction_record_all_survive(raw: Raw) -> None:
    gaps = [{"first-missing-count": number, "missing-count": 1} for number in range(3)]
    files = [{"filename": f"{number}.PDS"} for number in range(2)]
    async with stored(raw) as ours:
        await ours.register(_record({"APID11#SSC-GAPS": gaps, "PDS": files}))
        graph = (await ours.files.parts([RECORD]))[RECORD]
    repeated: dict[str, list[Any]] = {"APID11#SSC-GAPS": gaps, "PDS": files}
    for identifier, each in repeated.items():
        sort_keys = [f"#{identifier}", *(f"#{identifier}#{number:04}" for number in range(2, len(each) + 1))]
        found = [raw.one(RECORD, sort_key) for sort_key in sort_keys]
        assert [{name: item[name] for name in each[0]} for item in found] == each
    assert len(graph) == 6


async def test_a_construction_record_with_fill_data_is_registered(raw: Raw) -> None:
    fill = [{"fill-start": "2024-01-01 00:00:01", "apid-fill-data-count": number} for number in (2, 7)]
    async with stored(raw) as ours:
        assert (await ours.register(_record({"APID11#EDOS-FILL": fill}))).registered == 1
    assert raw.one(RECORD, "#APID11#EDOS-FILL")["apid-fill-data-count"] == 2
    assert raw.one(RECORD, "#APID11#EDOS-FILL#0002")["apid-fill-data-count"] == 7


async def test_what_a_file_was_made_from_is_found_again(raw: Raw) -> None:
    inputs = [RECORD, CALIBRATION]
    async with stored(raw) as ours:
        await ours.register(_record(), a_calibration(CALIBRATION, "1.0.0"))
        made = NewFile(name="l1a.nc", level="L1A", product="RAD")
        run = await ours.runs.record(
            RunReport(algorithm="l1a-rad", used=[UsedFile(name) for name in inputs], generated=[made])
        )
        revision = (await ours.files.by_version([Version("l1a.nc", 1)]))[Version("l1a.nc", 1)]
        found = (await ours.runs.by_id([str(revision.generated_by)]))[run.run_id]
    assert found.used == [Version(name, 1) for name in inputs]
    (edge,) = raw.query(PK=f"USED#{CALIBRATION}@1")  # as "which files does it concern?" begins
    assert edge["SK"].startswith(f"RUN#{run.run_id}#")


@pytest.mark.parametrize("level", ["SPICE", "CAL", "L1A", "L1B", "L2", "ANC"])
async def test_files_of_every_level_have_the_same_items_and_are_found_by_their_day(raw: Raw, level: str) -> None:
    file = NewFile(name="file.nc", level=level, sortable=[SortableMetadata(type="AZ", applicable_dates=[day(1)])])
    async with stored(raw) as ours:
        await ours.register(file)
    (item,) = raw.query("ApplicableDateIndex", applicable_date="2024-01-01", SK=f"#{level}#AZ")
    assert item["PK"] == "file.nc"
    assert raw.one("file.nc", "#")["level"] == level


async def test_the_calibration_index_is_in_the_order_of_versions(raw: Raw) -> None:
    versions = ("1.9.0", "1.10.0", "1.10.0rc1", "2.0.0")
    async with stored(raw) as ours:
        await ours.register(*(a_calibration(f"{version}.nc", version) for version in versions))
    found = raw.query("CalibrationIndex", forward=False, SK="#CAL#L0")
    assert [item["calibration-version"] for item in found] == ["2.0.0", "1.10.0", "1.10.0rc1", "1.9.0"]


def _record(additional: Mapping[str, Sequence[Mapping[str, Any]]] | None = None, days: Sequence[int] = (1,)) -> NewFile:
    """A construction record with these additional items by their identifiers."""
    packets = SortableMetadata(
        type="APID11",
        applicable_dates=[day(number) for number in days],
        first_packet_time=MIDNIGHT,
        last_packet_time=MIDNIGHT,
        missing_packet_count=3,
    )
    items = [
        AdditionalMetadata(identifier=identifier, attributes=each)
        for identifier, every in (additional or {}).items()
        for each in every
    ]
    return NewFile(name=RECORD, level="L0", sortable=[packets], additional=items)
