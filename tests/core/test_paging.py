"""Cursors hold a position and nothing else will do; paging arguments mean what Relay says."""

import re
from base64 import urlsafe_b64encode
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from graph.core.days import FIRST_MS, LAST_MS
from graph.core.errors import BadUserInput, InvalidCursor
from graph.core.paging import PageSizes, Paging, Position

SIZES = PageSizes(default=50, most=1000)

times = st.integers(FIRST_MS, LAST_MS)
keys = st.text(st.characters(exclude_categories=["Cc", "Cs"]), min_size=1, max_size=64)
positions = st.builds(Position, st.sampled_from(["events", "logs"]), times, keys)


def encoded(text: str) -> str:
    """A text as cursors are written."""
    return urlsafe_b64encode(text.encode("utf-8", "surrogatepass")).rstrip(b"=").decode()


@given(position=positions)
def test_a_cursor_decodes_to_its_position(position: Position) -> None:
    assert re.fullmatch(r"[A-Za-z0-9_-]+", position.cursor)
    assert Position.of_cursor(position.connection, position.cursor, "after") == position


def test_a_cursor_is_the_same_text_for_ever() -> None:
    """Clients keep cursors, so another release must still take them."""
    assert Position("events", 1_691_064_000_000, "us7000abcd").cursor == "ZXZlbnRzMToxNjkxMDY0MDAwMDAwOnVzNzAwMGFiY2Q"
    assert Position("events", -1, "é").cursor == "ZXZlbnRzMTotMTrDqQ"


@given(text=st.text() | st.binary().map(lambda raw: urlsafe_b64encode(raw).decode()) | positions.map(str))
def test_any_other_text_is_no_cursor(text: str) -> None:
    with pytest.raises(InvalidCursor):
        Position.of_cursor("events", text, "after")


@given(position=positions, data=st.data())
def test_a_changed_cursor_is_another_cursor_or_invalid(position: Position, data: st.DataObject) -> None:
    cursor = position.cursor
    place = data.draw(st.integers(0, len(cursor)))
    changed = (
        cursor[:place]
        + data.draw(st.text("AZaz09-_+/=. \n%é", max_size=2))
        + cursor[place + data.draw(st.integers(0, 1)) :]
    )
    try:
        found = Position.of_cursor(position.connection, changed, "after")
    except InvalidCursor:
        assert changed != cursor
    else:
        assert found.cursor == changed


IMPOSSIBLE = (
    *("", "\0", "1:0:us1", "Events1:0:us1", "logs1:0:us1", "events:0:us1", "events1:0", "events1:0:", "events1::us1"),
    *("events2:0:us1", "events01:0:us1", "events１:0:us1", "events1:00:us1", "events1:-0:us1", "events1:+1:us1"),
    *("events1:1.0:us1", "events1: 1:us1", "events1:1e3:us1", "events1:0:us\n1", "events1:0:us\x7f"),
    *(f"events1:{LAST_MS + 1}:us1", f"events1:{FIRST_MS - 1}:us1", "events1:0:\ud800", "events1:0:" + "i" * 65),
    *("events1:" + "9" * 5000 + ":us1", "events" + "1" * 5000 + ":0:us1"),
)


def test_a_well_formed_cursor_with_impossible_values_is_refused() -> None:
    for text in IMPOSSIBLE:
        with pytest.raises(InvalidCursor):
            Position.of_cursor("events", encoded(text), "after")


@given(
    first=st.none() | st.integers(),
    last=st.none() | st.integers(),
    after=st.none() | positions,
    before=st.none() | positions,
)
@example(first=0, last=None, after=None, before=None)
@example(first=None, last=1000, after=None, before=None)
@example(first=1001, last=None, after=None, before=None)
@example(first=-1, last=None, after=None, before=None)
def test_paging_arguments_are_read_or_refused(
    first: int | None, last: int | None, after: Position | None, before: Position | None
) -> None:
    def read() -> Paging[Position]:
        after_cursor, before_cursor = (position.cursor if position else None for position in (after, before))
        return Paging.of("events", SIZES, first=first, last=last, after=after_cursor, before=before_cursor)

    sizes = [size for size in (first, last) if size is not None]
    if len(sizes) == 2 or any(not 0 <= size <= 1000 for size in sizes):
        with pytest.raises(BadUserInput):
            read()
    elif any(position is not None and position.connection != "events" for position in (after, before)):
        with pytest.raises(InvalidCursor):
            read()
    else:
        assert read() == Paging(sizes[0] if sizes else 50, last is not None, after, before)


def test_a_refusal_names_the_argument_and_says_what_to_do() -> None:
    refusals: list[tuple[dict[str, Any], str]] = [
        ({"first": 1, "last": 1}, "Give `first` to page forward or `last` to page backward, not both."),
        ({"first": -1}, "`first` must lie between 0 and 1000."),
        ({"last": 1001}, "`last` must lie between 0 and 1000."),
        ({"before": "x"}, "`before` is not a cursor of this connection: pass an edge's `cursor` back unchanged."),
    ]
    for arguments, message in refusals:
        with pytest.raises(BadUserInput) as caught:
            Paging.of("events", SIZES, **arguments)
        assert str(caught.value) == message
