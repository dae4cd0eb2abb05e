"""An entity's table in SQLite: its columns and the statements that do not depend on a query.

Each declared attribute has a typed column. What a key template derives has none. An entity that is open
has one more column for the attributes that are not declared, as JSON. A missing attribute is NULL.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import orjson

from graph.store.attributes import Attribute, Document, Real, Truth, Whole
from graph.store.design import Index
from graph.store.entity import Entity
from graph.store.sqlite.projection import OTHERS, Projection
from graph.store.sqlite.sql import quoted

ONLY = "only"  # the key of a table whose entity has just one item
RESERVED = frozenset({OTHERS, ONLY, "rowid"})
MOST_VALUES = 30_000  # that one statement binds; SQLite's own limit is 32,766


@dataclass(frozen=True)
class EntityTable:
    """The table of one entity. Every value is bound, every name quoted.

    Raises ValueError where SQLite, which knows no capital letters in names, cannot tell its columns apart.
    """

    entity: Entity

    def __post_init__(self) -> None:
        names = [name.lower() for name in self.entity.named]
        if len(set(names)) < len(names) or RESERVED.intersection(names):
            raise ValueError(f"the attributes of {self.entity.name} cannot be columns: {', '.join(self.entity.named)}")

    @cached_property
    def name(self) -> str:
        """The table's name, as the file has it."""
        return f"{self.entity.table.name}.{self.entity.name}"

    @cached_property
    def table(self) -> str:
        """The table's name in SQL."""
        return quoted(self.name)

    @cached_property
    def columns(self) -> tuple[tuple[str, str], ...]:
        """Name and type of each column of an item, in order."""
        declared = [(attribute.name, _type_of(attribute)) for attribute in self.entity.attributes]
        return (*declared, *([(OTHERS, "TEXT")] if self.entity.open else []))

    @cached_property
    def key_columns(self) -> tuple[str, ...]:
        """The columns in which no two items are equal, quoted."""
        return tuple(map(quoted, self.entity.key_names or (ONLY,)))

    @cached_property
    def ttl(self) -> str | None:
        """The attribute after which an item no longer exists, if it can have one."""
        ttl = self.entity.table.ttl
        return ttl if ttl in self.entity.named else None

    @cached_property
    def is_live(self) -> str:
        """Holds for items that have not expired. Empty if none expires; takes `live_at` otherwise."""
        return f" AND {self._is_live(quoted(self.ttl))}" if self.ttl else ""

    def live_at(self, now: int) -> tuple[int, ...]:
        """What `is_live` takes: the time in seconds."""
        return (now,) if self.ttl else ()

    def _is_live(self, ttl: str) -> str:
        return f"({ttl} IS NULL OR {ttl} > ?)"

    @cached_property
    def has_key(self) -> str:
        """Holds for the item with the key that is bound."""
        return " AND ".join(f"{quoted(name)} = ?" for name in self.entity.key_names) or "1"

    @cached_property
    def whole(self) -> Projection:
        """All attributes of an item."""
        return Projection(self.entity, None)

    def row(self, item: Mapping[str, Any]) -> list[Any]:
        """An item's columns."""
        values: list[Any] = list(map(item.get, self._names))
        for at in self._documents:
            if values[at] is not None:
                values[at] = to_json(values[at])
        if self.entity.open:
            named = self.entity.named
            others = {name: value for name, value in item.items() if name not in named}
            values.append(to_json(others) if others else None)
        return values

    @cached_property
    def _names(self) -> tuple[str, ...]:
        return tuple(self.entity.named)

    @cached_property
    def _documents(self) -> tuple[int, ...]:
        return tuple(at for at, each in enumerate(self.entity.attributes) if isinstance(each, Document))

    def get(self, projection: Projection) -> str:
        """Looks up one key."""
        return f"SELECT {projection.sql} FROM {self.table} WHERE {self.has_key}{self.is_live}"

    def get_many(self, projection: Projection, count: int) -> str:
        """Looks up `count` keys, one after the other: a join in this order never scans the table."""
        names = [f"k{at}" for at in range(len(self.key_columns))]
        wanted = ", ".join([f"({', '.join('?' * len(names))})"] * count)
        same = " AND ".join(f"{column} = {name}" for column, name in zip(self.key_columns, names, strict=True))
        return (
            f"WITH wanted({', '.join(names)}) AS (VALUES {wanted}) "
            f"SELECT {projection.sql} FROM wanted CROSS JOIN {self.table} ON {same} WHERE 1{self.is_live}"
        )

    @cached_property
    def rows_a_statement(self) -> int:
        """How many rows one statement can put."""
        return max(MOST_VALUES // len(self.columns), 1)

    def put(self, rows: int = 1, *, if_absent: bool = False) -> str:
        """Writes so many rows; with `if_absent`, only where nothing is or what has expired by the time bound last."""
        if if_absent and self.ttl is None:
            return f"{self.insert(rows)} DO NOTHING"
        changes = ", ".join(f"{quoted(name)} = excluded.{quoted(name)}" for name, _ in self.columns)
        put = f"{self.insert(rows)} DO UPDATE SET {changes}"
        return f"{put} WHERE NOT {self._is_live(f'{self.table}.{quoted(self.ttl)}')}" if if_absent else put

    def insert(self, rows: int = 1) -> str:
        """Writes so many rows. What to do where one with the same key is there has yet to follow."""
        names = [quoted(name) for name, _ in self.columns]
        row = f"({', '.join('?' * len(names))})"
        return (
            f"INSERT INTO {self.table} ({', '.join(names)}) VALUES {', '.join([row] * rows)} "
            f"ON CONFLICT ({', '.join(self.key_columns)})"
        )

    def update(self, columns: Iterable[str]) -> str:
        """Sets columns of the item with the key that is bound last."""
        return f"UPDATE {self.table} SET {', '.join(f'{quoted(name)} = ?' for name in columns)} WHERE {self.has_key}"

    @cached_property
    def delete(self) -> str:
        """Removes the item with the key that is bound."""
        return f"DELETE FROM {self.table} WHERE {self.has_key}"

    @cached_property
    def sweep(self) -> str | None:
        """Deletes some expired items, at most the bound number. None if none expires."""
        if self.ttl is None:
            return None
        expired = f"SELECT rowid FROM {self.table} WHERE {quoted(self.ttl)} <= ? LIMIT ?"
        return f"DELETE FROM {self.table} WHERE rowid IN ({expired})"

    def scan(self, projection: Projection) -> str:
        """Reads items behind a row, at most the bound number."""
        return f"SELECT rowid, {projection.sql} FROM {self.table} WHERE rowid > ?{self.is_live} ORDER BY rowid LIMIT ?"

    def index_name(self, index: Index, ranked_by: str | None = None) -> str:
        """The name of an index as the file has it; with `ranked_by`, of the one in that order."""
        return ".".join([self.name, index.name, *([ranked_by] if ranked_by else [])])

    def ranked_by(self, index: Index) -> str | None:
        """The attribute of the entity that an index is also ordered by."""
        return index.ranked_by if index.ranked_by in self.entity.named else None


def _type_of(attribute: Attribute) -> str:
    match attribute:
        case Whole() | Truth():
            return "INTEGER"
        case Real():
            return "REAL"
        case _:
            return "TEXT"


def to_json(value: object) -> str:
    """A document as its column holds it: text, which SQLite's own JSON functions take too."""
    return orjson.dumps(value).decode()
