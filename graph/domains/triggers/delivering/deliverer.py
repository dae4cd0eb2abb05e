"""Finds the endpoints with something to deliver, and runs a worker for each. One process of many does it at a time.

An endpoint's queue is due when a delivery of it is. A process that creates events wakes its own deliverer at once;
what other processes store is found as soon as the store tells of a change.
"""

import asyncio
from collections.abc import Collection
from contextlib import aclosing, suppress
from functools import partial

from graph.domains.triggers.delivering.due import DueDeliveries
from graph.domains.triggers.delivering.recent import RecentRetries
from graph.domains.triggers.delivering.worker import Delivering, EndpointWorker
from graph.domains.triggers.entities import DUE_INDEX, QUEUE
from graph.domains.triggers.queues import SHARDS
from graph.runtime.open_files import most_open_files
from graph.store.entity import Item
from graph.store.query import Query
from graph.work.slots import Slots
from graph.work.tasks import BackgroundTasks, attempt

LOOK_EVERY_MS = 5000  # in case that a change was not told
LOOKS_APART_S = 0.2  # after changes by other processes
MOST_AT_ONCE = 1000  # requests to all endpoints
LEAST_AT_ONCE = 50  # likewise, however few files the process may open
LEFT_FREE = 12  # slots for each that a user holds: of 50 slots, 20 users whose endpoints hang leave 6
OTHER_FILES = 100  # that a process has open beside connections, most of them of the store
FIRST_PAUSE_S, LONGEST_PAUSE_S = 1.0, 10.0  # after a failure of an endpoint's worker, such as of the store


def slots_beside(connections: int) -> Slots:
    """The slots for requests of a process that may have so many connections of clients.

    Each request needs a socket, and the system bounds how many there are. Users share them, and each leaves room for
    others, so that users whose endpoints hang do not delay them.
    """
    left = most_open_files() - connections - OTHER_FILES
    return Slots(max(min(left, MOST_AT_ONCE), LEAST_AT_ONCE), leaves_free=LEFT_FREE)


class Deliverer:
    """Delivers to all endpoints."""

    def __init__(self, shared: Delivering) -> None:
        self._shared = shared
        self._recent = RecentRetries()
        self._workers: dict[str, EndpointWorker] = {}
        self._tasks: BackgroundTasks | None = None  # while it runs
        self._to_look = asyncio.Event()

    def wake(self, endpoint_ids: Collection[str]) -> None:
        """Deliver to these endpoints at once, if this process delivers."""
        for endpoint_id in endpoint_ids:
            self._work_for(endpoint_id)

    async def run(self) -> None:
        """Deliver, until this is cancelled."""
        try:
            async with BackgroundTasks() as self._tasks:
                self._tasks.start("waiting for deliveries", self._follow_changes)
                while True:
                    self._to_look.clear()
                    wait_s = await self._look() / 1000
                    with suppress(TimeoutError):
                        async with asyncio.timeout(wait_s):
                            await self._to_look.wait()
        finally:
            self._tasks = None
            self._workers.clear()

    async def _follow_changes(self) -> None:
        """Look again when another process may have stored something."""
        async with aclosing(self._shared.database.changes()) as changes:
            async for _ in changes:
                self._to_look.set()
                await asyncio.sleep(LOOKS_APART_S)

    async def _look(self) -> int:
        """Work for all endpoints that are due. Returns how long to wait for the next one, milliseconds."""
        now, wait_ms = self._shared.clock(), LOOK_EVERY_MS
        found: list[Item] = []

        async def read() -> None:
            found.extend((await self._shared.database.query(_due_until(now + LOOK_EVERY_MS))).items)

        await attempt(read, failure="Deliveries wait for the store")
        for queue in found:
            if queue["due"] <= now:
                self._work_for(queue["endpoint_id"], queue["calls"])
            else:
                wait_ms = min(wait_ms, queue["due"] - now)
        return wait_ms

    def _work_for(self, endpoint_id: str, calls: int | None = None) -> None:
        """Let a worker work for an endpoint, or wake it if it has not seen the last call."""
        if worker := self._workers.get(endpoint_id):
            if calls is None or calls > worker.calls:
                worker.woken.set()
        elif self._tasks:
            self._workers[endpoint_id] = self._new_worker(endpoint_id)
            self._tasks.start("delivering to an endpoint", partial(self._work, endpoint_id))

    async def _work(self, endpoint_id: str) -> None:
        """Work until nothing of an endpoint is due, also beyond failures."""
        pause_s = FIRST_PAUSE_S
        while True:
            worker = self._workers[endpoint_id]
            if await attempt(worker.run, failure="Deliveries wait for the store"):
                if not worker.woken.is_set():
                    break
            else:
                await asyncio.sleep(pause_s)
                pause_s = min(2 * pause_s, LONGEST_PAUSE_S)
            self._workers[endpoint_id] = self._new_worker(endpoint_id)  # what another had read may be lost
        del self._workers[endpoint_id]

    def _new_worker(self, endpoint_id: str) -> EndpointWorker:
        return EndpointWorker(self._shared, DueDeliveries(self._shared.database, self._recent, endpoint_id))


def _due_until(time: int) -> Query:
    """The queues that are due until then, epoch milliseconds."""
    return Query(
        entity=QUEUE,
        index=DUE_INDEX,
        partitions=[(shard,) for shard in range(SHARDS)],
        between=(None, time),
        attributes=frozenset(("calls",)),
    )
