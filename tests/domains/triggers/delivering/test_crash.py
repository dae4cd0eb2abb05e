"""The deliverer is killed again and again among deliveries to receivers that fail in every way. Nothing is lost.

Each event arrives at least once, always with the same id and body, an ordered endpoint gets them in order, and at the
end every state is right. A watch is told of each earthquake once, whichever process follows the catalogue.
"""

import asyncio
import random
import signal
from collections import Counter
from contextlib import ExitStack, aclosing
from multiprocessing.process import BaseProcess
from pathlib import Path

import pytest

from graph.core.clock import now_ms
from graph.domains.triggers.model import Endpoint, NewTriggerEvent
from graph.domains.watches.model import ChangeKind
from graph.store.location import StoreLocation
from tests.domains.earthquakes.revisions.histories import Source, a_record
from tests.domains.entities import ENTITIES
from tests.domains.triggers.delivering.arrivals import FAILURES, Trouble, assert_all_arrived
from tests.domains.triggers.delivering.workshop import Hook, Workshop, a_workshop_on
from tests.domains.triggers.sending.receivers import OK, receiving, status
from tests.effort import THOROUGH
from tests.forking import forked
from tests.processes import TIMEOUT_S
from tests.store.engines import new_store
from tests.store.samples import HeldClock

DELIVERERS = 2  # at a time, of which one delivers
KILLS = {"sqlite": 20 if THOROUGH else 2, "dynamodb": 20 if THOROUGH else 1}
ROUNDS = 25 if THOROUGH else 6  # of five deliveries, before each kill
DELIVERS = "This process delivers webhooks from now on"

SETTINGS = {
    "GRAPH_DELIVERER_LEASE": "1",
    "GRAPH_WEBHOOK_RETRIES": ",".join(["0.3"] * 20),
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


class RealClock(HeldClock):
    """The time of all processes."""

    def __call__(self) -> int:
        return now_ms()


class Deliverers:
    """Processes of `quakegraph deliver`, of which one delivers. A stack ends them."""

    def __init__(self, store: str, folder: Path, stack: ExitStack) -> None:
        self.kills = 0
        self._store = store
        self._folder = folder
        self._stack = stack
        self._running = [self._start(number) for number in range(DELIVERERS)]

    def _start(self, number: int) -> tuple[BaseProcess, Path]:
        log = self._folder / f"{number}.log"
        log.touch()
        arguments = ("deliver", "--store", self._store)
        starting = forked(*arguments, folder=self._folder, settings=SETTINGS, output=str(log))
        return self._stack.enter_context(starting), log

    def kill(self) -> bool:
        """Kill the one that delivers, and start another one. False if none delivers now."""
        for at, (process, log) in enumerate(self._running):
            if DELIVERS in log.read_text():
                process.kill()
                process.join()
                assert process.exitcode == -signal.SIGKILL, log.read_text()
                self._running[at] = self._start(DELIVERERS + self.kills)
                self.kills += 1
                return True
        return False


async def endpoints_of(shop: Workshop) -> list[Endpoint]:
    """Two endpoints of ada, an ordered one of bea, and one of cleo's watch of all earthquakes."""
    made = [
        await shop.endpoint(user, query=f"&{user}{n}", ordered=ordered)
        for user, n, ordered in (("ada", 1, False), ("ada", 2, False), ("bea", 1, True), ("cleo", 1, False))
    ]
    await shop.watches.create("cleo", "All", {}, tuple(ChangeKind), made[-1].endpoint_id)
    return made


async def create(shop: Workshop, source: Source, rounds: range) -> None:
    """Create an event of ada and of bea and an earthquake for each of these numbers."""
    new = [NewTriggerEvent(user, "quake.felt", {"n": n, "user": user}, {}) for n in rounds for user in ("ada", "bea")]
    said = source.say(*[a_record(f"us{n}") for n in rounds])
    await asyncio.gather(said, *[shop.outbox.create(event) for event in new])


async def rests(shop: Workshop, endpoints: list[Endpoint], events: int) -> bool:
    """Whether every endpoint has got so many events, and nothing waits."""
    queues = [await shop.queue(endpoint) for endpoint in endpoints]
    return all((queue["sequence"], queue["waiting"]) == (events, 0) for queue in queues) and not [
        endpoint for endpoint in endpoints if not await shop.is_at_rest(endpoint)
    ]


@pytest.mark.repeated
@pytest.mark.timeout(600)
async def test_each_event_arrives_although_deliverers_are_killed(engine: str, tmp_path: Path) -> None:
    store, kills = await new_store(engine, tmp_path, ENTITIES), KILLS[engine]
    chosen, hook = random.Random(20260803), Hook()
    hook.choose = Trouble(chosen, 0.1, 3, (*FAILURES, status(429, "retry-after: 1"), hang, slowly))
    clock = RealClock()
    async with (
        receiving(hook) as hook.receiver,
        StoreLocation.of(store).open(ENTITIES, timeout_s=TIMEOUT_S, clock=clock) as database,
        a_workshop_on(database, clock, hook) as shop,
        aclosing(database.changes()) as changes,
    ):
        endpoints = await endpoints_of(shop)
        source = Source(database)
        with ExitStack() as stack:
            processes = Deliverers(store, tmp_path, stack)
            for first in range(0, kills * ROUNDS, ROUNDS):
                before = len(hook.requests)
                await create(shop, source, range(first, first + ROUNDS))
                await hook.has(before + chosen.randrange(1, 4 * ROUNDS))
                await asyncio.sleep(chosen.random() * 0.05)
                while not processes.kill():
                    await anext(changes)
            while not await rests(shop, endpoints, kills * ROUNDS):
                await anext(changes)
        await assert_all_arrived(shop, *endpoints)

        assert processes.kills == kills
        told = Counter(event.payload["earthquake"]["eventId"] for event in await shop.events("cleo"))
        assert told == {f"us{n}": 1 for n in range(kills * ROUNDS)}
