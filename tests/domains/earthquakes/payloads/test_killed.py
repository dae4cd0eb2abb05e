"""Ingests that are killed again and again leave payloads from which the store is rebuilt, event by event.

As in `test_crash`, each process reads its file from a pipe that gives no more, so it is killed in the midst of its
work.
"""

import random
import signal
import subprocess
import sys
import threading
from contextlib import suppress
from pathlib import Path
from typing import Any

import orjson
import pytest

from graph.domains.earthquakes.payloads.folder import places_in
from graph.store.sqlite import open_sqlite
from tests.children import Child
from tests.domains.earthquakes.payloads.kept import catalogue_in, rebuilt
from tests.domains.earthquakes.usgs.usgs_server import week_features
from tests.domains.entities import ENTITIES
from tests.effort import rounds
from tests.processes import TIMEOUT_S

KILLS = rounds(20, at_least=4)
REVISED_EVERY = 3  # features of each round, so that every kind of transaction is broken off


def revision(features: list[dict[str, Any]], at: int) -> bytes:
    """The week, a feature a line, as it is at some round: some magnitudes differ, all are published later."""
    lines = []
    for number, feature in enumerate(features):
        properties = {**feature["properties"], "updated": feature["properties"]["updated"] + at}
        if number % REVISED_EVERY == at % REVISED_EVERY:
            properties["mag"] = 1 + at / 100
        lines.append(orjson.dumps({**feature, "properties": properties}) + b"\n")
    return b"".join(lines)


def ingesting(folder: Path) -> Child[bytes]:
    """A process that ingests what is written to it, and keeps it."""
    command = [sys.executable, "-m", "graph", "ingest", "-", "--store", f"sqlite:///{folder / 'store.db'}"]
    environment = {"GRAPH_KEEP_PAYLOADS": str(folder / "kept")}
    return Child(command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, bufsize=0, env=environment)


def kill(folder: Path, content: bytes) -> None:
    """Ingest the content, with more to come, and kill the process once it has taken all."""
    with ingesting(folder) as process:
        assert process.stdin is not None

        def feed(stdin: Any = process.stdin) -> None:
            with suppress(BrokenPipeError):
                stdin.write(content)

        feeding = threading.Thread(target=feed)
        feeding.start()
        feeding.join()
        process.kill()
    assert process.returncode == -signal.SIGKILL


@pytest.mark.repeated
async def test_nothing_that_a_killed_ingest_has_stored_is_lost(tmp_path: Path) -> None:
    features = week_features()
    chosen = random.Random(20230803)
    for number in range(KILLS):
        content = revision(features, number)
        kill(tmp_path, content[: chosen.randrange(len(content) // 4, len(content))])
        if number % 2:
            await assert_the_store_is_rebuilt(tmp_path)
    with ingesting(tmp_path) as process:
        process.communicate(revision(features, KILLS), timeout=TIMEOUT_S)
    assert process.returncode == 0

    assert any(place.part.exists() for place in places_in(tmp_path / "kept"))
    await assert_the_store_is_rebuilt(tmp_path, exactly=True)


async def assert_the_store_is_rebuilt(folder: Path, *, exactly: bool = False) -> None:
    """Check the store against its payloads. The last transaction may have been kept and not stored."""
    async with (
        open_sqlite(folder / "store.db", ENTITIES) as database,
        rebuilt("sqlite", folder / "kept") as (again, _),
    ):
        ours, theirs = await catalogue_in(database), await catalogue_in(again)
    stored = {(item["pk"], item["sk"]) for item in map(orjson.loads, ours) if item["entity"] in ("EVENT", "REVISION")}
    kept = {(item["pk"], item["sk"]) for item in map(orjson.loads, theirs)}
    assert stored <= kept
    if exactly:
        assert (sorted(ours - theirs), sorted(theirs - ours)) == ([], [])
