"""What another program writes into the table, exactly as the document says, is found as what the service registers."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import date
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graph.api.relay import global_id
from graph.core.paging import Paging
from graph.core.times import utc_time
from graph.domains import DOMAINS
from graph.domains.data_files.adopting import adopt_files, adopt_parts
from graph.domains.data_files.checking import drafted
from graph.domains.data_files.entities import FILE, FILE_REVISION, LIBERA_METADATA, PART
from graph.domains.data_files.new_files import NewFile
from graph.domains.data_files.selection import FileSelection, VersionRule
from graph.domains.data_files.stored import RegisteredFiles
from graph.domains.data_files.times import written
from graph.domains.data_files.writes import together
from tests.domains.data_files.followed import RawTable
from tests.domains.data_files.foreign import DOCUMENTED, adopt_all, as_documented, foreign_files
from tests.domains.data_files.in_store import FileStore, a_calibration, a_file, checksum, day
from tests.domains.data_files.test_reading import (
    all_calibrations,
    all_of,
    listed_at,
    page_of,
    place_of,
    selected_calibrations,
)
from tests.domains.data_files.test_reading import files as any_files
from tests.domains.data_files.whole import assert_whole, counters
from tests.domains.earthquakes.strategies import A_FEW
from tests.domains.entities import ENTITIES
from tests.effort import rounds
from tests.service import Service, running
from tests.settings import Settings
from tests.store.engines import make_tables, open_dynamodb
from tests.store.samples import HeldClock

pytestmark = pytest.mark.usefixtures("dynamodb_endpoint")

EXAMPLE, RECORD, PACKETS, CALIBRATION = (
    "Example_file.nc",
    "L0_CONS_file.PDS",
    "L0_file.nc",
    "Example_calibration_file.nc",
)

NOT_ADOPTING = [replace(domain, adoptions=()) for domain in DOMAINS]
"""The domains of a service that leaves foreign items as they are."""


async def _adopted(prefix: str) -> None:
    async with open_dynamodb(ENTITIES, prefix=prefix) as database:
        assert await adopt_all(FileStore(database)) == 6  # all but the additional items


@pytest.fixture(params=["as written", "adopted"])
async def prefix(request: pytest.FixtureRequest) -> str:
    """Tables with every example of the document, as another program has written them."""
    prefix = make_tables(ENTITIES)
    RawTable(LIBERA_METADATA, prefix).put(*DOCUMENTED)
    if request.param == "adopted":
        await _adopted(prefix)
    return prefix


@pytest.fixture
def service(prefix: str) -> Iterator[Service]:
    with running(Settings(store=f"dynamodb://{prefix}"), clock=HeldClock(), domains=NOT_ADOPTING) as service:
        yield service


DAY = 'startDate: "2024-01-01", endDate: "2024-01-01"'
FILE_QUERY = """query($name: String!) { dataFile(name: $name) {
  revision level product archiveTime ingestTime algorithmVersion applicableDates registeredAt
  sortable { identifier type applicableDate firstPacketTime lastPacketTime missingPacketCount filledGapCount }
  additional { identifier attributes } calibrations { calibrates calibrationVersion }
  revisions { nodes { revision name algorithmVersion } }
} }"""


def _expected(name: str, **told: Any) -> dict[str, Any]:
    """What the graph has of a file, apart from what is told."""
    version = told.get("algorithmVersion")
    unknown = dict.fromkeys(("level", "product", "archiveTime", "ingestTime", "algorithmVersion"))
    lists: dict[str, Any] = {"applicableDates": [], "sortable": [], "additional": [], "calibrations": []}
    revisions = {"nodes": [{"revision": 1, "name": name, "algorithmVersion": version}]}
    return {"revision": 1, "registeredAt": told["archiveTime"], **unknown, **lists, "revisions": revisions, **told}


NOTHING_TOLD = dict.fromkeys(("firstPacketTime", "lastPacketTime", "missingPacketCount", "filledGapCount"))
START, MINUTE = "2024-01-01T00:00:00.000Z", "2024-01-01T00:01:00.000Z"
FILES = [
    _expected(
        EXAMPLE,
        level="L0",
        archiveTime=START,
        algorithmVersion="1.0.0",
        applicableDates=["2024-01-01"],
        sortable=[{"identifier": "L0#SPICE#AZ", "type": "SPICE#AZ", "applicableDate": "2024-01-01", **NOTHING_TOLD}],
    ),
    _expected(
        RECORD,
        level="L0",
        archiveTime=MINUTE,
        ingestTime=START,
        algorithmVersion="1.0.0",
        applicableDates=["2024-01-01"],
        sortable=[
            {
                "identifier": "L0#APID11",
                "type": "APID11",
                "applicableDate": "2024-01-01",
                "firstPacketTime": START,
                "lastPacketTime": START,
                "missingPacketCount": 0,
                "filledGapCount": 0,
            }
        ],
        additional=[
            {"identifier": "APID11", "attributes": {"edos-version": "1.0.0", "SCID": 1, "APID": 11}},
            {"identifier": "PDS", "attributes": {"filename": "L0_PDS_file.PDS"}},
        ],
    ),
    _expected(PACKETS, archiveTime=MINUTE, ingestTime=START, algorithmVersion="1.0.0"),
    _expected(
        CALIBRATION,
        level="CAL",
        archiveTime=START,
        calibrations=[{"calibrates": "L0", "calibrationVersion": "1.0.0"}],
    ),
]
"""The document's files, as the graph has them."""


def _names(service: Service, field: str) -> list[str]:
    """The names in a list of files."""
    (found,) = service.ask(f"{{ {field} {{ nodes {{ name }} }} }}").values()
    return [node["name"] for node in found["nodes"]]


def test_each_documented_file_is_read_whole(service: Service) -> None:
    for expected in FILES:
        name = expected["revisions"]["nodes"][0]["name"]
        assert service.ask(FILE_QUERY, {"name": name})["dataFile"] == expected
        for kind, key in (("DataFile", name), ("DataFileRevision", f"{name}@1")):
            node_id = global_id(kind, key)
            assert service.ask("query($id: ID!) { node(id: $id) { id } }", {"id": node_id})["node"] == {"id": node_id}
    assert service.ask(FILE_QUERY, {"name": "L0_PDS_file.PDS"})["dataFile"] is None  # another file names it alone
    nothing = global_id("DataFileRevision", f"{EXAMPLE}@2")
    assert service.ask("query($id: ID!) { node(id: $id) { id } }", {"id": nothing})["node"] is None


def test_the_files_of_a_day_are_listed_filtered_and_paged(service: Service) -> None:
    both, days = [EXAMPLE, RECORD], 'startDate: "2023-12-31", endDate: "2024-01-02"'
    assert _names(service, f"dataFiles(filter: {{{DAY}}})") == both
    assert _names(service, 'dataFiles(filter: {startDate: "2024-01-02", endDate: "2024-01-02"})') == []
    for selection, found in {
        'type: "APID11"': [RECORD],
        'levels: ["L0"]': both,
        'levels: ["L1A"]': [],
        'type: "SPICE#AZ"': [EXAMPLE],
        "missingPackets: {gt: -1}": [RECORD],
        "missingPackets: {gt: 0}": [],
        'version: "1.0.0"': both,
        'version: "2.0.0"': [],
        "version: LATEST": both,
        "version: LATEST_MAJOR": both,
        'products: ["RAD"]': [],
    }.items():
        assert _names(service, f"dataFiles(filter: {{{days}, {selection}}})") == found, selection
    page = f"""query($after: String) {{ dataFiles(first: 1, after: $after, filter: {{{DAY}}}) {{
      nodes {{ name }} pageInfo {{ hasNextPage endCursor }} }} }}"""
    first = service.ask(page)["dataFiles"]
    second = service.ask(page, {"after": first["pageInfo"]["endCursor"]})["dataFiles"]
    assert (first["nodes"], first["pageInfo"]["hasNextPage"]) == ([{"name": EXAMPLE}], True)
    assert (second["nodes"], second["pageInfo"]["hasNextPage"]) == ([{"name": RECORD}], False)


def test_calibrations_are_found_by_what_they_calibrate(service: Service) -> None:
    fields = "calibrates calibrationVersion archiveTime file { name }"
    for conditions in (
        "",
        'calibrates: "L0"',
        'calibrates: "L0", version: LATEST',
        'calibrates: "L0", version: "1.0.0"',
    ):
        found = service.ask(f"{{ calibrations(filter: {{{conditions}}}) {{ nodes {{ {fields} }} }} }}")
        assert found["calibrations"]["nodes"] == [
            {"calibrates": "L0", "calibrationVersion": "1.0.0", "archiveTime": START, "file": {"name": CALIBRATION}}
        ], conditions


RUN = """mutation { recordRun(input: {algorithm: "decode",
  used: [{name: "L0_CONS_file.PDS"}, {name: "L0_file.nc", revision: 1}, {name: "Example_calibration_file.nc"}],
  generated: [
    {name: "l1a.nc", level: "L1A", applicableDates: ["2024-01-01"]}
    {name: "Example_file.nc", checksum: "0123456789abcdef0123456789abcdef"}
  ]
}) { run { used { name revision algorithmVersion } generated { name revision } } } }"""


def test_runs_use_and_generate_documented_files(service: Service) -> None:
    affected = '{ affectedBy(calibration: "Example_calibration_file.nc", version: "1.0.0") { files } }'
    assert service.ask(affected)["affectedBy"]["files"] == 0
    lineage = """query($name: String!) { dataFile(name: $name) {
      lineage(direction: BOTH) { nodes { file { name revision } } provJson }
      revisions { nodes { stacItem } } } }"""
    file = service.ask(lineage, {"name": RECORD})["dataFile"]
    alone = file["lineage"]
    assert alone["nodes"] == [{"file": {"name": RECORD, "revision": 1}}]
    assert list(alone["provJson"]["entity"]) == [f"quakegraph:file/{RECORD}@1"]
    (revision,) = file["revisions"]["nodes"]
    assert revision["stacItem"]["id"] == f"{RECORD}@1"
    assert revision["stacItem"]["properties"]["start_datetime"] == "2024-01-01T00:00:00Z"

    run = service.ask(RUN)["recordRun"]["run"]

    versions = {RECORD: "1.0.0", PACKETS: "1.0.0", CALIBRATION: None}
    assert run["used"] == [{"name": n, "revision": 1, "algorithmVersion": each} for n, each in versions.items()]
    assert run["generated"] == [{"name": "l1a.nc", "revision": 1}, {"name": EXAMPLE, "revision": 2}]
    assert service.ask(affected)["affectedBy"]["files"] == 2
    found = service.ask(lineage, {"name": CALIBRATION})["dataFile"]["lineage"]["nodes"]
    assert [node["file"]["name"] for node in found] == [CALIBRATION, EXAMPLE, "l1a.nc"]
    assert _names(service, f"dataFiles(filter: {{{DAY}}})") == ["l1a.nc", RECORD]
    for expected in FILES[1:]:
        name = expected["revisions"]["nodes"][0]["name"]
        assert service.ask(FILE_QUERY, {"name": name})["dataFile"] == expected


REGISTER = """mutation($files: [DataFileInput!]!) {
  registerFiles(input: {files: $files}) { registered skipped rejected }
}"""


def test_a_batch_with_a_documented_file_is_registered_whole(service: Service) -> None:
    files = [
        {"name": RECORD, "level": "L0", "product": "CR", "checksum": checksum(1), "algorithmVersion": "1.0.0"},
        {"name": CALIBRATION, "level": "CAL", "calibrations": [{"calibrates": "L0", "calibrationVersion": "1.1.0"}]},
        {"name": "new.nc"},
    ]
    for registered in (3, 0):
        report = service.ask(REGISTER, {"files": files})["registerFiles"]
        assert report == {"registered": registered, "skipped": 3 - registered, "rejected": 0}
    assert _names(service, f"dataFiles(filter: {{{DAY}}})") == [EXAMPLE]
    found = service.ask('{ calibrations(filter: {calibrates: "L0"}) { nodes { calibrationVersion } } }')
    assert found["calibrations"]["nodes"] == [{"calibrationVersion": "1.1.0"}]


BROKEN: list[dict[str, Any]] = [
    {"PK": "text.nc", "SK": "#L0#APID11", "applicable-date": "2024-01-01", "missing-packet-count": "three"},
    {"PK": "text.nc", "SK": "#L0#APID12", "applicable-date": "2024-01-01", "missing-packet-count": 3},
    {"PK": "number.nc", "SK": "#", "archive-time": 17},
    {"PK": "day.nc", "SK": "#L0#APID11", "applicable-date": "2024-01-0x"},
    {"PK": "week.nc", "SK": "#L0#APID11", "applicable-date": "2024-W01-1"},
    {"PK": "time.nc", "SK": "#", "archive-time": "yesterday"},
    {"PK": "version.nc", "SK": "#CAL#L0", "calibration-version": 2},
]


def test_broken_items_are_left_out_and_break_nothing_beside_them(prefix: str, service: Service) -> None:
    RawTable(LIBERA_METADATA, prefix).put(*BROKEN)

    assert _names(service, f"dataFiles(filter: {{{DAY}}})") == [EXAMPLE, "text.nc", RECORD]
    assert _names(service, f"dataFiles(filter: {{{DAY}, missingPackets: {{gt: 2}}}})") == ["text.nc"]
    file = service.ask('{ dataFile(name: "text.nc") { sortable { type } } }')["dataFile"]
    assert file == {"sortable": [{"type": "APID12"}]}
    for name in ("number.nc", "day.nc", "week.nc", "time.nc", "version.nc"):
        assert service.ask(FILE_QUERY, {"name": name})["dataFile"] is None, name
    calibrations = service.ask("{ calibrations { nodes { calibrationVersion } } }")["calibrations"]["nodes"]
    assert calibrations == [{"calibrationVersion": "1.0.0"}]
    names = [each["PK"] for each in BROKEN[1:]]
    report = service.ask(REGISTER, {"files": [{"name": name, "algorithmVersion": "1.0.0"} for name in names]})
    assert report["registerFiles"] == {"registered": len(names), "skipped": 0, "rejected": 0}
    assert service.ask(FILE_QUERY, {"name": "number.nc"})["dataFile"]["algorithmVersion"] == "1.0.0"


def _documented(file: NewFile) -> NewFile:
    """What the document can say of a file: nothing of its product."""
    return replace(file, product=None)


@settings(A_FEW, max_examples=rounds(25))
@given(
    some=any_files.map(lambda every: list(map(_documented, every))),
    selection=st.builds(
        FileSelection,
        first=st.sampled_from([day(1), day(2)]),
        last=st.sampled_from([day(2), day(4)]),
        levels=st.sampled_from([None, None, ("L0",), ("L1A", "L2")]),
        data_type=st.sampled_from([None, None, "APID11", "APID12"]),
        version=st.sampled_from([*VersionRule, "1.1.0"]),
        missing_packets_gt=st.sampled_from([None, None, 0, 4]),
    ),
    size=st.integers(1, 4),
    backward=st.booleans(),
    registered=st.integers(0, 8),
)
async def test_pages_of_documented_items_and_of_our_own_are_the_files_of_the_model(
    some: list[NewFile], selection: FileSelection, size: int, backward: bool, registered: int
) -> None:
    expected = {file.name: at for file in some if (at := listed_at(file, selection, some))}
    foreign = [item for file in some[registered:] for item in as_documented(file)]
    async with foreign_files(foreign) as (ours, _):
        await ours.register(*some[:registered])
        found = [each.name for each in await all_of(ours, selection, size, backward=backward)]
        assert sorted(found) == sorted(expected)

        await adopt_all(ours)
        assert await adopt_all(ours) == 0
        assert [each.name for each in await all_of(ours, selection, size, backward=backward)] == found
        open_selection = replace(selection, first=None, last=None)
        every = {file.name for file in some if listed_at(file, open_selection, some)}
        assert {each.name for each in await all_of(ours, open_selection, size, backward=backward)} == every
        await assert_whole(ours, *(file.name for file in some if file.calibrations))


async def test_calibrations_of_both_come_in_the_order_of_their_versions() -> None:
    versions = ("1.9.0", "1.10.0", "2.0.0rc1", "1.10.0", "0.1")
    rows = [("L0", version, f"{at}.nc") for at, version in enumerate(versions)]
    files = [a_calibration(name, version) for _, version, name in rows]
    foreign = [item for file in files[::2] for item in as_documented(file)]
    async with foreign_files(foreign) as (ours, _):
        await ours.register(*files[1::2])
        for is_adopted in (False, True):
            if is_adopted:
                await adopt_all(ours)
            for rule in (*VersionRule, "1.10.0"):
                for size in (1, 2, 5):
                    for backward in (False, True):
                        found = await all_calibrations(ours, "L0", rule, size, backward=backward)
                        assert found == selected_calibrations(rows, "L0", rule), (rule, size, backward, is_adopted)
            every = await all_calibrations(ours, None, VersionRule.ALL)
            assert every == selected_calibrations(rows, "L0", VersionRule.ALL)
        assert await counters(ours) == {("CAL#L0", "items"): 5}


async def test_an_adopted_file_is_stored_as_one_of_our_own() -> None:
    async with foreign_files(DOCUMENTED, adopted=True) as (ours, raw):
        await assert_whole(ours, CALIBRATION)
        page = await page_of(ours.files, FileSelection(), Paging(5))
        assert [file.name for file in page.records] == [EXAMPLE, RECORD]
        assert place_of(page.records[0]) == {
            "applicable-date": "2024-01-01",
            "identifier": "L0#SPICE#AZ",
            "file-name": EXAMPLE,
        }
        (item,) = raw.query("PK = :name AND SK = :item", name=RECORD, item="#")
        assert item["archive-time"] == "2024-01-01 00:01:00"


async def test_items_of_a_file_may_come_in_any_order() -> None:
    """Its sortable items know of each other, and of its version, whenever they were adopted."""
    file = a_file("a.nc", 1, 3, type="APID11", algorithm_version="2.0.0")
    whole, *parts = as_documented(file)
    for items in ((whole, *parts), (*parts, whole), (*reversed(parts), whole)):
        async with foreign_files() as (ours, raw):
            for item in items:
                raw.put(item)
                await adopt_all(ours)
            for version in (VersionRule.LATEST, "2.0.0"):
                page = await page_of(ours.files, FileSelection(version=version), Paging(5))
                assert [(each.name, each.item["applicable-date"]) for each in page.records] == [("a.nc", "2024-01-01")]
            assert {key for key, _ in await counters(ours)} == {"2024-01-01", "2024-01-03"}
            await assert_whole(ours)


async def test_an_item_that_another_program_writes_again_is_adopted_again() -> None:
    async with foreign_files(DOCUMENTED, adopted=True) as (ours, raw):
        raw.put(DOCUMENTED[0])
        assert await adopt_all(ours) == 1
        assert (await ours.files.by_name([EXAMPLE]))[EXAMPLE].revision == 1  # the same
        raw.put({**DOCUMENTED[0], "algorithm-version": "1.1.0"})
        assert await adopt_all(ours) == 1
        file = (await ours.files.by_name([EXAMPLE]))[EXAMPLE]
        assert (file.revision, file.algorithm_version) == (2, "1.1.0")
        await ours.register(NewFile(name=EXAMPLE, checksum=checksum(1)))
        await assert_whole(ours, CALIBRATION)
        raw.put(DOCUMENTED[3], {**DOCUMENTED[3], "SK": "#L0#APID12"})
        assert await adopt_all(ours) == 2
        assert len((await ours.files.parts([RECORD]))[RECORD]) == 4


@pytest.mark.parametrize("first", [None, date(2024, 1, 1)])
async def test_the_latest_version_is_that_of_what_is_left(first: date | None) -> None:
    versions = {"a.nc": "1.0.0", "b.nc": "2.0.0"}
    files = [{"PK": name, "SK": "#", "algorithm-version": version} for name, version in versions.items()]
    parts = [{"PK": name, "SK": "#L0", "applicable-date": "2024-01-01"} for name in versions]
    async with foreign_files([*files, *parts], adopted=True) as (ours, raw):
        raw.delete("b.nc", "#L0")
        page = await page_of(ours.files, FileSelection(first=first, last=first, version=VersionRule.LATEST), Paging(5))
        assert [each.name for each in page.records] == ["a.nc"]


async def test_an_item_that_is_written_again_counts_once() -> None:
    packets = {"PK": "a.nc", "SK": "#L0#APID11", "applicable-date": "2024-01-01"}
    calibration = {"PK": "c.nc", "SK": "#CAL#L1A", "calibration-version": "1.0.0"}
    once = {**_of_day(1, "L0##"), ("CAL#L1A", "items"): 1}
    async with foreign_files([packets, calibration], adopted=True) as (ours, raw):
        for _ in range(2):
            raw.put(packets, calibration)
            assert await adopt_all(ours) == 2
            assert await counters(ours) == once
        raw.put({"PK": "a.nc", "SK": "#", "archive-time": "2024-01-01 00:00:00", "algorithm-version": "1.0.0"})
        raw.put({**packets, "applicable-date": "2024-01-02"})
        assert await adopt_all(ours) == 2
        assert await counters(ours) == {**_of_day(2, "L0##1.0.0"), ("CAL#L1A", "items"): 1}
        raw.delete("a.nc", "#L0#APID11")
        raw.put({**packets, "SK": "#L1A#APID11"})
        assert await adopt_all(ours) == 1
        assert await counters(ours) == {**_of_day(1, "L1A##1.0.0"), ("CAL#L1A", "items"): 1}
        await assert_whole(ours, "c.nc")


@pytest.mark.parametrize("version", ["1.0.0", "2.0.0"])
async def test_registrations_and_adoptions_of_a_file_count_each_item_once(version: str) -> None:
    """Whichever of two programs writes a file's items last."""
    file = a_file("a.nc", 1, 3, type="APID11", algorithm_version="1.0.0", product="RAD")
    other = list(as_documented(replace(file, algorithm_version=version)))
    async with foreign_files() as (ours, raw):
        for number in range(3):
            await ours.register(replace(file, checksum=checksum(number)))
            await assert_whole(ours)
            for items in (other[1:], other, other[:1]):
                raw.put(*items)
                await adopt_all(ours)
                await assert_whole(ours)
        raw.put(*other)
        await ours.register(a_file("a.nc", 2, checksum=checksum(4)))
        assert await counters(ours) == _of_day(2, "L0##")
        await assert_whole(ours)


async def test_a_registration_notices_what_was_counted_since_it_has_read_the_file() -> None:
    file = a_file("a.nc", 1, type="APID11")
    async with foreign_files() as (ours, raw):
        await ours.register(file)
        changed = replace(file, checksum=checksum(1))
        stored = await RegisteredFiles.of(ours.database, ["a.nc"])
        write = await stored.registration(drafted(changed), at=START)
        assert write is not None
        raw.put({"PK": "a.nc", "SK": "#L0#APID11", "applicable-date": "2024-01-02"})
        await adopt_all(ours)
        assert await ours.database.transact(together([write])) != ()
        assert await counters(ours) == _of_day(2, "L0##")
        await ours.register(changed)
        assert await counters(ours) == _of_day(1, "L0##")
        await assert_whole(ours)


def _of_day(number: int, kind: str) -> dict[tuple[str, str], int]:
    """The counters of a day with one item."""
    return {(day(number).isoformat(), name): 1 for name in ("items", kind)}


async def test_adoption_leaves_alone_what_is_gone() -> None:
    async with foreign_files(DOCUMENTED) as (ours, raw):
        found = {entity: await ours.items(entity) for entity in (FILE, PART)}
        for item in DOCUMENTED:
            raw.delete(item["PK"], item["SK"])
        await adopt_parts(ours.database, found[PART])
        await adopt_files(ours.database, found[FILE])
        assert await ours.items(FILE) == await ours.items(PART) == []
        assert await counters(ours) == {}


async def test_each_part_of_a_large_file_is_adopted() -> None:
    days = [date(2024, 1, 1 + at) for at in range(28)]
    items = [
        {"PK": "a.nc", "SK": f"#L0#APID{apid}", "applicable-date": day.isoformat()}
        for apid, day in enumerate(day for day in days for _ in range(5))
    ]
    async with foreign_files(items, adopted=True) as (ours, raw):
        assert await adopt_all(ours) == 0
        raw.put(*({**item, "applicable-date": f"{2025 + at}-01-01"} for at, item in enumerate(items)))
        assert await adopt_all(ours) == len(items)
        assert await counters(ours) == {
            (f"{2025 + at}-01-01", name): 1 for at in range(140) for name in ("items", "L0##")
        }
        raw.put(*items)
        assert await adopt_all(ours) == len(items)
        assert sum(number for (_, name), number in (await counters(ours)).items() if name == "items") == len(items)
        page = await page_of(ours.files, FileSelection(first=day(9)), Paging(5))
        assert [(each.name, each.item["applicable-date"]) for each in page.records] == [("a.nc", "2024-01-09")]
        assert await ours.items(FILE_REVISION) == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2024-01-01 00:00:00", START),
        ("2024-01-01T00:00:00Z", START),
        ("2024-01-01T00:00:00.000Z", START),
        ("2024-01-01T00:00:00+00:00", START),
        ("2024-01-01 01:00:00.000000+01:00", START),
        ("2024-01-01 00:00:00.123+00", "2024-01-01T00:00:00.123Z"),
        ("2024-01-01", START),
    ],
)
def test_a_time_may_have_any_form_of_iso_8601(text: str, expected: str) -> None:
    assert written(text) == expected
    assert utc_time(text).isoformat(timespec="milliseconds").replace("+00:00", "Z") == expected
