"""The orders of connections: their cursors and pages.

    BY_NAME = Order("notes", Text("name", shortest=1, longest=64))
    RECENT = Ordering("notes", NOTE, BY_TIME, descending=True)

    request = PageRequest(Paging.read(RECENT.place_of, page_sizes, first=10, after=cursor))
    page = await RECENT.page(database, request, [("2024",), ("2025",)], Note)

An order is declared by the attributes that it sorts by. A cursor has the name of the order and a position in it, as
text that a client passes back unchanged. It holds nothing secret. It is checked strictly: a position has one cursor,
and a connection refuses that of another one.

The pages of an `Ordering` suit all records of a few partitions. With a filter, or with many partitions that may be
empty, `time_walk` reads less, by a plan that knows what each partition holds.
"""

from base64 import urlsafe_b64decode
from binascii import b2a_base64
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any, TypeVar, cast

import orjson

from graph.core.compilation import Namespace
from graph.core.errors import InvalidCursor
from graph.core.paging import Page, Paging, Position
from graph.store.attributes import CONTROLS, Attribute, Real, Text, Whole
from graph.store.client_input import check_input
from graph.store.contract import Database
from graph.store.design import Index
from graph.store.entity import Entity
from graph.store.query import Needed, Partition, Query
from graph.store.records import Derived, Record
from graph.store.time_walk import Keep, Walk
from graph.store.values import InvalidItem

CURSOR_VERSION = 1

_URL_SAFE = bytes.maketrans(b"+/", b"-_")

R = TypeVar("R", bound=Record)


@dataclass(frozen=True, slots=True)
class PageRequest:
    """The page of a connection, and the attributes of its records."""

    paging: Paging
    attributes: Needed = None

    @classmethod
    def of_first(cls, size: int) -> "PageRequest":
        """The first page of so many records, with all of their attributes."""
        return cls(Paging(size))


class Order:
    """The order of a connection, of which a cursor is `notes1:Bea`, encoded."""

    def __init__(self, name: str, *attributes: Attribute) -> None:
        """Declare the order.

        Args:
            name: of the connection, in its cursors.
            attributes: that items are sorted by. Only the last one may be a text that has a colon.
        """
        self.name = name
        self.attributes = attributes
        self.names = tuple(each.name for each in attributes)

    def cursors(self) -> Derived[str]:
        """The attribute of a record that is its position, as text."""
        return Derived(self._cursor, *self.names)

    def cursor_of(self, item: Position) -> str:
        """The position of an item, as text."""
        return self._cursor(*[item[name] for name in self.names])

    def position_of(self, item: Position) -> Position:
        """The position of an item alone, for one that may be changed or takes memory."""
        return {name: item[name] for name in self.names}

    def place_of(self, cursor: Any, argument: str) -> Position:
        """The position that a cursor holds.

        Raises:
            InvalidCursor: It is not a cursor of this connection. The message names `argument`.
        """
        try:
            text = urlsafe_b64decode(cursor.encode() + b"=" * (-len(cursor) % 4)).decode()
            position = dict(zip(self.names, self._values(text.removeprefix(self._begin)), strict=True))
            self._check(position)
            if self.cursor_of(position) == cursor:
                return position
        except (ValueError, TypeError) as error:  # InvalidItem among them
            raise InvalidCursor(argument) from error
        raise InvalidCursor(argument)

    @cached_property
    def _cursor(self) -> Callable[..., str]:
        """The function that makes a cursor of the values of a position. It is compiled, since each edge has one."""
        namespace = Namespace(written=b2a_base64, url_safe=_URL_SAFE, dumps=orjson.dumps)
        names = [f"value{at}" for at in range(len(self.names))]
        values = [_written(namespace, *each) for each in zip(self.attributes, names, strict=True)]
        text = f"written({self._bytes(values)}, newline=False)"
        return namespace.define(", ".join(names), [f"return {text}.translate(url_safe, b'=').decode()"])

    @property
    def _begin(self) -> str:
        """The beginning of its cursors, before they are encoded."""
        return f"{self.name}{CURSOR_VERSION}:"

    def _bytes(self, values: Sequence[str]) -> str:
        """The source of a cursor before it is encoded, with the sources of values."""
        return f'({self._begin!r} f"{":".join(f"{{{each}}}" for each in values)}").encode()'

    def _values(self, text: str) -> Sequence[Any]:
        """The values in the text of a cursor."""
        if CONTROLS.search(text):
            raise InvalidItem("a position has no control characters")
        texts = text.split(":", len(self.names) - 1)
        return [each.of_text(value) for each, value in zip(self.attributes, texts, strict=True)]

    def _check(self, position: Position) -> None:
        """Raise `InvalidItem` unless an item can have this position."""
        for attribute in self.attributes:
            attribute.check(position[attribute.name])


def _written(namespace: Namespace, attribute: Attribute, value: str) -> str:
    """The source of a value in a cursor. An engine may return 2 for the real number 2.0; a cursor always holds 2.0."""
    if isinstance(attribute, Real):
        return f"float({value})"
    return value if type(attribute) in (Text, Whole) else f"{namespace.constant('text', attribute.text)}({value})"


class Ordering(Order):
    """The order of a connection that is that of an index. A cursor is `notes1:writtenAt:[2024,17,"Bea"]`, encoded."""

    def __init__(self, name: str, entity: Entity, index: Index, *, descending: bool = False) -> None:
        """Declare the order.

        Args:
            name: of the connection, in its cursors.
        """
        super().__init__(name, *[entity.named[each] for each in entity.position_names(index)])
        self.entity = entity
        self.index = index
        self._descending = descending

    async def page(
        self,
        database: Database,
        request: PageRequest,
        partitions: Sequence[Partition],
        record: type[R],
        keep: Keep | None = None,
    ) -> Page[R]:
        """A page of the connection.

        Args:
            partitions: the partitions to read, in ascending order, by the values that their template names.
            keep: a filter that stores cannot test.

        Raises:
            BadUserInput: A partition cannot exist.
            InvalidCursor: A cursor belongs to none of these partitions.
        """
        paging, attributes = request.paging, request.attributes
        names = self.entity.templates[self.index].partition.names
        for partition in partitions:
            check_input(self.entity, **dict(zip(names, partition, strict=True)))
        paging.check(lambda position: self.entity.partition_of(self.index, position) in partitions)
        query = Query(entity=self.entity, index=self.index, partitions=partitions, attributes=attributes)
        return await Walk(database, query, keep=keep).page(
            paging,
            forward=not self._descending,
            record_of=self.record_class(record).reading(attributes),
        )

    def record_class(self, record: type[R]) -> type[R]:
        """The class of this connection's records, which have cursors."""
        return cast("type[R]", _in_order(cast("Any", record), self))

    @property
    def _begin(self) -> str:
        return f"{super()._begin}{self.entity.templates[self.index].sort.names[0]}:"

    def _bytes(self, values: Sequence[str]) -> str:
        return f"{self._begin.encode()!r} + dumps(({', '.join(values)},))"

    def _values(self, text: str) -> Sequence[Any]:
        return cast("Sequence[Any]", orjson.loads(text))

    def _check(self, position: Position) -> None:
        super()._check(position)
        for index in (self.index, self.entity.table.primary):
            for template in self.entity.templates[index]:
                template.render([position[name] for name in template.names])


@lru_cache(256)
def _in_order(record: Any, ordering: Ordering) -> Any:
    """A subclass of the records' class, with cursors."""
    own = {"__module__": record.__module__, "cursor": ordering.cursors()}
    return type(record.__name__, (record,), own)
