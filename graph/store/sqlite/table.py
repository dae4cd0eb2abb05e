"""An entity's table in SQLite: its columns and the statements that do not depend on a query.

Each declared attribute has a typed column. Keys have none, since templates derive them. An open entity
has one more column for undeclared attributes, as JSON. A missing attribute is NULL.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

from graph.store.design import Index
from graph.store.entity import Entity
from graph.store.sqlite.encoding import Encode, encoder
from graph.store.sqlite.projection import Projection
from graph.store.sqlite.sql import OTHERS, quoted

ONLY = "only"  # the key of a table whose entity has only one item
RESERVED = frozenset({OTHERS, ONLY, "rowid"})
TYPES = {int: "INTEGER", bool: "INTEGER", float: "REAL"}  # of columns; all others are texts
MOST_VALUES = 30_000  # bound by one statement; SQLite's own limit is 32,766


@dataclass(frozen=True, eq=False)
class EntityTable:
    """The table of one entity. Every value is bound, every name quoted.

    Raises ValueError if two columns differ only in case, which SQLite ignores, or if a name is reserved.
    """

    entity: Entity

    def __post_init__(self) -> None:
        names = [name.lower() for name in self.entity.named]
        if len(set(names)) < len(names) or RESERVED.intersection(names):
            raise ValueError(f"the attributes of {self.entity.name} cannot be columns: {', '.join(self.entity.named)}")

    @cached_property
    def name(self) -> str:
        """The table's name in the file."""
        return f"{self.entity.table.name}.{self.entity.name}"

    @cached_property
    def table(self) -> str:
        """The table's name in SQL."""
        return quoted(self.name)

    @cached_property
    def columns(self) -> tuple[tuple[str, str], ...]:
        """Name and type of each column of an item, in order."""
        declared = [(attribute.name, TYPES.get(attribute.python_type, "TEXT")) for attribute in self.entity.attributes]
        return (*declared, *([(OTHERS, "TEXT")] if self.entity.open else []))

    @cached_property
    def key_columns(self) -> tuple[str, ...]:
        """The columns of the primary key, quoted."""
        return tuple(map(quoted, self.entity.key_names or (ONLY,)))

    @cached_property
    def ttl(self) -> str | None:
        """The attribute with the time at which an item expires, if the entity declares one."""
        ttl = self.entity.table.ttl
        return ttl if ttl in self.entity.named else None

    @cached_property
    def is_live(self) -> str:
        """The condition that an item has not expired. Empty if none expires; otherwise it binds `live_at`."""
        return f" AND {self._is_live(quoted(self.ttl))}" if self.ttl else ""

    def live_at(self, now: int) -> tuple[int, ...]:
        """The values that `is_live` binds: the time in seconds."""
        return (now,) if self.ttl else ()

    def _is_live(self, ttl: str) -> str:
        return f"({ttl} IS NULL OR {ttl} > ?)"

    @cached_property
    def has_key(self) -> str:
        """The condition that an item has the bound key."""
        return " AND ".join(f"{quoted(name)} = ?" for name in self.entity.key_names) or "1"

    @cached_property
    def whole(self) -> Projection:
        """All attributes of an item."""
        return Projection(self.entity, None)

    def columns_of(self, items: Iterable[Mapping[str, Any]]) -> tuple[str, ...]:
        """The columns that some of the items need, in order. The others are NULL in all of them."""
        present = set[str]().union(*items)
        return (*(name for name in self.entity.named if name in present), *([OTHERS] if self.entity.open else []))

    @lru_cache(256)  # noqa: B019 - there is one table for each entity, as long as the process
    def encoder(self, columns: tuple[str, ...]) -> Encode:
        """The function that makes the values of items' columns."""
        return encoder(self.entity, columns)

    def get(self, projection: Projection) -> str:
        """The statement that looks up one key."""
        return f"SELECT {projection.sql} FROM {self.table} WHERE {self.has_key}{self.is_live}"

    def get_many(self, projection: Projection, count: int) -> str:
        """The statement that looks up `count` keys one by one: a join in this order never scans the table."""
        names = [f"k{at}" for at in range(len(self.key_columns))]
        wanted = ", ".join([f"({', '.join('?' * len(names))})"] * count)
        same = " AND ".join(f"{column} = {name}" for column, name in zip(self.key_columns, names, strict=True))
        return (
            f"WITH wanted({', '.join(names)}) AS (VALUES {wanted}) "
            f"SELECT {projection.sql} FROM wanted CROSS JOIN {self.table} ON {same} WHERE 1{self.is_live}"
        )

    @cached_property
    def rows_per_statement(self) -> int:
        """The number of rows that one statement can put."""
        return max(MOST_VALUES // len(self.columns), 1)

    @lru_cache(256)  # noqa: B019 - there is one table for each entity, as long as the process
    def put(self, columns: tuple[str, ...], rows: int = 1, *, if_absent: bool = False) -> str:
        """The statement that puts so many rows; with `if_absent`, only over nothing or over expired items.

        With `if_absent` it binds `live_at` last.

        Args:
            columns: those that the rows have values for.
        """
        if if_absent and self.ttl is None:
            return f"{self.insert(columns, rows)} DO NOTHING"
        changes = ", ".join(f"{quoted(name)} = excluded.{quoted(name)}" for name, _ in self.columns)
        put = f"{self.insert(columns, rows)} DO UPDATE SET {changes}"
        return f"{put} WHERE NOT {self._is_live(f'{self.table}.{quoted(self.ttl)}')}" if if_absent else put

    def insert(self, columns: Sequence[str], rows: int = 1) -> str:
        """The statement that inserts so many rows, up to `ON CONFLICT`, which the caller completes."""
        names = [quoted(name) for name in columns]
        row = f"({', '.join('?' * len(names))})"
        return (
            f"INSERT INTO {self.table} ({', '.join(names)}) VALUES {', '.join([row] * rows)} "
            f"ON CONFLICT ({', '.join(self.key_columns)})"
        )

    def update(self, columns: Iterable[str]) -> str:
        """The statement that sets columns of an item; it binds the key last."""
        return f"UPDATE {self.table} SET {', '.join(f'{quoted(name)} = ?' for name in columns)} WHERE {self.has_key}"

    @cached_property
    def delete(self) -> str:
        """The statement that removes the item with the bound key."""
        return f"DELETE FROM {self.table} WHERE {self.has_key}"

    @cached_property
    def sweep(self) -> str | None:
        """The statement that deletes expired items, at most the bound number; None if none expires."""
        if self.ttl is None:
            return None
        expired = f"SELECT rowid FROM {self.table} WHERE {quoted(self.ttl)} <= ? LIMIT ?"
        return f"DELETE FROM {self.table} WHERE rowid IN ({expired})"

    def scan(self, projection: Projection) -> str:
        """The statement that reads items after a row, at most the bound number."""
        return f"SELECT rowid, {projection.sql} FROM {self.table} WHERE rowid > ?{self.is_live} ORDER BY rowid LIMIT ?"

    def index_name(self, index: Index, ranked_by: str | None = None) -> str:
        """The name of an index in the file; with `ranked_by`, of the index in that order."""
        return ".".join([self.name, index.name, *([ranked_by] if ranked_by else [])])

    def ranked_by(self, index: Index) -> str | None:
        """The attribute by which a second copy of the index is ordered, if the entity declares it."""
        return index.ranked_by if index.ranked_by in self.entity.named else None
