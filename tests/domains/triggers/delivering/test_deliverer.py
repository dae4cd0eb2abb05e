"""A deliverer finds what is due, by itself and as soon as it is told, and one endpoint's trouble is no other's.

It is killed again and again among deliveries to receivers that fail in every way. Nothing is lost.
"""

import asyncio
import random
import signal
from collections import Counter
from collections.abc import Awaitable, Callable, Collection
from contextlib import ExitStack, aclosing
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any, TypeVar

import pytest

from graph.core.clock import now_ms
from graph.domains.triggers.delivering.deliverer import LEAST_AT_ONCE, MOST_AT_ONCE, OTHER_FILES, slots_beside
from graph.domains.triggers.delivering.worker import AT_ONCE, FEW_AT_ONCE
from graph.domains.triggers.entities import QUEUE
from graph.domains.triggers.model import Endpoint, NewTriggerEvent
from graph.domains.triggers.queues import new_queue
from graph.domains.watches.model import ChangeKind
from graph.runtime.open_files import most_open_files
from graph.store.contract import Database, Put
from graph.store.location import StoreLocation
from tests.domains.earthquakes.revisions.histories import Source, a_record
from tests.domains.earthquakes.watched_database import LaggingDatabase
from tests.domains.entities import ENTITIES
from tests.domains.triggers.delivering.arrivals import FAILURES, Trouble, assert_all_arrived
from tests.domains.triggers.delivering.workshop import Hook, Workshop, a_workshop, a_workshop_on, running
from tests.domains.triggers.sending.receivers import OK, receiving, status
from tests.domains.watches.cuts import Intercepted, lose_connection
from tests.effort import THOROUGH
from tests.forking import forked
from tests.processes import TIMEOUT_S
from tests.store.engines import new_store
from tests.store.samples import HeldClock

T = TypeVar("T")


async def at_rest(shop: Workshop, endpoint: Endpoint) -> None:
    """Wait until nothing of an endpoint waits."""
    async with asyncio.timeout(TIMEOUT_S), aclosing(shop.database.changes()) as changes:
        while not await shop.is_at_rest(endpoint):
            await anext(changes)


async def test_it_finds_what_is_due_at_the_start_and_what_other_processes_store(any_shop: Workshop) -> None:
    shop = any_shop
    endpoint = await shop.endpoint()
    await shop.event()
    async with running(shop.deliverer()):
        await shop.counted.are(1)
        await shop.event()
        await shop.counted.are(2)
        await at_rest(shop, endpoint)

    assert shop.hook.sequences == [1, 2]


async def test_it_delivers_at_once_what_it_is_told_of() -> None:
    async with a_workshop(wrap=lambda real: LaggingDatabase(real, [])) as shop:
        endpoint = await shop.endpoint()
        assert isinstance(shop.database, LaggingDatabase)
        shop.database.hidden = {QUEUE.key_for(endpoint.endpoint_id)}  # so that it is not found
        deliverer = shop.deliverer()
        shop.outbox.listeners.append(deliverer.wake)
        await shop.event()  # it does not run yet
        async with running(deliverer):
            await asyncio.sleep(0)
            for number in range(2, 20):
                await shop.event()
                await shop.counted.are(number)
            await at_rest(shop, endpoint)

        assert shop.hook.sequences == list(range(1, 20))


def test_requests_leave_room_for_the_connections_of_clients() -> None:
    left = most_open_files() - OTHER_FILES

    assert slots_beside(left - 70).number == 70
    assert slots_beside(left).number == LEAST_AT_ONCE  # however few files are left
    assert slots_beside(left - 2 * MOST_AT_ONCE).number == MOST_AT_ONCE


@pytest.mark.parametrize(
    ("users", "connections", "arriving"),
    [(1, most_open_files(), 4), (20, most_open_files(), LEAST_AT_ONCE - 6), (20, 0, 20 * FEW_AT_ONCE)],
)
async def test_endpoints_that_hang_delay_no_other(users: int, connections: int, arriving: int) -> None:
    """Those of one user or many, who leave some even of a process's few slots to others."""
    async with a_workshop(connections=connections) as shop:
        hanging = [await shop.endpoint(f"hanging {n % users}") for n in range(20)]
        well = await shop.endpoint("well")
        for user in {endpoint.user_id for endpoint in hanging}:
            await asyncio.gather(*[shop.event(user, hangs=True) for _ in range(AT_ONCE + 10)])
        with shop.hook.holding(lambda body: "hangs" in body["data"]):
            async with running(shop.deliverer()):
                await shop.hook.has(arriving)
                await shop.some_events(100, "well")
                await shop.counted.are(100)
                await at_rest(shop, well)
                assert shop.counted.outcomes == {"delivered": 100}


class Partly(Intercepted):
    """A store that does not answer for some queues, so often each."""

    def __init__(self, database: Database, endpoint_ids: Collection[str], times: int) -> None:
        super().__init__(database)
        self.left = dict.fromkeys(map(QUEUE.key_for, endpoint_ids), times)

    async def around(self, method: str, asked: Any, call: Callable[[], Awaitable[T]]) -> T:
        if method == "get" and self.left.get(asked):
            self.left[asked] -= 1
            await lose_connection()
        return await call()


async def test_it_goes_on_after_a_failure_of_the_store_and_meanwhile_delivers_to_others() -> None:
    async with a_workshop() as other:
        failing, well = await other.endpoint("failing"), await other.endpoint("well")
        await other.event("failing")
        await other.event("well")
        database = Partly(other.database, [failing.endpoint_id], 1)
        async with a_workshop_on(database, other.clock, other.hook) as shop:
            async with running(shop.deliverer()):
                await at_rest(other, well)
                await at_rest(other, failing)

            assert shop.counted.outcomes == {"delivered": 2}
            assert database.left == {QUEUE.key_for(failing.endpoint_id): 0}


async def test_it_can_be_ended_at_any_moment_and_run_again() -> None:
    async with a_workshop() as shop:
        endpoint = await shop.endpoint()
        deliverer = shop.deliverer()
        shop.outbox.listeners.append(deliverer.wake)
        await shop.some_events(30)
        for turns in range(12):
            async with running(deliverer):
                for _ in range(turns * turns):
                    await asyncio.sleep(0)
                deliverer.wake([endpoint.endpoint_id])
        deliverer.wake([endpoint.endpoint_id])  # which it does not when it does not run
        async with running(deliverer):
            await at_rest(shop, endpoint)

    assert sorted(set(shop.hook.sequences)) == list(range(1, 31))


async def test_a_worker_that_is_ended_leaves_no_task_behind() -> None:
    async with a_workshop() as shop:
        endpoint = await shop.endpoint()
        await shop.some_events(AT_ONCE)
        before = asyncio.all_tasks()
        with shop.hook.holding():
            working = asyncio.create_task(shop.worker(endpoint).run())
            await shop.hook.has(FEW_AT_ONCE)
            working.cancel()
            await asyncio.wait([working])
            left = asyncio.all_tasks() - before
            assert [task for task in left if "Worker" in repr(task.get_coro())] == []


async def test_however_many_endpoints_are_in_trouble_another_one_is_found() -> None:
    ids = [f"01930c5f-7a3e-7cc4-98a5-{number:012}" for number in range(600)]
    async with a_workshop(wrap=lambda real: Partly(real, ids, 10**9)) as shop:
        endpoint = await shop.endpoint()
        await shop.event()
        before = {"shard": (await shop.queue(endpoint))["shard"], "due": shop.clock.now - 1}
        await shop.database.put_many([Put(QUEUE, {**new_queue(each, "ada"), **before}) for each in ids])
        async with running(shop.deliverer()):
            await shop.counted.are(1)


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
