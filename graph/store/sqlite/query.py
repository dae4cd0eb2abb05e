"""Reading the items of partitions: what SQL can test, it tests; the rest of a filter is tested here."""

import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import Any

import orjson

from graph.store.conditions import AllOf, Condition, conjuncts, predicate, values_of
from graph.store.contract import Bounds, InvalidItem, Item, KeyValue
from graph.store.design import Index
from graph.store.limits import check_value
from graph.store.sqlite.statements import Statements, quoted, translate

ROWS_A_FETCH = 500


class Query:
    """A range of sort keys and a filter, in one direction, to be read in any partition of an index."""

    def __init__(self, sql: Statements, index: Index, between: Bounds, forward: bool, where: Condition | None) -> None:
        self._sql = sql
        self._order = [attribute.name for attribute in sql.design.start_attributes(index)[1:]]
        self._forward = forward
        self._range, self._bounds = sql.in_partition(index, *between)
        self._narrowing, self._narrowed, rest = _split(sql, where)
        self._matches = predicate(rest) if rest else None

    def read(
        self,
        db: sqlite3.Connection,
        partition: KeyValue,
        now: int,
        start: Mapping[str, Any] | None = None,
        limit: int | None = None,
    ) -> list[Item]:
        """The items in order, at most `limit`, behind the key `start`."""
        behind, position = self._behind(start)
        order = ", ".join(f"{quoted(name)} {'ASC' if self._forward else 'DESC'}" for name in self._order)
        most = -1 if limit is None or self._matches else limit
        rows = db.execute(
            f"SELECT item FROM {self._sql.table} WHERE {self._range}{behind} AND {self._sql.live}{self._narrowing} "
            f"ORDER BY {order} LIMIT ?",
            (partition, *self._bounds, *position, now, *self._narrowed, most),
        )
        if self._matches is None:
            return decoded(blob for (blob,) in rows)
        return list(islice(filter(self._matches, _fetched(rows)), limit))

    def count(self, db: sqlite3.Connection, partition: KeyValue, now: int) -> int:
        """How many items there are."""
        if self._matches:
            return len(self.read(db, partition, now))
        counted = db.execute(
            f"SELECT count(*) FROM {self._sql.table} WHERE {self._range} AND {self._sql.live}{self._narrowing}",
            (partition, *self._bounds, now, *self._narrowed),
        )
        return int(counted.fetchone()[0])

    def _behind(self, start: Mapping[str, Any] | None) -> tuple[str, list[Any]]:
        if start is None:
            return "", []
        if missing := [name for name in self._order if name not in start]:
            raise InvalidItem(f"the start of a reading lacks `{missing[0]}`")
        columns, marks = ", ".join(map(quoted, self._order)), ", ".join("?" * len(self._order))
        return f" AND ({columns}) {'>' if self._forward else '<'} ({marks})", [start[name] for name in self._order]


def decoded(blobs: Iterable[bytes]) -> list[Item]:
    """Many items in one call of the JSON parser, which costs half of one call each."""
    items: list[Item] = orjson.loads(b"[" + b",".join(blobs) + b"]")
    return items


def _fetched(rows: sqlite3.Cursor) -> Iterator[Item]:
    while some := rows.fetchmany(ROWS_A_FETCH):
        yield from decoded(blob for (blob,) in some)


def _split(sql: Statements, where: Condition | None) -> tuple[str, list[Any], Condition | None]:
    """A filter as terms of SQL with their values, and as the part that only the item can tell."""
    for value in values_of(where):
        check_value(value)
    columns = {attribute.name: attribute for attribute in sql.columns}
    terms, values, rest = "", [], []
    for part in conjuncts(where):
        if (translated := translate(part, columns)) is None:
            rest.append(part)
        else:
            terms += f" AND {translated[0]}"
            values += translated[1]
    return terms, values, AllOf(tuple(rest)) if rest else None
