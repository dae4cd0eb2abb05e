"""Rows are items: what selects and reads some of them gives the same as of a list of items."""

from collections.abc import Callable, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graph.store.entity import Item
from graph.store.rows import Row, Rows, filtered, joined, picked, values_of
from tests.store.samples import NamedColumns


def _tenths(value: int) -> float:
    return value / 10


COLUMNS = NamedColumns(("tenths", "name"), {"tenths": _tenths})
ROWS = st.lists(st.tuples(st.integers(0, 99), st.text(max_size=3), st.none()), max_size=9)


def rows(values: Sequence[Row]) -> Rows:
    return Rows(COLUMNS, list(values))


@given(ROWS, ROWS, st.data())
def test_rows_answer_as_the_list_of_their_items_does(values: list[Row], more: list[Row], data: st.DataObject) -> None:
    some, items = rows(values), COLUMNS.items(values)
    at = data.draw(st.lists(st.sampled_from(range(len(items))))) if items else []

    assert list(picked(some, at)) == picked(items, at) == [items[each] for each in at]
    assert list(filtered(some, lambda item: item["tenths"] > 5)) == filtered(items, lambda item: item["tenths"] > 5)
    for names in (["name"], ["name", "name"], ["tenths"], ["name", "tenths"]):
        assert values_of(some, names) == values_of(items, names) == [tuple(map(item.get, names)) for item in items]
    assert list(joined(some, rows(more))) == items + COLUMNS.items(more)
    assert some == items
    assert [some[each] for each in at] == [items[each] for each in at]


@pytest.mark.parametrize("select", [lambda some: picked(some, [1, 0]), lambda some: filtered(some, bool)])
def test_what_is_selected_of_rows_stays_rows(select: Callable[[Sequence[Item]], Sequence[Item]]) -> None:
    selected = select(rows([(1, "a", None), (2, "b", None)]))

    assert isinstance(selected, Rows)
    assert selected.columns is COLUMNS


def test_rows_of_other_columns_are_joined_as_items() -> None:
    first, second = rows([(1, "a", None)]), Rows(NamedColumns(COLUMNS.names, {"tenths": _tenths}), [(2, "b", None)])

    assert joined(first, second) == [{"tenths": 0.1, "name": "a"}, {"tenths": 0.2, "name": "b"}]
    assert joined(first, []) is first
    assert joined([], second) is second
