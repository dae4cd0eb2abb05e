"""What is asked of a store: one frozen value, and the page that answers it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from graph.store.conditions import Condition
from graph.store.design import Index
from graph.store.entity import Entity, Item

Partition = tuple[Any, ...]
"""The values of the attributes that a partition's template names; empty where it names none."""

Bounds = tuple[Any, Any]
"""Least and greatest value of the first attribute of the sort key, both inclusive; None leaves a side open."""

UNBOUNDED: Bounds = (None, None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """Items of an entity, in some partitions of an index, in the order of its sort key or backwards."""

    entity: Entity
    index: Index | None = None  # None for the primary key
    partitions: Sequence[Partition] = ((),)  # one after the other in this order
    between: Bounds = UNBOUNDED
    forward: bool = True
    start: Mapping[str, Any] | None = None  # a position in the first partition, or an item: begin behind it
    limit: int | None = None  # matching items at most; None reads to the end
    where: Condition | None = None  # what an item must fulfil besides
    attributes: frozenset[str] | None = None  # those that are needed, beside the position; None for all

    @property
    def by(self) -> Index:
        """The index that is read."""
        return self.index or self.entity.table.primary

    @property
    def needed(self) -> tuple[str, ...] | None:
        """The attributes that are read: those that are needed, and the position. None for all."""
        if self.attributes is None:
            return None
        return tuple(dict.fromkeys((*self.entity.position_names(self.by), *sorted(self.attributes))))


@dataclass(frozen=True, slots=True)
class Page:
    """Some items of a query in order, and where the reading stopped."""

    items: list[Item]
    last_key: Item | None  # pass as `start` to read on; None when nothing is left
    partitions: int = 1  # how many partitions were read
