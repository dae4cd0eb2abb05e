"""The loop's time: a piece of work begins at once while an iteration has time left, and else in its turn."""

import asyncio

from graph.work.pace import RESUMED_AT_ONCE, Pace


class HeldClock:
    """Seconds, which pass only as a test says so."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


async def work(pace: Pace, clock: HeldClock, caller: str, seconds: float, done: list[str]) -> None:
    await pace.give_way(caller)
    clock.now += seconds
    done.append(caller)


async def begun(pace: Pace, clock: HeldClock, callers: str, done: list[str], seconds: float = 0.002) -> None:
    """Begin the work of callers in one iteration of the loop."""
    for caller in callers:
        asyncio.create_task(work(pace, clock, caller, seconds, done))  # noqa: RUF006 - ends within the test
    await asyncio.sleep(0)


async def test_an_iteration_takes_on_no_more_once_its_time_is_used_up() -> None:
    clock, done = HeldClock(), list[str]()
    pace = Pace(iteration_s=0.003, clock=clock)

    await begun(pace, clock, "aaaa", done)

    assert len(done) == 2, "two pieces of 2 ms, of which the second began within 3 ms"
    assert pace.waiting == 2


async def test_each_iteration_takes_a_few_of_those_that_wait_callers_in_rotation() -> None:
    clock, done = HeldClock(), list[str]()
    pace = Pace(iteration_s=0.001, clock=clock)
    await begun(pace, clock, "aaaaaab", done)
    assert done == ["a"]

    counts = []
    while pace.waiting:
        before = len(done)
        await asyncio.sleep(0)
        counts.append(len(done) - before)
    await asyncio.sleep(0)

    assert max(counts) <= RESUMED_AT_ONCE
    assert done.index("b") <= 2, "one entry of the other caller stands before it"
    assert len(done) == 7


async def test_what_comes_later_does_not_pass_what_waits() -> None:
    clock, done = HeldClock(), list[str]()
    pace = Pace(iteration_s=0.001, clock=clock)
    await begun(pace, clock, "aaaa", done)
    await begun(pace, clock, "b", done)

    assert "b" not in done
    for _ in range(5):
        await asyncio.sleep(0)
    assert sorted(done) == ["a", "a", "a", "a", "b"]


async def test_cancelled_work_leaves_the_queue() -> None:
    clock, done = HeldClock(), list[str]()
    pace = Pace(iteration_s=0.001, clock=clock)
    tasks = [asyncio.create_task(work(pace, clock, "a", 0.002, done)) for _ in range(3)]
    await asyncio.sleep(0)
    for task in tasks[1:]:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)

    assert (pace.waiting, done) == (0, ["a"])


async def test_work_on_an_idle_loop_never_waits() -> None:
    pace = Pace()
    for _ in range(100):
        await pace.give_way("a")

    assert pace.waiting == 0
