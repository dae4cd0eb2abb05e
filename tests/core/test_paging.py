"""Paging arguments mean what Relay says."""

from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from graph.core.errors import BadUserInput, InvalidCursor
from graph.core.paging import PageSizes, Paging, Position

SIZES = PageSizes(default=50, most=1000)

cursors = st.none() | st.sampled_from(["1", "2", "x"])


def position_of(cursor: str, argument: str) -> Position:
    """Read a cursor that is a number."""
    if not cursor.isdigit():
        raise InvalidCursor(argument)
    return {"number": int(cursor)}


@given(first=st.none() | st.integers(), last=st.none() | st.integers(), after=cursors, before=cursors)
@example(first=0, last=None, after=None, before=None)
@example(first=None, last=1000, after=None, before=None)
@example(first=1001, last=None, after=None, before=None)
@example(first=-1, last=None, after=None, before=None)
def test_paging_arguments_are_read_or_refused(
    first: int | None, last: int | None, after: str | None, before: str | None
) -> None:
    def read() -> Paging:
        return Paging.read(position_of, SIZES, first=first, last=last, after=after, before=before)

    sizes = [size for size in (first, last) if size is not None]
    if len(sizes) == 2 or any(not 0 <= size <= 1000 for size in sizes):
        with pytest.raises(BadUserInput):
            read()
    elif "x" in (after, before):
        with pytest.raises(InvalidCursor):
            read()
    else:
        positions = (None if cursor is None else position_of(cursor, "") for cursor in (after, before))
        assert read() == Paging(sizes[0] if sizes else 50, last is not None, *positions)


def test_a_refusal_names_the_argument_and_says_what_to_do() -> None:
    refusals: list[tuple[dict[str, Any], str]] = [
        ({"first": 1, "last": 1}, "Give `first` to page forward or `last` to page backward, not both."),
        ({"first": -1}, "`first` must lie between 0 and 1000."),
        ({"last": 1001}, "`last` must lie between 0 and 1000."),
        ({"before": "x"}, "`before` is not a cursor of this connection: pass an edge's `cursor` back unchanged."),
    ]
    for arguments, message in refusals:
        with pytest.raises(BadUserInput) as caught:
            Paging.read(position_of, SIZES, **arguments)
        assert str(caught.value) == message
