"""Clients that are slow, leave, and come back; and a service that fails while it answers."""

import shutil
import sqlite3
from http.client import IncompleteRead
from pathlib import Path
from typing import Any

import orjson
import pytest

from graph.core.days import DAY_MS
from tests.domains.earthquakes.schema.test_revisions import store
from tests.domains.earthquakes.usgs.usgs_server import UsgsServer
from tests.domains.export.conftest import FIRST_DAY, LONG
from tests.domains.export.raw_client import asking
from tests.domains.export.readers import check_end
from tests.processes import TIMEOUT_S
from tests.service import Service, running, settings
from tests.serving.test_connections import _eventually

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
            '{ requestLogs(filter: {route: "/export/events"}) { nodes { status resultCount error } } }'
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
                revision |= changed | {"updated": event["ingestedAt"] + 1, "status": "deleted" if number % 2 else None}
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
