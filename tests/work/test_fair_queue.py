"""A queue in which callers have the same time, and of each caller short operations more of it than long ones."""

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from graph.work.fair_queue import REMEMBERED, FairQueue
from graph.work.length import SHARES, Length

SHORT, USUAL, LONG = Length
Queue = FairQueue[str]


def waiting(**callers: int) -> Queue:
    """A queue in which so many entries of each caller wait, the first of `a` as `a0`."""
    queue = Queue()
    for caller, number in callers.items():
        for entry in range(number):
            queue.put(caller, f"{caller}{entry}")
    return queue


def served(queue: Queue, turns: int = 99, **seconds: float) -> list[str]:
    """The entries of so many turns, each of which takes as long as its caller's do, or a second."""
    entries = []
    for _ in range(turns):
        if (turn := queue.take()) is None:
            break
        entries.append(turn.entry)
        queue.end_slice(seconds.get(turn.caller, 1))
    return entries


# Callers


def test_short_slices_of_one_caller_balance_a_long_slice_of_another() -> None:
    entries = served(waiting(L=8, s=8), 10, L=4)

    assert entries == ["L0", "s0", "s1", "s2", "s3", "L1", "s4", "s5", "s6", "s7"]


def test_a_caller_that_comes_later_has_no_credit() -> None:
    queue = waiting(a=20)
    served(queue, 10)
    for number in range(5):
        queue.put("b", f"b{number}")

    assert Counter(entry[0] for entry in served(queue, 6)) == {"a": 3, "b": 3}


def test_a_caller_waits_after_a_long_slice_even_if_its_queue_was_empty() -> None:
    queue = waiting(a=1, b=5)
    served(queue, 2, a=3)
    queue.put("a", "a1")

    assert served(queue, a=3) == ["b1", "b2", "a1", "b3", "b4"]


def test_an_entry_added_during_its_callers_slice_comes_after_that_slice() -> None:
    queue = waiting(a=1, b=1)
    assert queue.take() == ("a", USUAL, "a0")
    queue.put("a", "a1")
    queue.end_slice(1)

    assert served(queue) == ["b0", "a1"]


def test_a_caller_that_is_not_eligible_keeps_its_place() -> None:
    queue = waiting(a=2, b=2, c=1)

    turn = queue.take(lambda caller: caller != "a")
    assert turn
    assert turn.entry == "b0"
    queue.end_slice(1)
    assert queue.take(lambda _: False) is None
    assert [queue.waiting_of(caller) for caller in "abcd"] == [2, 1, 1, 0]
    assert served(queue) == ["a0", "c0", "b1", "a1"]


def test_callers_that_have_nothing_to_catch_up_on_are_forgotten() -> None:
    queue = waiting(a=1)
    for number in range(10 * REMEMBERED):
        queue.put("a", "a")
        queue.put(str(number), "one")
        queue.put(str(number), "discarded", LONG)
        queue.discard(str(number), "discarded", LONG)
        served(queue, 2)
    assert len(queue._line.ends) <= 2 * REMEMBERED
    served(queue)

    assert (queue._callers, queue._line.ends) == ({}, {})


# Lengths


def test_a_lookup_waits_for_one_slice_of_long_pages_and_these_go_on_besides() -> None:
    queue = Queue()
    for number in range(30):
        queue.put("a", f"L{number}", LONG)
    assert served(queue, 1) == ["L0"]
    for number in range(30):
        queue.put("a", f"s{number}", SHORT)

    assert served(queue, 1) == ["s0"]
    assert Counter(entry[0] for entry in served(queue, 20)) == {"s": 16, "L": 4}


def test_a_discarded_entry_is_not_taken_and_its_caller_has_one_place() -> None:
    queue = waiting(a=1, b=2)
    for caller, entry, length in (("a", "a0", USUAL), ("a", "a0", USUAL), ("z", "b0", USUAL), ("b", "b0", LONG)):
        queue.discard(caller, entry, length)
    queue.put("a", "a1")
    queue.put("a", "a2")

    assert len(queue) == 4
    assert served(queue) == ["a1", "b0", "a2", "b1"]


def test_others_of_the_same_caller_and_length_can_be_taken_into_a_slice() -> None:
    queue = Queue()
    assert queue.take_another() is None
    for caller, length, entry in (("a", SHORT, "one"), ("b", SHORT, "b"), ("a", LONG, "long"), ("a", SHORT, "two")):
        queue.put(caller, entry, length)

    assert queue.take() == ("a", SHORT, "one")
    assert [queue.take_another(), queue.take_another(), len(queue)] == ["two", None, 2]
    queue.end_slice(3)
    assert served(queue) == ["b", "long"]


def test_a_slice_that_is_not_ended_cost_nothing() -> None:
    queue = waiting(a=2)

    assert [turn.entry if (turn := queue.take()) else None for _ in range(3)] == ["a0", "a1", None]
    assert served(queue) == []


# Any order


@given(st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from(Length), st.floats(0, 10)), max_size=60))
def test_everything_that_waits_is_served_once(waiting: list[tuple[str, Length, float]]) -> None:
    queue = Queue()
    for number, (caller, length, _) in enumerate(waiting):
        queue.put(caller, str(number), length)
    found = []
    while turn := queue.take():
        caller, length, seconds = waiting[int(turn.entry)]
        assert (turn.caller, turn.length) == (caller, length)
        found.append(int(turn.entry))
        queue.end_slice(seconds)

    assert sorted(found) == list(range(len(waiting)))
    assert len(queue) == 0


Pieces = list[tuple[Length, float]]
"""The length of each piece's operation, and the seconds that it takes."""


@given(
    st.dictionaries(
        st.sampled_from("abcd"),
        st.lists(st.tuples(st.sampled_from(Length), st.floats(0.1, 10)), min_size=30, max_size=30),
        min_size=2,
    ),
    st.integers(1, 4),
)
def test_waiting_callers_have_the_same_time_however_they_mix_lengths(callers: dict[str, Pieces], at_once: int) -> None:
    """Up to two of their longest slices, of which one may hold several short pieces."""
    queue: FairQueue[tuple[str, int]] = FairQueue()
    for caller, pieces in callers.items():
        for number, (length, _) in enumerate(pieces):
            queue.put(caller, (caller, number), length)
    left = {caller: len(pieces) for caller, pieces in callers.items()}
    used, longest = dict.fromkeys(callers, 0.0), dict.fromkeys(callers, 0.0)
    while turn := queue.take():
        entries = [turn.entry]
        while turn.length is SHORT and len(entries) < at_once and (another := queue.take_another()):
            entries.append(another)
        seconds = sum(callers[caller][number][1] for caller, number in entries)
        assert {caller for caller, _ in entries} == {turn.caller}
        queue.end_slice(seconds)
        used[turn.caller] += seconds
        longest[turn.caller] = max(longest[turn.caller], seconds)
        left[turn.caller] -= len(entries)
        if not left[turn.caller]:
            break  # from here on not all wait
        for other in callers:
            most = longest[turn.caller] + max(longest[other], max(seconds for _, seconds in callers[other]))
            assert abs(used[turn.caller] - used[other]) <= most + 1e-6


@given(st.lists(st.floats(0.1, 10), min_size=90, max_size=90))
def test_lengths_that_wait_have_their_shares_up_to_a_slice_of_each(slices: list[float]) -> None:
    queue = Queue()
    for length in Length:
        for _ in slices:
            queue.put("a", length.name, length)
    used = dict.fromkeys(Length, 0.0)
    for seconds in slices:
        turn = queue.take()
        assert turn
        queue.end_slice(seconds)
        used[turn.length] += seconds / SHARES[turn.length]
        for one in Length:
            for other in Length:
                assert abs(used[one] - used[other]) <= max(slices) * (1 / SHARES[one] + 1 / SHARES[other]) + 1e-6
