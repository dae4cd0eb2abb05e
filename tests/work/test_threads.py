"""Threads for blocking work, whose time counts against its caller."""

import asyncio
import threading

import pytest

from graph.work.account import Work, slot_of
from graph.work.pace import Pace
from graph.work.threads import FairThreads
from tests.work.accounts import an_account


class Charged(Pace):
    """Remembers what it is charged."""

    def __init__(self) -> None:
        super().__init__()
        self.charges: list[tuple[str, float]] = []

    def charge(self, caller: str, seconds: float) -> None:
        self.charges.append((caller, seconds))


def busy() -> int:
    """Take some processor time."""
    return sum(range(200_000))


async def all_free(threads: FairThreads) -> None:
    threads.slots.release(await slot_of(threads.slots))


async def test_a_caller_is_charged_for_processor_time_and_not_for_waiting() -> None:
    pace, threads = Charged(), FairThreads(1, "test")
    waits = threading.Event()
    with an_account(Work(pace=pace), "a"):
        assert await threads.run(busy) == busy()
        waiting = asyncio.create_task(threads.run(waits.wait))
        await asyncio.sleep(0.05)
        waits.set()
        await waiting
    await all_free(threads)
    threads.close()

    (first, busy_s), (second, waiting_s) = pace.charges
    assert (first, second) == ("a", "a")
    assert busy_s > 0
    assert waiting_s < 0.05, "it slept for as long"


@pytest.mark.parametrize("cancelled", [True, False])
async def test_a_job_that_fails_or_is_cancelled_is_charged_too_and_gives_its_thread_back(cancelled: bool) -> None:
    pace, threads = Charged(), FairThreads(1, "test")
    begun, go_on = threading.Event(), threading.Event()

    def job() -> None:
        begun.set()
        go_on.wait()
        busy()
        raise ValueError("broken")

    with an_account(Work(pace=pace), "a"):
        task = asyncio.create_task(threads.run(job))
        await asyncio.to_thread(begun.wait)
        if cancelled:
            task.cancel()
        go_on.set()
        with pytest.raises(asyncio.CancelledError if cancelled else ValueError):
            await task
    await all_free(threads)
    threads.close()

    assert [(caller, seconds > 0) for caller, seconds in pace.charges] == [("a", True)]
