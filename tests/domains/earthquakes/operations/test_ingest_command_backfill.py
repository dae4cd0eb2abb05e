"""`quakegraph ingest --from --to` of more events than USGS gives at once: its progress, its end, and how it goes on."""

import asyncio
import json
import re
import signal
import threading
from pathlib import Path

import pytest
from starlette.types import Receive, Scope, Send

from graph.store.sqlite import open_sqlite
from tests.domains.earthquakes.ingest.ingests import a_feature, events_in
from tests.domains.earthquakes.usgs.usgs_server import Holdings, UsgsServer, stall, status
from tests.domains.entities import ENTITIES
from tests.forking import assert_progress, on_a_terminal
from tests.processes import TIMEOUT_S, quakegraph, started

pytestmark = pytest.mark.usefixtures("folder")

DAY = 1_690_848_000_000  # 2023-08-01
DAY_MS = 86_400_000
EVENTS = 300
LIMIT = 50
ASKED = ("ingest", "--from", "2023-08-01", "--to", "2023-08-01", "--min-magnitude", "4.5")
ANSWERS = 12  # of the 23 that it takes, 15 counts and 8 queries: some parts are done, and two more can begin


@pytest.fixture
def holdings(usgs: UsgsServer) -> Holdings:
    """A day on which something happens all the time."""
    return usgs.hold([a_feature(f"us{n}", time=DAY + n * DAY_MS // EVENTS) for n in range(EVENTS)], limit=LIMIT)


@pytest.fixture
def settings(usgs: UsgsServer) -> dict[str, str]:
    return {"GRAPH_USGS_URL": usgs.url}


def stored() -> int:
    """How many events the catalogue has."""

    async def count() -> int:
        async with open_sqlite(Path("quakegraph.db"), ENTITIES) as database:
            return len(await events_in(database))

    return asyncio.run(count())


class Stalling:
    """Answers begin and never go on. `reached` is released by each request that waits for one."""

    def __init__(self) -> None:
        self.reached = threading.Semaphore(0)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self.reached.release()
        await stall(scope, receive, send)


def test_an_interrupted_backfill_resumes(
    folder: Path, usgs: UsgsServer, holdings: Holdings, settings: dict[str, str]
) -> None:
    stalling = Stalling()
    usgs.answer_next(*[usgs.catalogue] * ANSWERS, stalling, stalling)
    with started(*ASKED, folder=folder, settings=settings) as process:
        for _ in range(2):
            assert stalling.reached.acquire(timeout=TIMEOUT_S)
        process.send_signal(signal.SIGINT)
        output, said = process.communicate(timeout=TIMEOUT_S)
    before, given = stored(), sum(holdings.given)
    assert 0 < before == given < EVENTS
    assert (process.returncode, output) == (1, "")
    assert said == f"USGS: {before} fetched. Run the same command again to resume.\n\nAborted!\n"
    parts = len(holdings.given)

    result = quakegraph(*ASKED, settings=settings)

    rest = EVENTS - before
    assert result.stdout == f"USGS: {rest} fetched, {rest} upserted, 0 revised, 0 skipped, 0 rejected\n"
    (going_on,) = result.stderr.splitlines()
    told = re.fullmatch(r"USGS: resuming after (\d+) events in (\d+) parts", going_on)
    assert told
    assert int(told[1]) == before
    assert int(told[2]) == parts
    assert sum(holdings.given) == EVENTS
    assert stored() == EVENTS


def test_a_backfill_ended_by_an_outage_resumes_and_a_terminal_is_shown_how_many_of_the_events_have_come(
    folder: Path, usgs: UsgsServer, holdings: Holdings, settings: dict[str, str]
) -> None:
    overloaded = "USGS is overloaded (status 429): try again in 61 seconds, as it asks."
    message = f"{overloaded} Run the same command again to resume."
    outage = [status(429, retry_after="61")] * 2
    usgs.answer_next(*outage[:1])
    nothing = quakegraph(*ASKED, settings=settings)
    assert (nothing.exit_code, nothing.stderr) == (1, f"Error: USGS: {overloaded}\n"), "nothing is promised"
    usgs.answer_next(*[usgs.catalogue] * ANSWERS, *outage)

    ended = quakegraph(*ASKED, settings=settings)
    usgs.forget_answers()
    before = stored()
    usgs.answer_next(*[usgs.catalogue] * 2, *outage)
    as_json = quakegraph(*ASKED, "--json", settings=settings)
    usgs.forget_answers()
    shown, result = on_a_terminal(*ASKED, "--json", folder=folder, settings=settings)

    assert 0 < before < EVENTS
    assert (ended.exit_code, as_json.exit_code, as_json.stderr) == (1, 1, "")
    assert ended.stdout == f"USGS: {before} fetched, {before} upserted, 0 revised, 0 skipped, 0 rejected\n"
    assert ended.stderr == f"Error: USGS: {message}\n"
    again, report = json.loads(as_json.stdout), json.loads(result)
    assert again["error"] == {"code": "UPSTREAM_UNAVAILABLE", "message": message}
    assert again["fetchedBefore"] == before
    assert report["fetchedBefore"] == before + again["fetched"] == EVENTS - report["fetched"]
    assert_progress(shown, "USGS")
    assert stored() == EVENTS
