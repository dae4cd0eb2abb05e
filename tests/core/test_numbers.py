"""Whole numbers as programs write them."""

from typing import Any

import pytest

from graph.core.numbers import whole

WRITTEN: list[tuple[Any, int | None]] = [
    *((0, 0), (-5, -5), (2**70, 2**70), (12.0, 12), (1.69e12, 1_690_000_000_000), (-0.0, 0)),
    *((12.5, None), (float("inf"), None), (float("nan"), None), (True, None), ("12", None), (None, None), ([], None)),
]


@pytest.mark.parametrize(("value", "number"), WRITTEN)
def test_a_whole_number_is_an_int_or_a_float_without_a_fraction(value: Any, number: int | None) -> None:
    assert (whole(value), type(whole(value))) == (number, type(number))
