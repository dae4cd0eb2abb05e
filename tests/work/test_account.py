"""The account of an operation: what it may read, and what it shares with others of its caller."""

import asyncio

import pytest

from graph.core.errors import Overloaded, QueryTooComplex, RateLimited
from graph.work.account import (
    HEAVY_POINTS,
    ROWS_READ_PER_POINT,
    ROWS_TESTED_PER_POINT,
    SERVICE,
    Account,
    Work,
    WorkLimits,
    charge_rows,
    current_caller,
    slot_of,
)
from graph.work.length import LEAST_LONG, LEAST_USUAL, Length
from graph.work.slots import Slots
from tests.steps import done
from tests.work.accounts import an_account, free, one_of, settled


async def test_rows_are_charged_in_whole_points_and_no_part_is_lost() -> None:
    charged: list[int] = []

    async def charge(points: int) -> None:
        charged.append(points)

    with Account(Work(), "a", 1000, charge) as account:
        for _ in range(2 * ROWS_TESTED_PER_POINT):
            await charge_rows(tested=1)
        await charge_rows(read=5 * ROWS_READ_PER_POINT)

    assert (sum(charged), account.spent) == (7, 7)
    assert len(charged) == 3


async def test_an_operation_or_a_caller_that_may_spend_no_more_is_refused_before_it_reads() -> None:
    """Tasks of an operation share its account. Work without one is the service's own, and free."""
    with an_account(most=10) as account:
        await asyncio.gather(*(charge_rows(read=5 * ROWS_READ_PER_POINT) for _ in range(2)))
        with pytest.raises(QueryTooComplex, match="narrow its time range"):
            await charge_rows(read=ROWS_READ_PER_POINT)
        assert (account.spent, current_caller()) == (10, "a")

    async def charge(points: int) -> None:
        raise RateLimited(7)

    with Account(Work(), "a", 1000, charge), pytest.raises(RateLimited):
        await charge_rows(tested=ROWS_TESTED_PER_POINT)
    assert current_caller() == ""
    await charge_rows(read=10**9)


async def test_an_operation_that_reads_much_counts_as_heavy_until_it_ends() -> None:
    work = Work(WorkLimits(process=2, caller=1))
    with an_account(work):
        await charge_rows(read=HEAVY_POINTS * ROWS_READ_PER_POINT)
        assert work.heavy.busy == 0
        await charge_rows(read=ROWS_READ_PER_POINT)
        await charge_rows(read=ROWS_READ_PER_POINT)
        assert work.heavy.busy == 1
        with an_account(work), pytest.raises(Overloaded):
            await charge_rows(read=(HEAVY_POINTS + 1) * ROWS_READ_PER_POINT)
    assert work.heavy.busy == 0


class Reading:
    """Operations of callers that each hold a slot, and read much until all may end."""

    def __init__(self, work: Work, *, slots: int = 8) -> None:
        self.work = work
        self.slots = Slots(slots, of_caller=slots)
        self.reading: list[str] = []
        self.may_end = asyncio.Event()

    async def begin(self, callers: str) -> list[asyncio.Task[None]]:
        tasks = [asyncio.create_task(self._operation(caller)) for caller in callers]
        await settled()
        return tasks

    async def _operation(self, caller: str) -> None:
        with an_account(self.work, caller) as account:
            await done(account.begin(self.slots))
            await asyncio.gather(*(charge_rows(read=HEAVY_POINTS * ROWS_READ_PER_POINT) for _ in range(3)))
            self.reading.append(caller)
            await self.may_end.wait()


async def test_heavy_queries_of_one_caller_wait_for_each_other_and_meanwhile_leave_their_slots() -> None:
    operations = Reading(Work(WorkLimits(process=3, caller=2)))
    tasks = await operations.begin("aaaa")
    assert operations.reading == ["a", "a"]
    assert (operations.work.heavy.busy, operations.work.heavy.waiting) == (2, 2)
    assert operations.slots.busy == 2

    tasks += await operations.begin("b")
    assert operations.reading == ["a", "a", "b"]
    operations.may_end.set()
    await asyncio.gather(*tasks)
    assert operations.reading == ["a", "a", "b", "a", "a"]
    assert (operations.work.heavy.busy, operations.work.heavy.waiting, operations.slots.busy) == (0, 0, 0)


async def test_a_heavy_query_that_has_waited_takes_a_slot_before_others_begin() -> None:
    operations = Reading(Work(WorkLimits(process=1, caller=1)), slots=2)
    first, second = await operations.begin("aa")
    light = [asyncio.create_task(slot_of(operations.slots)) for _ in range(2)]
    await settled()
    assert [task.done() for task in light] == [True, False]

    first.cancel()
    light.append(asyncio.create_task(slot_of(operations.slots)))
    await settled()
    assert operations.reading == ["a", "a"]
    assert ([task.done() for task in light], operations.slots.busy) == ([True, True, False], 3)
    operations.slots.release(SERVICE)
    await settled()
    assert (light[2].done(), operations.slots.busy) == (False, 2)
    operations.slots.release(SERVICE)
    await light[2]
    second.cancel()


async def test_no_more_heavy_queries_wait_than_may_be_in_progress() -> None:
    operations = Reading(Work(WorkLimits(process=2, caller=1)))
    tasks = await operations.begin("aaabbbc")

    assert [type(task.exception()) if task.done() else None for task in tasks] == [
        *(None, None, Overloaded),
        *(None, None, Overloaded),
        Overloaded,
    ]
    operations.may_end.set()
    await asyncio.gather(*tasks, return_exceptions=True)
    assert operations.reading == ["a", "b", "a", "b"]
    assert (operations.work.heavy.busy, operations.slots.busy) == (0, 0)


async def test_a_heavy_query_that_is_cancelled_while_it_waits_leaves_its_place_to_the_next() -> None:
    operations = Reading(Work(WorkLimits(process=1, caller=1)))
    first, second = await operations.begin("ab")
    second.cancel()
    await asyncio.gather(second, return_exceptions=True)
    (third,) = await operations.begin("c")
    operations.may_end.set()
    await asyncio.gather(first, third)

    assert operations.reading == ["a", "c"]
    assert (operations.work.heavy.busy, operations.work.heavy.waiting, operations.slots.busy) == (0, 0, 0)


async def test_a_query_that_waits_for_the_store_is_not_heavy_for_that_alone() -> None:
    """Its slot bounds it. What has none, such as a mutation, is bounded as heavy work."""
    work, slots, of_store = Work(WorkLimits(process=1, caller=1)), Slots(2, of_caller=2), Slots(1)
    await slot_of(of_store)

    async def read(*, is_query: bool) -> None:
        with an_account(work) as account:
            if is_query:
                await done(account.begin(slots))
            async with one_of(of_store):
                pass

    queries = [asyncio.create_task(read(is_query=True)) for _ in range(2)]
    await settled()
    assert (of_store.waiting, work.heavy.busy) == (2, 0)
    mutations = [asyncio.create_task(read(is_query=False)) for _ in range(2)]
    await settled()
    assert (of_store.waiting, work.heavy.busy) == (3, 1)
    of_store.release(SERVICE)
    outcomes = await asyncio.gather(*queries, *mutations, return_exceptions=True)
    assert [type(outcome) for outcome in outcomes] == [type(None)] * 3 + [Overloaded]
    assert (work.heavy.busy, slots.busy) == (0, 0)


async def test_an_operation_grows_longer_with_what_it_reads() -> None:
    account = Account(Work(), "a", 100_000, free, price=11)
    lengths = [account.length]
    for points in (LEAST_USUAL, LEAST_LONG):
        await account.spend(points)
        lengths.append(account.length)

    assert lengths == [Length.SHORT, Length.USUAL, Length.LONG]
    assert Account(Work(), "a", 0, free, price=LEAST_LONG).length is Length.LONG
