"""`quakegraph ingest` from files: each form, the line or JSON object about it, the progress bar, the exit status.

With `--from` and `--to`, also of more events than USGS gives at once: how it ends, and how it goes on.
"""

import asyncio
import gzip
import json
import re
import signal
import threading
from hashlib import sha256
from pathlib import Path
from typing import Any
from uuid import UUID

import orjson
import pytest
from starlette.types import Receive, Scope, Send

from graph.store.sqlite import open_sqlite
from tests.domains.earthquakes.ingest.ingests import a_feature, events_in
from tests.domains.earthquakes.usgs.usgs_server import Holdings, UsgsServer, stall, status, week, week_features
from tests.domains.entities import ENTITIES
from tests.forking import assert_progress, on_a_terminal
from tests.processes import TIMEOUT_S, quakegraph, started

pytestmark = pytest.mark.usefixtures("folder")


def lines(features: list[Any]) -> bytes:
    return b"".join(orjson.dumps(feature) + b"\n" for feature in features)


SOME = week_features()[:200]
COLLECTION = orjson.dumps({"type": "FeatureCollection", "features": SOME})
FORMS = {
    "some.ndjson.gz": gzip.compress(lines(SOME)),
    "some": gzip.compress(COLLECTION),  # the name says nothing
}
GOOD, BAD = a_feature("us1"), a_feature("us2", mag=None)


# Files


@pytest.mark.parametrize("name", FORMS)
def test_a_file_of_any_form_is_ingested_once_also_from_standard_input(name: str) -> None:
    Path(name).write_bytes(FORMS[name])

    first = quakegraph("ingest", "-", stdin=FORMS[name])
    again = quakegraph("ingest", name)

    assert first.stdout == "-: 200 fetched, 200 upserted, 0 revised, 0 skipped, 0 rejected\n"
    assert again.stdout == f"{name}: 200 fetched, 0 upserted, 0 revised, 200 skipped, 0 rejected\n"
    assert (first.stderr, first.exit_code, again.stderr, again.exit_code) == ("", 0, "", 0)


def test_each_file_has_its_own_report() -> None:
    Path("one.ndjson").write_bytes(lines([GOOD, BAD]) + lines([a_feature("@")]).replace(b'"@"', b"1e400"))
    Path("broken.geojson").write_bytes(b'{"type": "FeatureCollection", "features": [' + orjson.dumps(a_feature("us3")))
    Path("two.ndjson").write_bytes(lines([GOOD, a_feature("us4")]))

    result = quakegraph("ingest", "one.ndjson", "broken.geojson", "two.ndjson")

    assert result.exit_code == 1
    assert result.stdout.splitlines() == [
        "one.ndjson: 3 fetched, 1 upserted, 0 revised, 0 skipped, 2 rejected",
        "  us2: MAGNITUDE_MISSING: The event has no magnitude yet. A later ingest takes it once it has one.",
        "  (no id): FEATURE_UNREADABLE: Feature 3 is unreadable: it holds a number out of range.",
        "broken.geojson: 1 fetched, 1 upserted, 0 revised, 0 skipped, 0 rejected",
        "two.ndjson: 2 fetched, 1 upserted, 0 revised, 1 skipped, 0 rejected",
    ]
    assert result.stderr == "Error: broken.geojson: The JSON breaks off before its end.\n"


def test_five_rejections_are_printed_and_the_rest_counted() -> None:
    Path("bad.ndjson").write_bytes(lines([GOOD, *[a_feature(f"us{n}", mag=None) for n in range(1100)], {}]))

    said = quakegraph("ingest", "bad.ndjson").stdout.splitlines()

    assert said[0] == "bad.ndjson: 1,102 fetched, 1 upserted, 0 revised, 0 skipped, 1,101 rejected"
    assert [line.split(":")[0] for line in said[1:6]] == ["  us0", "  us1", "  us2", "  us3", "  us4"]
    assert said[6:] == ["  and 1,096 more"]


STATUSES: list[tuple[bytes, int]] = [
    (lines([GOOD]), 0),
    (lines([GOOD, BAD]), 0),
    (lines([BAD, GOOD, GOOD]), 0),
    (lines([BAD]), 1),
    (b'{"type": "FeatureCollection", "features": []}', 0),
    (b"", 1),
    (b"Dear reader,", 1),
    (b'{"type": "Topology", "objects": {}}', 1),
    (gzip.compress(COLLECTION)[:-9], 1),
]


def test_the_exit_status_is_1_if_a_file_was_not_read_or_all_its_events_were_rejected() -> None:
    for content, exit_code in STATUSES:
        Path("some").write_bytes(content)
        assert quakegraph("ingest", "some").exit_code == exit_code, content[:50]
        assert quakegraph("ingest", "--json", "some").exit_code == exit_code, content[:50]
    missing = quakegraph("ingest", "none.geojson")
    assert missing.exit_code == 2
    assert missing.stderr.splitlines()[-1].endswith("File 'none.geojson' does not exist.")


# JSON


def test_json_is_an_object_a_source_with_the_names_of_the_graph() -> None:
    Path("week.geojson").write_bytes(week())
    Path("bad.ndjson").write_bytes(lines([BAD]))
    Path("no.txt").write_bytes(b"Dear reader,")

    result = quakegraph("ingest", "--json", "week.geojson", "bad.ndjson", "no.txt")

    whole, bad, no = [json.loads(line) for line in result.stdout.splitlines()]
    UUID(whole["requestId"], version=4)
    assert whole.pop("latencyMs") >= 0
    assert whole == {
        "source": "week.geojson",
        "requestId": whole["requestId"],
        "fetched": 2124,
        "upserted": 2124,
        "revised": 0,
        "deleted": 0,
        "skipped": 0,
        "rejected": 0,
        "rejections": [],
        "truncated": False,
        "retries": 0,
        "upstreamSize": 1_502_447,
        "upstreamHash": sha256(week()).hexdigest(),
    }
    assert bad["rejections"] == [
        {
            "eventId": "us2",
            "code": "MAGNITUDE_MISSING",
            "message": "The event has no magnitude yet. A later ingest takes it once it has one.",
            "index": 0,
        }
    ]
    assert (no["source"], no["fetched"], no["error"]["code"]) == ("no.txt", 0, "INVALID_UPSTREAM_RESPONSE")
    assert no["error"]["message"].startswith("This is neither a GeoJSON FeatureCollection nor ")
    assert (result.exit_code, result.stderr) == (1, "")


# Store and terminal


def test_a_terminal_is_shown_how_far_the_ingest_is(folder: Path) -> None:
    (folder / "week.ndjson.gz").write_bytes(gzip.compress(lines(week_features())))

    shown, output = on_a_terminal("ingest", "--json", "week.ndjson.gz", folder=folder)

    assert json.loads(output)["upserted"] == 2124
    assert_progress(shown, "week.ndjson.gz")


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
