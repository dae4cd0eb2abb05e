"""A service that follows USGS and is killed again and again has what one has that was never disturbed.

Each process ingests what changed, in parts. It is killed when USGS has received a certain request, so always in
the midst of its work, while it reads one part and stores another. The next one goes on with the rest.
"""

import random
import signal
from pathlib import Path
from threading import Event

import pytest
from starlette.types import Receive, Scope, Send

from graph.store.entity import Item
from graph.store.location import StoreLocation
from tests.domains.earthquakes.ingest.truth import assert_it_is_the_truth
from tests.domains.earthquakes.usgs.usgs_history import UsgsHistory
from tests.domains.earthquakes.usgs.usgs_server import UsgsServer
from tests.domains.entities import ENTITIES, everything_in
from tests.effort import rounds
from tests.forking import forked
from tests.processes import TIMEOUT_S
from tests.store.engines import new_store

KILLS = rounds(20)
MOMENTS = rounds(5, at_least=2)
LATEST_KILL = 8  # requests; a run makes more


@pytest.mark.repeated
async def test_following_that_is_killed_many_times_equals_what_was_never_disturbed(
    engine: str, tmp_path: Path, usgs: UsgsServer
) -> None:
    history, chosen = UsgsHistory(7, events=300, limit=40), random.Random(7)
    usgs.stand_in(history.application)
    clean, killed = [await new_store(engine, folder(tmp_path, name), ENTITIES) for name in ("clean", "killed")]
    kills = 0
    for number in range(1, MOMENTS + 1):
        history.now = history.moments[(len(history.moments) - 1) * number // MOMENTS]
        ingest(usgs, clean, tmp_path)
        while kills < KILLS * number // MOMENTS and ingest(
            usgs, killed, tmp_path, kill_at=chosen.randrange(LATEST_KILL)
        ):
            kills += 1
        ingest(usgs, killed, tmp_path)

    assert kills > KILLS // 2
    assert await items_in(killed) == await items_in(clean)
    async with StoreLocation.of(killed).open(ENTITIES, timeout_s=TIMEOUT_S) as database:
        await assert_it_is_the_truth(database, history)


def folder(parent: Path, name: str) -> Path:
    """A new folder."""
    path = parent / name
    path.mkdir()
    return path


def ingest(usgs: UsgsServer, store: str, place: Path, *, kill_at: int | None = None) -> bool:
    """Ingest what changed since the beginning, killed at a request or to the end. Returns whether it was killed."""
    usgs.forget_answers()
    received = Event()

    async def note_and_answer(scope: Scope, receive: Receive, send: Send) -> None:
        received.set()
        await usgs.catalogue(scope, receive, send)

    if kill_at is not None:
        usgs.answer_next(*[usgs.catalogue] * kill_at, note_and_answer)
    options = ("--updated-since", "2023-07-01", "--store", store)
    with forked("ingest", *options, folder=place, settings={"GRAPH_USGS_URL": usgs.url}) as process:
        if kill_at is not None:
            received.wait(TIMEOUT_S)
            process.kill()
        process.join(TIMEOUT_S)
        assert process.exitcode in (0, -signal.SIGKILL)
    return process.exitcode != 0


async def items_in(store: str) -> dict[tuple[str, str], Item]:
    """The catalogue, but for when and in which transaction it was written. Each ingest has data files of its own."""
    left_out = ("LOG", "LOG_COUNT", "ARRIVAL", "BACKFILL")
    of_the_run = {"ingestedAt", "recordedAt", "supersededAt", "changedAt", "arrival"}
    async with StoreLocation.of(store).open(ENTITIES, timeout_s=TIMEOUT_S) as database:
        items = [item for item in await everything_in(database) if "pk" in item and item["entity"] not in left_out]
    for item in items:
        if item["entity"] in ("SUMMARY", "FACETS"):
            del item["revision"]
    return {
        (item["pk"], item["sk"]): {name: value for name, value in item.items() if name not in of_the_run}
        for item in items
    }
