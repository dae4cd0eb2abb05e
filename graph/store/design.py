"""Declared tables: what keys, indexes and expiry a table has, on every engine alike.

What stands in a table is declared by its entities, see `entity`.
"""

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class KeyAttribute:
    """An attribute that is a key of a table or of an index."""

    name: str
    type: Literal["S", "N"]  # text or number, in DynamoDB's letters


@dataclass(frozen=True, slots=True)
class Index:
    """A way to read a table: items that share a partition key, in the order of a sort key.

    `narrowed_by` names attributes that queries of this index filter on. An engine that can
    keeps them inside the index, so that what does not match is never read. `ranked_by` is the
    one of them that few items of a partition pass: such an engine keeps each partition in its
    order too. No result depends on either.
    """

    name: str
    partition_key: KeyAttribute
    sort_key: KeyAttribute
    narrowed_by: tuple[str, ...] = ()
    ranked_by: str | None = None


@dataclass(frozen=True, slots=True)
class TableDesign:
    """A table with its primary key, its indexes (projection ALL) and its expiry.

    `{env}` in the name stands for the environment that the table belongs to.
    """

    name: str
    partition_key: KeyAttribute = KeyAttribute("pk", "S")
    sort_key: KeyAttribute = KeyAttribute("sk", "S")
    indexes: tuple[Index, ...] = ()
    ttl: str | None = None  # attribute in epoch seconds after which an item no longer exists
    resource: str = ""  # its logical id in a CloudFormation template; made of the name where it is empty

    @property
    def primary(self) -> Index:
        """The primary key, as the index that every table has."""
        return Index("primary", self.partition_key, self.sort_key)

    @property
    def key_attributes(self) -> tuple[KeyAttribute, ...]:
        """Every attribute that is a key of the table or of an index, without repetition."""
        keys = [self.partition_key, self.sort_key]
        for index in self.indexes:
            keys += [a for a in (index.partition_key, index.sort_key) if a not in keys]
        return tuple(keys)


def table_name(design: TableDesign, *, prefix: str = "", environment: str = "dev") -> str:
    """The name of a table on DynamoDB."""
    return prefix + design.name.replace("{env}", environment)
