"""Connections in the order of an index: their cursors and pages.

    RECENT = Ordering("notes", NOTE, BY_TIME, descending=True)

    request = PageRequest(Paging.read(RECENT.place_of, page_sizes, first=10, after=cursor))
    page = await RECENT.page(database, request, [("2024",), ("2025",)], Note)

A cursor names its connection and the attribute that orders it, such as a time or a score, and holds a
position in the index. So a connection refuses the cursor of another one. Cursors are checked strictly.

This suits all records of a few partitions. With a filter, or with many partitions that may be empty,
`time_walk` reads less, by a plan that knows what each partition holds.
"""

from base64 import urlsafe_b64decode
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from typing import Any, TypeVar, cast

import orjson

from graph.core.errors import InvalidCursor
from graph.core.paging import Page, Paging, encoded
from graph.store.attributes import Real
from graph.store.client_input import check_input
from graph.store.contract import Database
from graph.store.design import Index
from graph.store.entity import Entity
from graph.store.query import Partition, Query
from graph.store.records import Derived, Record, Records
from graph.store.time_walk import Keep, Place, Promises, Walk
from graph.work.account import charge_rows, give_way

CURSOR_VERSION = 1
PAGES_PER_PIECE = 10  # that are read together before giving way to other work
SOME = 100  # the assumed number of a partition's records, so that a page seldom reads unneeded partitions

R = TypeVar("R", bound=Record)


@dataclass(frozen=True, slots=True)
class PageRequest:
    """The page of a connection, and the attributes of its records."""

    paging: Paging[Any]  # of the positions that the connection's cursors hold
    attributes: frozenset[str] | None = None  # the needed ones, beside the position; None for all

    @classmethod
    def of_first(cls, size: int) -> "PageRequest":
        """The first page of so many records, with all of their attributes."""
        return cls(Paging(size))


@dataclass(frozen=True, slots=True)
class Ordering:
    """The order of a connection."""

    name: str  # of the connection, in its cursors
    entity: Entity
    index: Index
    descending: bool = False

    async def page(
        self,
        database: Database,
        request: "PageRequest",
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
        for place, argument in ((paging.after, "after"), (paging.before, "before")):
            if place is not None and self.entity.partition_of(self.index, place) not in partitions:
                raise InvalidCursor(argument)
        query = Query(entity=self.entity, index=self.index, attributes=attributes)
        return await Walk(database, query, partial(each_of, partitions), keep).page(
            paging,
            forward=not self.descending,
            place_of=_itself,
            record_of=self.record_class(record).reading(attributes),
        )

    async def first_pages(self, database: Database, query: Query, record: type[R]) -> list[Page[R]]:
        """The first page of each of a query's partitions, of `limit` records, read together."""
        wanted = query.limit or 0
        query = replace(query, limit=wanted + 1, forward=not self.descending)
        if query.where:
            await charge_rows(tested=SOME * len(query.partitions))
        record = self.record_class(record).reading(query.attributes)
        pages: list[Page[R]] = []
        for at in range(0, len(query.partitions), PAGES_PER_PIECE):
            await give_way()
            some = replace(query, partitions=query.partitions[at : at + PAGES_PER_PIECE])
            pages += [
                Page(
                    records=Records(record, each.items[:wanted]),
                    partitions=1,
                    backward=False,
                    has_more=len(each.items) > wanted,
                    has_behind=False,
                )
                for each in await database.query_each(some)
            ]
        return pages

    def record_class(self, record: type[R]) -> type[R]:
        """The class of this connection's records, which have cursors."""
        return cast("type[R]", _in_order(cast("Any", record), self))

    def cursors(self) -> Derived[str]:
        """The attribute of a record that is its position, as text."""
        return Derived(_cursors(self), *self._names)

    def cursor_of(self, item: Mapping[str, Any]) -> str:
        """The position of an item, as text."""
        return _cursors(self)(*[item[name] for name in self._names])

    def place_of(self, cursor: str, argument: str) -> Place:
        """The position that a cursor holds.

        Raises:
            InvalidCursor: It is not a cursor of this connection. The message names `argument`.
        """
        try:
            _, _, values = urlsafe_b64decode(cursor.encode() + b"=" * (-len(cursor) % 4)).split(b":", 2)
            place = dict(zip(self._names, orjson.loads(values), strict=True))
            self._check(place)
            genuine = self.cursor_of(place) == cursor
        except (ValueError, TypeError) as error:  # InvalidItem among them
            raise InvalidCursor(argument) from error
        if not genuine:
            raise InvalidCursor(argument)
        return place

    def _check(self, place: Place) -> None:
        """Raise `InvalidItem` unless an item can have this position."""
        for name, value in place.items():
            self.entity.named[name].check(value)
        for index in (self.index, self.entity.table.primary):
            for template in self.entity.templates[index]:
                template.render([place[name] for name in template.names])

    @property
    def _names(self) -> tuple[str, ...]:
        return self.entity.position_names(self.index)


def _itself(place: Place) -> Place:
    return place


@lru_cache(256)
def _cursors(ordering: Ordering) -> Callable[..., str]:
    """The function that makes a cursor of the values of a position."""
    names, named = ordering.entity.position_names(ordering.index), ordering.entity.named
    ordered_by = ordering.entity.templates[ordering.index].sort.names[0]
    begin = f"{ordering.name}{CURSOR_VERSION}:{ordered_by}:".encode()
    # An engine may return 2 for the real number 2.0; a cursor always holds 2.0.
    reals = [at for at, name in enumerate(names) if isinstance(named[name], Real)]

    def cursor(*values: Any) -> str:
        if reals:
            values = tuple([float(value) if at in reals else value for at, value in enumerate(values)])
        return encoded(begin + orjson.dumps(values))

    return cursor


async def each_of(
    partitions: Sequence[Partition], *, forward: bool, start: Partition | None
) -> AsyncGenerator[Promises, None]:
    """A plan of a few partitions, in ascending order: each of them from `start` on."""
    ordered = list(partitions if forward else reversed(partitions))
    at = ordered.index(start) if start is not None else 0
    yield [(partition, SOME, SOME) for partition in ordered[at:]]


@lru_cache(256)
def _in_order(record: Any, ordering: Ordering) -> Any:
    """A subclass of the records' class, with cursors."""
    own = {"__slots__": (), "__module__": record.__module__, "cursor": ordering.cursors()}
    return type(record.__name__, (record,), own)
