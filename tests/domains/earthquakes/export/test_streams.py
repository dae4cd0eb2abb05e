"""Clients that are slow, leave, and come back; and a service that fails while it answers."""

import hashlib
import shutil
import sqlite3
from collections.abc import Iterator
from http.client import IncompleteRead
from pathlib import Path
from typing import Any

import orjson
import pytest

from graph.core.days import DAY_MS
from tests.domains.earthquakes.export.raw_client import asking
from tests.domains.earthquakes.usgs.usgs_server import UsgsServer
from tests.processes import TIMEOUT_S
from tests.service import Service, running, settings
from tests.serving.test_connections import _eventually

NDJSON, CSV = "/export/events.ndjson", "/export/events.csv"
INGEST = "mutation($events: [EventInput!]!) { ingestEvents(input: {events: $events}) { upserted } }"
EVENTS = 60_000
PAGE_BYTES = 4096  # of SQLite


@pytest.fixture
def own_dense(tmp_path: Path, dense_file: Path, usgs: UsgsServer) -> Iterator[Service]:
    """A service with 60,000 events, for one test, which may change it."""
    copied = shutil.copy(dense_file, tmp_path / "dense.db")
    with running(settings(Path(copied), usgs)) as service:
        yield service


def ids(lines: bytes) -> list[str]:
    """The ids of whole lines."""
    return [orjson.loads(line)["eventId"] for line in lines.splitlines() if not line.startswith(b'{"_end"')]


def check_end(body: bytes) -> int:
    """The count in the last line, whose hash must be that of the others."""
    lines, last = body[: body.rstrip(b"\n").rindex(b"\n") + 1], orjson.loads(body.splitlines()[-1])["_end"]
    assert last["sha256"] == hashlib.sha256(lines).hexdigest()
    return int(last["count"])


def ingest(service: Service, number: int) -> None:
    """Store events that would come first, in the middle and last in any export."""
    times = [1_577_836_800_000 + at * DAY_MS for at in (-1, 30, 90)]
    events = [
        {"eventId": f"late{at}-{number}", "eventTsMs": time, "mag": 1, "lat": 0, "lon": 0}
        for at, time in enumerate(times)
    ]
    assert service.ask(INGEST, {"events": events})["ingestEvents"]["upserted"] == len(events)


def test_a_client_that_stalls_gets_every_row_once_and_holds_up_nobody(own_dense: Service, tmp_path: Path) -> None:
    with asking(own_dense, NDJSON) as answer:
        begin = answer.read(100_000)
        for number in range(20):  # meanwhile others read and write
            ingest(own_dense, number)
            assert own_dense.ask("{ events(first: 1) { nodes { eventId } } }")
        with sqlite3.connect(tmp_path / "dense.db") as db:
            busy, *_ = db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        db.close()
        body = begin + answer.rest()

    assert busy == 0  # no transaction is open for the client
    assert len(set(ids(body))) == len(ids(body)) == check_end(body) == EVENTS
    assert not any(each.startswith("late") for each in ids(body))


@pytest.mark.parametrize("order", ["TIME_DESC", "TIME_ASC"])
def test_a_client_that_was_killed_resumes_behind_the_last_line_that_it_has(own_dense: Service, order: str) -> None:
    whole = own_dense.http.get(NDJSON, params={"orderBy": order}).content
    with asking(own_dense, NDJSON, orderBy=order) as answer:
        as_of = answer.response.headers["X-As-Of"]
        begin = answer.read(3_000_000)
    begin = begin[: begin.rindex(b"\n") + 1]
    ingest(own_dense, 0)

    after = ids(begin)[-1]
    rest = own_dense.http.get(NDJSON, params={"orderBy": order, "after": after, "asOf": as_of}).content

    assert (begin + rest).splitlines()[:-1] == whole.splitlines()[:-1]
    assert check_end(rest) == EVENTS - begin.count(b"\n")


REVISE = "mutation($events: [EventInput!]!) { ingestEvents(input: {events: $events}) { revised } }"


@pytest.mark.parametrize("order", ["TIME_DESC", "TIME_ASC"])
def test_what_is_revised_or_deleted_meanwhile_is_exported_as_it_was(own_dense: Service, order: str) -> None:
    some = {"orderBy": order, "startTime": "2020-02-14T00:00:00Z"}  # 16,000 events
    whole = own_dense.http.get(NDJSON, params=some).content
    lines = [orjson.loads(line) for line in whole.splitlines()[:-1]]
    with asking(own_dense, NDJSON, **some) as answer:
        as_of = answer.response.headers["X-As-Of"]
        begin = answer.read(100_000)
        for number in range(5, len(lines), len(lines) // 9):  # each moves far away, or is deleted
            event = lines[number]
            changed = {"eventTsMs": 1_577_836_800_000 + (60 * DAY_MS if order == "TIME_ASC" else -1)}
            revision = {name: event[name] for name in ("eventId", "mag", "lat", "lon", "place")}
            revision |= changed | {"updated": event["ingestedAt"] + 1, "status": "deleted" if number % 2 else None}
            assert own_dense.ask(REVISE, {"events": [revision]})["ingestEvents"]["revised"] == 1
        body = begin + answer.rest()
    first = begin[: begin.rindex(b"\n") + 1]
    rest = own_dense.http.get(NDJSON, params=some | {"after": ids(first)[-1], "asOf": as_of}).content

    assert [values(line) for line in body.splitlines()[:-1]] == [values(line) for line in whole.splitlines()[:-1]]
    assert (first + rest).splitlines()[:-1] == body.splitlines()[:-1]
    assert own_dense.http.get(NDJSON, params=some).content.count(b"\n") < len(lines)


def values(line: bytes) -> tuple[Any, ...]:
    """The values of a line that make a version."""
    event = orjson.loads(line)
    return tuple(event[name] for name in ("eventId", "time", "mag", "lat", "lon", "depth", "place", "status"))


def test_an_export_resumes_behind_a_cursor_of_the_graph(week: Service) -> None:
    page = week.ask("{ events(first: 700) { nodes { eventId } pageInfo { endCursor } } }")["events"]
    whole = ids(week.http.get(NDJSON).content)
    rest = ids(week.http.get(NDJSON, params={"after": page["pageInfo"]["endCursor"]}).content)

    assert [node["eventId"] for node in page["nodes"]] + rest == whole


def test_a_client_that_is_gone_costs_nothing_more(own_dense: Service) -> None:
    with asking(own_dense, NDJSON) as answer:
        answer.read(100_000)

    def log() -> list[dict[str, Any]]:
        logs = own_dense.ask(
            '{ requestLogs(filter: {route: "/export/events"}) { nodes { status resultCount error } } }'
        )
        nodes: list[dict[str, Any]] = logs["requestLogs"]["nodes"]
        return nodes

    _eventually(lambda: len(log()) == 1)
    (entry,) = log()
    assert (entry["status"], entry["error"]) == (499, None)
    assert 0 < entry["resultCount"] < EVENTS


@pytest.mark.parametrize("path", [NDJSON, CSV, "/export/events.geojson", "/export/events.arrow"])
def test_a_failure_in_the_middle_cuts_the_connection(
    tmp_path: Path, dense_file: Path, usgs: UsgsServer, path: str
) -> None:
    store = Path(shutil.copy(dense_file, tmp_path / "dense.db"))
    pages = store.stat().st_size // PAGE_BYTES
    with running(settings(store, usgs)) as service:
        assert service.http.get("/healthz").status_code == 200
        with store.open("r+b") as file:
            file.seek(pages // 2 * PAGE_BYTES)  # the first events stand before
            file.write(b"\xff" * PAGE_BYTES * (pages // 4))
        with asking(service, path, orderBy="TIME_ASC") as answer:
            assert answer.response.status == 200
            with pytest.raises(IncompleteRead) as cut:
                answer.rest()

        assert len(cut.value.partial) > 10_000
        assert b"_end" not in cut.value.partial[-1000:]
        outcomes = [
            line
            for line in service.http.get("/metrics").text.splitlines()
            if line.startswith("quakegraph_exports_total") and "DATABASE_UNAVAILABLE" in line
        ]
        assert len(outcomes) == 1


def test_a_failure_before_the_first_row_is_an_error_like_any_other(
    tmp_path: Path, dense_file: Path, usgs: UsgsServer
) -> None:
    store = Path(shutil.copy(dense_file, tmp_path / "dense.db"))
    with running(settings(store, usgs)) as service:
        assert service.http.get("/healthz").status_code == 200
        size = store.stat().st_size
        with store.open("r+b") as file:
            file.seek(4096)
            file.write(b"\xff" * (size - 4096))
        answer = service.http.get(NDJSON, timeout=TIMEOUT_S)

    assert answer.status_code == 503
    assert [error["extensions"]["code"] for error in answer.json()["errors"]] == ["DATABASE_UNAVAILABLE"]
