"""The loop's time: a piece of work begins at once while a burst has time left, and else in its turn."""

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graph.work.length import Length
from graph.work.pace import SHORT_AT_ONCE, Pace
from tests.processes import TIMEOUT_S


class HeldClock:
    """Seconds, which pass only as a test says so."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


async def work(pace: Pace, clock: HeldClock, caller: str, seconds: float, done: list[str]) -> None:
    await pace.give_way(caller, Length.USUAL)
    clock.now += seconds
    done.append(caller)


async def begun(pace: Pace, clock: HeldClock, callers: str, done: list[str], seconds: float = 0.002) -> None:
    """Begin the work of callers in one iteration of the loop."""
    for caller in callers:
        asyncio.create_task(work(pace, clock, caller, seconds, done))  # noqa: RUF006 - ends within the test
    await asyncio.sleep(0)


async def test_a_burst_takes_on_no_more_once_its_time_is_used_up() -> None:
    clock, done = HeldClock(), list[str]()
    pace = Pace(burst_s=0.003, clock=clock)

    await begun(pace, clock, "aaaa", done)

    assert len(done) == 2, "two pieces of 2 ms, of which the second began within 3 ms"
    assert pace.waiting == 2
    await done_in_each_iteration(pace, done)


async def done_in_each_iteration(pace: Pace, done: list[str]) -> list[int]:
    """How many pieces each iteration did until nothing waited."""
    counts = []
    while pace.waiting:
        before = len(done)
        await asyncio.sleep(0)
        counts.append(len(done) - before)
    before = len(done)
    await asyncio.sleep(0)
    return [*counts, len(done) - before]


async def test_each_iteration_takes_one_of_those_that_wait_callers_in_rotation() -> None:
    clock, done = HeldClock(), list[str]()
    pace = Pace(burst_s=0.001, clock=clock)
    await begun(pace, clock, "aaaaaab", done)
    assert done == ["a"]

    assert max(await done_in_each_iteration(pace, done)) == 1
    assert done.index("b") <= 2, "one entry of the other caller stands before it"
    assert len(done) == 7


async def test_a_burst_that_is_used_up_is_followed_by_a_rest() -> None:
    clock, done = HeldClock(), list[str]()
    pace = Pace(burst_s=0.004, resting_iterations=3, clock=clock)
    await begun(pace, clock, "aaaaaaa", done)

    counts = await done_in_each_iteration(pace, done)
    text = "".join(map(str, counts)).strip("0")
    print(counts)
    assert text == "110001100011"[: len(text)], "two pieces of 2 ms, then three iterations without any"
    assert done == ["a"] * 7


async def test_a_rest_takes_no_longer_than_a_burst() -> None:
    clock, done = HeldClock(), list[str]()
    pace = Pace(burst_s=0.004, resting_iterations=100, clock=clock)
    await begun(pace, clock, "aaa", done)

    async def others() -> None:
        for _ in range(3):
            clock.now += 0.002
            await asyncio.sleep(0)

    counts, _ = await asyncio.gather(done_in_each_iteration(pace, done), others())
    assert done == ["a", "a", "a"]
    assert len(counts) < 10


async def test_later_work_does_not_overtake_waiting_work() -> None:
    clock, done = HeldClock(), list[str]()
    pace = Pace(burst_s=0.001, clock=clock)
    await begun(pace, clock, "aaaa", done)
    await begun(pace, clock, "b", done)

    assert "b" not in done
    await done_in_each_iteration(pace, done)
    assert sorted(done) == ["a", "a", "a", "a", "b"]


async def test_cancelled_work_leaves_the_queue() -> None:
    clock, done = HeldClock(), list[str]()
    pace = Pace(burst_s=0.001, clock=clock)
    tasks = [asyncio.create_task(work(pace, clock, "a", 0.002, done)) for _ in range(3)]
    await asyncio.sleep(0)
    for task in tasks[1:]:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)

    assert (pace.waiting, done) == (0, ["a"])


async def test_work_cancelled_when_its_slice_begins_leaves_it_to_the_next() -> None:
    clock, done = HeldClock(), list[str]()
    pace = Pace(burst_s=0.001, resting_iterations=1, clock=clock)
    tasks = [asyncio.create_task(work(pace, clock, "a", 0.002, done)) for _ in range(3)]
    await asyncio.sleep(0)
    pace._next_iteration()  # which begins the rest
    tasks[1].cancel()
    pace._next_iteration()  # before the task hears of it
    await asyncio.gather(*tasks, return_exceptions=True)

    assert done == ["a", "a"]


async def test_work_on_an_idle_loop_never_waits() -> None:
    pace = Pace()
    for _ in range(100):
        await pace.give_way("a")

    assert pace.waiting == 0


async def test_a_slice_holds_many_short_pieces_of_one_caller_only() -> None:
    clock, done = HeldClock(), list[str]()
    pace = Pace(burst_s=0.001, slice_s=0.001, resting_iterations=1, clock=clock, used=clock)
    await begun(pace, clock, "a", done)  # which uses up the burst

    async def pieces(caller: str, seconds: float) -> None:
        for _ in range(4):
            await work(pace, clock, caller, seconds, done)

    async with asyncio.TaskGroup() as group:
        group.create_task(pieces("b", 0.0004))
        group.create_task(pieces("c", 0.002))

    assert "".join(done) == "a" + "bbb" + "c" + "b" + "ccc"


async def test_what_begins_overtakes_nothing_as_short_of_its_caller() -> None:
    clock, done = HeldClock(), list[str]()
    pace = Pace(burst_s=0.001, slice_s=1, resting_iterations=1, clock=clock, used=clock)
    await begun(pace, clock, "a", done)  # which uses up the burst

    async def beginning(name: str) -> None:
        await pace.begin("b")
        clock.now += 0.0001
        done.append(name)
        if name == "1":
            group.create_task(beginning("9"))  # in the slice of the first, in which that itself need not wait
        await pace.give_way("b")
        done.append(name)

    names = "12345"[: SHORT_AT_ONCE + 1]
    async with asyncio.TaskGroup() as group:
        for name in names:
            group.create_task(beginning(name))

    assert done == ["a", *[each for name in (*names, "9") for each in (name, name)]]


@pytest.mark.parametrize(("length", "at_once"), [(Length.SHORT, SHORT_AT_ONCE), (Length.USUAL, 1), (Length.LONG, 1)])
async def test_a_slice_takes_in_some_short_operations_but_one_page(length: Length, at_once: int) -> None:
    clock, done = HeldClock(), list[str]()
    pace = Pace(burst_s=0.001, slice_s=0, resting_iterations=1, clock=clock, used=clock)
    await begun(pace, clock, "a", done)  # which uses up the burst

    async def one() -> None:
        await pace.give_way("b", length)
        done.append("b")

    for _ in range(SHORT_AT_ONCE + 2):
        asyncio.create_task(one())  # noqa: RUF006 - ends within the test
    await asyncio.sleep(0)

    assert max(await done_in_each_iteration(pace, done)) == at_once
    assert len(done) == 1 + SHORT_AT_ONCE + 2


async def test_a_slice_of_a_lookup_is_not_for_a_long_page_of_the_same_caller() -> None:
    clock, done = HeldClock(), list[str]()
    pace = Pace(burst_s=0.001, slice_s=1, resting_iterations=1, clock=clock, used=clock)
    await begun(pace, clock, "a", done)  # which uses up the burst

    async def pieces(name: str, length: Length) -> None:
        for _ in range(3):
            await pace.give_way("b", length)
            clock.now += 0.0001
            done.append(name)

    async with asyncio.TaskGroup() as group:
        group.create_task(pieces("s", Length.SHORT))
        group.create_task(pieces("L", Length.LONG))

    assert "".join(done) == "a" + "sss" + "LLL"


async def test_time_on_another_thread_counts_against_its_caller() -> None:
    clock, done = HeldClock(), list[str]()
    pace = Pace(burst_s=0.001, slice_s=0, resting_iterations=1, clock=clock, used=clock)
    await begun(pace, clock, "a", done)  # which uses up the burst
    pace.charge("a", 0.005)
    await begun(pace, clock, "abababab", done)
    await done_in_each_iteration(pace, done)

    assert "".join(done) == "a" + "bbb" + "ab" + "aaa"


@given(st.lists(st.tuples(st.sampled_from("abc"), st.integers(0, 30) | st.none()), max_size=30))
def test_cancelled_work_never_keeps_other_work_from_running(callers: list[tuple[str, int | None]]) -> None:
    """A caller with the iteration in which its work is cancelled, if it is."""

    async def run() -> None:
        clock, done = HeldClock(), list[str]()
        pace = Pace(burst_s=0.001, resting_iterations=2, clock=clock)
        tasks = [asyncio.create_task(work(pace, clock, caller, 0.002, done)) for caller, _ in callers]
        for iteration in range(31):
            for task, (_, cancelled_in) in zip(tasks, callers, strict=True):
                if cancelled_in == iteration:
                    task.cancel()
            await asyncio.sleep(0)
        async with asyncio.timeout(TIMEOUT_S):
            outcomes = await asyncio.gather(*tasks, return_exceptions=True)
        for outcome, (_, cancelled_in) in zip(outcomes, callers, strict=True):
            assert outcome is None or cancelled_in is not None
        assert (len(done), pace.waiting) == (outcomes.count(None), 0)

    asyncio.run(run())
