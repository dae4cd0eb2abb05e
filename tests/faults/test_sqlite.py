"""SQLite's file and its disk fail under the service: a clear error, nothing half-written, and all well afterwards."""

import asyncio
import random
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.attacks.leaks import leaks
from tests.children import Child
from tests.domains.earthquakes.usgs.usgs_server import UsgsServer
from tests.faults.ingests import INGEST, check_summaries, large_events
from tests.forking import ended
from tests.processes import TIMEOUT_S, quakegraph
from tests.service import Service, running, settings

PAGE_BYTES = 4096
SHORT_S = 0.3


def ingest(service: Service, first: int, number: int) -> int | None:
    """How many were inserted; None where the store refused."""
    answer = service.http.post("/graphql", json={"query": INGEST, "variables": {"events": large_events(first, number)}})
    assert leaks(answer) == []
    body = answer.json()
    if "errors" in body:
        assert [error["extensions"]["code"] for error in body["errors"]] == ["DATABASE_UNAVAILABLE"]
        return None
    return int(body["data"]["ingestEvents"]["upserted"])


def total(service: Service) -> int:
    page = service.ask("{ events(first: 1000) { totalCount nodes { eventId } } }")["events"]
    assert page["totalCount"] <= 1000 or len(page["nodes"]) == 1000
    assert page["totalCount"] > 1000 or len(page["nodes"]) == page["totalCount"]
    return int(page["totalCount"])


@contextmanager
def disk(folder: Path, megabytes: int) -> Iterator[Path]:
    """A disk of that size."""
    folder.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={megabytes}m", "tmpfs", folder], check=True)
    try:
        yield folder
    finally:
        subprocess.run(["umount", folder], check=True)


@pytest.mark.needs("a tmpfs")
def test_a_full_disk_stops_ingests_and_nothing_else(tmp_path: Path, usgs: UsgsServer) -> None:
    with disk(tmp_path / "disk", megabytes=8) as folder:
        store = folder / "quakes.db"
        with running(settings(store, usgs)) as service:
            first, stored = 0, 0
            while (upserted := ingest(service, first, 1000)) is not None:
                assert upserted == 1000
                first, stored = first + 1000, stored + 1000
            assert stored > 0
            kept = total(service)
            assert stored <= kept <= stored + 1000  # what one transaction held is there whole or not at all
            assert ingest(service, first, 1000) is None
            assert total(service) == kept

            subprocess.run(["mount", "-o", "remount,size=64m", folder], check=True)  # somebody makes room
            assert ingest(service, first, 1000) == 1000 - (kept - stored)
            assert total(service) == stored + 1000
        asyncio.run(check_summaries(f"sqlite:///{store}"))


@pytest.mark.needs("a tmpfs")
def test_a_file_that_cannot_be_written_stops_the_start_with_a_line(tmp_path: Path, week_file: Path) -> None:
    with disk(tmp_path / "disk", megabytes=64) as folder:
        store = folder / "quakes.db"
        shutil.copy(week_file, store)
        content = store.read_bytes()
        subprocess.run(["mount", "-o", "remount,ro", folder], check=True)
        status, said = ended("serve", "--port", "0", "--store", f"sqlite:///{store}", folder=tmp_path)
        ingested = quakegraph("ingest", "-", "--store", f"sqlite:///{store}")

        assert (status, ingested.exit_code) == (1, 1)
        for line in (said, ingested.stderr):
            assert line.startswith("Error: SQLite cannot ")
            assert line.count("\n") == 1
        assert store.read_bytes() == content


HOLDER = """
import sqlite3, sys
db = sqlite3.connect(sys.argv[1], isolation_level=None)
db.execute("BEGIN IMMEDIATE")
print("held", flush=True)
sys.stdin.read()
"""


def test_a_process_that_keeps_the_write_lock_blocks_only_ingests(tmp_path: Path, usgs: UsgsServer) -> None:
    store = tmp_path / "quakes.db"
    with running(settings(store, usgs)) as patient, running(settings(store, usgs, store_timeout=SHORT_S)) as service:
        assert ingest(patient, 0, 100) == 100
        command = [sys.executable, "-c", HOLDER, str(store)]
        with Child(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as other:
            assert other.stdout is not None
            assert other.stdout.readline() == "held\n"
            for _ in range(2):
                assert ingest(service, 100, 100) is None
                assert total(service) == 100
            other.communicate()  # it ends

        assert ingest(patient, 50, 100) == 50
        end = time.monotonic() + TIMEOUT_S
        while ingest(service, 50, 100) is None:  # on a busy machine, a write of its own may hold the file for so long
            assert time.monotonic() < end
        assert total(service) == 150
    asyncio.run(check_summaries(f"sqlite:///{store}"))


def test_two_processes_that_write_at_once_count_each_event_once(tmp_path: Path, usgs: UsgsServer) -> None:
    store = tmp_path / "quakes.db"
    with (
        running(settings(store, usgs)) as here,
        running(settings(store, usgs)) as there,
        ThreadPoolExecutor(8) as clients,
    ):
        ingests = [(service, first, 40) for first in range(0, 400, 20) for service in (here, there)]
        upserted = list(clients.map(lambda work: ingest(*work), ingests))

        assert None not in upserted
        assert sum(number for number in upserted if number) == 420
        assert total(here) == total(there) == 420
    asyncio.run(check_summaries(f"sqlite:///{store}"))


def test_a_file_damaged_in_the_middle_never_gives_wrong_answers(
    tmp_path: Path, week_file: Path, week: Service, usgs: UsgsServer
) -> None:
    """Whichever page is broken: a query that does not need it is answered, and one that does says so."""
    chosen = random.Random(20230804)
    query = {"query": "{ events(first: 300) { totalCount nodes { eventId place mag } } }"}
    right = week.http.post("/graphql", json=query).json()
    outcomes = set()
    for number in range(12):
        store = tmp_path / f"{number}.db"
        shutil.copy(week_file, store)
        with store.open("r+b") as file:
            for _ in range(8):
                page = chosen.randrange(1, store.stat().st_size // PAGE_BYTES)
                file.seek(page * PAGE_BYTES)
                file.write(chosen.randbytes(PAGE_BYTES))
        with running(settings(store, usgs)) as service:
            answer = service.http.post("/graphql", json=query)
        assert leaks(answer) == []
        body = answer.json()
        codes = {error["extensions"]["code"] for error in body.get("errors", [])}
        assert codes <= {"DATABASE_UNAVAILABLE"}
        assert codes or body == right
        outcomes.add(bool(codes))
    assert outcomes == {True, False}
