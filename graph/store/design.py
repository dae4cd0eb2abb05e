"""Declared tables: what keys, indexes and expiry a table has, on every engine alike.

A slice declares its table beside its own code; engines create it and read it by this
declaration, and nothing else knows a key's name or type.
"""

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class Attribute:
    """A top-level attribute with a fixed type."""

    name: str
    type: Literal["S", "N"]  # text or number, in DynamoDB's letters


@dataclass(frozen=True, slots=True)
class Index:
    """A way to read a table: items that share a partition key, in the order of a sort key.

    `narrowed_by` are attributes that queries of this index filter on. An engine that can
    keeps them inside the index, so that what does not match is never read. `ranked_by` is the
    one of them that few items of a partition pass: such an engine keeps each partition in its
    order too. No result depends on either.
    """

    name: str
    partition_key: Attribute
    sort_key: Attribute
    narrowed_by: tuple[Attribute, ...] = ()
    ranked_by: Attribute | None = None


@dataclass(frozen=True, slots=True)
class TableDesign:
    """A table with its primary key, its indexes (projection ALL) and its expiry."""

    name: str
    partition_key: Attribute
    sort_key: Attribute
    indexes: tuple[Index, ...] = ()
    ttl: str | None = None  # attribute in epoch seconds after which an item no longer exists

    @property
    def primary(self) -> Index:
        """The primary key, as the index that every table has."""
        return Index("primary", self.partition_key, self.sort_key)

    def start_attributes(self, index: Index) -> tuple[Attribute, ...]:
        """The attributes that say where in `index` a reading stopped, without repetition."""
        own = (index.partition_key, index.sort_key)
        return own + tuple(a for a in (self.partition_key, self.sort_key) if a not in own)

    @property
    def key_attributes(self) -> tuple[Attribute, ...]:
        """Every attribute that is a key of the table or of an index, without repetition."""
        keys = [self.partition_key, self.sort_key]
        for index in self.indexes:
            keys += [a for a in (index.partition_key, index.sort_key) if a not in keys]
        return tuple(keys)
