"""Records that are items of the store, seen through names.

A record holds its item and nothing else: `mag = Stored("mag", float)` reads the item's attribute
when it is asked for. So a page of a thousand records costs a thousand small objects, and no
attribute is touched that nobody selected. Whoever compiles code that reads many records may take
the item's attribute directly (see `api.fast.completion`); it is the same value.

Of an item that was read in part, an optional attribute may be missing because it was not read. So
such items are records of another class, `Event.reading(attributes)`, which refuses what was not read.
"""

from collections.abc import Callable, Hashable
from functools import lru_cache
from typing import Any, ClassVar, Generic, Self, TypeVar, cast, overload

from graph.store.entity import Entity, Item

T = TypeVar("T")
PARTIAL_CLASSES = 256  # that are kept; each takes about 2 KB


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


class NotRead:
    """An optional attribute of a record whose item was read without it."""

    def __init__(self, attribute: str) -> None:
        self.attribute = attribute

    def __get__(self, record: object | None, owner: type) -> Self:
        """Refuse it: None would say that the item lacks the attribute."""
        if record is None:
            return self
        raise KeyError(self.attribute)


class Record:
    """An item with names for what stands in it. Two are equal where all that has a name is.

    All that a record says, by its properties too, follows from its item alone: not from the time, nor
    from another item.
    """

    __slots__ = ("item",)

    by_position: ClassVar[frozenset[str]] = frozenset()
    """Names of what follows from the record's position alone, which is read with every item."""

    def __init__(self, item: Item) -> None:
        self.item = item

    @classmethod
    def reading(cls, attributes: frozenset[str] | None) -> type[Self]:
        """The class of the records whose items were read with these attributes alone; None means all of them."""
        return cls if attributes is None else cast("type[Self]", _reading(cast("Hashable", cls), attributes))

    @classmethod
    def stored(cls) -> dict[str, Stored[Any]]:
        """The names of the attributes, and where they stand."""
        found = {name: value for each in reversed(cls.__mro__) for name, value in vars(each).items()}
        return {name: value for name, value in found.items() if isinstance(value, Stored)}

    def values(self) -> dict[str, Any]:
        """All attributes by their names."""
        return {name: getattr(self, name) for name in self.stored()}

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Record) and type(other) is type(self) and other.values() == self.values()

    def __hash__(self) -> int:
        return hash(tuple(self.values().items()))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in self.values().items())})"


class EntityRecord(Record):
    """A record of an entity whose primary key is made of one attribute. It can be found by that, see `client_input`.

    Where it is read as one of a connection, it has a `cursor` too, see `ordering`.
    """

    __slots__ = ()
    by_position = frozenset({"cursor"})

    entity: ClassVar[Entity]
    type_name: ClassVar[str]  # of these records in the graph

    @property
    def identity(self) -> tuple[str, str]:
        """Type and key, which no other object of the graph has."""
        (key,) = self.entity.key_names
        return self.type_name, self.item[key]


# What is cached by a class is typed as hashable: mypy takes the `__hash__` of its instances for that of the class.
@lru_cache(4 * PARTIAL_CLASSES)
def _reading(whole: Hashable, attributes: frozenset[str]) -> type[Record]:
    of_class = cast("type[Record]", whole)
    stored = of_class.stored().items()
    unread = {name for name, each in stored if each.optional and each.attribute not in attributes}
    return _partial(whole, frozenset(unread)) if unread else of_class


@lru_cache(PARTIAL_CLASSES)
def _partial(of_class: Hashable, unread: frozenset[str]) -> type[Record]:
    """A record class without some optional attributes."""
    whole = cast("type[Record]", of_class)
    stored = whole.stored()
    refused = {name: NotRead(stored[name].attribute) for name in sorted(unread)}
    return type(whole.__name__, (whole,), {"__slots__": (), "__module__": whole.__module__, **refused})
