"""Slots for heavy work: bounded, fair, and given back whatever happens."""

import asyncio
from collections import Counter
from collections.abc import Sequence

import pytest

from graph.core.errors import Overloaded
from graph.work.account import SERVICE, Work, WorkLimits, slot_of
from graph.work.length import Length
from graph.work.slots import Slots
from tests.processes import TIMEOUT_S
from tests.steps import done
from tests.work.accounts import an_account, one_of, settled


async def hold(slots: Slots, caller: str, order: list[str], work: Work) -> None:
    with an_account(work, caller):
        async with one_of(slots):
            order.append(caller)
            await asyncio.sleep(0)


async def begun(slots: Slots, callers: Sequence[str], order: list[str], work: Work) -> list[asyncio.Task[None]]:
    tasks = [asyncio.create_task(hold(slots, caller, order, work)) for caller in callers]
    await settled()
    return tasks


async def test_no_more_run_than_there_are_slots_and_a_caller_with_much_to_do_delays_another_by_one_piece() -> None:
    """A failure gives its slot back, and cancelled work leaves its place to the next."""
    slots, order, work = Slots(1), list[str](), Work()
    with pytest.raises(ValueError, match="broken"):
        async with one_of(slots):
            raise ValueError("broken")
    await slot_of(slots)
    tasks = await begun(slots, "aaaaab", order, work)
    assert (slots.busy, slots.waiting, order) == (1, 6, [])
    tasks[0].cancel()
    await settled()
    slots.release(SERVICE)
    await asyncio.gather(*tasks, return_exceptions=True)

    assert order == ["a", "b", "a", "a", "a"]
    assert (slots.busy, slots.waiting, work.heavy.busy) == (0, 0, 0)


async def test_a_slot_that_was_granted_as_its_waiter_was_cancelled_is_not_lost() -> None:
    slots, order, work = Slots(1), list[str](), Work()
    await slot_of(slots)
    (task,) = await begun(slots, "a", order, work)
    slots.release(SERVICE)
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)

    assert order == []
    assert slots.busy == 0


async def test_a_caller_with_too_many_operations_that_wait_is_refused_and_another_is_not() -> None:
    slots, order, work = Slots(1), list[str](), Work(WorkLimits(process=3, caller=2))
    await slot_of(slots)
    tasks = await begun(slots, "aaabcc", order, work)
    refused = [task for task in tasks if task.done()]

    assert [type(task.exception()) for task in refused] == [Overloaded] * 3
    assert [tasks.index(task) for task in refused] == [2, 4, 5]
    slots.release(SERVICE)
    await asyncio.gather(*tasks, return_exceptions=True)
    assert order == ["a", "b", "a"]
    assert work.heavy.busy == 0


async def test_a_caller_never_holds_more_than_its_share_and_leaves_the_rest_to_others() -> None:
    slots, work, held = Slots(3, of_caller=2, most_waiting_of_caller=9), Work(), Counter[str]()
    most = Counter[str]()
    everything_ends = asyncio.Event()

    async def one(caller: str) -> None:
        with an_account(work, caller):
            async with one_of(slots):
                held[caller] += 1
                most[caller] = max(most[caller], held[caller])
                await everything_ends.wait()
                held[caller] -= 1

    tasks = [asyncio.create_task(one(caller)) for caller in "aaaaabc"]
    await settled()
    assert (held, slots.waiting) == ({"a": 2, "b": 1}, 4)
    everything_ends.set()
    await asyncio.gather(*tasks)
    assert (most, slots.busy, slots.waiting) == ({"a": 2, "b": 1, "c": 1}, 0, 0)


async def test_operations_that_wait_to_begin_are_not_heavy_and_bounded_by_caller() -> None:
    slots, order, work = Slots(1, of_caller=1, most_waiting_of_caller=2), list[str](), Work()

    async def operate(caller: str) -> None:
        with an_account(work, caller) as account:
            await done(account.begin(slots))
            order.append(caller)

    await slot_of(slots)
    tasks = [asyncio.create_task(operate(caller)) for caller in "aaab"]
    await settled()

    assert [type(task.exception()) if task.done() else None for task in tasks] == [None, None, Overloaded, None]
    assert work.heavy.busy == 0
    slots.release(SERVICE)
    await asyncio.gather(*tasks, return_exceptions=True)
    assert (order, slots.busy, slots.waiting) == (["a", "b", "a"], 0, 0)


async def test_a_lookup_never_waits_for_a_slot_that_a_page_holds() -> None:
    slots = Work(WorkLimits(process=1, caller=1)).operations
    pages: list[asyncio.Task[str]] = []
    while not slots[Length.LONG].waiting:
        pages.append(asyncio.create_task(slot_of(slots[Length.LONG])))
        await settled()
    await asyncio.wait_for(slot_of(slots[Length.SHORT]), TIMEOUT_S)

    assert (slots[Length.SHORT].busy, slots[Length.SHORT].waiting) == (1, 0)
    pages[-1].cancel()
    await asyncio.wait(pages)
