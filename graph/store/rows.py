"""Items as rows of values: an item is made only where one is asked for.

An engine that reads columns answers a query with `Rows`. Most items of a page are never looked at as
mappings: `api.fast.completion` writes rows into an answer directly.
"""

from collections.abc import Callable, Iterator, Sequence
from operator import itemgetter
from typing import Any, Protocol, overload

from graph.store.entity import Item

Row = tuple[Any, ...]


class Columns(Protocol):
    """The meaning of a row's values. There is one object for each selection of columns."""

    @property
    def names(self) -> Sequence[str]:
        """The attributes that the first values are of. Behind them, a row may have further values."""

    @property
    def width(self) -> int:
        """The number of all values of a row."""

    @property
    def items(self) -> Callable[[Sequence[Row]], list[Item]]:
        """Makes items of rows. An item lacks an attribute whose value is None."""

    def reading(self, name: str) -> Callable[[Any], Any] | None:
        """The function that makes an attribute of a value that is not None; None if it is the value itself."""


class Rows(Sequence[Item]):
    """Items of one selection of columns."""

    __slots__ = ("_items", "columns", "values")

    def __init__(self, columns: Columns, values: list[Row]) -> None:
        self.columns = columns
        self.values = values
        self._items: list[Item] | None = None

    @overload
    def __getitem__(self, at: int) -> Item: ...
    @overload
    def __getitem__(self, at: slice) -> "Rows": ...
    def __getitem__(self, at: int | slice) -> "Item | Rows":
        if isinstance(at, slice):
            return Rows(self.columns, self.values[at])
        return self.columns.items([self.values[at]])[0] if self._items is None else self._items[at]

    def __len__(self) -> int:
        return len(self.values)

    def __iter__(self) -> Iterator[Item]:
        if self._items is None:
            self._items = self.columns.items(self.values)
        return iter(self._items)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and list(self) == list(other)

    def __repr__(self) -> str:
        return repr(list(self))


def joined(first: Sequence[Item], second: Sequence[Item]) -> Sequence[Item]:
    """The items of both, one after the other."""
    if not first or not second:
        return first or second
    if isinstance(first, Rows) and isinstance(second, Rows) and first.columns is second.columns:
        return Rows(first.columns, first.values + second.values)
    return [*first, *second]


def filtered(items: Sequence[Item], holds: Callable[[Item], bool]) -> Sequence[Item]:
    """The items that pass a test."""
    return picked(items, [at for at, item in enumerate(items) if holds(item)])


def picked(items: Sequence[Item], at: Sequence[int]) -> Sequence[Item]:
    """The items at these places of a list, in the order of the places."""
    if isinstance(items, Rows):
        return Rows(items.columns, [items.values[each] for each in at])
    return [items[each] for each in at]


def values_of(items: Sequence[Item], names: Sequence[str]) -> list[Row]:
    """The values of these attributes of each item, None for one that it lacks."""
    if isinstance(items, Rows) and not any(map(items.columns.reading, names)):
        at = [items.columns.names.index(name) for name in names]
        if len(at) > 1:
            return list(map(itemgetter(*at), items.values))
        return [(row[at[0]],) for row in items.values]
    return [tuple([item.get(name) for name in names]) for item in items]
