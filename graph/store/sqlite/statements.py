"""SQL for a declared table.

An item is kept whole as JSON in the column `item`; its keys, its TTL and the attributes that
narrow an index stand in columns of their own beside it, so that SQLite finds and filters
items without reading their JSON. The columns only repeat what `item` says, which is why
`migrate` can add them to an older file.
"""

import sqlite3
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from graph.store.conditions import (
    Absent,
    AllOf,
    AnyOf,
    Compare,
    Condition,
    OneOf,
    Present,
    kind_of,
)
from graph.store.design import Attribute, Index, TableDesign


@dataclass(frozen=True)
class Statements:
    """The SQL of one table design. Every value is bound, every name quoted."""

    design: TableDesign

    @cached_property
    def table(self) -> str:
        return quoted(self.design.name)

    @cached_property
    def columns(self) -> tuple[Attribute, ...]:
        """The attributes that stand beside the JSON."""
        columns = list(self.design.key_attributes)
        if self.design.ttl:
            columns.append(Attribute(self.design.ttl, "N"))
        for index in self.design.indexes:
            columns += [attribute for attribute in index.narrowed_by if attribute not in columns]
        return tuple(columns)

    @cached_property
    def row(self) -> Callable[[dict[str, Any]], list[Any]]:
        """Reads an item's columns, in order; None where it lacks one or has it in another type."""
        kinds = [(a.name, (int, float) if a.type == "N" else (str,)) for a in self.columns]

        def read(item: dict[str, Any]) -> list[Any]:
            get = item.get
            # The exact class first, as that is what all but a few values have.
            return [
                value if (value := get(name)) is None or value.__class__ in classes or _is_one(value, classes) else None
                for name, classes in kinds
            ]

        return read

    @cached_property
    def live(self) -> str:
        """Holds for items that have not expired; takes the time now in seconds."""
        return self._live(quoted(self.design.ttl))

    @cached_property
    def has_key(self) -> str:
        return f"{quoted(self.design.partition_key.name)} = ? AND {quoted(self.design.sort_key.name)} = ?"

    @cached_property
    def get(self) -> str:
        return f"SELECT item FROM {self.table} WHERE {self.has_key} AND {self.live}"

    def get_many(self, count: int) -> str:
        """Looks up `count` keys, one after the other: a join in this order never scans the table."""
        pk, sk = quoted(self.design.partition_key.name), quoted(self.design.sort_key.name)
        wanted = ", ".join(["(?, ?)"] * count)
        return (
            f"WITH wanted(p, s) AS (VALUES {wanted}) "
            f"SELECT {pk}, {sk}, item FROM wanted CROSS JOIN {self.table} ON {pk} = p AND {sk} = s WHERE {self.live}"
        )

    def put(self, rows: int = 1, *, if_absent: bool = False) -> str:
        """Writes so many rows; with `if_absent`, only where nothing is or what has expired by the time bound last."""
        names = [quoted(a.name) for a in self.columns] + ["item"]
        changes = ", ".join(f"{name} = excluded.{name}" for name in names)
        keys = f"{quoted(self.design.partition_key.name)}, {quoted(self.design.sort_key.name)}"
        row = f"({', '.join('?' * len(names))})"
        put = (
            f"INSERT INTO {self.table} ({', '.join(names)}) VALUES {', '.join([row] * rows)} "
            f"ON CONFLICT ({keys}) DO UPDATE SET {changes}"
        )
        if not if_absent:
            return put
        return f"{put} WHERE NOT {self._live(f'{self.table}.{quoted(self.design.ttl)}')}"

    def _live(self, ttl: str) -> str:
        # Where nothing expires, the time is taken all the same, so that all statements bind alike.
        return f"({ttl} IS NULL OR {ttl} > ?)" if self.design.ttl else "(? IS NOT NULL)"

    @cached_property
    def delete(self) -> str:
        return f"DELETE FROM {self.table} WHERE {self.has_key}"

    @cached_property
    def sweep(self) -> str | None:
        """Deletes some expired items, at most the bound number."""
        if not self.design.ttl:
            return None
        expired = f"SELECT rowid FROM {self.table} WHERE {quoted(self.design.ttl)} <= ? LIMIT ?"
        return f"DELETE FROM {self.table} WHERE rowid IN ({expired})"

    @cached_property
    def scan(self) -> str:
        return f"SELECT rowid, item FROM {self.table} WHERE rowid > ? AND {self.live} ORDER BY rowid LIMIT ?"

    @cached_property
    def readings(self) -> "dict[tuple[str, bool], Reading]":
        """Name of an index, and whether forward → how its partitions are read."""
        every = (self.design.primary, *self.design.indexes)
        return {(index.name, forward): self._reading(index, forward) for index in every for forward in (True, False)}

    def _reading(self, index: Index, forward: bool) -> "Reading":
        names = [attribute.name for attribute in self.design.start_attributes(index)[1:]]
        sort_key, *tie = map(quoted, names)
        along, against = ("ASC", "DESC") if forward else ("DESC", "ASC")
        # Of those with one sort key, the last comes first: backwards, the first.
        order = ", ".join([f"{sort_key} {along}", *(f"{name} {against}" for name in tie)])
        behind = f"{sort_key} != ?"
        if tie:
            passed, marks = ">=" if forward else "<=", ", ".join("?" * len(tie))
            behind = f"NOT ({sort_key} = ? AND ({', '.join(tie)}) {passed} ({marks}))"
        return Reading(
            partition_key=quoted(index.partition_key.name),
            sort_key=sort_key,
            position=names,
            order=order,
            behind=behind,
            table=self._indexed_by(index, None),
            ranked_table=self._indexed_by(index, index.ranked_by),
        )

    def _indexed_by(self, index: Index, ranked_by: Attribute | None) -> str:
        """The table, as it is found through an index. SQLite has no statistics to choose one by."""
        if index not in self.design.indexes:
            return self.table
        return f"{self.table} INDEXED BY {quoted(self._name(index, ranked_by))}"

    def migrate(self, db: sqlite3.Connection) -> None:
        """Create the table and its indexes, or bring those of an older file up to the design."""
        keys = f"{quoted(self.design.partition_key.name)}, {quoted(self.design.sort_key.name)}"
        names = ", ".join(quoted(a.name) for a in self.columns)
        db.execute(f"CREATE TABLE IF NOT EXISTS {self.table} ({names}, item BLOB NOT NULL, UNIQUE ({keys}))")
        present = {name for _, name, *_ in db.execute(f"PRAGMA table_info({self.table})")}
        for column in self.columns:
            if column.name not in present:
                self._add_column(db, column)
        wanted = dict(self._indexes())
        found = dict(
            db.execute(
                "SELECT name, sql FROM sqlite_master WHERE type = 'index' AND tbl_name = ? AND sql IS NOT NULL",
                (self.design.name,),
            )
        )
        for name in found.keys() - {name for name, sql in wanted.items() if found.get(name) == sql}:
            db.execute(f"DROP INDEX {quoted(name)}")
            del found[name]
        for name in wanted.keys() - found.keys():
            db.execute(wanted[name])

    def _name(self, index: Index, ranked_by: Attribute | None = None) -> str:
        return ".".join([self.design.name, index.name, *([ranked_by.name] if ranked_by else [])])

    def _add_column(self, db: sqlite3.Connection, column: Attribute) -> None:
        db.execute(f"ALTER TABLE {self.table} ADD COLUMN {quoted(column.name)}")
        path = '$."' + column.name.replace('"', '\\"') + '"'
        kinds = "'integer', 'real'" if column.type == "N" else "'text'"
        db.execute(
            f"UPDATE {self.table} SET {quoted(column.name)} = json_extract(CAST(item AS TEXT), ?) "
            f"WHERE json_type(CAST(item AS TEXT), ?) IN ({kinds})",
            (path, path),
        )

    def _indexes(self) -> list[tuple[str, str]]:
        """Name and SQL of each index. One holds all that its queries order, narrow and count by."""
        ttl = [quoted(self.design.ttl)] if self.design.ttl else []
        indexes = []
        for index in self.design.indexes:
            partition, sort_key = quoted(index.partition_key.name), quoted(index.sort_key.name)
            narrowing = [quoted(attribute.name) for attribute in index.narrowed_by]
            wanted = [(self._name(index), [partition, self.readings[index.name, True].order, *ttl, *narrowing])]
            if index.ranked_by:
                ranked = [partition, quoted(index.ranked_by.name), sort_key, *ttl]
                wanted.append((self._name(index, index.ranked_by), ranked))
            keys = f"{partition} IS NOT NULL AND {sort_key} IS NOT NULL"
            for name, columns in wanted:
                listed = ", ".join(columns)
                indexes.append((name, f"CREATE INDEX {quoted(name)} ON {self.table} ({listed}) WHERE {keys}"))
        if self.design.ttl:
            name, column = f"{self.design.name}.{self.design.ttl}", quoted(self.design.ttl)
            indexes.append((name, f"CREATE INDEX {quoted(name)} ON {self.table} ({column}) WHERE {column} IS NOT NULL"))
        return indexes


@dataclass(frozen=True, slots=True)
class Reading:
    """How the items of a partition are read in one direction, in SQL."""

    partition_key: str
    sort_key: str
    position: list[str]  # the attributes of a key beside its partition
    order: str
    behind: str  # the condition that an item, not before a key, comes after it; takes its position
    table: str
    ranked_table: str  # by the index that is in order of what it is ranked by


def _is_one(value: Any, classes: tuple[type, ...]) -> bool:
    """Whether a value is of a kind of column; a truth value is no number."""
    return isinstance(value, classes) and not isinstance(value, bool)


def translate(condition: Condition, columns: dict[str, Attribute]) -> tuple[str, list[Any]] | None:
    """The condition as SQL and what it binds; None where only the item can tell.

    That is so for an attribute without a column, and for a value of another type than the
    column's, since a column is empty where the attribute has another type.
    """
    match condition:
        case Compare(attribute, sign, value):
            if attribute not in columns or kind_of(value) is not (float if columns[attribute].type == "N" else str):
                return None
            return f"{quoted(attribute)} {sign} ?", [value]
        case OneOf(attribute, values):
            return translate(AnyOf(tuple(Compare(attribute, "=", value) for value in values)), columns)
        case AllOf(conditions) | AnyOf(conditions):
            parts = [translate(part, columns) for part in conditions]
            word = " AND " if isinstance(condition, AllOf) else " OR "
            known = [part for part in parts if part is not None]
            if len(known) < len(parts):
                return None
            if not known:  # bound, as SQLite takes no index that it was told to where it knows that nothing matches
                return "?", [int(isinstance(condition, AllOf))]
            return f"({word.join(sql for sql, _ in known)})", [value for _, values in known for value in values]
        case Present() | Absent():
            return None


def quoted(name: str | None) -> str:
    """A name as SQL writes it."""
    return '"' + str(name).replace('"', '""') + '"'
