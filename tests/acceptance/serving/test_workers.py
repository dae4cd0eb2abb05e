"""`quakegraph serve` with two workers: each serves, one polls, and all end together."""

import asyncio
import signal
from pathlib import Path

import httpx

from tests.children import descendants
from tests.domains.earthquakes.usgs.usgs_server import UsgsServer
from tests.processes import TIMEOUT_S, serving
from tests.serving.test_server import logs_in
from tests.subscribers import eventually


def test_each_worker_takes_the_token_and_flushes_its_logs_and_one_polls(tmp_path: Path, usgs: UsgsServer) -> None:
    options, settings = ("--poll", "3600", "--workers", "2"), {"GRAPH_JWT_SECRET": "", "GRAPH_USGS_URL": usgs.url}
    with serving(*options, folder=tmp_path, settings=settings) as server:
        server.wait_for_output("Polled USGS new=2124 revised=0 deleted=0 fetched=2124")
        server.wait_for_output("Application startup complete", times=2)
        address, _, token = server.address.partition("#token=")
        headers = {"Authorization": f"Bearer {token}"}
        mutation = {"query": "mutation { ingestEvents(input: {events: []}) { fetched } }"}
        for _ in range(4):
            answer = httpx.post(address, json=mutation, headers=headers, trust_env=False, timeout=TIMEOUT_S)
            assert answer.json() == {"data": {"ingestEvents": {"fetched": 0}}}
        assert server.end() == 0
    assert [request.path for request in usgs.requests] == ["/earthquakes/feed/v1.0/summary/all_month.geojson"]
    routes = [log["route"] for log in logs_in(tmp_path / "quakegraph.db")]
    assert routes.count("/ingest/events") == 4


async def test_workers_that_still_start_end_in_silence(tmp_path: Path) -> None:
    with serving("--workers", "2", folder=tmp_path) as server:
        await eventually(lambda: len(descendants(server.process.pid)) == 3)  # a tracker, and two that import
        assert await asyncio.to_thread(server.end, signal.SIGINT) == 0
        server.read_to_end()
    assert [line.partition(": ")[0] for line in server.output] == ["GraphiQL", "Dashboard"]
