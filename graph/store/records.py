"""Records that are items of the store, seen through names.

A record holds its item and nothing else: `mag = Stored("mag", float)` reads the item's attribute
when it is asked for. So a page of a thousand records costs a thousand small objects, and no
attribute is touched that nobody selected. Whoever compiles code that reads many records may take
the item's attribute directly (see `api.fast.completion`); it is the same value.
"""

from collections.abc import Callable, Iterator
from typing import Any, Generic, Self, TypeVar, overload

from graph.store.contract import Item

T = TypeVar("T")


class Stored(Generic[T]):
    """An attribute of a record that stands in its item."""

    def __init__(self, attribute: str, convert: Callable[[Any], T] | None = None, *, optional: bool = False) -> None:
        """Say where the value stands.

        Args:
            attribute: its name in the item.
            convert: from the stored value, where that may be of another type: a store gives 2 for 2.0.
            optional: whether the item may lack it; it is None then.
        """
        self.attribute = attribute
        self.convert = convert
        self.optional = optional

    @overload
    def __get__(self, record: None, owner: type) -> Self: ...
    @overload
    def __get__(self, record: "Record", owner: type) -> T: ...
    def __get__(self, record: "Record | None", owner: type) -> Self | T:
        if record is None:
            return self
        value: Any = record.item.get(self.attribute) if self.optional else record.item[self.attribute]
        stored: T = value if value is None or self.convert is None else self.convert(value)
        return stored


class Record:
    """An item with names for what stands in it. Two are equal where all that has a name is.

    All that a record says, by its properties too, follows from its item alone: not from the time, nor
    from another item. So what was made of an item once can be used again.
    """

    __slots__ = ("item",)

    def __init__(self, item: Item) -> None:
        self.item = item

    @classmethod
    def stored(cls) -> Iterator[tuple[str, Stored[Any]]]:
        """The names of the attributes, and where they stand."""
        return ((name, found) for name, found in vars(cls).items() if isinstance(found, Stored))

    def values(self) -> dict[str, Any]:
        """All attributes by their names."""
        return {name: getattr(self, name) for name, _ in self.stored()}

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Record) and type(other) is type(self) and other.values() == self.values()

    def __hash__(self) -> int:
        return hash(tuple(self.values().items()))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in self.values().items())})"
