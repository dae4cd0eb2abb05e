"""Of many processes one does a job at a time, another takes over when it dies, and only the holder ends a lease."""

import asyncio
import random
from functools import partial

import pytest

from graph.core.errors import DatabaseUnavailable
from graph.runtime.lease import FARTHEST_MS, LONGEST_MS, LOOK_EVERY_S, Job, JobResult, Lease, LeaseItem, LeaseState
from graph.store.contract import Database, Update
from graph.work.tasks import BackgroundTasks
from tests.domains.entities import documented
from tests.held_time import NOW, HeldTime
from tests.runtime.leases import LEASE, ON_BOTH, POLL, CutOffDatabase, warnings

LASTS_MS = 120_000
EVERY_MS = 60_000
SWEEPING = LeaseItem(LEASE.key_for("SWEEPING"))


def a_lease(database: Database, time: HeldTime, item: LeaseItem = SWEEPING) -> Lease:
    """The lease as one process sees it."""
    return Lease(database, item, time, lasts_ms=LASTS_MS)


class Jobs:
    """Does nothing in no time, and notes when."""

    def __init__(self, time: HeldTime) -> None:
        self.begun: list[int] = []  # epoch milliseconds
        self.found: list[object] = []  # what the holder before has left
        self._time = time

    async def run(self, state: LeaseState, now: int) -> JobResult:
        self.begun.append(now)
        self.found.append(state.attributes.get("done"))
        return JobResult(self._time.now + EVERY_MS, {"done": len(self.begun)})


@ON_BOTH
async def test_one_of_many_processes_gets_a_lease_of_a_job(database: Database, time: HeldTime) -> None:
    processes = [a_lease(database, time) for _ in range(10)]
    state = await processes[0].state()
    assert state == LeaseState(None, None, 0, {})

    holders = await asyncio.gather(*[process.take(state, time.now) for process in processes])

    (holder,) = filter(None, holders)
    held = await processes[0].state()
    assert (held.holder, held.next_attempt, held.unended) == (holder, time.now + LASTS_MS, 1)
    other = a_lease(database, time, LeaseItem(LEASE.key_for("DELIVERING")))
    assert await other.take(await other.state(), time.now)


async def test_a_lease_that_is_held_is_not_due_before_its_end(database: Database, time: HeldTime) -> None:
    lease, jobs = a_lease(database, time), Jobs(time)
    assert await lease.take(await lease.state(), time.now)

    time.move(LASTS_MS / 1000 - 0.001)
    assert await lease.run_if_due(jobs.run) == NOW + LASTS_MS
    assert jobs.begun == []

    time.move(0.001)
    assert await lease.run_if_due(jobs.run) == time.now + EVERY_MS
    assert jobs.begun == [time.now]


async def test_the_next_holder_finds_the_attributes_of_the_last_one(database: Database, time: HeldTime) -> None:
    jobs = Jobs(time)
    for number in range(3):
        due = await asyncio.gather(*[a_lease(database, time).run_if_due(jobs.run) for _ in range(5)])
        assert set(due) <= {time.now + EVERY_MS, time.now + LASTS_MS}, "those without the lease look again then"
        assert len(jobs.begun) == number + 1
        time.move(EVERY_MS / 1000)

    assert jobs.found == [None, 1, 2]
    state = await a_lease(database, time).state()
    assert (state.attributes["done"], state.unended, state.due(time.now)) == (3, 0, time.now)


@ON_BOTH
async def test_an_item_has_the_names_that_the_job_gives(database: Database, time: HeldTime) -> None:
    named = LeaseItem(POLL.key_for(), holder="turn", due="nextAttempt", unended="open")
    await a_lease(database, time, named).run_if_due(Jobs(time).run)

    item = await database.get(POLL.key_for())
    assert item
    assert len(item.pop("turn")) == 36
    assert documented(POLL, item) == {
        "pk": "POLL",
        "sk": "STATE",
        "entity": "POLL",
        "nextAttempt": NOW + EVERY_MS,
        "open": 0,
        "done": 1,
    }


async def test_a_holder_that_outlasts_its_lease_changes_nothing(database: Database, time: HeldTime) -> None:
    lease = a_lease(database, time)
    late = await lease.take(await lease.state(), time.now)
    time.move(LASTS_MS / 1000)
    holder = await lease.take(await lease.state(), time.now)
    before = await lease.state()
    assert late
    assert holder

    assert not await lease.end(late, JobResult(0, {"done": 7}))
    assert await lease.state() == before

    assert await lease.end(holder, JobResult(time.now + EVERY_MS, {"done": 8}))
    assert (await lease.state()).attributes["done"] == 8
    assert await lease.take(before, time.now) is None, "it was ended since it was read"


async def test_after_each_death_a_lease_lasts_twice_as_long_up_to_a_bound(database: Database, time: HeldTime) -> None:
    lease = a_lease(database, time)
    lasted = []
    for _ in range(8):
        assert await lease.take(await lease.state(), time.now)
        lasted.append((await lease.state()).due(time.now) - time.now)
        time.move(lasted[-1] / 1000)
    assert lasted == [min(LASTS_MS * 2**deaths, LONGEST_MS) for deaths in range(8)]
    assert lasted[-2:] == [LONGEST_MS] * 2

    assert await lease.run_if_due(Jobs(time).run) == time.now + EVERY_MS
    time.move(EVERY_MS / 1000)
    assert await lease.take(await lease.state(), time.now)
    assert (await lease.state()).next_attempt == time.now + LASTS_MS


async def test_an_attempt_that_a_wrong_clock_put_off_is_due_now(database: Database, time: HeldTime) -> None:
    lease, jobs = a_lease(database, time), Jobs(time)
    for off, runs in ((FARTHEST_MS, 1), (FARTHEST_MS + 1, 2)):
        await lease.run_if_due(jobs.run)
        await database.update(Update(SWEEPING.key, set={"due": time.now + off}))
        await lease.run_if_due(jobs.run)
        assert len(jobs.begun) == runs
        await database.update(Update(SWEEPING.key, set={"due": time.now + EVERY_MS}))


@ON_BOTH
@pytest.mark.parametrize("seed", range(2))
async def test_there_are_never_two_holders_and_the_job_always_continues(
    database: Database, time: HeldTime, seed: int
) -> None:
    chance = random.Random(seed)
    held_until = 0
    holders: list[int] = []

    def job_of(process: int) -> Job:
        async def job(state: LeaseState, now: int) -> JobResult:
            nonlocal held_until
            assert now >= held_until, "another process holds the lease"
            holders.append(process)
            held_until = (await leases[process].state()).due(now)
            await asyncio.sleep(0)
            if chance.random() < 0.3:
                raise ProcessLookupError  # it dies: the lease goes on, and nobody ends it
            held_until = now + EVERY_MS
            return JobResult(held_until)

        return job

    leases = [a_lease(database, time) for _ in range(4)]
    for _ in range(60):
        looks = [leases[process].run_if_due(job_of(process)) for process in chance.sample(range(4), 4)]
        results = await asyncio.gather(*looks, return_exceptions=True)
        assert all(isinstance(result, int | ProcessLookupError) for result in results), results
        time.move(chance.choice((5, 30, 60, 120)))

    assert len(holders) >= 10
    assert len({*holders}) > 1


async def test_failures_in_a_row_are_logged_once_and_end_nothing(
    database: Database, time: HeldTime, caplog: pytest.LogCaptureFixture
) -> None:
    failing, jobs = CutOffDatabase(database), Jobs(time)
    async with BackgroundTasks() as tasks:
        tasks.start("sweeping", partial(a_lease(failing, time).run_forever, jobs.run, sleep=time.sleep))
        for failure in (away := DatabaseUnavailable("the disk is full"), away, None, ValueError("a defect"), None):
            await time.all_asleep()
            failing.cut_off, failing.failure = failure is not None, failure or away
            time.move(LOOK_EVERY_S)
        await time.all_asleep()

    logged = warnings(caplog)
    assert [bool(record.exc_info) for record in logged] == [False, True]
    assert logged[0].__dict__["keywords"] == {"job": "LEASE#SWEEPING", "cause": "the disk is full"}
    assert len(jobs.begun) == 3


async def test_a_job_that_took_longer_than_to_its_next_attempt_is_done_again_at_once(
    database: Database, time: HeldTime
) -> None:
    jobs = Jobs(time)

    async def job(state: LeaseState, now: int) -> JobResult:
        done = await jobs.run(state, now)
        time.now += 2 * EVERY_MS
        return done

    async with BackgroundTasks() as tasks:
        tasks.start("sweeping", partial(a_lease(database, time).run_forever, job, sleep=time.sleep))
        for _ in range(2):
            await time.all_asleep()
            time.move(0)
        await time.all_asleep()

    assert [begun - NOW for begun in jobs.begun] == [0, 2 * EVERY_MS, 4 * EVERY_MS]


async def test_a_job_that_fails_is_tried_again_when_its_lease_has_ended(
    database: Database, time: HeldTime, caplog: pytest.LogCaptureFixture
) -> None:
    jobs, failures = Jobs(time), [ValueError("a defect"), ValueError("another")]

    async def job(state: LeaseState, now: int) -> JobResult:
        done = await jobs.run(state, now)
        if failures:
            raise failures.pop()
        return done

    async with BackgroundTasks() as tasks:
        tasks.start("sweeping", partial(a_lease(database, time).run_forever, job, sleep=time.sleep))
        for _ in range(7):
            await time.all_asleep()
            time.move(LOOK_EVERY_S)
        await time.all_asleep()

    assert [begun - NOW for begun in jobs.begun] == [0, LASTS_MS, 3 * LASTS_MS, 3 * LASTS_MS + EVERY_MS]
    assert len(warnings(caplog)) == 2
