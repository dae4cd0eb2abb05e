"""`quakegraph serve` with two workers: each serves, one polls, and all end together."""

import asyncio
import signal
from pathlib import Path

import httpx

from tests.children import descendants
from tests.domains.earthquakes.usgs.usgs_server import UsgsServer
from tests.processes import TIMEOUT_S, serving
from tests.serving.test_server import TOTAL, logs_in
from tests.subscribers import eventually


def test_each_worker_takes_the_token_and_flushes_its_logs(tmp_path: Path) -> None:
    with serving("--workers", "2", folder=tmp_path, settings={"GRAPH_JWT_SECRET": ""}) as server:
        address, _, token = server.address.partition("#token=")
        mutation = {"query": "mutation { ingestEvents(input: {events: []}) { fetched } }"}
        for _ in range(4):
            headers = {"Authorization": f"Bearer {token}"}
            answer = httpx.post(address, json=mutation, headers=headers, trust_env=False, timeout=TIMEOUT_S)
            assert answer.json() == {"data": {"ingestEvents": {"fetched": 0}}}
        assert server.end() == 0
    assert [log["route"] for log in logs_in(tmp_path / "quakegraph.db")] == ["/ingest/events"] * 4


def test_one_of_two_workers_polls_the_address_that_is_set(tmp_path: Path, usgs: UsgsServer) -> None:
    options = ("--poll", "3600", "--workers", "2")
    with serving(*options, folder=tmp_path, settings={"GRAPH_USGS_URL": usgs.url}) as server:
        server.wait_for_output("Polled USGS new=2124 revised=0 deleted=0 fetched=2124")
        server.wait_for_output("Application startup complete", times=2)
        assert server.ask(TOTAL).json() == {"data": {"events": {"totalCount": 2124}}}

    assert [request.path for request in usgs.requests] == ["/earthquakes/feed/v1.0/summary/all_month.geojson"]


async def test_workers_that_still_start_end_in_silence(tmp_path: Path) -> None:
    with serving("--workers", "2", folder=tmp_path) as server:
        await eventually(lambda: len(descendants(server.process.pid)) == 3)  # a tracker, and two that import
        assert await asyncio.to_thread(server.end, signal.SIGINT) == 0
        server.read_to_end()
    assert [line.partition(": ")[0] for line in server.output] == ["GraphiQL", "Dashboard"]
