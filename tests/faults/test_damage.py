"""The file under the service is damaged, in several ways: `/readyz` says so, and says ok once the file is restored."""

import logging
import os
import random
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from graph.store.sqlite.opened_file import LEAST_FREE_BYTES
from tests.domains.earthquakes.usgs.usgs_server import UsgsServer
from tests.effort import rounds
from tests.faults.ingests import INGEST, large_events
from tests.faults.test_sqlite import PAGE_BYTES, disk
from tests.service import Service, running, settings
from tests.serving.test_connections import _eventually

COUNTS = {"fetched": 1000, "upserted": 1000, "skipped": 0, "rejected": 0}
BETWEEN_PINGS_S = 0.1  # the service rests for seconds between two checks of its file
UNAVAILABLE = {"status": "unavailable", "store": "unreachable"}
ALL = "{ events(first: 1000) { totalCount nodes { eventId place mag depth } } }"


def ready(service: Service) -> tuple[int, Any]:
    answer = service.http.get("/readyz")
    return answer.status_code, {name: answer.json()[name] for name in ("status", "store")}


def becomes_ready(service: Service) -> None:
    _eventually(lambda: ready(service) == (200, {"status": "ok", "store": "ok"}), every_s=BETWEEN_PINGS_S)


def becomes_unready(service: Service) -> None:
    _eventually(lambda: ready(service) == (503, UNAVAILABLE), every_s=BETWEEN_PINGS_S)


@pytest.mark.needs("a tmpfs")
def test_a_full_disk_makes_the_service_unready_until_there_is_room(tmp_path: Path, usgs: UsgsServer) -> None:
    with disk(tmp_path / "disk", megabytes=16) as folder, running(settings(folder / "full.db", usgs)) as service:
        becomes_ready(service)
        filler = folder / "filler"
        filler.write_bytes(bytes(shutil.disk_usage(folder).free - LEAST_FREE_BYTES // 2))
        becomes_unready(service)
        filler.unlink()
        becomes_ready(service)


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
    with running(settings(store, usgs)) as served:
        becomes_ready(served)
        right = served.ask(ALL)
        assert len(right["events"]["nodes"]) == 1000  # which the caches hold from here on

        for damage in (*IN_PLACE, *ELSEWHERE):
            restore = damage(store)
            becomes_unready(served)
            assert served.http.get("/healthz").status_code == 200
            if damage is moved:
                assert not store.exists()  # no connection has made a new file

            restore()
            becomes_ready(served)
            assert served.ask(ALL) == right, damage.__name__
    causes = [str(vars(record)) for record in caplog.records if "Not ready" in record.getMessage()]
    assert len(causes) >= len(IN_PLACE + ELSEWHERE)
    assert all(store.name in cause or "SQLite cannot read" in cause for cause in causes)


@pytest.mark.parametrize("damage", [nearly_all, page_of_zeros])
def test_damage_before_the_service_starts_is_found_without_a_query(
    store: Path, usgs: UsgsServer, caplog: pytest.LogCaptureFixture, damage: Callable[[Path], Restore]
) -> None:
    caplog.set_level(logging.INFO)
    restore = damage(store)
    with running(settings(store, usgs)) as served:
        becomes_unready(served)
        assert "The store's file is damaged: restore it" in caplog.messages
        restore()
        becomes_ready(served)
        assert "The store's file is sound again" in caplog.messages
        assert len(served.ask(ALL)["events"]["nodes"]) == 1000


def test_a_query_that_meets_damage_makes_the_service_unready_at_once(store: Path, usgs: UsgsServer) -> None:
    """Before any check, and until one finds nothing."""
    with running(settings(store, usgs)) as served:
        becomes_ready(served)
        times = store.stat().st_atime_ns, store.stat().st_mtime_ns
        restore = nearly_all(store)
        os.utime(store, ns=times)  # as where the disk itself has lost it
        assert served.codes(ALL) == ["DATABASE_UNAVAILABLE"]

        assert ready(served) == (503, UNAVAILABLE)
        restore()
        becomes_ready(served)
        assert len(served.ask(ALL)["events"]["nodes"]) == 1000


def test_a_file_that_is_sound_stays_so_while_it_is_written_and_checkpointed(
    store: Path, usgs: UsgsServer, caplog: pytest.LogCaptureFixture
) -> None:
    size = store.stat().st_size
    with running(settings(store, usgs)) as served:
        for start in range(0, 1000 * rounds(30, at_least=12), 1000):
            variables = {"events": large_events(start, 1000)}
            answer = served.http.post("/graphql", json={"query": INGEST, "variables": variables})
            assert answer.json() == {"data": {"ingestEvents": COUNTS}}
            assert {ready(served)[0] for _ in range(20)} == {200}
        assert store.stat().st_size > size + 8_000_000  # so there were checkpoints
    assert not [text for text in caplog.messages if "damaged" in text or "Not ready" in text]
