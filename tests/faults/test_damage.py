"""The file under the service is damaged, in several ways: `/readyz` says so, and says ok once the file is restored."""

import os
import random
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.bearers import bearer
from tests.domains.earthquakes.builders import NOON
from tests.processes import TIMEOUT_S, Server, serving, started
from tests.serving.test_connections import _eventually

PAGE_BYTES = 4096
BETWEEN_PINGS_S = 0.1  # the service rests for seconds between two checks of its file
UNAVAILABLE = {"status": "unavailable", "store": "unreachable"}
ALL = {"query": "{ events(first: 1000) { totalCount nodes { eventId place mag depth } } }"}
INGEST = "mutation($events: [EventInput!]!) { ingestEvents(input: {events: $events}) { upserted } }"


@dataclass
class Served:
    """A service on a file, and what it says of itself."""

    server: Server
    store: Path
    http: httpx.Client

    def ready(self) -> tuple[int, Any]:
        answer = self.http.get("/readyz")
        body = answer.json()
        body.pop("polling", None)
        body.pop("summaries", None)
        body.pop("deliveries", None)
        return answer.status_code, body

    def becomes_ready(self) -> None:
        _eventually(lambda: self.ready() == (200, {"status": "ok", "store": "ok"}), every_s=BETWEEN_PINGS_S)

    def becomes_unready(self) -> None:
        _eventually(lambda: self.ready() == (503, UNAVAILABLE), every_s=BETWEEN_PINGS_S)

    def all(self) -> Any:
        return self.http.post("/graphql", json=ALL).json()


@contextmanager
def on(store: Path, folder: Path) -> Iterator[Served]:
    with serving("--store", f"sqlite:///{store}", folder=folder) as server:
        url = server.url.removesuffix("/graphql")
        with httpx.Client(base_url=url, headers=bearer(), timeout=TIMEOUT_S, trust_env=False) as http:
            yield Served(server, store, http)


@pytest.fixture
def store(tmp_path: Path, week_file: Path) -> Path:
    """The real week, in a file of its own."""
    return Path(shutil.copy(week_file, tmp_path / "week.db"))


# Each damages the file, and gives what restores it.

Restore = Callable[[], object]


def overwritten(store: Path, first_page: int, pages: int, data: bytes | None = None) -> Restore:
    def write(content: bytes) -> None:
        with store.open("r+b") as file:
            file.seek(first_page * PAGE_BYTES)
            file.write(content)

    kept = store.read_bytes()[first_page * PAGE_BYTES : (first_page + pages) * PAGE_BYTES]
    write(random.Random(1).randbytes(len(kept)) if data is None else data)
    return lambda: write(kept)


def middle(store: Path) -> Restore:
    pages = store.stat().st_size // PAGE_BYTES
    return overwritten(store, pages // 4, pages // 2)


def nearly_all(store: Path) -> Restore:
    """Whatever is read, the first row included."""
    return overwritten(store, 10, store.stat().st_size // PAGE_BYTES - 10)


def page_of_zeros(store: Path) -> Restore:
    return overwritten(store, 20, 1, bytes(PAGE_BYTES))


def header(store: Path) -> Restore:
    return overwritten(store, 0, 1, bytes(100))


def truncated(store: Path, size: int | None = None) -> Restore:
    kept = store.read_bytes()
    os.truncate(store, store.stat().st_size // 2 // PAGE_BYTES * PAGE_BYTES if size is None else size)

    def restore() -> None:
        with store.open("r+b") as file:  # the same file
            file.write(kept)

    return restore


def short_of_a_page(store: Path) -> Restore:
    return truncated(store, store.stat().st_size - PAGE_BYTES)


def emptied(store: Path) -> Restore:
    return truncated(store, 0)


def moved(store: Path) -> Restore:
    away = store.rename(store.with_suffix(".away"))
    return lambda: away.rename(store)


def replaced(store: Path) -> Restore:
    restore = moved(store)
    shutil.copy(store.with_suffix(".away"), store)
    return restore


def log_moved(store: Path) -> Restore:
    return moved(Path(f"{store}-wal"))


def locks_replaced(store: Path) -> Restore:
    return replaced(Path(f"{store}-shm"))


IN_PLACE = [middle, page_of_zeros, header, truncated, short_of_a_page, emptied]
ELSEWHERE = [moved, replaced, log_moved, locks_replaced]


@pytest.mark.parametrize("damage", [*IN_PLACE, *ELSEWHERE])
def test_damage_while_the_service_runs_is_seen_and_its_repair_too(
    tmp_path: Path, store: Path, damage: Callable[[Path], Restore]
) -> None:
    with on(store, tmp_path) as served:
        served.becomes_ready()
        right = served.all()
        assert len(right["data"]["events"]["nodes"]) == 1000  # which the caches hold from here on

        restore = damage(store)
        served.becomes_unready()
        assert served.http.get("/healthz").status_code == 200
        if damage is moved:
            assert not store.exists()  # no connection has made a new file

        restore()
        served.becomes_ready()
        assert served.all() == right
        assert served.server.end() == 0
        served.server.read_to_end()
        causes = [line for line in served.server.output if "Not ready" in line]
        assert causes
        assert any(store.name in line or "SQLite cannot read" in line for line in causes)


@pytest.mark.parametrize("damage", [middle, nearly_all, page_of_zeros, truncated])
def test_damage_before_the_service_starts_is_found_without_a_query(
    tmp_path: Path, store: Path, damage: Callable[[Path], Restore]
) -> None:
    restore = damage(store)
    with on(store, tmp_path) as served:
        served.becomes_unready()
        served.server.wait_for_output("The store's file is damaged: restore it")
        restore()
        served.becomes_ready()
        served.server.wait_for_output("The store's file is sound again")
        assert len(served.all()["data"]["events"]["nodes"]) == 1000


@pytest.mark.parametrize("damage", [header])
def test_a_file_that_is_not_sqlite_stops_the_start_with_one_line(
    tmp_path: Path, store: Path, damage: Callable[[Path], Restore]
) -> None:
    damage(store)
    with started("serve", "--port", "0", "--store", f"sqlite:///{store}", folder=tmp_path) as process:
        _, said = process.communicate(timeout=TIMEOUT_S)
    assert process.returncode == 1
    assert said.startswith("Error: SQLite cannot ")
    assert said.count("\n") == 1


def test_a_query_that_meets_damage_makes_the_service_unready_at_once(tmp_path: Path, store: Path) -> None:
    """Before any check, and until one finds nothing."""
    with on(store, tmp_path) as served:
        served.becomes_ready()
        size, kept = store.stat().st_size, store.read_bytes()
        times = store.stat().st_atime_ns, store.stat().st_mtime_ns
        with store.open("r+b") as file:
            file.seek(10 * PAGE_BYTES)
            file.write(random.Random(1).randbytes(size - 10 * PAGE_BYTES))
        os.utime(store, ns=times)  # as where the disk itself has lost it
        assert served.all()["errors"][0]["extensions"]["code"] == "DATABASE_UNAVAILABLE"

        assert served.ready() == (503, UNAVAILABLE)
        with store.open("r+b") as file:
            file.write(kept)
        served.becomes_ready()
        assert len(served.all()["data"]["events"]["nodes"]) == 1000


def test_a_file_that_is_sound_stays_so_while_it_is_written_and_checkpointed(tmp_path: Path, store: Path) -> None:
    with on(store, tmp_path) as served:
        url = "https://example.org/" + "x" * 900
        for start in range(0, 30_000, 1000):
            events = [
                {"eventId": f"us{n}", "eventTsMs": NOON - 60_000 * n, "mag": 1, "lat": 0, "lon": 0, "url": url}
                for n in range(start, start + 1000)
            ]
            answer = served.http.post("/graphql", json={"query": INGEST, "variables": {"events": events}})
            assert answer.json() == {"data": {"ingestEvents": {"upserted": 1000}}}
            assert {served.ready()[0] for _ in range(20)} == {200}
        assert store.stat().st_size > 30_000_000  # so there were checkpoints
        assert served.server.end() == 0
        served.server.read_to_end()
        assert not [line for line in served.server.output if "damaged" in line or "Not ready" in line]
