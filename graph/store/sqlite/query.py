"""Reads the items of partitions. SQL tests the filter."""

import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from typing import Any

import orjson

from graph.store.conditions import Compare, check_filter, conjuncts
from graph.store.entity import Item
from graph.store.query import Partition, Query, narrowed
from graph.store.rows import Row, Rows, joined, values_of
from graph.store.sqlite.projection import Projection, projection
from graph.store.sqlite.reading import compared, reading
from graph.store.sqlite.sql import translate
from graph.store.sqlite.table import EntityTable
from graph.store.sqlite.threads import ReadConnection
from graph.store.values import InvalidItem

ROWS_PER_SLICE = (
    1024  # the most that one job reads, so that callers are served in rotation; a page of 1,000 and one row more fits
)
ROWS_PER_CALL = 128  # fetched at a time; the job may end in between. A page of a hundred, and one row more, fits
VALUES_PER_ROW = 3  # a row itself costs as much as so many values


def fetch(db: ReadConnection, columns: Projection, sql: str, values: Sequence[Any]) -> list[Row]:
    """All rows of a statement. The connection may end the job meanwhile."""
    cursor = db.execute(f"{sql} --{db.interruptions}", values)
    rows: list[Row] = []
    try:
        more = True
        while more:
            some = cursor.fetchmany(ROWS_PER_CALL)
            db.before_decoding(len(some) * (columns.width + VALUES_PER_ROW))
            rows += some
            more = len(some) == ROWS_PER_CALL
    except sqlite3.OperationalError:
        db.interruptions += 1
        raise
    return rows


class PreparedSqlQuery:
    """A query as SQL, which can read any partitions of its index."""

    def __init__(self, table: EntityTable, query: Query) -> None:
        by = query.by
        self._table = table
        self._reading = reading(table, by, query.forward, query.merged)
        self._merged = query.merged
        self._partition_names = table.entity.templates[by].partition.names
        self._between = bounds = narrowed(query.between)
        for bound in filter(None, bounds):
            table.entity.templates[by].sort.prefix(bound)  # raises what DynamoDB's engine raises
        check_filter(query.where)
        parts = list(conjuncts(query.where))
        terms = [translate(part, table.entity) for part in parts]
        self._narrowing = "".join([f" AND {term}" for term, _ in terms])
        self._narrowed = [value for _, values in terms for value in values]
        self._columns = projection(table.entity, query.needed)
        ranked_by = table.ranked_by(by)
        ranked = any(isinstance(part, Compare) and part.attribute == ranked_by for part in parts)
        self._from = self._reading.ranked_table if ranked else self._reading.table

    def read(
        self,
        db: ReadConnection,
        partitions: Sequence[Partition],
        now: int,
        start: Mapping[str, Any] | None = None,
        most: int = ROWS_PER_SLICE,
    ) -> tuple[Sequence[Item], Item | None]:
        """The first items of partitions, at most so many, and the position of the last one; None if none follows.

        Args:
            start: a position in the first partition; only items after it are read.
        """
        items: Sequence[Item] = []
        for run in [partitions] if self._merged else _runs(partitions, start is not None):
            items = joined(items, self._items(db, run, now, start, most - len(items)))
            if len(items) == most:
                return items, self._table.entity.position_of(self._reading.index, items[-1])
            start = None
        return items, None

    def first_of_each(
        self, db: ReadConnection, partitions: Sequence[Partition], now: int, most: int
    ) -> list[Sequence[Item]]:
        """The first items of each of some distinct partitions, read by one statement."""
        selected, values = self._selected(self._columns.sql, [[partition] for partition in partitions], now)
        first = f"SELECT * FROM ({selected} ORDER BY {', '.join(self._reading.order) or '1'} LIMIT ?)"
        bound = [value for of_partition in values for value in (*of_partition, most)]
        rows = Rows(self._columns, fetch(db, self._columns, " UNION ALL ".join([first] * len(partitions)), bound))
        found: dict[Partition, list[Row]] = {partition: [] for partition in partitions}
        for partition, row in zip(values_of(rows, self._partition_names), rows.values, strict=True):
            found[partition].append(row)
        return [Rows(self._columns, some) for some in found.values()]

    def count(self, db: ReadConnection, partitions: Sequence[Partition], now: int) -> int:
        """The number of items."""
        counted = 0
        for run in _runs(sorted(partitions), False):
            selected, (values,) = self._selected("count(*)", [run], now)
            (found,) = db.execute(selected, values).fetchone()
            counted += found
        return counted

    def _items(
        self, db: ReadConnection, partitions: Sequence[Partition], now: int, start: Mapping[str, Any] | None, limit: int
    ) -> Sequence[Item]:
        """The items that SQL selects from a run of partitions, in order or in reverse, or from merged ones."""
        order = self._reading.order
        runs = [[partition] for partition in partitions] if self._merged else [partitions]
        if len(runs[0]) > 1:
            direction = "ASC" if partitions[0] < partitions[-1] else "DESC"
            order = (f"{self._reading.partition[-1]} {direction}", *order)
        selected, values = self._selected(self._columns.sql, runs, now, start)
        # SQLite reads each part of a compound statement through the index, only as far as the order of all needs it.
        sql = f"{' UNION ALL '.join([selected] * len(runs))} ORDER BY {', '.join(order) or '1'} LIMIT ?"
        return Rows(self._columns, fetch(db, self._columns, sql, [*chain.from_iterable(values), limit]))

    def _selected(
        self, columns: str, runs: Sequence[Sequence[Partition]], now: int, start: Mapping[str, Any] | None = None
    ) -> tuple[str, list[list[Any]]]:
        """The statement that selects columns of what matches in a run of partitions after the start.

        The runs are alike, so that it is the same for each of them. It comes with the values that it binds for each.
        """
        named = [self._named(run) for run in runs]
        terms, _ = named[0]
        after, values = self._within(start)
        condition = " AND ".join([*terms, *after]) or "1"
        sql = (
            f"SELECT {columns} FROM {self._from} WHERE {condition}{self._reading.made_of}{self._table.is_live}"
            f"{self._narrowing}"
        )
        values += [*self._table.live_at(now), *self._narrowed]
        return sql, [[*own, *values] for _, own in named]

    def _named(self, run: Sequence[Partition]) -> tuple[list[str], Sequence[Any]]:
        """The conditions that an item is in a run of partitions, and the values that they bind."""
        names = self._reading.partition
        if len(run) == 1:
            return [f"{name} = ?" for name in names], run[0]
        *alike, varying = names
        varied = orjson.dumps([partition[-1] for partition in run]).decode()
        terms = [*(f"{name} = ?" for name in alike), f"{varying} IN (SELECT value FROM json_each(?))"]
        return terms, [*run[0][:-1], varied]

    def _within(self, start: Mapping[str, Any] | None) -> tuple[list[str], list[Any]]:
        """The conditions that an item is within the bounds and after the start, and the values that they bind."""
        way = self._reading
        terms: list[str] = []
        values: list[Any] = []
        low, high = self._between
        if start is not None:
            behind, position = way.behind(start)
            terms.append(behind)
            values += position
            at = tuple([start[name] for name in way.sort_names])
            low, high = narrowed(self._between, (at, None) if way.forward else (None, at))
        for sign, bound in ((">=", low), ("<=", high)):
            if bound:
                term, bound_values = compared(way.sort[: len(bound)], sign, bound)
                terms.append(term)
                values += bound_values
        return terms, values


def check_partitions(query: Query) -> None:
    """Raise `InvalidItem` unless each partition has a value for each attribute that its template names."""
    template = query.entity.templates[query.by].partition
    for length in set(map(len, query.partitions)):
        if length != len(template.fields):
            raise InvalidItem(f"`{template.source}` takes {len(template.fields)} values, not {length}")


def _runs(partitions: Sequence[Partition], first_alone: bool) -> Iterator[Sequence[Partition]]:
    """The partitions in runs that ascend or descend in their last value. One statement can read a run."""
    begin, end = 0, 1
    while begin < len(partitions):
        ascending = end < len(partitions) and partitions[begin] < partitions[end]
        while end < len(partitions) and not (first_alone and begin == 0):
            if partitions[end - 1][:-1] != partitions[end][:-1] or partitions[end - 1] == partitions[end]:
                break
            if (partitions[end - 1] < partitions[end]) is not ascending:
                break
            end += 1
        yield partitions[begin:end]
        begin, end = end, end + 1
