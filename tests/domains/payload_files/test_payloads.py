"""Our own provenance: every payload is a data file, every ingest a run, and each version of an event leads to both.

The run of an ingest costs two transactions and no reading, and ends however the ingest ends.
"""

import asyncio
import signal
import subprocess
from functools import partial
from hashlib import sha256
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest

from graph.core.clock import Clock, now_ms
from graph.core.uuid7 import uuid7
from graph.domains.data_files.entities import ENTITIES as OF_FILES
from graph.domains.data_files.entities import FILE, RUN
from graph.domains.data_files.model import Run, RunState
from graph.domains.data_files.provenance.abandoned import EVERY_MS, LONGEST_MS, RUNS_AT_ONCE, AbandonedRuns
from graph.domains.data_files.provenance.recording import Runs
from graph.domains.data_files.provenance.reports import RunReport
from graph.domains.data_files.reading import DataFiles
from graph.domains.earthquakes.entities import EVENT_SEQUENCE
from graph.domains.earthquakes.ingest.ingest import EVENTS_ROUTE
from graph.domains.earthquakes.ingest.payload import JSON, json_body
from graph.domains.earthquakes.ingest.report import IngestReport
from graph.domains.earthquakes.usgs.requests import RecentEvents
from graph.domains.payload_files.files import IngestRun, files_of_changes
from graph.domains.payloads.model import Payload
from graph.domains.payloads.rebuilding import rebuild
from graph.domains.payloads.receiving import Recorder
from graph.domains.payloads.versions import PayloadVersions
from graph.store.contract import Database, Put
from graph.store.location import StoreLocation
from tests.domains.data_files.in_store import data_files, references
from tests.domains.earthquakes.ingest.ingests import NOW, a_feature, file_of
from tests.domains.earthquakes.usgs.usgs_server import UsgsServer, collection, week_features
from tests.domains.earthquakes.watched_database import WatchedDatabase
from tests.domains.entities import ENTITIES
from tests.domains.payloads.kept import a_keeper, with_floats
from tests.domains.watches.cuts import Cut
from tests.processes import TIMEOUT_S, started
from tests.service import Service, running
from tests.settings import Settings
from tests.store.engines import empty_database, new_store
from tests.store.samples import HeldClock

INGEST = "mutation { ingestRecent(input: {feed: ALL_WEEK}) { upserted revised } }"
EVENTS = """{ events(first: 50) { nodes { eventId revision: revisions(first: 5) { nodes {
    number sourceFile { name } } } sourceFile { name level product size checksum url applicableDates revision } } } }"""
VERSIONS = """query ($name: String!) { dataFile(name: $name) { eventVersions(first: 50) {
    nodes { number event { eventId } sourceFile { name } } } } }"""


def versions_of(service: Service, name: str) -> list[tuple[str, int]]:
    """The versions that a file brought."""
    nodes = service.ask(VERSIONS, {"name": name})["dataFile"]["eventVersions"]["nodes"]
    assert {node["sourceFile"]["name"] for node in nodes} <= {name}
    return sorted((node["event"]["eventId"], node["number"]) for node in nodes)


def revised(features: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{**each, "properties": {**each["properties"], "mag": 2.25, "updated": 2**41}} for each in features]


def test_an_event_leads_to_its_file_and_the_file_to_its_versions(
    engine: str, tmp_path: Path, usgs: UsgsServer, clock: HeldClock
) -> None:
    features = week_features()[:45]
    store = asyncio.run(new_store(engine, tmp_path, ENTITIES))
    with running(Settings(store=store, usgs_url=usgs.url), clock=clock) as service:
        usgs.hold(features)
        assert service.ask(INGEST) == {"ingestRecent": {"upserted": 45, "revised": 0}}
        clock.now += 1000
        usgs.hold(revised(features[:5]))
        assert service.ask(INGEST) == {"ingestRecent": {"upserted": 0, "revised": 5}}

        events = {node["eventId"]: node for node in service.ask(EVENTS)["events"]["nodes"]}
        changed, unchanged = (events[features[at]["id"]] for at in (0, 44))
        first, second = unchanged["sourceFile"], changed["sourceFile"]
        assert [node["sourceFile"]["name"] for node in changed["revision"]["nodes"]] == [first["name"], second["name"]]
        body = collection(features).body
        assert first == {
            "name": first["name"],
            "level": "L0",
            "product": "USGS",
            "size": len(body),
            "checksum": sha256(body).hexdigest(),
            "url": "https://earthquake.usgs.gov/earthquakes/feed/v1.0/summary/all_week.geojson",
            "applicableDates": ["2023-11-14"],
            "revision": 1,
        }
        assert versions_of(service, first["name"]) == sorted((each["id"], 1) for each in features)
        assert versions_of(service, second["name"]) == sorted((each["id"], 2) for each in features[:5])
        service.ask('mutation { registerFiles(input: {files: [{name: "LIBERA_L0.pds"}]}) { registered } }')
        assert versions_of(service, "LIBERA_L0.pds") == []  # which is no payload


async def test_the_files_of_many_changes_take_two_readings(tmp_path: Path) -> None:
    async with a_keeper("sqlite", tmp_path) as keeper:
        keeper.payloads.recorders.append(recorder(keeper.database, keeper.clock))
        for number in range(10):
            await keeper.ingest.file(file_of([a_feature(f"us{number}")]))
        await keeper.database.put(Put(EVENT_SEQUENCE.change, {"number": 17, "eventIds": ["of no payload"]}))
        watched = WatchedDatabase(keeper.database)

        found = await files_of_changes(DataFiles(watched), PayloadVersions(watched), range(1, 20))

        assert found.keys() == set(range(1, 11))
        assert len({file.name for file in found.values()}) == 10
        assert [entity for entity, _ in watched.gets] == [EVENT_SEQUENCE.change, FILE]
        assert watched.gets[0][1] == frozenset({"payload"})


async def test_rebuilding_registers_the_files_and_runs_again(engine: str, usgs: UsgsServer, tmp_path: Path) -> None:
    async with a_keeper(engine, tmp_path, usgs.url) as keeper:
        keeper.payloads.recorders.append(recorder(keeper.database, keeper.clock))
        usgs.hold(week_features()[:20])
        await keeper.ingest.recent(RecentEvents())
        await keeper.ingest.file(file_of([a_feature("us1")]))
        with pytest.raises(Exception, match="breaks off"):
            await keeper.ingest.file(BytesIO(file_of([a_feature("us2")]).getvalue()[:-2]))
        ours = await files_and_runs(keeper.database)

    async with empty_database(engine, ENTITIES) as database:
        await rebuild(database, tmp_path, lambda progress: None, [recorder(database, keeper.clock)])
        assert await files_and_runs(database) == ours


def recorder(database: Database, clock: Clock) -> Recorder:
    return partial(IngestRun, Runs(database, clock))


async def files_and_runs(database: Database) -> list[Any]:
    """What is stored of files and runs, but for when it was registered and by which report."""
    differs = {"registered-at", "recorded-at", "report", "reports", "ingest-time"}
    items = [(entity.name, item) for entity in OF_FILES async for item in database.scan(entity)]
    return sorted(
        (name, sorted((key, str(value)) for key, value in with_floats(item).items() if key not in differs))
        for name, item in items
    )


DELETION = {"event_id": "us1", "status": "deleted"}


async def runs_in(database: Database) -> list[Run]:
    return [Run(item) async for item in database.scan(RUN)]


async def states_in(database: Database) -> list[RunState]:
    return [run.state for run in await runs_in(database)]


def abandoned_runs(database: Database, clock: Clock) -> AbandonedRuns:
    return AbandonedRuns(database, Runs(database, clock), clock)


async def end_abandoned(database: Database, now: int) -> None:
    """Do what a process does that looks for abandoned runs at this time."""
    runs = abandoned_runs(database, lambda: now)
    await runs.lease.run_if_due(runs.end)


def reported(run_id: str, state: RunState) -> RunReport:
    return RunReport(algorithm="told by others", run_id=run_id, state=state)


def a_payload(at: int = NOW) -> Payload:
    return Payload(uuid7(at), EVENTS_ROUTE, JSON, at, size=2, sha256="0" * 64)


async def test_each_ingest_is_a_run_of_two_transactions_and_no_reading_that_uses_its_payload(
    engine: str, tmp_path: Path
) -> None:
    async with a_keeper(engine, tmp_path) as keeper:
        watched = WatchedDatabase(keeper.database)
        keeper.payloads.recorders.append(partial(IngestRun, Runs(watched, keeper.clock)))
        await keeper.ingest.events([DELETION])
        # The run, the edge to its file, the file, its revision, its day, and the number of the day's files.
        assert watched.transactions == [6, 1]
        assert (watched.gets, watched.calls) == ([], [])

        await keeper.ingest.file(file_of([a_feature()]))
        with pytest.raises(Exception, match="breaks off"):
            await keeper.ingest.file(BytesIO(file_of([a_feature()]).getvalue()[:-2]))
        runs = sorted(await runs_in(keeper.database), key=lambda run: run.run_id)
        files = await DataFiles(keeper.database).by_name([version.name for run in runs for version in run.used])
        assert [(run.algorithm, run.state) for run in runs] == [
            ("ingest-events", RunState.COMPLETE),
            ("ingest-files", RunState.COMPLETE),
            ("ingest-files", RunState.FAILED),
        ]
        names = [f"events-{runs[0].run_id}.json", *(f"file-{run.run_id}.geojson" for run in runs[1:])]
        assert [references(run.used) for run in runs] == [[f"{name}@1"] for name in names]
        assert files.keys() == set(names)


async def test_a_payload_that_is_received_again_is_recorded_once(engine: str) -> None:
    async with data_files(engine) as ours:
        runs = Runs(ours.database, HeldClock())
        payload = a_payload()
        await IngestRun(runs).received(payload)
        before = await ours.everything()
        await IngestRun(runs).received(payload)
        assert await ours.everything() == before
        assert [run.state for run in await runs_in(ours.database)] == [RunState.RUNNING]


@pytest.mark.parametrize("cut_off", ["run", "ingest"])
async def test_an_ingest_that_is_cancelled_leaves_no_open_run(engine: str, cut_off: str, tmp_path: Path) -> None:
    async with a_keeper(engine, tmp_path) as keeper:
        cut = Cut(keeper.database, "cancelled")
        cut.left = 1
        keeper.payloads.recorders.append(
            partial(IngestRun, Runs(cut if cut_off == "run" else keeper.database, keeper.clock))
        )
        ingest = keeper.through(cut) if cut_off == "ingest" else keeper.ingest
        with pytest.raises(asyncio.CancelledError):
            await asyncio.create_task(ingest.file(file_of([a_feature()])))
        cut.left = 0
        await keeper.ingest.events([DELETION])
        await keeper.payloads.close()

        cancelled, done = sorted(await runs_in(keeper.database), key=lambda run: run.run_id)
        assert (cancelled.algorithm, cancelled.state) == ("ingest-files", RunState.ABORTED)
        assert "ended-at" in cancelled.item
        assert (done.algorithm, done.state) == ("ingest-events", RunState.COMPLETE)


async def test_an_ingest_that_completes_after_its_run_was_ended_is_complete(engine: str, tmp_path: Path) -> None:
    async with a_keeper(engine, tmp_path) as keeper:
        keeper.payloads.recorders.append(partial(IngestRun, Runs(keeper.database, keeper.clock)))
        body = partial(json_body, [])
        async with keeper.payloads.receive(EVENTS_ROUTE, IngestReport(), body=body, media_type=JSON):
            await end_abandoned(keeper.database, NOW + 2 * LONGEST_MS)
            (run,) = await runs_in(keeper.database)
            assert run.state is RunState.ABORTED
            assert "ended-at" not in run.item  # nobody knows when

        (ended,) = await runs_in(keeper.database)
        assert ended.state is RunState.COMPLETE
        assert ended.used == run.used != []
        await end_abandoned(keeper.database, NOW + 4 * LONGEST_MS)
        assert await states_in(keeper.database) == [RunState.COMPLETE]


async def test_only_runs_of_this_service_that_are_open_for_long_are_ended(engine: str) -> None:
    async with data_files(engine) as ours:
        runs = Runs(ours.database, HeldClock())
        old, ended, young = a_payload(NOW), a_payload(NOW), a_payload(NOW + EVERY_MS)
        for payload in (old, ended, young):
            await IngestRun(runs).received(payload)
        await runs.record(reported(ended.payload_id, RunState.FAILED))
        await runs.record(reported(other := uuid7(NOW), RunState.RUNNING))

        await end_abandoned(ours.database, NOW + LONGEST_MS)

        assert {run.run_id: run.state for run in await runs_in(ours.database)} == {
            old.payload_id: RunState.ABORTED,
            ended.payload_id: RunState.FAILED,
            young.payload_id: RunState.RUNNING,
            other: RunState.RUNNING,
        }


async def test_many_abandoned_runs_are_ended_some_at_a_time() -> None:
    async with data_files("sqlite") as ours:
        runs = Runs(ours.database, HeldClock())
        for number in range(RUNS_AT_ONCE + 1):
            await IngestRun(runs).received(a_payload(NOW + number))
        now = NOW + 2 * LONGEST_MS
        abandoned = abandoned_runs(ours.database, lambda: now)

        assert await abandoned.lease.run_if_due(abandoned.end) == now
        assert (await states_in(ours.database)).count(RunState.RUNNING) == 1
        assert await abandoned.lease.run_if_due(abandoned.end) == now + EVERY_MS
        assert set(await states_in(ours.database)) == {RunState.ABORTED}


async def test_a_run_whose_process_is_interrupted_is_ended(tmp_path: Path) -> None:
    store = await new_store("sqlite", tmp_path, ENTITIES)
    async with StoreLocation.of(store).open(ENTITIES, clock=now_ms, timeout_s=TIMEOUT_S) as database:
        with started("ingest", "-", "--store", store, folder=tmp_path, stdin=subprocess.PIPE) as process:
            assert process.stdin is not None
            begin = '{"type": "FeatureCollection", "features": [' + " " * 200_000  # more than a pipe holds
            await asyncio.to_thread(process.stdin.write, begin)  # until the process has read some of it
            async with asyncio.timeout(TIMEOUT_S):
                while await states_in(database) != [RunState.RUNNING]:
                    assert process.poll() is None
            process.send_signal(signal.SIGINT)
            process.communicate(timeout=TIMEOUT_S)  # which ends its input

        assert await states_in(database) == [RunState.ABORTED]
