"""The deliverer is killed again and again among deliveries to receivers that fail in every way. Nothing is lost.

Each event arrives at least once, always with the same id and body, an ordered endpoint gets them in order, and at the
end every state is right.
"""

import asyncio
import random
import signal
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, aclosing, contextmanager
from dataclasses import dataclass, field
from multiprocessing.process import BaseProcess
from pathlib import Path

import pytest

from graph.domain import Resources, Services
from graph.domains import DOMAINS
from graph.domains.triggers.endpoints import EndpointChanges, Endpoints
from graph.domains.triggers.entities import ATTEMPT, DELIVERY, QUEUE, TRIGGER_EVENT
from graph.domains.triggers.model import Endpoint, NewEvent
from graph.domains.triggers.outbox import Outbox
from graph.domains.triggers.queues import IDLE
from graph.opening import open_services, read_settings
from graph.store.contract import Database
from graph.store.entity import Item
from graph.store.query import Query
from tests.domains.entities import ENTITIES
from tests.domains.triggers.delivering.workshop import Hook
from tests.domains.triggers.sending.receivers import OK, Reply, receiving, saying, status, then_close
from tests.effort import THOROUGH
from tests.forking import forked
from tests.store.engines import new_store

KILLS = 20 if THOROUGH else 2  # with three deliverers, of which another one takes over
KILLS_OF_ONE = 3 if THOROUGH else 2  # which is started again
ROUNDS = 25 if THOROUGH else 8  # of four deliveries, before each kill
MOST_FAILURES = 3  # of one delivery, before it succeeds
RETRIES = ",".join(["0.3"] * 20)
DELIVERS = "This process delivers webhooks from now on"

SETTINGS = {
    "GRAPH_DELIVERER_LEASE": "1",
    "GRAPH_WEBHOOK_RETRIES": RETRIES,
    "GRAPH_WEBHOOK_TIMEOUT": "1",
    "GRAPH_WEBHOOK_HTTP": "true",
    "GRAPH_WEBHOOK_NETWORKS": "127.0.0.0/8",
}


async def hang(*_: object) -> None:
    """Never answer."""
    await asyncio.Event().wait()


async def slowly(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Take the delivery, after a while."""
    await asyncio.sleep(0.2)
    await OK(reader, writer)


FAILURES = (
    *(status(500), status(500), status(404), status(302, "location: http://169.254.169.254/")),
    *(status(429, "retry-after: 1"), hang, slowly, then_close(saying(b""))),
    *(then_close(saying(b"HTTP/1.1 200 OK\r\ncontent-le")), saying(b"\0\r\n\r\n")),
)


@dataclass
class Trouble:
    """A receiver of which a tenth of the deliveries fails up to three times, except for those of one user."""

    chosen: random.Random
    arrived: Counter[tuple[str, int]] = field(default_factory=Counter)

    def __call__(self, body: Item) -> Reply:
        user, number = body["data"]["user"], body["data"]["n"]
        self.arrived[user, number] += 1
        fails = self.arrived[user, number] <= MOST_FAILURES and self.chosen.random() < 0.1
        return self.chosen.choice(FAILURES) if fails and user != "cleo" else OK


class Deliverers:
    """Processes of `quakegraph deliver`, of which one delivers."""

    def __init__(self, store: str, folder: Path, number: int) -> None:
        self.kills = 0
        self._store = store
        self._folder = folder
        self._number = number
        self._running: list[tuple[BaseProcess, ExitStack, Path]] = []
        self._started = 0

    @contextmanager
    def run(self) -> Iterator[None]:
        """Run all of them within the `with`."""
        try:
            for _ in range(self._number):
                self._start()
            yield
        finally:
            for _, stack, _ in self._running:
                stack.close()

    def _start(self) -> None:
        self._started += 1
        log, stack = self._folder / f"{self._started}.log", ExitStack()
        log.touch()
        arguments = ("deliver", "--store", self._store)
        process = stack.enter_context(forked(*arguments, folder=self._folder, settings=SETTINGS, output=log))
        self._running.append((process, stack, log))

    def kill(self) -> bool:
        """Kill the one that delivers, and start another one. False if none delivers now."""
        for at, (process, stack, log) in enumerate(self._running):
            if DELIVERS in log.read_text():
                process.kill()
                process.join()
                assert process.exitcode == -signal.SIGKILL, log.read_text()
                stack.close()
                del self._running[at]
                self.kills += 1
                self._start()
                return True
        return False


@dataclass(frozen=True)
class Scene:
    """The endpoints of three users, of which one is ordered, and what creates their events."""

    services: Services
    endpoints: dict[str, list[Endpoint]]

    @classmethod
    async def prepare(cls, services: Services, url: str) -> "Scene":
        """Make the endpoints."""
        orders = {"ada": (False, False), "bea": (True,), "cleo": (False,)}
        endpoints = services.of(Endpoints)
        made = {
            user: [
                (await endpoints.create(user, f"{url}&{user}{n}", EndpointChanges(ordered=each)))[0]
                for n, each in enumerate(ordered)
            ]
            for user, ordered in orders.items()
        }
        return cls(services, made)

    @property
    def database(self) -> Database:
        return self.services.of(Resources).database

    @property
    def every(self) -> list[Endpoint]:
        return [endpoint for some in self.endpoints.values() for endpoint in some]

    async def create(self, rounds: range) -> None:
        """Create an event of each user for each of these numbers. It has two endpoints of ada, one of bea and cleo."""
        new = [NewEvent(user, "quake.felt", {"n": n, "user": user}, {}) for n in rounds for user in self.endpoints]
        await asyncio.gather(*[self.services.of(Outbox).create(event) for event in new])

    async def queues(self) -> list[Item]:
        """The endpoints' queues."""
        return list((await self.database.get_many([QUEUE.key_for(each.endpoint_id) for each in self.every])).values())

    async def rests(self) -> bool:
        """Whether every queue says that nothing waits."""
        return all(queue["due"] == IDLE and not queue["waiting"] for queue in await self.queues())

    async def of(self, endpoint: Endpoint) -> list[Item]:
        """The deliveries of an endpoint."""
        query = Query(entity=DELIVERY, partitions=((endpoint.endpoint_id, endpoint.user_id),))
        return list((await self.database.query(query)).items)

    async def attempts(self, endpoint: Endpoint) -> Counter[int]:
        """How many attempts are stored of each of an endpoint's deliveries."""
        query = Query(entity=ATTEMPT, partitions=((endpoint.endpoint_id, endpoint.user_id),))
        return Counter(item["sequence"] for item in (await self.database.query(query)).items)

    async def events(self, user: str) -> list[Item]:
        """A user's events."""
        return list((await self.database.query(Query(entity=TRIGGER_EVENT, partitions=((user,),)))).items)


@dataclass(frozen=True)
class Numbers:
    """What happened."""

    kills: int
    deliveries: int
    arrivals: int
    repeated: int  # arrivals whose result was lost


async def deliver_among_kills(store: str, folder: Path, deliverers: int, kills: int) -> Numbers:
    """Create events while deliverers run and are killed, and check what arrived and what is stored."""
    chosen, hook, processes = random.Random(20260803), Hook(), Deliverers(store, folder, deliverers)
    hook.choose = Trouble(chosen)
    settings = read_settings(
        DOMAINS, store=store, store_timeout=60.0, webhook_http=True, webhook_networks="127.0.0.0/8"
    )
    async with (
        receiving(hook) as hook.receiver,
        open_services(settings, DOMAINS) as services,
        aclosing(services.of(Resources).database.changes()) as changes,
    ):
        scene = await Scene.prepare(services, hook.receiver.url())
        with processes.run():
            for first in range(0, kills * ROUNDS, ROUNDS):
                before = len(hook.requests)
                await scene.create(range(first, first + ROUNDS))
                await hook.has(before + chosen.randrange(1, 4 * ROUNDS))
                await asyncio.sleep(chosen.random() * 0.05)
                while not processes.kill():
                    await anext(changes)
            while not await scene.rests():
                await anext(changes)
        return await _checked(scene, hook, processes.kills)


async def _checked(scene: Scene, hook: Hook, kills: int) -> Numbers:
    repeated = 0
    for user, endpoints in scene.endpoints.items():
        events = {event["event_id"]: event for event in await scene.events(user)}
        assert {event["status"] for event in events.values()} == {"delivered"}
        assert {(event["open_deliveries"], event["failed_deliveries"]) for event in events.values()} == {(0, 0)}
        retries = Counter[str]()
        for endpoint in endpoints:
            deliveries = await scene.of(endpoint)
            assert [each["sequence"] for each in deliveries] == list(range(1, len(events) + 1))
            assert {each["state"] for each in deliveries} == {"delivered"}
            assert await scene.attempts(endpoint) == {each["sequence"]: each["attempts"] for each in deliveries}
            retries.update({each["event_id"]: each["attempts"] - 1 for each in deliveries})
            repeated += _check_arrivals(hook, endpoint, deliveries, events) - sum(
                [each["attempts"] for each in deliveries]
            )
        assert retries == {event["event_id"]: event["retry_count"] for event in events.values()}
    for queue in await scene.queues():
        assert (queue["waiting"], queue["head"], queue["due"]) == (0, queue["sequence"] + 1, IDLE)
    return Numbers(kills, sum([queue["sequence"] for queue in await scene.queues()]), len(hook.requests), repeated)


def _check_arrivals(hook: Hook, endpoint: Endpoint, deliveries: list[Item], events: dict[str, Item]) -> int:
    """Check what arrived at an endpoint. Returns how many requests that were."""
    path = endpoint.url.partition("/hook")[2]
    arrived = [
        (body, request)
        for body, request in zip(hook.bodies, hook.requests, strict=True)
        if request.line == f"POST /hook{path} HTTP/1.1"
    ]
    assert {(body["sequence"], request.headers["webhook-id"]) for body, request in arrived} == {
        (each["sequence"], each["event_id"]) for each in deliveries
    }
    assert all(body["data"] == events[request.headers["webhook-id"]]["payload"] for body, request in arrived)
    assert len({request.body for _, request in arrived}) == len(deliveries)
    if endpoint.ordered:
        first = list(dict.fromkeys(body["sequence"] for body, _ in arrived))
        assert first == sorted(first)
    return len(arrived)


@pytest.mark.repeated
@pytest.mark.timeout(600)
@pytest.mark.parametrize(("deliverers", "kills"), [(1, KILLS_OF_ONE), (3, KILLS)])
async def test_each_event_arrives_although_deliverers_are_killed(
    engine: str, tmp_path: Path, deliverers: int, kills: int
) -> None:
    store = await new_store(engine, tmp_path, ENTITIES)

    numbers = await deliver_among_kills(store, tmp_path, deliverers, kills)

    assert (numbers.kills, numbers.deliveries) == (kills, 4 * kills * ROUNDS)
    assert numbers.arrivals >= numbers.deliveries
