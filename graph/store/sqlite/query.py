"""Reading the items of partitions: what SQL can test, it tests; the rest of a filter is tested here."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import orjson

from graph.store.conditions import AllOf, Compare, Condition, conjuncts, predicate, values_of
from graph.store.contract import Bounds, InvalidItem, Item, KeptItem, KeyValue
from graph.store.design import Index
from graph.store.limits import check_value
from graph.store.sqlite.recent import Recent
from graph.store.sqlite.statements import Statements, translate
from graph.store.sqlite.threads import ReadConnection

ROWS_A_SLICE = 1000  # that one job decodes at most, so that callers take turns
ROWS_A_CALL = 100  # of the JSON parser, which lets no other thread run meanwhile
ROWS_TESTED_AT_ONCE = 250  # where a limit may be reached early, as the rows behind it would be decoded in vain


@dataclass(frozen=True, slots=True)
class Slice:
    """What one job has read."""

    items: list[Item]
    last_row: Item | None  # matching or not: go on behind it; None when nothing is left


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
        self.partition_key = index.partition_key.name
        self._recent = recent
        self._live = sql.live
        self._reading = sql.readings[index.name, forward]
        self._between = between
        self._forward = forward
        self._narrowing, self._narrowed, rest = _split(sql, where)
        self._matches = predicate(rest) if rest else None
        self.tests_items = rest is not None  # since SQL cannot test the whole filter
        ranked = any(isinstance(part, Compare) and _is_rank(index, part) for part in conjuncts(where))
        self._table = self._reading.ranked_table if ranked else self._reading.table

    def read(
        self,
        db: ReadConnection,
        partitions: Sequence[KeyValue],
        now: int,
        start: Mapping[str, Any] | None = None,
        limit: int | None = None,
    ) -> "Slice":
        """The first of the items of partitions, from at most `ROWS_A_SLICE` rows.

        Args:
            start: a key in the first partition; what is read is behind it.
            limit: how many items at most.
        """
        items: list[Item] = []
        rows = ROWS_A_SLICE if limit is None or not self._matches else ROWS_TESTED_AT_ONCE
        for run in _runs(partitions, start is not None):
            wanted = rows if limit is None or self._matches else min(limit - len(items), rows)
            found = self._rows(db, run, now, start, wanted)
            items += found if self._matches is None else filter(self._matches, found)
            if len(found) == wanted:
                return Slice(items, found[-1])
            rows -= len(found)
            start = None
        return Slice(items, None)

    def count(self, db: ReadConnection, partitions: Sequence[KeyValue], now: int) -> int:
        """How many items there are, where SQL tests the whole filter."""
        within, values = self._within(partitions, None)
        counted = db.execute(
            f"SELECT count(*) FROM {self._table} WHERE {within} AND {self._live}{self._narrowing}",
            (*values, now, *self._narrowed),
        )
        return int(counted.fetchone()[0])

    def _rows(
        self,
        db: ReadConnection,
        partitions: Sequence[KeyValue],
        now: int,
        start: Mapping[str, Any] | None,
        limit: int,
    ) -> list[Item]:
        """What SQL selects of partitions that ascend or descend, in their order or against it."""
        within, values = self._within(partitions, start)
        in_order = self._reading.order
        if len(partitions) > 1:
            direction = "ASC" if partitions[0] < partitions[-1] else "DESC"  # type: ignore[operator]  # of one type
            in_order = f"{self._reading.partition_key} {direction}, {in_order}"
        rows = db.execute(
            f"SELECT item FROM {self._table} WHERE {within} AND {self._live}{self._narrowing} "
            f"ORDER BY {in_order} LIMIT ?",
            (*values, now, *self._narrowed, limit),
        )

        def kept(blobs: Sequence[bytes]) -> list[KeptItem]:
            db.before_decoding(len(blobs))
            return list(map(KeptItem, decoded(blobs)))

        return [*self._recent.all([blob for (blob,) in rows], kept)]

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
    """Items, many in one call of the JSON parser, which costs half of one call each."""
    items: list[Item] = []
    for at in range(0, len(blobs), ROWS_A_CALL):
        items += orjson.loads(b"[" + b",".join(blobs[at : at + ROWS_A_CALL]) + b"]")
    return items


def _runs(partitions: Sequence[KeyValue], first_alone: bool) -> Iterator[Sequence[KeyValue]]:
    """The partitions in runs that ascend or descend, each of which one statement can read in order."""
    begin, end = 0, 1
    while begin < len(partitions):
        ascending = end < len(partitions) and partitions[begin] < partitions[end]  # type: ignore[operator]
        while end < len(partitions) and not (first_alone and begin == 0):
            if (partitions[end - 1] < partitions[end]) is not ascending:  # type: ignore[operator]  # of one type
                break
            end += 1
        yield partitions[begin:end]
        begin, end = end, end + 1


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
