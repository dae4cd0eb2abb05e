"""A queue in which callers have the same time, and of each caller short operations more of it than long ones."""

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from graph.work.length import SHARES, Length
from graph.work.time_by_length import TimeByLength

SHORT, USUAL, LONG = Length
Queue = TimeByLength[str]


def served(queue: Queue, turns: int, seconds: float = 1) -> list[str]:
    """The entries of so many turns."""
    entries = []
    for _ in range(turns):
        if (turn := queue.take()) is None:
            break
        entries.append(turn.entry)
        queue.end_slice(seconds)
    return entries


def test_a_lookup_waits_for_one_slice_of_long_pages_and_these_go_on_besides() -> None:
    queue = Queue()
    for number in range(30):
        queue.put("a", LONG, f"L{number}")
    assert served(queue, 1) == ["L0"]
    for number in range(30):
        queue.put("a", SHORT, f"s{number}")

    assert served(queue, 1) == ["s0"]
    assert Counter(entry[0] for entry in served(queue, 20)) == {"s": 16, "L": 4}


def test_entries_of_one_length_keep_their_order() -> None:
    queue = Queue()
    for number in range(3):
        queue.put("a", USUAL, f"u{number}")

    assert (len(queue), served(queue, 9), len(queue)) == (3, ["u0", "u1", "u2"], 0)


def test_a_discarded_entry_is_not_taken() -> None:
    queue = Queue()
    for entry in ("one", "two"):
        queue.put("a", SHORT, entry)
    queue.put("a", LONG, "three")
    for length, entry in ((SHORT, "one"), (SHORT, "one"), (LONG, "two"), (USUAL, "none")):
        queue.discard("a", length, entry)
    queue.discard("b", SHORT, "two")

    assert (len(queue), sorted(served(queue, 9)), len(queue)) == (2, ["three", "two"], 0)


def test_others_of_the_same_caller_and_length_can_be_taken_into_a_slice() -> None:
    queue = Queue()
    assert queue.take_another() is None
    for caller, length, entry in (("a", SHORT, "one"), ("b", SHORT, "b"), ("a", LONG, "long"), ("a", SHORT, "two")):
        queue.put(caller, length, entry)

    assert queue.take() == ("a", SHORT, "one")
    assert [queue.take_another(), queue.take_another(), len(queue)] == ["two", None, 2]
    queue.end_slice(3)
    assert served(queue, 9) == ["b", "long"]


def test_a_slice_that_is_not_ended_took_no_time() -> None:
    queue = Queue()
    for entry in ("one", "two"):
        queue.put("a", SHORT, entry)

    assert [turn.entry if (turn := queue.take()) else None for _ in range(3)] == ["one", "two", None]
    assert served(queue, 1) == []


def test_callers_of_whom_nothing_waits_are_forgotten() -> None:
    queue = Queue()
    for number in range(1000):
        queue.put(str(number), SHORT, "taken")
        queue.put(str(number), LONG, "discarded")
        queue.discard(str(number), LONG, "discarded")
    served(queue, 1000)

    assert not queue._lengths


@given(st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from(Length), st.floats(0, 10)), max_size=60))
def test_everything_that_waits_is_served_once(waiting: list[tuple[str, Length, float]]) -> None:
    queue = Queue()
    for number, (caller, length, _) in enumerate(waiting):
        queue.put(caller, length, str(number))
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
    queue: TimeByLength[tuple[str, int]] = TimeByLength()
    for caller, pieces in callers.items():
        for number, (length, _) in enumerate(pieces):
            queue.put(caller, length, (caller, number))
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
            queue.put("a", length, length.name)
    used = dict.fromkeys(Length, 0.0)
    for seconds in slices:
        turn = queue.take()
        assert turn
        queue.end_slice(seconds)
        used[turn.length] += seconds / SHARES[turn.length]
        for one in Length:
            for other in Length:
                assert abs(used[one] - used[other]) <= max(slices) * (1 / SHARES[one] + 1 / SHARES[other]) + 1e-6
