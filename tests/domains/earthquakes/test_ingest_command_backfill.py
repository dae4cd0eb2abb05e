"""`quakegraph ingest --from --to` of more events than USGS gives at once: its progress, its end, and how it goes on."""

import asyncio
import json
import os
import pty
import re
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest
from starlette.types import Receive, Scope, Send

from graph.store.sqlite import open_sqlite
from tests.children import Child
from tests.domains.earthquakes.ingest.ingests import a_feature, events_in
from tests.domains.earthquakes.test_ingest_command import read_terminal
from tests.domains.earthquakes.usgs.usgs_server import FDSN_QUERY, Holdings, UsgsServer, stall, status
from tests.domains.entities import ENTITIES
from tests.processes import TIMEOUT_S, environment, quakegraph, started

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


def test_a_window_beyond_the_limit_of_usgs_is_ingested_completely(holdings: Holdings, settings: dict[str, str]) -> None:
    first = quakegraph(*ASKED, settings=settings)
    again = quakegraph(*ASKED, settings=settings)

    assert first.stdout == "USGS: 300 fetched, 300 upserted, 0 revised, 0 skipped, 0 rejected\n"
    assert again.stdout == "USGS: 300 fetched, 0 upserted, 0 revised, 300 skipped, 0 rejected\n"
    assert (first.stderr, first.exit_code, again.stderr, again.exit_code) == ("", 0, "", 0)
    assert len(holdings.given) > 2 * EVENTS // LIMIT
    assert max(holdings.given) < LIMIT


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL])
def test_an_interrupted_backfill_resumes(
    folder: Path, usgs: UsgsServer, holdings: Holdings, settings: dict[str, str], how: signal.Signals
) -> None:
    stalling = Stalling()
    usgs.answer_next(*[usgs.catalogue] * ANSWERS, stalling, stalling)
    with started(*ASKED, folder=folder, settings=settings) as process:
        for _ in range(2):
            assert stalling.reached.acquire(timeout=TIMEOUT_S)
        process.send_signal(how)
        output, said = process.communicate(timeout=TIMEOUT_S)
    before, given = stored(), sum(holdings.given)
    assert 0 < before == given < EVENTS
    if how is signal.SIGINT:
        assert process.returncode == 1
        assert said == f"USGS: {before} fetched. Run the same command again to resume.\n\nAborted!\n"
    assert output == ""
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


@pytest.mark.parametrize("as_json", [False, True])
def test_a_backfill_ended_by_an_outage_resumes(
    usgs: UsgsServer, holdings: Holdings, settings: dict[str, str], as_json: bool
) -> None:
    asked = [*ASKED, "--json"] if as_json else list(ASKED)
    how_to_resume = "Run the same command again to resume."
    message = f"USGS is overloaded (status 429): try again in 61 seconds, as it asks. {how_to_resume}"
    usgs.answer_next(*[usgs.catalogue] * ANSWERS, *[status(429, retry_after="61")] * 2)

    ended = quakegraph(*asked, settings=settings)
    usgs.forget_answers()
    before = stored()
    result = quakegraph(*asked, settings=settings)

    assert 0 < before < EVENTS
    assert (ended.exit_code, result.exit_code) == (1, 0)
    if as_json:
        report: dict[str, Any] = json.loads(ended.stdout)
        assert report["error"] == {"code": "UPSTREAM_UNAVAILABLE", "message": message}
        assert (report["fetched"], report["upserted"], "fetchedBefore" in report) == (before, before, False)
        report = json.loads(result.stdout)
        assert (report["fetched"], report["fetchedBefore"]) == (EVENTS - before, before)
        assert (ended.stderr, result.stderr) == ("", "")
    else:
        assert ended.stdout == f"USGS: {before} fetched, {before} upserted, 0 revised, 0 skipped, 0 rejected\n"
        assert ended.stderr == f"Error: USGS: {message}\n"
        assert result.stdout.startswith(f"USGS: {EVENTS - before} fetched, ")
    assert stored() == EVENTS


def test_an_outage_before_anything_is_done_promises_nothing(usgs: UsgsServer, settings: dict[str, str]) -> None:
    usgs.answer_next(status(429, retry_after="61"))

    result = quakegraph(*ASKED, settings=settings)

    assert result.stderr == "Error: USGS: USGS is overloaded (status 429): try again in 61 seconds, as it asks.\n"
    assert result.exit_code == 1


@pytest.mark.parametrize("interrupted", [False, True])
def test_a_terminal_is_shown_how_many_of_the_events_have_come(
    folder: Path, usgs: UsgsServer, holdings: Holdings, settings: dict[str, str], interrupted: bool
) -> None:
    if interrupted:
        usgs.answer_next(*[usgs.catalogue] * ANSWERS, *[status(429, retry_after="61")] * 2)
        quakegraph(*ASKED, settings=settings)
        usgs.forget_answers()
        usgs.requests.clear()
    before = sum(holdings.given)
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "graph", *ASKED, "--json"]
    with Child(
        command, cwd=folder, env=environment(settings), stdout=subprocess.PIPE, stderr=theirs, text=True
    ) as process:
        os.close(theirs)
        shown = read_terminal(ours)
        output, _ = process.communicate(timeout=TIMEOUT_S)

    assert process.returncode == 0
    assert json.loads(output)["fetched"] == EVENTS - before
    shares = [int(part.rpartition(" ")[2]) for part in shown.split("%")[:-1]]
    assert shares == sorted(shares)
    assert (shares[0], shares[-1]) == (0, 100)
    assert len(set(shares)) >= (3 if interrupted else 6)
    assert shown.count("USGS") == len(shares)
    assert len([request for request in usgs.requests if request.path == FDSN_QUERY]) >= len(set(shares)) - 1
