"""The file under the service is damaged, in several ways: `/readyz` says so, and says ok once the file is restored."""

import logging
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

from tests.domains.earthquakes.usgs.usgs_server import UsgsServer
from tests.effort import rounds
from tests.faults.test_sqlite import INGEST, events
from tests.forking import ended
from tests.service import running, settings
from tests.serving.test_connections import _eventually

PAGE_BYTES = 4096
BETWEEN_PINGS_S = 0.1  # the service rests for seconds between two checks of its file
UNAVAILABLE = {"status": "unavailable", "store": "unreachable"}
ALL = {"query": "{ events(first: 1000) { totalCount nodes { eventId place mag depth } } }"}


@dataclass
class Served:
    """A service on a file, and what it says of itself."""

    http: httpx.Client

    def ready(self) -> tuple[int, Any]:
        answer = self.http.get("/readyz")
        return answer.status_code, {name: answer.json()[name] for name in ("status", "store")}

    def becomes_ready(self) -> None:
        _eventually(lambda: self.ready() == (200, {"status": "ok", "store": "ok"}), every_s=BETWEEN_PINGS_S)

    def becomes_unready(self) -> None:
        _eventually(lambda: self.ready() == (503, UNAVAILABLE), every_s=BETWEEN_PINGS_S)

    def all(self) -> Any:
        return self.http.post("/graphql", json=ALL).json()


@contextmanager
def here(store: Path, usgs: UsgsServer) -> Iterator[Served]:
    """A service in this process."""
    with running(settings(store, usgs)) as service:
        yield Served(service.http)


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


def test_damage_while_the_service_runs_is_seen_and_its_repair_too(
    store: Path, usgs: UsgsServer, caplog: pytest.LogCaptureFixture
) -> None:
    with here(store, usgs) as served:
        served.becomes_ready()
        right = served.all()
        assert len(right["data"]["events"]["nodes"]) == 1000  # which the caches hold from here on

        for damage in (*IN_PLACE, *ELSEWHERE):
            restore = damage(store)
            served.becomes_unready()
            assert served.http.get("/healthz").status_code == 200
            if damage is moved:
                assert not store.exists()  # no connection has made a new file

            restore()
            served.becomes_ready()
            assert served.all() == right, damage.__name__
    causes = [str(vars(record)) for record in caplog.records if "Not ready" in record.getMessage()]
    assert len(causes) >= len(IN_PLACE + ELSEWHERE)
    assert all(store.name in cause or "SQLite cannot read" in cause for cause in causes)


@pytest.mark.parametrize("damage", [nearly_all, page_of_zeros])
def test_damage_before_the_service_starts_is_found_without_a_query(
    store: Path, usgs: UsgsServer, caplog: pytest.LogCaptureFixture, damage: Callable[[Path], Restore]
) -> None:
    caplog.set_level(logging.INFO)
    restore = damage(store)
    with here(store, usgs) as served:
        served.becomes_unready()
        assert "The store's file is damaged: restore it" in caplog.messages
        restore()
        served.becomes_ready()
        assert "The store's file is sound again" in caplog.messages
        assert len(served.all()["data"]["events"]["nodes"]) == 1000


def test_a_file_that_is_not_sqlite_stops_the_start_with_one_line(tmp_path: Path, store: Path) -> None:
    header(store)
    status, said = ended("serve", "--port", "0", "--store", f"sqlite:///{store}", folder=tmp_path)
    assert status == 1
    assert said.startswith("Error: SQLite cannot ")
    assert said.count("\n") == 1


def test_a_query_that_meets_damage_makes_the_service_unready_at_once(store: Path, usgs: UsgsServer) -> None:
    """Before any check, and until one finds nothing."""
    with here(store, usgs) as served:
        served.becomes_ready()
        times = store.stat().st_atime_ns, store.stat().st_mtime_ns
        restore = nearly_all(store)
        os.utime(store, ns=times)  # as where the disk itself has lost it
        assert served.all()["errors"][0]["extensions"]["code"] == "DATABASE_UNAVAILABLE"

        assert served.ready() == (503, UNAVAILABLE)
        restore()
        served.becomes_ready()
        assert len(served.all()["data"]["events"]["nodes"]) == 1000


def test_a_file_that_is_sound_stays_so_while_it_is_written_and_checkpointed(
    store: Path, usgs: UsgsServer, caplog: pytest.LogCaptureFixture
) -> None:
    size = store.stat().st_size
    with here(store, usgs) as served:
        for start in range(0, 1000 * rounds(30, at_least=12), 1000):
            variables = {"events": events(start, 1000)}
            answer = served.http.post("/graphql", json={"query": INGEST, "variables": variables})
            assert answer.json() == {"data": {"ingestEvents": {"upserted": 1000, "skipped": 0}}}
            assert {served.ready()[0] for _ in range(20)} == {200}
        assert store.stat().st_size > size + 8_000_000  # so there were checkpoints
    assert not [text for text in caplog.messages if "damaged" in text or "Not ready" in text]
