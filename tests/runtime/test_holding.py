"""Of many processes one at a time does work without end, for as long as it lives, and another goes on after it."""

import asyncio
import random
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial

import pytest

from graph.runtime.holding import ENDING, PAUSE_S, RENEWALS, EndlessWork, hold_forever
from graph.runtime.lease import Lease, LeaseItem
from graph.store.contract import Database, Update
from graph.work.tasks import BackgroundTasks
from tests.held_time import HeldTime
from tests.runtime.leases import LEASE, ON_BOTH, CutOffDatabase, causes, warnings

LASTS_S = 15
THIRD_S = LASTS_S / RENEWALS
HOLDER, WAITER = 2, 1  # sleepers of a process: a holder waits for its next renewal and for the end of its lease
STEP_S = 1.25  # less than the time in which cancelled work ends
DELIVERING = LeaseItem(LEASE.key_for("DELIVERING"))


class Works:
    """Work of processes under one lease. It waits, and notes who does it and when it began."""

    def __init__(self, database: Database, time: HeldTime) -> None:
        self.database = database
        self.time = time
        self.running: list[str] = []
        self.begun: list[tuple[str, float]] = []  # seconds since the beginning
        self.ended = asyncio.Event()

    def of(self, name: str) -> EndlessWork:
        """The work of a process."""

        async def work() -> None:
            assert self.running == [], "another process does it"
            self.running.append(name)
            self.begun.append((name, self.time.passed_s))
            try:
                await asyncio.Event().wait()
            finally:
                self.running.remove(name)
                self.ended.set()

        return work

    async def settled(self, processes: int) -> None:
        """Wait until so many processes have done what they do at this time."""
        await self.time.all_asleep(lambda: processes * WAITER + len(self.running) * (HOLDER - WAITER))

    async def pass_thirds(self, number: int, processes: int) -> None:
        """Let so many thirds of a lease pass, and the processes act at each of them."""
        for _ in range(number):
            self.time.move(THIRD_S)
            await self.settled(processes)

    @asynccontextmanager
    async def process(self, work: EndlessWork, database: Database | None = None) -> AsyncIterator[asyncio.Task[None]]:
        """A process that does work under the lease. At its end it is shut down."""
        lease = Lease(database or self.database, DELIVERING, self.time, lasts_ms=LASTS_S * 1000)
        async with BackgroundTasks() as tasks:
            yield tasks.start("delivering", partial(hold_forever, lease, work, sleep=self.time.sleep))


@pytest.fixture
def works(database: Database, time: HeldTime) -> Works:
    return Works(database, time)


async def test_one_of_several_processes_does_the_work_for_as_long_as_it_lives_although_renewals_fail(
    works: Works, caplog: pytest.LogCaptureFixture
) -> None:
    network = CutOffDatabase(works.database)
    async with works.process(works.of("a"), network):
        await works.settled(1)
        async with works.process(works.of("b")), works.process(works.of("c")):
            for cut_off in (True, False, True, False, False) * 2:
                network.cut_off = cut_off
                await works.settled(3)
                await works.pass_thirds(1, 3)

            assert works.begun == [("a", 0)]
            assert works.running == ["a"]
    assert causes(caplog) == ["the network is down"] * 4


async def test_a_dead_holders_lease_is_taken_when_it_has_run_out_however_many_died_before(works: Works) -> None:
    for name in ("first", "second", "third", "fourth"):
        dying = CutOffDatabase(works.database)
        async with works.process(works.of(name), dying):
            if name != "first":
                await works.settled(1)
                await works.pass_thirds(RENEWALS - 1, 1)
                works.time.move(THIRD_S)
            await works.settled(1)
            dying.cut_off = True  # so that it cannot give up its lease

    assert works.begun == [("first", 0), ("second", LASTS_S), ("third", 2 * LASTS_S), ("fourth", 3 * LASTS_S)]


async def test_a_holder_that_is_shut_down_gives_up_its_lease_once_its_work_has_ended(works: Works) -> None:
    tidying, may_end = asyncio.Event(), asyncio.Event()

    async def work() -> None:
        try:
            await works.of("slow to end")()
        finally:
            tidying.set()
            await may_end.wait()

    async with works.process(works.of("first")):
        await works.settled(1)
    async with works.process(work) as second:
        await works.settled(1)
        assert works.begun == [("first", 0), ("slow to end", 0)]
        second.cancel()
        await tidying.wait()
        async with works.process(works.of("waiting")):
            await works.settled(1)
            assert works.running == []

            may_end.set()
            await asyncio.wait([second])
            await works.pass_thirds(1, 1)
            assert works.begun[2:] == [("waiting", THIRD_S)]


async def test_work_is_cancelled_when_another_process_has_taken_the_lease(works: Works) -> None:
    async with works.process(works.of("a")):
        await works.settled(1)
        due = works.time.now + LASTS_S * 1000 * 2
        assert await works.database.update(Update(DELIVERING.key, set={"holder": "another", "due": due}))
        await works.pass_thirds(1, 1)
        assert works.running == []

        taken = await works.database.get(DELIVERING.key)
        assert taken is not None
        assert (taken["holder"], taken["due"]) == ("another", due)
        await works.pass_thirds(2 * RENEWALS - 2, 1)
        works.time.move(THIRD_S)
        await works.settled(1)
        assert works.begun == [("a", 0), ("a", 2 * LASTS_S)]


async def test_work_is_cancelled_before_the_lease_ends_if_the_store_fails(
    works: Works, caplog: pytest.LogCaptureFixture
) -> None:
    network = CutOffDatabase(works.database)
    async with works.process(works.of("a"), network):
        await works.settled(1)
        network.cut_off = True
        await works.pass_thirds(RENEWALS - 1, 1)
        works.time.move(THIRD_S - ENDING * LASTS_S - 0.001)
        await works.settled(1)
        assert works.running == ["a"]
        works.time.move(0.001)
        await works.settled(1)
        assert works.running == []

        network.cut_off = False
        works.time.move(PAUSE_S)
        await works.settled(1)
        assert works.begun == [("a", 0), ("a", (1 - ENDING) * LASTS_S + PAUSE_S)]
    assert causes(caplog) == ["the network is down"]


async def test_work_is_cancelled_before_the_lease_ends_if_the_store_does_not_answer(works: Works) -> None:
    network = CutOffDatabase(works.database)
    async with works.process(works.of("a"), network) as first:
        await works.settled(1)
        network.cut_off = network.hangs = True
        async with works.process(works.of("b")):
            await works.settled(2)
            for _ in range(RENEWALS - 1):
                works.time.move(THIRD_S)
                await works.time.all_asleep(1 + WAITER)  # the holder waits for the end of its lease, and for the store
            works.time.move(THIRD_S - ENDING * LASTS_S)
            await works.ended.wait()
            assert works.running == []
            works.time.move(ENDING * LASTS_S)
            await works.settled(1)

            assert works.begun == [("a", 0), ("b", LASTS_S)]
            assert not first.done()


async def crash() -> None:
    raise ValueError("a defect")


async def cancel_itself() -> None:
    raise asyncio.CancelledError


async def return_at_once() -> None:
    pass


@pytest.mark.parametrize(
    ("work", "logged"), [(crash, "ValueError"), (cancel_itself, "CancelledError"), (return_at_once, "RuntimeError")]
)
async def test_work_that_ends_gives_up_the_lease_and_begins_again_after_a_pause(
    works: Works, work: EndlessWork, logged: str, caplog: pytest.LogCaptureFixture
) -> None:
    async with works.process(work):
        await works.settled(1)
        assert [cause.partition("(")[0] for cause in causes(caplog)] == [logged]
        async with works.process(works.of("another")):
            await works.settled(2)
            assert works.begun == [("another", 0)]
        works.time.move(PAUSE_S)
        await works.settled(1)

    assert [cause.partition("(")[0] for cause in causes(caplog)] == [logged] * 2
    assert all(record.exc_info for record in warnings(caplog))


@ON_BOTH
@pytest.mark.parametrize("seed", range(2))
async def test_there_are_never_two_holders_and_the_work_always_goes_on(
    works: Works, seed: int, caplog: pytest.LogCaptureFixture
) -> None:
    """While processes die, are shut down and begin again, and while the store fails for some of them."""
    chance = random.Random(seed)
    networks: dict[str, CutOffDatabase] = {}
    async with AsyncExitStack() as stack:
        running: dict[str, AsyncExitStack] = {}
        for _ in range(150):
            for name in sorted({"a", "b", "c"} - running.keys()):
                networks[name] = CutOffDatabase(works.database)
                running[name] = await stack.enter_async_context(AsyncExitStack())
                await running[name].enter_async_context(works.process(works.of(name), networks[name]))
            await works.settled(3)
            name, event = chance.choice([*works.running, *"abc"]), chance.random()
            if event < 0.2:
                networks[name].cut_off = not networks[name].cut_off
            elif event < 0.3:  # it dies if it cannot give up its lease
                networks[name].cut_off = chance.random() < 0.5
                await running.pop(name).aclose()
            works.time.move(STEP_S)
        for network in networks.values():
            network.cut_off = False
        for _ in range(round((LASTS_S + PAUSE_S) / STEP_S)):
            await works.settled(len(running))
            works.time.move(STEP_S)
        await works.settled(len(running))
        assert len(works.running) == 1

    assert set(causes(caplog)) <= {"the network is down"}, "no two did the work at once"
    assert len({name for name, _ in works.begun}) >= 2
    assert len(works.begun) >= 5
