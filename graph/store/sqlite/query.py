"""Reading the items of partitions: what SQL can test, it tests; the rest of a filter is tested here."""

import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

import orjson

from graph.recent import Recent
from graph.store.conditions import AllOf, Compare, Condition, conjuncts, predicate, values_of
from graph.store.contract import Bounds, InvalidItem, Item, KeptItem, KeyValue
from graph.store.design import Index
from graph.store.limits import check_value
from graph.store.sqlite.statements import Statements, translate

ROWS_A_FETCH = 500


class Query:
    """A range of sort keys and a filter, in one direction, to be read in any partitions of an index."""

    def __init__(
        self,
        sql: Statements,
        recent: Recent[bytes, KeptItem],
        index: Index,
        between: Bounds,
        forward: bool,
        where: Condition | None,
    ) -> None:
        self._recent = recent
        self._live = sql.live
        self._reading = sql.readings[index.name, forward]
        self._between = between
        self._forward = forward
        self._narrowing, self._narrowed, rest = _split(sql, where)
        self._matches = predicate(rest) if rest else None
        ranked = any(isinstance(part, Compare) and _is_rank(index, part) for part in conjuncts(where))
        self._table = self._reading.ranked_table if ranked else self._reading.table

    def read(
        self,
        db: sqlite3.Connection,
        partitions: Sequence[KeyValue],
        now: int,
        start: Mapping[str, Any] | None = None,
        limit: int | None = None,
    ) -> list[Item]:
        """The items of partitions in their order or against it, at most `limit`.

        Args:
            start: a key in the only partition; what is read is behind it.
        """
        within, values = self._within(partitions, start)
        in_order = self._reading.order
        if len(partitions) > 1:
            direction = "ASC" if partitions[0] < partitions[-1] else "DESC"  # type: ignore[operator]  # of one type
            in_order = f"{self._reading.partition_key} {direction}, {in_order}"
        most = -1 if limit is None or self._matches else limit
        rows = db.execute(
            f"SELECT item FROM {self._table} WHERE {within} AND {self._live}{self._narrowing} "
            f"ORDER BY {in_order} LIMIT ?",
            (*values, now, *self._narrowed, most),
        )
        if self._matches is None:
            return [*self._recent.all([blob for (blob,) in rows], kept)]
        return list(islice(filter(self._matches, _fetched(rows)), limit))

    def count(self, db: sqlite3.Connection, partitions: Sequence[KeyValue], now: int) -> int:
        """How many items there are."""
        if self._matches:  # by what only the items tell, of which a partition at a time is in memory
            return sum(len(self.read(db, [partition], now)) for partition in partitions)
        within, values = self._within(partitions, None)
        counted = db.execute(
            f"SELECT count(*) FROM {self._table} WHERE {within} AND {self._live}{self._narrowing}",
            (*values, now, *self._narrowed),
        )
        return int(counted.fetchone()[0])

    def _within(self, partitions: Sequence[KeyValue], start: Mapping[str, Any] | None) -> tuple[str, list[Any]]:
        """The condition that an item stands in the partitions, within the bounds and behind the start."""
        partition, sort_key = self._reading.partition_key, self._reading.sort_key
        if len(partitions) == 1:
            terms, values = [f"{partition} = ?"], [partitions[0]]
        else:
            terms, values = [f"{partition} IN (SELECT value FROM json_each(?))"], [orjson.dumps(partitions).decode()]
        low, high = self._between
        if start is not None:
            at, *_ = position = self._position(start)
            terms.append(self._reading.behind)
            values += position
            if self._forward:
                low = at if low is None else max(low, at)
            else:
                high = at if high is None else min(high, at)
        terms.append(f"{sort_key} IS NOT NULL")
        if low is not None:
            terms.append(f"{sort_key} >= ?")
            values.append(low)
        if high is not None:
            terms.append(f"{sort_key} <= ?")
            values.append(high)
        return " AND ".join(terms), values

    def _position(self, start: Mapping[str, Any]) -> list[Any]:
        """A key without its partition."""
        names = self._reading.position
        if missing := [name for name in names if name not in start]:
            raise InvalidItem(f"the start of a reading lacks `{missing[0]}`")
        return [start[name] for name in names]


def _is_rank(index: Index, part: Compare) -> bool:
    """Whether a comparison is of the attribute that the index is also ordered by."""
    return index.ranked_by is not None and part.attribute == index.ranked_by.name


def decoded(blobs: Sequence[bytes]) -> list[Item]:
    """Many items in one call of the JSON parser, which costs half of one call each."""
    items: list[Item] = orjson.loads(b"[" + b",".join(blobs) + b"]")
    return items


def kept(blobs: Sequence[bytes]) -> list[KeptItem]:
    """The items, to be given again as long as they are kept."""
    return list(map(KeptItem, decoded(blobs)))


def _fetched(rows: sqlite3.Cursor) -> Iterator[Item]:
    while some := rows.fetchmany(ROWS_A_FETCH):
        yield from decoded([blob for (blob,) in some])


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
