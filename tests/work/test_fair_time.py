"""A queue in which callers have the same time, whatever their turns take."""

from collections import Counter

from graph.work.fair_time import REMEMBERED, FairTime


def waiting(**callers: int) -> FairTime[str, str]:
    """A queue in which so many entries of each caller wait, the first of `a` as `a0`."""
    queue: FairTime[str, str] = FairTime()
    for caller, number in callers.items():
        for entry in range(number):
            queue.put(caller, f"{caller}{entry}")
    return queue


def served(queue: FairTime[str, str], turns: int, seconds: dict[str, float]) -> list[str]:
    """The entries of so many turns, each of which takes as long as its caller's do."""
    entries = []
    for _ in range(turns):
        if (taken := queue.take()) is None:
            break
        caller, entry = taken
        entries.append(entry)
        queue.end_slice(seconds[caller])
    return entries


def test_short_slices_of_one_caller_balance_a_long_slice_of_another() -> None:
    entries = served(waiting(L=8, s=8), 10, {"L": 4, "s": 1})

    assert entries == ["L0", "s0", "s1", "s2", "s3", "L1", "s4", "s5", "s6", "s7"]


def test_a_caller_that_comes_later_has_no_credit() -> None:
    queue = waiting(a=20)
    served(queue, 10, {"a": 1})
    for number in range(5):
        queue.put("b", f"b{number}")

    assert Counter(entry[0] for entry in served(queue, 6, {"a": 1, "b": 1})) == {"a": 3, "b": 3}


def test_a_caller_waits_after_a_long_slice_even_if_its_queue_was_empty() -> None:
    queue = waiting(a=1, b=5)
    served(queue, 2, {"a": 3, "b": 1})
    queue.put("a", "a1")

    assert served(queue, 9, {"a": 3, "b": 1}) == ["b1", "b2", "a1", "b3", "b4"]


def test_an_entry_added_during_its_callers_slice_comes_after_that_slice() -> None:
    queue = waiting(a=1, b=1)
    assert queue.take() == ("a", "a0")
    queue.put("a", "a1")
    queue.end_slice(1)

    assert served(queue, 9, {"a": 1, "b": 1}) == ["b0", "a1"]


def test_a_discarded_entry_is_not_taken_and_its_caller_has_one_place() -> None:
    queue = waiting(a=1, b=2)
    queue.discard("a", "a0")
    queue.discard("a", "a0")
    queue.discard("z", "b0")
    queue.put("a", "a1")
    queue.put("a", "a2")

    assert len(queue) == 4
    assert served(queue, 9, {"a": 1, "b": 1}) == ["a1", "b0", "a2", "b1"]


def test_callers_that_have_nothing_to_catch_up_on_are_forgotten() -> None:
    queue = waiting(a=1)
    for number in range(10 * REMEMBERED):
        queue.put("a", "a")
        queue.put(str(number), "one")
        served(queue, 2, {"a": 1, str(number): 1})

    assert len(queue._ends) <= 2 * REMEMBERED
