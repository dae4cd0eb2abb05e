"""The loop's time: a piece of work begins at once while a burst has time left, and else in its turn."""

import asyncio
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from graph.work.length import Length
from graph.work.pace import SHORT_AT_ONCE, Pace
from tests.processes import TIMEOUT_S
from tests.steps import done


class Loop:
    """A pace whose clock goes on only with the work that is done, and the callers whose work that was."""

    def __init__(self, **options: Any) -> None:
        self.now = 0.0  # seconds
        self.done: list[str] = []
        self.pace = Pace(clock=lambda: self.now, used=lambda: self.now, **options)

    async def work(self, caller: str, seconds: float = 0.002, length: Length = Length.USUAL, name: str = "") -> None:
        await self.pace.give_way(caller, length)
        self.now += seconds
        self.done.append(name or caller)

    async def begin(self, callers: str) -> list[asyncio.Task[None]]:
        """Begin the work of callers in one iteration of the loop."""
        tasks = [asyncio.create_task(self.work(caller)) for caller in callers]
        await asyncio.sleep(0)
        return tasks

    async def finish(self) -> list[int]:
        """How many pieces each iteration did until nothing waited."""
        counts = []
        waited = True
        while waited:
            waited, before = bool(self.pace.waiting), len(self.done)
            await asyncio.sleep(0)
            counts.append(len(self.done) - before)
        return counts


async def used_up(**options: Any) -> Loop:
    """A loop whose burst the work of `a` has used up."""
    loop = Loop(burst_s=0.001, resting_iterations=1, **options)
    await loop.begin("a")
    return loop


async def test_a_burst_takes_on_no_more_once_its_time_is_used_up() -> None:
    loop = Loop(burst_s=0.003)
    await loop.begin("aaaa")

    assert len(loop.done) == 2, "two pieces of 2 ms, of which the second began within 3 ms"
    assert loop.pace.waiting == 2
    await loop.finish()


async def test_each_iteration_takes_one_of_those_that_wait_callers_in_rotation() -> None:
    """Later work does not overtake what waits."""
    loop = Loop(burst_s=0.001)
    await loop.begin("aaaaaab")
    await loop.begin("c")
    assert loop.done == ["a"]

    assert max(await loop.finish()) == 1
    assert loop.done.index("b") <= 2, "one entry of the other caller stands before it"
    assert sorted(loop.done) == [*"aaaaaabc"]


async def test_a_burst_that_is_used_up_is_followed_by_a_rest() -> None:
    loop = Loop(burst_s=0.004, resting_iterations=3)
    await loop.begin("aaaaaaa")

    text = "".join(map(str, await loop.finish())).strip("0")
    assert text == "110001100011"[: len(text)], "two pieces of 2 ms, then three iterations without any"
    assert loop.done == ["a"] * 7


async def test_a_rest_takes_no_longer_than_a_burst() -> None:
    loop = Loop(burst_s=0.004, resting_iterations=100)
    await loop.begin("aaa")

    async def others() -> None:
        for _ in range(3):
            loop.now += 0.002
            await asyncio.sleep(0)

    counts, _ = await asyncio.gather(loop.finish(), others())
    assert loop.done == ["a", "a", "a"]
    assert len(counts) < 10


async def test_cancelled_work_leaves_the_queue() -> None:
    loop = Loop(burst_s=0.001)
    tasks = await loop.begin("aaa")
    for task in tasks[1:]:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)

    assert (loop.pace.waiting, loop.done) == (0, ["a"])


async def test_work_cancelled_when_its_slice_begins_leaves_it_to_the_next() -> None:
    loop = Loop(burst_s=0.001, resting_iterations=1)
    tasks = await loop.begin("aaa")
    loop.pace._next_iteration()  # which begins the rest
    tasks[1].cancel()
    loop.pace._next_iteration()  # before the task hears of it
    await asyncio.gather(*tasks, return_exceptions=True)

    assert loop.done == ["a", "a"]


async def test_a_slice_holds_many_short_pieces_of_one_caller_only() -> None:
    loop = await used_up(slice_s=0.001)

    async def pieces(caller: str, seconds: float) -> None:
        for _ in range(4):
            await loop.work(caller, seconds)

    await asyncio.gather(pieces("b", 0.0004), pieces("c", 0.002))

    assert "".join(loop.done) == "a" + "bbb" + "c" + "b" + "ccc"


async def test_what_begins_overtakes_nothing_as_short_of_its_caller() -> None:
    loop = await used_up(slice_s=1)

    async def beginning(name: str) -> None:
        await done(loop.pace.begin("b"))
        loop.now += 0.0001
        loop.done.append(name)
        if name == "1":
            group.create_task(beginning("9"))  # in the slice of the first, in which that itself need not wait
        await loop.pace.give_way("b")
        loop.done.append(name)

    names = "12345"[: SHORT_AT_ONCE + 1]
    async with asyncio.TaskGroup() as group:
        for name in names:
            group.create_task(beginning(name))

    assert loop.done == ["a", *[each for name in (*names, "9") for each in (name, name)]]


async def test_a_slice_takes_in_some_short_operations_but_one_page() -> None:
    for length, at_once in ((Length.SHORT, SHORT_AT_ONCE), (Length.USUAL, 1), (Length.LONG, 1)):
        loop = await used_up(slice_s=0)
        number = SHORT_AT_ONCE + 2
        tasks = [asyncio.create_task(loop.work("b", 0, length)) for _ in range(number)]
        await asyncio.sleep(0)

        assert max(await loop.finish()) == at_once
        await asyncio.gather(*tasks)
        assert len(loop.done) == 1 + number


async def test_a_slice_of_a_lookup_is_not_for_a_long_page_of_the_same_caller() -> None:
    loop = await used_up(slice_s=1)

    async def pieces(name: str, length: Length) -> None:
        for _ in range(3):
            await loop.work("b", 0.0001, length, name)

    await asyncio.gather(pieces("s", Length.SHORT), pieces("L", Length.LONG))

    assert "".join(loop.done) == "a" + "sss" + "LLL"


async def test_time_on_another_thread_counts_against_its_caller() -> None:
    loop = await used_up(slice_s=0)
    loop.pace.charge("a", 0.005)
    await loop.begin("abababab")
    await loop.finish()

    assert "".join(loop.done) == "a" + "bbb" + "ab" + "aaa"


@given(st.lists(st.tuples(st.sampled_from("abc"), st.integers(0, 30) | st.none()), max_size=30))
def test_cancelled_work_never_keeps_other_work_from_running(callers: list[tuple[str, int | None]]) -> None:
    """A caller with the iteration in which its work is cancelled, if it is."""

    async def run() -> None:
        loop = Loop(burst_s=0.001, resting_iterations=2)
        tasks = [asyncio.create_task(loop.work(caller)) for caller, _ in callers]
        for iteration in range(31):
            for task, (_, cancelled_in) in zip(tasks, callers, strict=True):
                if cancelled_in == iteration:
                    task.cancel()
            await asyncio.sleep(0)
        async with asyncio.timeout(TIMEOUT_S):
            outcomes = await asyncio.gather(*tasks, return_exceptions=True)
        for outcome, (_, cancelled_in) in zip(outcomes, callers, strict=True):
            assert outcome is None or cancelled_in is not None
        assert (len(loop.done), loop.pace.waiting) == (outcomes.count(None), 0)

    asyncio.run(run())
