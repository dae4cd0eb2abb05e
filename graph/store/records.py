"""Records: items of the store with named attributes, which are declared here once.

    class Event(Record):
        mag = stored("mag", Real(least=-2, greatest=10), "Magnitude.")
        depth = optional("depth", Real(least=0, unit="km"), "Depth.")

    EVENT = Entity("EVENT", EARTHQUAKE_EVENTS, Event, key=("EVENT#{eventId}", "EVENT"))

Entities, the graph, exports and the documents' tables take name, type, bounds, unit and description from here.

A record holds only its item: `mag` reads the item's attribute on access, and `time = Derived(datetime_of, "timestamp")`
computes a value of attributes. Compiled code may read or compute the same without a record (see `api.fast.completion`).
So `Records` makes the records of a page only where somebody asks for one.

In an item that was read in part, an optional attribute may be missing only because it was not read.
So such items are records of another class, `Event.reading(attributes)`, which refuses these attributes.
"""

from collections.abc import Callable, Collection, Hashable, Iterator, Sequence
from dataclasses import KW_ONLY, dataclass, replace
from functools import lru_cache
from typing import Any, ClassVar, Generic, Protocol, Self, TypeVar, cast, get_type_hints, overload

from graph.store.attributes import Attribute
from graph.store.contract import Database
from graph.store.entity import Entity, Item, Key
from graph.store.query import Needed

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)
R = TypeVar("R", bound="Record")
PARTIAL_CLASSES = 256  # kept classes; each takes about 2 KB


@dataclass(eq=False, slots=True)
class Stored(Generic[T]):
    """A descriptor that reads an attribute from a record's item. `stored` and `optional` declare it."""

    attribute: str
    kind: Attribute
    convert: Callable[[Any], T] | None = None
    _: KW_ONLY
    optional: bool = False
    written: Callable[[Any], Any] | None = None
    description: str = ""

    @property
    def python_type(self) -> Any:
        """The type of its values, beside None."""
        return _returned_by(self.convert) if self.convert else self.kind.python_type

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


class Kind(Protocol[T_co]):
    """What the values of an attribute are: an attribute without a name, or one whose values are converted."""

    @property
    def python_type(self) -> type[T_co]:
        """The type of its values in Python."""


@dataclass(eq=False)
class Converted(Generic[T]):
    """A kind of attribute whose stored values a function converts."""

    kind: Attribute  # of the stored values
    convert: Callable[[Any], T]
    # Makes of the stored value what clients read, such as the text of a time. It takes less time than to convert the
    # value and to write that, with the same result.
    written: Callable[[Any], Any] | None = None

    @property
    def python_type(self) -> type[T]:
        """The type of its values in Python."""
        return cast("type[T]", _returned_by(self.convert))


def stored(name: str, kind: Kind[T], description: str = "") -> Stored[T]:
    """Declare an attribute of a record that every item has.

    Args:
        name: its name in the item.
        kind: what its values are: their type, bounds and unit. It is optional if the entity has other items without it.
        description: for those who read the graph or the documents.
    """
    return _declared(name, kind, description, is_optional=False)


def optional(name: str, kind: Kind[T], description: str = "") -> Stored[T | None]:
    """Declare an attribute of a record that an item may lack; then it is None. See `stored`."""
    return _declared(name, kind, description, is_optional=True)


def _declared(name: str, kind: Any, description: str, *, is_optional: bool) -> Stored[Any]:
    convert, written = None, None
    if isinstance(kind, Converted):
        kind, convert, written = kind.kind, kind.convert, kind.written
    declared = replace(kind, name=name, optional=is_optional or kind.optional)
    return Stored(name, declared, convert, optional=is_optional, written=written, description=description)


def _returned_by(function: Callable[..., Any]) -> Any:
    return function if isinstance(function, type) else get_type_hints(function)["return"]


class Derived(Generic[T]):
    """A descriptor that computes a value from attributes of a record's item, which no item lacks."""

    def __init__(self, compute: Callable[..., T], *attributes: str, description: str = "") -> None:
        """Name the attributes in the order in which `compute` takes them."""
        self.compute = compute
        self.attributes = attributes
        self.description = description

    @property
    def python_type(self) -> Any:
        """The type of its values."""
        return _returned_by(self.compute)

    @overload
    def __get__(self, record: None, owner: type) -> Self: ...
    @overload
    def __get__(self, record: "Record", owner: type) -> T: ...
    def __get__(self, record: "Record | None", owner: type) -> Self | T:
        if record is None:
            return self
        item = record.item
        return self.compute(*[item[name] for name in self.attributes])


class NotRead:
    """A descriptor of an optional attribute that was not read."""

    def __init__(self, attribute: str) -> None:
        self.attribute = attribute

    def __get__(self, record: object | None, owner: type) -> Self:
        """Raise KeyError: None would mean that the item lacks the attribute."""
        if record is None:
            return self
        raise KeyError(self.attribute)


class RecordClass(type):
    """The class of the classes of records: a record holds its item alone, unless its class names further slots."""

    def __new__(cls, name: str, bases: tuple[type, ...], members: dict[str, Any]) -> type:
        """Make a class without a `__dict__` in its objects."""
        return super().__new__(cls, name, bases, {"__slots__": (), **members})


class Record(metaclass=RecordClass):
    """An item with named attributes. Two records are equal if all their named attributes are.

    A record's values and properties depend only on its item, not on the time or on other items.
    """

    __slots__ = ("item",)

    entity: ClassVar[Entity]  # of which it is the record

    def __init__(self, item: Item) -> None:
        self.item = item

    @classmethod
    def reading(cls, attributes: Needed) -> type[Self]:
        """The class of records whose items were read with only these attributes; None means all."""
        return cls if attributes is None else cast("type[Self]", _reading(cast("Hashable", cls), attributes))

    @classmethod
    def stored(cls) -> dict[str, Stored[Any]]:
        """The descriptors of the attributes by their names."""
        return {name: value for name, value in _members(cls).items() if isinstance(value, Stored)}

    @classmethod
    def declarations(cls) -> "dict[str, Stored[Any] | Derived[Any]]":
        """The descriptors of the attributes and of values that are derived from them, by their names."""
        return {name: value for name, value in _members(cls).items() if isinstance(value, Stored | Derived)}

    @classmethod
    def declared(cls) -> tuple[Attribute, ...]:
        """The declared attributes of the items, each once, in order."""
        return tuple({each.attribute: each.kind for each in cls.stored().values()}.values())

    @classmethod
    def conversions(cls) -> dict[str, Callable[[Any], Any]]:
        """The functions that convert stored values, by attribute."""
        return {each.attribute: each.convert for each in cls.stored().values() if each.convert}

    @classmethod
    def stored_in(cls, entity: Entity) -> None:
        """Take note of the entity that the records are of."""
        cls.entity = entity

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
    """A record of an entity whose primary key is one attribute, by which it can be found, see `client_input`.

    A record of a connection also has a `cursor`, see `ordering`.
    """

    type_name: ClassVar[str]  # their type in the schema

    @classmethod
    def stored_in(cls, entity: Entity) -> None:
        if len(entity.key_names) != 1:
            raise TypeError(f"{cls.__name__}: the key of {entity.name} must be one attribute, not {entity.key_names}")
        super().stored_in(entity)

    @property
    def identity(self) -> tuple[str, str]:
        """Type and key, unique in the graph."""
        (key,) = self.entity.key_names
        return self.type_name, self.item[key]


class Records(Sequence[T]):
    """The records of some items, each made where one is asked for."""

    __slots__ = ("items", "record_of")

    def __init__(self, record_of: Callable[[Item], T], items: Sequence[Item]) -> None:
        """Take items, and the class of their records, or another function that makes one."""
        self.record_of = record_of
        self.items = items

    @overload
    def __getitem__(self, at: int) -> T: ...
    @overload
    def __getitem__(self, at: slice) -> "Records[T]": ...
    def __getitem__(self, at: int | slice) -> "T | Records[T]":
        if isinstance(at, slice):
            return Records(self.record_of, self.items[at])
        return self.record_of(self.items[at])

    def __len__(self) -> int:
        return len(self.items)

    def __iter__(self) -> Iterator[T]:
        return map(self.record_of, self.items)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and list(self) == list(other)

    def __repr__(self) -> str:
        return repr(list(self))


def items_of(records: Sequence[Record]) -> Sequence[Item]:
    """The items of records, which are rows if an engine has read them so."""
    return records.items if isinstance(records, Records) else [record.item for record in records]


async def records_at(
    database: Database, record: type[R], keys: Collection[Key], attributes: Needed = None
) -> Sequence[R]:
    """The existing records with these primary keys, all of one entity."""
    if not keys:
        return []
    entity = next(iter(keys)).entity
    items = await database.items_at(entity, [key.values for key in keys], attributes=attributes)
    return Records(record.reading(attributes), items)


# Cached classes are typed as hashable: mypy mistakes the `__hash__` of their instances for that of the class.
@lru_cache(4 * PARTIAL_CLASSES)
def _reading(whole: Hashable, attributes: frozenset[str]) -> type[Record]:
    of_class = cast("type[Record]", whole)
    unread = {name for name, optional in _optional(of_class).items() if optional not in attributes}
    return _partial(whole, frozenset(unread)) if unread else of_class


@lru_cache(PARTIAL_CLASSES)
def _partial(of_class: Hashable, unread: frozenset[str]) -> type[Record]:
    """A record class without some optional attributes."""
    whole = cast("type[Record]", of_class)
    optional = _optional(whole)
    refused = {name: NotRead(optional[name]) for name in sorted(unread)}
    return type(whole.__name__, (whole,), {"__module__": whole.__module__, **refused})


def _optional(record: type[Record]) -> dict[str, str]:
    """The optional attributes of items by the names of the descriptors that read them."""
    return {name: each.attribute for name, each in record.stored().items() if each.optional}


def _members(record: type[Record]) -> dict[str, Any]:
    return {name: value for each in reversed(record.__mro__) for name, value in vars(each).items()}
