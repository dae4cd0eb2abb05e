"""Every format of text has the events of the graph, a line for each, and proves that it is whole.

Also for clients that are slow, leave, and come back; and where a service fails while it answers.
"""

import csv
import hashlib
import io
import json
import shutil
import sqlite3
from collections.abc import Iterable
from datetime import datetime
from http.client import IncompleteRead
from pathlib import Path
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graph.core.days import DAY_MS, FIRST_MS, LAST_MS
from graph.core.times import millis_of, rfc3339_of_millis
from graph.domains.earthquakes.model import Event
from graph.domains.export.columns import COLUMNS
from graph.domains.export.text import NAMES, Csv, Ndjson
from tests.domains.earthquakes.builders import an_event
from tests.domains.earthquakes.schema.test_revisions import store
from tests.domains.earthquakes.usgs.usgs_server import UsgsServer
from tests.domains.export.conftest import FIRST_DAY, LONG
from tests.domains.export.raw_client import asking
from tests.domains.export.readers import TEXTS, check_end, exported, of_graph, of_record
from tests.processes import TIMEOUT_S, quakegraph
from tests.service import Service, running, settings
from tests.serving.test_connections import _eventually


def test_every_format_has_the_events_of_the_graph(week: Service) -> None:
    filter_ = {
        "minMagnitude": 1.5,
        "types": ["earthquake", "quarry blast"],
        "box": {"minLat": 30, "maxLat": 70, "minLon": 170, "maxLon": -110},
    }
    one_by_one = {**filter_, "types": "earthquake,quarry blast", "box": json.dumps(filter_["box"])}
    everything, some = of_graph(week), of_graph(week, filter_)
    assert (len(everything), 100 < len(some) < 1000) == (2124, True)

    for name, read in TEXTS.items():
        assert [*map(of_record, read(exported(week, name)))] == everything, name
        for parameters in ({"filter": json.dumps(filter_)}, one_by_one):
            assert [*map(of_record, read(exported(week, name, **parameters)))] == some, name
        assert list(read(exported(week, name, minMagnitude=9.9))) == []


IN_MILLISECONDS = ("updated", "recordedAt", "publishedAt")


def test_json_has_every_field_of_the_graph_and_csv_the_values_of_the_json(week: Service) -> None:
    names = [column.name for column in COLUMNS]
    shown = " ".join(name if name != "updated" else "updated: updatedAt" for name in names)
    nodes = week.ask(f"{{ events(first: 200) {{ nodes {{ {shown} }} }} }}")["events"]["nodes"]
    for node in nodes:  # these are numbers in a row
        node |= {name: millis_of(datetime.fromisoformat(node[name])) for name in IN_MILLISECONDS if node[name]}
    *lines, _ = map(orjson.loads, exported(week, "ndjson").splitlines())

    assert lines[:200] == nodes
    assert list(lines[0]) == names
    assert all(any(line[name] for line in lines) for name in names)

    def text(value: Any) -> str:
        match value:
            case None:
                return ""
            case str():
                return value
            case list():
                return ",".join(value)
        return orjson.dumps(value).decode()

    by_csv = csv.DictReader(io.StringIO(exported(week, "csv").decode(), newline=""))
    assert [*by_csv] == [{name: text(value) for name, value in line.items()} for line in lines]


def test_geojson_can_be_ingested_into_the_same_catalogue(week: Service, folder: Path) -> None:
    Path("week.geojson").write_bytes(exported(week, "geojson"))

    assert quakegraph("ingest", "week.geojson").exit_code == 0
    assert quakegraph("export", "again.geojson").exit_code == 0

    first, again = (json.loads(Path(name).read_bytes())["features"] for name in ("week.geojson", "again.geojson"))
    assert again == first


# Proofs of completeness


def hash_of_ids(ids: Iterable[str]) -> str:
    """The hash that formats without lines have in their metadata."""
    return hashlib.sha256("".join(f"{each}\n" for each in ids).encode()).hexdigest()


def test_ndjson_csv_and_geojson_end_with_their_count_and_hash(week: Service) -> None:
    answer = week.http.get("/export/events.ndjson")
    as_of = answer.headers["X-As-Of"]
    *lines, last = answer.content.splitlines(keepends=True)
    digest = hashlib.sha256(b"".join(lines)).hexdigest()
    assert orjson.loads(last) == {"_end": {"count": 2124, "sha256": digest, "asOf": as_of}}
    assert len(lines) == 2124

    plain, commented = exported(week, "csv"), exported(week, "csv", comments="1")
    comment = commented.removeprefix(plain).decode()  # on request alone
    assert comment == f"# end count=2124 sha256={hashlib.sha256(plain).hexdigest()} asOf={as_of}\n"

    collection = json.loads(exported(week, "geojson"))
    ids = [each["id"] for each in collection["features"]]
    assert collection["metadata"] == {"count": 2124, "eventIdsSha256": hash_of_ids(ids), "asOf": as_of}
    assert len(set(ids)) == 2124


# Lines, whatever stands in a text of an event


HOSTILE = st.sampled_from([*'"\\\n,ö \0#', "\r\n", "null", "],[", '},{"time":', '"],["', "true", "],[null", "end"])
PLACES = st.lists(st.one_of(HOSTILE, st.text(st.characters(codec="utf-8"), max_size=3)), min_size=1, max_size=6).map(
    "".join
)
EVENTS = st.lists(
    st.builds(
        lambda place, time, depth: Event({**an_event(event_ts_ms=time, place=place).item, "depth": depth}),
        PLACES.filter(bool),
        st.integers(FIRST_MS, LAST_MS),
        st.one_of(st.integers(0, 9), st.floats(0, 700)),
    ),
    min_size=1,
    max_size=4,
)


@given(EVENTS)
async def test_ndjson_has_a_line_for_each_event_and_csv_a_record(events: list[Event]) -> None:
    lines = (await Ndjson().rows(events)).split(b"\n")
    text = (await Csv().rows(events)).decode()

    assert lines.pop() == b""
    assert [found(orjson.loads(line)) for line in lines] == list(map(expected, events))
    assert list(map(found, csv.DictReader(io.StringIO(text, newline=""), NAMES))) == list(map(expected, events))


def found(record: dict[str, Any]) -> tuple[Any, ...]:
    return record["eventId"], record["time"], record["place"], float(record["depth"]), record["alert"] or None


def expected(event: Event) -> tuple[Any, ...]:
    item = event.item
    return item["eventId"], rfc3339_of_millis(item["eventTsMs"]), item["place"], float(item["depth"]), item.get("alert")


def test_csv_for_a_spreadsheet_has_no_text_that_it_would_compute(service: Service) -> None:
    places = ["=1+1", "+x", "-y", "@z", "\tq", "'p", "10 km N of X"]
    events = [{"eventId": f"={place[:3].strip()}", "place": place} for place in places]
    filled = [{**event, "eventTsMs": at, "mag": -1, "lat": -2, "lon": 3} for at, event in enumerate(events)]
    service.ask(
        "mutation ($some: [EventInput!]!) { ingestEvents(input: {events: $some}) { upserted } }", {"some": filled}
    )

    def rows(**parameters: str) -> list[dict[str, str]]:
        text = exported(service, "csv", orderBy="TIME_ASC", **parameters).decode()
        return list(csv.DictReader(io.StringIO(text, newline="")))

    plain, inert = rows(), rows(spreadsheet="1")
    assert [row["place"] for row in plain] == places
    assert [row["place"] for row in inert] == [*(f"'{place}" for place in places[:-1]), places[-1]]
    assert {row["mag"] for row in inert} == {"-1.0"}  # a number stays one
    read = Csv(spreadsheet=True).read_text
    assert [{name: read(value) for name, value in row.items()} for row in inert] == plain


NDJSON = "/export/events.ndjson"
PAGE_BYTES = 4096  # of SQLite


def ids(lines: bytes) -> list[str]:
    """The ids of whole lines."""
    return [orjson.loads(line)["eventId"] for line in lines.splitlines() if not line.startswith(b'{"_end"')]


def ingest(service: Service, number: int) -> None:
    """Store events that would come first, in the middle and last in any export."""
    times = [FIRST_DAY + at * DAY_MS for at in (-1, 30, 90)]
    events = [
        {"eventId": f"late{at}-{number}", "eventTsMs": time, "mag": 1, "lat": 0, "lon": 0}
        for at, time in enumerate(times)
    ]
    assert store(service, *events)["upserted"] == len(events)


def test_a_client_that_stalls_gets_every_row_once_and_holds_up_nobody(long_catalogue: Service, tmp_path: Path) -> None:
    with asking(long_catalogue, NDJSON) as answer:
        begin = answer.read(100_000)
        for number in range(5):  # meanwhile others read and write
            ingest(long_catalogue, number)
            assert long_catalogue.ask("{ events(first: 1) { nodes { eventId } } }")
        with sqlite3.connect(tmp_path / "long.db") as db:
            busy, *_ = db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        db.close()
        body = begin + answer.rest()

    assert busy == 0  # no transaction is open for the client
    assert len(set(ids(body))) == len(ids(body)) == check_end(body) == LONG
    assert not any(each.startswith("late") for each in ids(body))


ORDERS = ("TIME_DESC", "TIME_ASC")


def test_a_client_that_was_killed_costs_nothing_more_and_resumes_behind_its_last_line(long_catalogue: Service) -> None:
    for number, order in enumerate(ORDERS):
        whole = long_catalogue.http.get(NDJSON, params={"orderBy": order}).content
        with asking(long_catalogue, NDJSON, orderBy=order) as answer:
            as_of = answer.response.headers["X-As-Of"]
            begin = answer.read(1_000_000)
        begin = begin[: begin.rindex(b"\n") + 1]
        ingest(long_catalogue, number)

        resumed = {"orderBy": order, "after": ids(begin)[-1], "asOf": as_of}
        rest = long_catalogue.http.get(NDJSON, params=resumed).content

        assert (begin + rest).splitlines()[:-1] == whole.splitlines()[:-1]
        assert check_end(rest) == LONG + 3 * number - begin.count(b"\n")

    def ended() -> list[dict[str, Any]]:
        logs = long_catalogue.ask(
            '{ requestLogs(filter: {routes: ["/export/events"]}) { nodes { status resultCount error } } }'
        )
        return [log for log in logs["requestLogs"]["nodes"] if log["status"] == 499]

    _eventually(lambda: len(ended()) == len(ORDERS))
    assert all(0 < log["resultCount"] < LONG and log["error"] is None for log in ended())


def test_what_is_revised_or_deleted_meanwhile_is_exported_as_it_was(long_catalogue: Service) -> None:
    for at, order in enumerate(ORDERS):
        whole = long_catalogue.http.get(NDJSON, params={"orderBy": order}).content
        lines = [orjson.loads(line) for line in whole.splitlines()[:-1]]
        with asking(long_catalogue, NDJSON, orderBy=order) as answer:
            as_of = answer.response.headers["X-As-Of"]
            begin = answer.read(100_000)
            for number in range(20 + at, len(lines), len(lines) // 9 | 1):  # each moves far away, or is deleted
                event = lines[number]
                changed = {"eventTsMs": FIRST_DAY + (60 * DAY_MS if order == "TIME_ASC" else -1)}
                revision = {name: event[name] for name in ("eventId", "mag", "lat", "lon", "place")}
                revision |= changed | {
                    "updatedAt": rfc3339_of_millis(event["ingestedAt"] + 1),
                    "status": "deleted" if number % 2 else None,
                }
                assert store(long_catalogue, revision)["revised"] == 1
            body = begin + answer.rest()
        first = begin[: begin.rindex(b"\n") + 1]
        resumed = {"orderBy": order, "after": ids(first)[-1], "asOf": as_of}
        rest = long_catalogue.http.get(NDJSON, params=resumed).content

        assert [values(line) for line in body.splitlines()[:-1]] == [values(line) for line in whole.splitlines()[:-1]]
        assert (first + rest).splitlines()[:-1] == body.splitlines()[:-1]
        assert long_catalogue.http.get(NDJSON, params={"orderBy": order}).content.count(b"\n") < len(lines)


def values(line: bytes) -> tuple[Any, ...]:
    """The values of a line that make a version."""
    event = orjson.loads(line)
    return tuple(event[name] for name in ("eventId", "time", "mag", "lat", "lon", "depth", "place", "status"))


def test_an_export_resumes_behind_a_cursor_of_the_graph(week: Service) -> None:
    page = week.ask("{ events(first: 700) { nodes { eventId } pageInfo { endCursor } } }")["events"]
    whole = ids(week.http.get(NDJSON).content)
    rest = ids(week.http.get(NDJSON, params={"after": page["pageInfo"]["endCursor"]}).content)

    assert [node["eventId"] for node in page["nodes"]] + rest == whole


def assert_cut(folder: Path, long_file: Path, usgs: UsgsServer, *paths: str) -> None:
    """Exports of a store that breaks in the middle end with a cut connection, and no proof that they are whole."""
    store = Path(shutil.copy(long_file, folder / "long.db"))
    pages = store.stat().st_size // PAGE_BYTES
    with running(settings(store, usgs)) as service:
        assert service.http.get("/healthz").status_code == 200
        _overwrite(store, pages // 2, pages // 4)  # the first events stand before
        for path in paths:
            with asking(service, path, orderBy="TIME_ASC") as answer:
                assert answer.response.status == 200
                with pytest.raises(IncompleteRead) as cut:
                    answer.rest()
            assert len(cut.value.partial) > 10_000
            assert b"_end" not in cut.value.partial[-1000:]
        metrics = service.http.get("/metrics").text
    for path in paths:
        format_ = path.rpartition(".")[2]
        assert f'quakegraph_exports_total{{code="DATABASE_UNAVAILABLE",format="{format_}"}} 1.0' in metrics


def _overwrite(store: Path, first: int, number: int) -> None:
    """Overwrite pages of an SQLite file."""
    with store.open("r+b") as file:
        file.seek(first * PAGE_BYTES)
        file.write(b"\xff" * PAGE_BYTES * number)


def test_a_failure_in_the_middle_cuts_the_connection(tmp_path: Path, long_file: Path, usgs: UsgsServer) -> None:
    assert_cut(tmp_path, long_file, usgs, NDJSON, "/export/events.csv", "/export/events.geojson")


def test_a_failure_before_the_first_row_is_an_error_like_any_other(
    tmp_path: Path, week_file: Path, usgs: UsgsServer
) -> None:
    store = Path(shutil.copy(week_file, tmp_path / "week.db"))
    with running(settings(store, usgs)) as service:
        assert service.http.get("/healthz").status_code == 200
        _overwrite(store, 1, store.stat().st_size // PAGE_BYTES - 1)
        answer = service.http.get(NDJSON, timeout=TIMEOUT_S)

    assert answer.status_code == 503
    assert [error["extensions"]["code"] for error in answer.json()["errors"]] == ["DATABASE_UNAVAILABLE"]
