"""Answers that are kept: the latest for certain, never more than twice as many, each the right one."""

from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from graph.store.sqlite.recent import Recent

LEAST = 8


def squares(numbers: Sequence[int]) -> list[int]:
    return [number * number for number in numbers]


def none(missing: Sequence[int]) -> list[int]:
    raise AssertionError(f"{missing} was computed again")


@given(st.lists(st.lists(st.integers(0, 40), max_size=12)))
def test_whatever_was_asked_before_the_answers_are_right_and_in_order(asked: list[list[int]]) -> None:
    recent: Recent[int, int] = Recent(LEAST)
    for numbers in asked:
        assert recent.all(numbers, squares) == squares(numbers)


def test_what_was_asked_last_is_not_computed_again() -> None:
    recent: Recent[int, int] = Recent(LEAST)
    recent.all(range(100), squares)

    assert recent.all(range(100 - LEAST, 100), none) == squares(range(100 - LEAST, 100))


def test_no_more_than_two_generations_are_kept() -> None:
    recent: Recent[int, int] = Recent(LEAST)
    for begin in range(0, 1000, 5):
        recent.all(range(begin, begin + 5), squares)
    recent.all(range(1000, 2000), squares)  # more at once than are kept

    computed: list[int] = []

    def told(missing: Sequence[int]) -> list[int]:
        computed.extend(missing)
        return squares(missing)

    recent.all(range(2000), told)
    assert set(range(2000 - LEAST, 2000)).isdisjoint(computed)
    assert len(computed) >= 2000 - 2 * LEAST


def test_what_is_asked_again_outlives_its_generation() -> None:
    recent: Recent[int, int] = Recent(LEAST)
    for number in range(1, 100):
        recent.all([0, number], squares)

    assert recent.all([0], none) == [0]
