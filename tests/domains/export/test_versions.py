"""Exports of revised and deleted events have the versions that the graph lists with the same arguments."""

from collections import Counter
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any

import orjson
import pytest

from tests.domains.earthquakes.schema.test_revisions import store
from tests.domains.earthquakes.usgs.usgs_server import UsgsServer
from tests.domains.entities import ENTITIES
from tests.processes import quakegraph
from tests.service import Service, running, settings
from tests.settings import Settings
from tests.store.engines import make_tables
from tests.store.samples import NOON, HeldClock

NDJSON = "/export/events.ndjson"
COLUMNS = "eventId time mag place status updated ingestedAt revision recordedAt publishedAt preferredId"
LISTED = f"""query($deleted: DeletedEvents!, $since: DateTime, $asOf: AsOf, $orderBy: EventOrder!) {{
  events(first: 1000, deleted: $deleted, updatedSince: $since, asOf: $asOf, orderBy: $orderBy,
         filter: {{minMagnitude: 2}}) {{
    exportUrl(format: NDJSON)
    nodes {{ {COLUMNS} }}
  }}
}}"""
DELETED = ("EXCLUDE", "INCLUDE", "ONLY")
LATER, STILL_LATER = "2023-11-14T22:13:21Z", "2023-11-14T22:13:22Z"  # a second and two after the first ingest
TIMES = (None, LATER, "2023-11-14T22:13:21.001Z", STILL_LATER)


def given(number: int, **others: Any) -> dict[str, Any]:
    """An event. Each three have the same time."""
    return {"eventId": f"us{number}", "eventTsMs": NOON - number // 3, "mag": 3, "lat": 1, "lon": 2} | others


@pytest.fixture
def revised(engine: str, tmp_path: Path, usgs: UsgsServer, request: pytest.FixtureRequest) -> Iterator[Service]:
    """A service with events of which some were revised a second later, and some were deleted after another one."""
    clock = HeldClock()
    if engine == "sqlite":
        place = settings(tmp_path / "revised.db", usgs)
    else:
        request.getfixturevalue("dynamodb_endpoint")
        place = Settings(store=f"dynamodb://{make_tables(ENTITIES)}", usgs_url=usgs.url)
    with running(place, clock=clock) as service:
        for events in (
            [given(number) for number in range(20)],
            [given(number, mag=number - 1, updated=NOON + 7) for number in (1, 5, 6, 12)],
            [given(number, status="deleted", updated=NOON + 9) for number in (2, 6, 7, 18)],
        ):
            assert sum(store(service, *events).values()) == len(events), "none is rejected"
            clock.now += 1000
        yield service


def exported(service: Service, **parameters: str | None) -> list[dict[str, Any]]:
    """The columns of an export that the graph lists too."""
    some = {name: value for name, value in parameters.items() if value is not None}
    return [of_columns(orjson.loads(line)) for line in service.http.get(NDJSON, params=some).content.splitlines()[:-1]]


def of_columns(record: dict[str, Any]) -> dict[str, Any]:
    return {name: record[name] for name in COLUMNS.split()}


def test_deleted_and_updated_since_have_the_meaning_that_they_have_in_the_graph(revised: Service, engine: str) -> None:
    found: set[int] = set()
    every = [*product(*map(enumerate, (DELETED, TIMES, TIMES)))]
    for (at, deleted), (since_at, since), (as_of_at, as_of) in every[:: 1 if engine == "sqlite" else 3]:
        order = ("TIME_ASC", "TIME_DESC")[(at + since_at + as_of_at) % 2]  # each with each value
        moment = {"recorded": as_of} if as_of else None
        asked = {"deleted": deleted, "since": since, "asOf": moment, "orderBy": order}
        listed = revised.ask(LISTED, asked)["events"]

        rows = exported(revised, deleted=deleted, updatedSince=since, asOf=as_of, orderBy=order, minMagnitude="2")

        assert sorted(rows, key=orjson.dumps) == sorted(listed["nodes"], key=orjson.dumps)
        assert [row["time"] for row in rows] == [node["time"] for node in listed["nodes"]]
        linked = revised.http.get(listed["exportUrl"]).content.splitlines()[:-1]
        assert [of_columns(orjson.loads(line)) for line in linked] == rows
        found.add(len(rows))

    assert found >= {0, 4, 15, 19}
    whole = exported(revised, deleted="INCLUDE")
    assert Counter(row["revision"] for row in whole) == {1: 13, 2: 6, 3: 1}
    for at, row in enumerate(whole):
        rest = exported(revised, deleted="INCLUDE", after=row["eventId"])
        assert rest == whole[at + 1 :], "an export resumes behind a deleted event, too"


@pytest.mark.parametrize("engine", ["sqlite"])
def test_the_address_of_a_list_is_of_its_whole_days_and_missing_where_no_export_is_like_it(revised: Service) -> None:
    whole_day = 'events(filter: {endTime: "2023-11-14"}) { exportUrl(format: NDJSON) totalCount }'
    listed = revised.ask(f"{{ {whole_day} }}")["events"]
    *rows, _ = revised.http.get(listed["exportUrl"]).content.splitlines()
    assert listed["totalCount"] == len(rows) == 16

    for arguments in ("asOf: {first: true}", 'asOf: {published: "2023-11-14T22:13:21Z"}', "orderBy: MAGNITUDE_ASC"):
        assert revised.ask(f"{{ events({arguments}) {{ exportUrl(format: CSV) }} }}") == {"events": {"exportUrl": None}}
    (nearby, *_) = revised.ask("{ events { nodes { nearby { exportUrl(format: CSV) } } } }")["events"]["nodes"]
    assert nearby == {"nearby": {"exportUrl": None}}


@pytest.mark.parametrize("engine", ["sqlite"])
def test_the_command_takes_the_same_parameters(
    revised: Service, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    expected = exported(revised, deleted="INCLUDE", updatedSince=LATER)
    options = ("--deleted", "INCLUDE", "--updated-since", LATER, "--store", "sqlite:///revised.db")

    done = quakegraph("export", "found.ndjson", *options)

    assert done.exit_code == 0, done.output
    lines = Path("found.ndjson").read_bytes().splitlines()[:-1]
    assert [of_columns(orjson.loads(line)) for line in lines] == expected
    assert len(expected) == 7
