"""A queue in which callers have their turn in rotation."""

from collections import defaultdict

from hypothesis import given
from hypothesis import strategies as st

from graph.work.fair_queue import FairQueue


def waiting(*entries: str) -> FairQueue[str]:
    """A queue in which these wait, each of the caller that its first letter names."""
    queue: FairQueue[str] = FairQueue()
    for entry in entries:
        queue.put(entry[0], entry)
    return queue


def taken(queue: FairQueue[str]) -> list[str]:
    """All that waits, in the order in which it is taken."""
    entries = []
    while (taken := queue.take()) is not None:
        entries.append(taken[1])
    return entries


def test_a_caller_that_is_not_eligible_keeps_its_place() -> None:
    queue = waiting("a1", "a2", "b1", "b2", "c1")

    assert queue.take(lambda caller: caller != "a") == ("b", "b1")
    assert queue.take(lambda _: False) is None
    assert [queue.waiting_of(caller) for caller in "abcd"] == [2, 1, 1, 0]
    assert taken(queue) == ["a1", "c1", "b2", "a2"]


def test_a_discarded_entry_is_not_taken_and_leaves_the_others() -> None:
    queue = waiting("a1", "a2", "b1")
    queue.discard("a", "a1")
    queue.discard("a", "a1")
    queue.discard("z", "a2")

    assert len(queue) == 2
    assert taken(queue) == ["a2", "b1"]


@given(st.lists(st.sampled_from("abcd"), max_size=40))
def test_no_caller_waits_for_more_than_one_entry_of_any_other(callers: list[str]) -> None:
    """Between two entries of a caller that waits, each other caller has at most one."""
    queue: FairQueue[tuple[str, int]] = FairQueue()
    for number, caller in enumerate(callers):
        queue.put(caller, (caller, number))
    order = [taken[1] for _ in callers if (taken := queue.take())]

    numbers = defaultdict(list)
    for caller, number in order:
        numbers[caller].append(number)
    assert all(some == sorted(some) for some in numbers.values())
    for caller in set(callers):
        places = [place for place, (other, _) in enumerate(order) if other == caller]
        for before, after in zip([-1, *places], places, strict=False):
            between = [other for other, _ in order[before + 1 : after]]
            assert len(between) == len(set(between))
