"""A query of the store as one frozen value, and the page that it returns."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from graph.store.conditions import Condition
from graph.store.design import Index
from graph.store.entity import Entity, Item

Partition = tuple[Any, ...]
"""The values of the attributes that a partition's template names; empty if it names none."""

Bounds = tuple[Any, Any]
"""The least and the greatest place in the order of the sort key, both inclusive; None for no bound.

A bound is a value of the sort key's first attribute, or a tuple of values of its first attributes. It includes
all items that have these values.
"""

UNBOUNDED: Bounds = (None, None)

Needed = frozenset[str] | None
"""The attributes that a reader needs of each item, beside its position; None for all."""

Prefix = tuple[Any, ...]
"""A bound as values of the sort key's first attributes; empty for no bound."""


def narrowed(between: Bounds, by: Bounds = UNBOUNDED) -> tuple[Prefix, Prefix]:
    """The bounds of all places that lie within both."""
    (low, high), (other_low, other_high) = map(_prefix, between), map(_prefix, by)
    # Of two bounds of which one begins the other, the longer one is narrower.
    begin_alike = all(one == other for one, other in zip(high, other_high, strict=False))
    return max(low, other_low), max(high, other_high, key=len) if begin_alike else min(high, other_high)


def _prefix(bound: Any) -> Prefix:
    return bound if isinstance(bound, tuple) else () if bound is None else (bound,)


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """A query of an entity's items in some partitions of an index, in the order of its sort key or in reverse."""

    entity: Entity
    index: Index | None = None  # None for the primary key
    partitions: Sequence[Partition] = ((),)  # one after the other in this order
    merged: bool = False  # as one list in the order of the sort key instead; at most `Database.merges` partitions
    between: Bounds = UNBOUNDED
    forward: bool = True
    start: Mapping[str, Any] | None = None  # a position in the first partition, or an item; the query begins behind it
    limit: int | None = None  # the most matching items; None reads to the end
    where: Condition | None = None  # the filter
    attributes: Needed = None
    orders_ties: bool = False  # whether the primary key orders items with equal sort keys; else the engine chooses

    @property
    def by(self) -> Index:
        """The index that is read."""
        return self.index or self.entity.table.primary

    @property
    def needed(self) -> Needed:
        """The attributes to read: the needed ones and the position. None for all."""
        return None if self.attributes is None else self.attributes.union(self.entity.position_names(self.by))


@dataclass(frozen=True, slots=True)
class ItemPage:
    """Some items of a query in order, and the position where the reading stopped."""

    items: Sequence[Item]
    last_key: Mapping[str, Any] | None  # pass as `start` to read on; None when nothing is left
    partitions: int = 1  # how many partitions were read
