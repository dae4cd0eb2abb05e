"""Our own provenance: every payload is a data file, every ingest a run, and each version of an event leads to both."""

import asyncio
from functools import partial
from hashlib import sha256
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest

from graph.core.clock import Clock
from graph.domains.data_files.entities import ENTITIES as OF_FILES
from graph.domains.data_files.entities import FILE
from graph.domains.data_files.provenance.recording import Runs
from graph.domains.data_files.reading import DataFiles
from graph.domains.earthquakes.entities import EVENT_SEQUENCE
from graph.domains.earthquakes.usgs.requests import RecentEvents
from graph.domains.payload_files.files import IngestRun, files_of_changes
from graph.domains.payloads.rebuilding import rebuild
from graph.domains.payloads.receiving import Recorder
from graph.domains.payloads.versions import PayloadVersions
from graph.store.contract import Database, Put
from tests.domains.earthquakes.ingest.ingests import a_feature, file_of
from tests.domains.earthquakes.usgs.usgs_server import UsgsServer, collection, week_features
from tests.domains.earthquakes.watched_database import WatchedDatabase
from tests.domains.entities import ENTITIES
from tests.domains.payloads.kept import a_keeper, with_floats
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
        keeper.payloads.add(recorder(keeper.database, keeper.clock))
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
        keeper.payloads.add(recorder(keeper.database, keeper.clock))
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
