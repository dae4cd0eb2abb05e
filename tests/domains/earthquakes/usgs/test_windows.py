"""Windows: halves lose no millisecond, and what others leave of a window is exactly the rest."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graph.domains.earthquakes.usgs.windows import Window

SPAN = 12


@st.composite
def windows(draw: st.DrawFn) -> Window:
    start_ms = draw(st.integers(-SPAN, SPAN))
    return Window(start_ms, draw(st.integers(start_ms, SPAN)))


def milliseconds(*windows: Window) -> list[int]:
    return [ms for window in windows for ms in range(window.start_ms, window.end_ms + 1)]


@given(window=windows())
def test_the_halves_of_a_window_are_the_window(window: Window) -> None:
    halves = window.halves()

    assert len(halves) == (0 if window.start_ms == window.end_ms else 2)
    if halves:
        assert milliseconds(*halves) == milliseconds(window)


@pytest.mark.parametrize("start_ms", [-3, 0, 7])
def test_a_window_can_be_halved_until_each_part_is_a_millisecond(start_ms: int) -> None:
    parts = [Window(start_ms, start_ms + SPAN)]
    while any(part.halves() for part in parts):
        parts = [half for part in parts for half in part.halves() or [part]]

    assert parts == [Window(ms, ms) for ms in range(start_ms, start_ms + SPAN + 1)]


@given(window=windows(), others=st.lists(windows(), max_size=5))
def test_a_window_without_others_has_each_remaining_millisecond_once(window: Window, others: list[Window]) -> None:
    left = window.without(others)

    assert milliseconds(*left) == sorted(set(milliseconds(window)) - set(milliseconds(*others)))
