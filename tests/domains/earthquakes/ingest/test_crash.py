"""An ingest that is killed again and again leaves what one that was never disturbed leaves.

The ingesting process reads its file from a pipe that this test fills. Killed before the pipe has
given all, it is always killed in the midst of its work, whatever the speed of the machine. Every
other time it is killed while SQLite's journal grows, which mostly tears a commit apart.
"""

import random
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import orjson
import pytest

from graph.domains.earthquakes.ingest.intake import EVENTS_AT_ONCE
from graph.store.entity import Item
from graph.store.sqlite import open_sqlite
from tests.children import Child
from tests.domains.earthquakes.ingest.ingests import events_in, recounted, summaries_in
from tests.domains.earthquakes.usgs.usgs_server import week_features
from tests.domains.entities import ENTITIES, everything_in
from tests.effort import rounds
from tests.processes import TIMEOUT_S

KILLS = rounds(20, at_least=6)
COPIES = 4  # of the real week, each half a year before the one before
HALF_A_YEAR_MS = 183 * 86_400_000
MORE_BYTES = 1024 * 1024  # for an ingest that is to be killed before it has taken them: two commits and more
A_COMMIT_BYTES = 256 * 1024  # at least, of a thousand events, in the journal
PIPE_BYTES = 2 * 64 * 1024  # that are written and perhaps not yet read: a pipe's, and one reading's


@pytest.mark.repeated
async def test_an_ingest_killed_many_times_and_then_finished_equals_a_clean_one(tmp_path: Path) -> None:
    lines = list(catalogue())
    content = b"".join(lines)
    ingest_all(tmp_path / "clean.db", content)

    killed = tmp_path / "killed.db"
    chosen = random.Random(20230803)
    stored = [0]
    for number, cut in enumerate(sorted(chosen.sample(range(len(content)), KILLS))):
        if number % 2:
            kill(killed, content[:cut])
        else:
            kill(killed, content[: cut + MORE_BYTES], journal_bytes=chosen.randrange(A_COMMIT_BYTES))
        stored.append(await count_of_events(killed))
        assert max(stored[-2], stored_at_least(lines, cut) if number % 2 else 0) <= stored[-1] < len(lines)
    ingest_all(killed, content)

    assert len(set(stored)) > KILLS // 5  # so the kills hit ingests that were at different points
    assert await items_in(killed) == await items_in(tmp_path / "clean.db")
    async with open_sqlite(killed, ENTITIES) as database:
        assert await summaries_in(database) == await recounted(database)


def catalogue() -> Iterator[bytes]:
    """A catalogue of 8,496 events of two years, a feature a line."""
    for copy in range(COPIES):
        for feature in week_features():
            event_id, properties = f"{feature['id']}-{copy}", feature["properties"]
            properties = {**properties, "time": properties["time"] - copy * HALF_A_YEAR_MS, "ids": f",{event_id},"}
            yield orjson.dumps({**feature, "id": event_id, "properties": properties}) + b"\n"


def stored_at_least(lines: list[bytes], cut: int) -> int:
    """How many events must be stored when so many bytes were taken from us: all chunks read before the last."""
    read, bytes_left = 0, cut - PIPE_BYTES
    for line in lines:
        bytes_left -= len(line)
        if bytes_left < 0:
            break
        read += 1
    return max(read // EVENTS_AT_ONCE - 1, 0) * EVENTS_AT_ONCE


def ingest_all(store: Path, content: bytes) -> None:
    """Ingest the content to its end."""
    with ingesting(store) as process:
        process.communicate(content, timeout=TIMEOUT_S)
    assert process.returncode == 0


def kill(store: Path, content: bytes, *, journal_bytes: int | None = None) -> None:
    """Ingest the content, with more to come, and kill the process when it has taken all, or begun to commit."""
    with ingesting(store) as process:
        feeding = threading.Thread(target=feed, args=(process, content))
        feeding.start()
        while feeding.is_alive():
            feeding.join(None if journal_bytes is None else 0.0002)  # a look at the journal so often
            if journal_bytes is not None and bytes_of_journal(store) > journal_bytes:
                break
        process.kill()
        feeding.join()
    assert process.returncode == -signal.SIGKILL


def feed(process: Child[bytes], content: bytes) -> None:
    assert process.stdin is not None
    with suppress(BrokenPipeError):
        process.stdin.write(content)


def bytes_of_journal(store: Path) -> int:
    """The size of SQLite's write-ahead log, which grows page by page while a transaction is committed."""
    try:
        return store.with_name(f"{store.name}-wal").stat().st_size
    except FileNotFoundError:
        return 0


def ingesting(store: Path) -> Child[bytes]:
    """A process that ingests what is written to it."""
    command = [sys.executable, "-m", "graph", "ingest", "-", "--store", f"sqlite:///{store}"]
    return Child(command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, bufsize=0)


async def count_of_events(store: Path) -> int:
    async with open_sqlite(store, ENTITIES) as database:
        return len(await events_in(database))


async def items_in(store: Path) -> dict[tuple[str, str], Item]:
    """The catalogue, but for when and with which others each event was ingested. Each ingest has files of its own."""
    left_out = ("LOG", "LOG_COUNT", "ARRIVAL")
    differs = ("ingestedAt", "recordedAt", "changedAt", "arrival", "revision")  # that of summaries counts writes
    async with open_sqlite(store, ENTITIES) as database:
        items = [item for item in await everything_in(database) if "pk" in item and item["entity"] not in left_out]
    return {
        (item["pk"], item["sk"]): {name: value for name, value in item.items() if name not in differs} for item in items
    }
