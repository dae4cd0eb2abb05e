"""The service is killed under a hundred mutations at once: what it acknowledged is there, and all of it is counted."""

import asyncio
import random
import signal
from pathlib import Path
from typing import Any

import httpx
import pytest

from graph.store.location import StoreLocation
from tests.bearers import bearer
from tests.domains.earthquakes.builders import NOON
from tests.domains.earthquakes.ingest.ingests import events_in, recounted, summaries_in
from tests.domains.earthquakes.usgs.usgs_server import UsgsServer
from tests.domains.entities import ENTITIES
from tests.effort import rounds
from tests.faults.ingests import INGEST
from tests.forking import serving
from tests.processes import TIMEOUT_S, Server
from tests.service import running
from tests.settings import Settings
from tests.store.engines import new_store

CLIENTS = 100
EVENTS_A_MUTATION = 5
KILL_AFTER = (20, 1, 150)[: rounds(3, at_least=1)]  # acknowledged mutations


class Clients:
    """A hundred, each of whom sends one mutation after the other until the service is gone."""

    def __init__(self, url: str, round_: int, kill_after: int) -> None:
        self._url = url
        self._round = round_
        self._kill_after = kill_after
        self.acknowledged: set[str] = set()
        self._mutations = 0
        self.enough = asyncio.Event()

    async def run(self) -> None:
        limits = httpx.Limits(max_connections=CLIENTS)
        async with httpx.AsyncClient(headers=bearer(), timeout=TIMEOUT_S, limits=limits, trust_env=False) as http:
            await asyncio.gather(*[self._mutate(http, number) for number in range(CLIENTS)])

    async def _mutate(self, http: httpx.AsyncClient, number: int) -> None:
        chosen = random.Random(self._round * CLIENTS + number)
        for turn in range(1000):
            events = [self._event(number, turn, which, chosen) for which in range(EVENTS_A_MUTATION)]
            try:
                body = {"query": INGEST, "variables": {"events": events}}
                answer = (await http.post(self._url, json=body)).json()
            except (httpx.TransportError, ValueError):
                return  # it is gone
            assert answer.keys() == {"data"}, answer
            self.acknowledged.update(event["eventId"] for event in events)
            self._mutations += 1
            if self._mutations >= self._kill_after:
                self.enough.set()

    def _event(self, number: int, turn: int, which: int, chosen: random.Random) -> dict[str, Any]:
        name = f"r{self._round}c{number}t{turn}w{which}"
        time = NOON - chosen.randrange(40) * 86_400_000 - chosen.randrange(1000)
        return {"eventId": name, "eventTsMs": time, "mag": chosen.randrange(70) / 10, "lat": 0, "lon": 0}


async def kill_under_load(server: Server, round_: int, kill_after: int) -> set[str]:
    """What was acknowledged before the service was killed."""
    clients = Clients(server.url, round_, kill_after)
    mutating = asyncio.create_task(clients.run())
    await clients.enough.wait()
    server.process.send_signal(signal.SIGKILL)
    await mutating
    await asyncio.to_thread(server.process.wait, TIMEOUT_S)
    return clients.acknowledged


@pytest.mark.repeated
async def test_events_acknowledged_before_a_kill_are_stored_and_counted(
    engine: str, tmp_path: Path, usgs: UsgsServer
) -> None:
    store = await new_store(engine, tmp_path, ENTITIES)
    acknowledged: set[str] = set()
    stored = 0

    for round_, kill_after in enumerate(KILL_AFTER):
        with serving("--store", store, folder=tmp_path) as server:
            acknowledged |= await kill_under_load(server, round_, kill_after)

        async with StoreLocation.of(store).open(ENTITIES, timeout_s=TIMEOUT_S) as database:
            # DynamoDB goes on with what it was sent before the kill.
            async with asyncio.timeout(TIMEOUT_S):
                while await summaries_in(database) != await recounted(database):
                    assert engine == "dynamodb"
            events = await events_in(database)
            assert acknowledged <= events.keys()
            stored = len(events)

    with running(Settings(store=store, usgs_url=usgs.url)) as service:
        answer = await asyncio.to_thread(service.ask, "{ events { totalCount } }")
        assert answer == {"events": {"totalCount": stored}}
