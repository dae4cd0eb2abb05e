"""SQL for reading the items of a partition through an index in one direction."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from graph.store.design import Index
from graph.store.entity import Entity
from graph.store.sqlite.sql import Term, quoted
from graph.store.sqlite.table import EntityTable
from graph.store.values import InvalidItem


@dataclass(frozen=True, slots=True)
class IndexStatement:
    """SQL for one index and direction. All names but those of attributes are quoted."""

    index: Index
    partition: tuple[str, ...]  # the columns that name a partition
    sort: tuple[str, ...]  # the columns of the sort key
    place: tuple[str, ...]  # these and the rest of the primary key, which tells apart items with equal sort keys
    order: tuple[str, ...]  # the terms of ORDER BY within a partition, or within merged ones
    made_of: str  # the condition that an item is in the index
    table: str  # the table, read through the index
    ranked_table: str  # the table, read through the index in order of `ranked_by`
    sort_names: tuple[str, ...]
    place_names: tuple[str, ...]
    forward: bool

    def behind(self, start: Mapping[str, Any]) -> Term:
        """The condition that an item comes after a position in its partition, or in merged ones.

        Raises:
            InvalidItem: The position lacks an attribute.
        """
        if missing := [name for name in self.place_names if name not in start]:
            raise InvalidItem(f"the start of a reading lacks `{missing[0]}`")
        if not self.place:
            return "?", [0]  # the only item of its partition
        return compared(self.place, ">" if self.forward else "<", [start[name] for name in self.place_names])


@cache
def reading(table: EntityTable, index: Index, forward: bool, merged: bool = False) -> IndexStatement:
    """The SQL for reading partitions of an index of an entity, one after the other or merged."""
    entity: Entity = table.entity
    partition, sort = entity.templates[index]
    ordered = sort.names if merged else entity.templates[index].names
    place_names = (*sort.names, *(name for name in entity.key_names if name not in ordered))
    direction = "ASC" if forward else "DESC"
    sort_columns, place = tuple(map(quoted, sort.names)), tuple(map(quoted, place_names))
    return IndexStatement(
        index=index,
        partition=tuple(map(quoted, partition.names)),
        sort=sort_columns,
        place=place,
        order=tuple(f"{name} {direction}" for name in place),
        made_of="" if index == entity.table.primary else "".join(f" AND {name} IS NOT NULL" for name in sort_columns),
        table=_indexed_by(table, index, None),
        ranked_table=_indexed_by(table, index, table.ranked_by(index)),
        sort_names=sort.names,
        place_names=place_names,
        forward=forward,
    )


def _indexed_by(table: EntityTable, index: Index, ranked_by: str | None) -> str:
    """The table, read through an index. SQLite has no statistics by which it could choose one."""
    if index == table.entity.table.primary and not table.entity.narrowed_by:
        return table.table
    return f"{table.table} INDEXED BY {quoted(table.index_name(index, ranked_by))}"


def compared(columns: Sequence[str], sign: str, values: Sequence[Any]) -> Term:
    """The condition that columns compare so with values, one after the other."""
    if len(columns) == 1:
        return f"{columns[0]} {sign} ?", [*values]
    return f"({', '.join(columns)}) {sign} ({', '.join('?' * len(columns))})", [*values]
