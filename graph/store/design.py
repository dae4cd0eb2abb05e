"""Declared tables: their keys, indexes and expiry, the same on every engine.

The items of a table are declared by its entities, see `entity`.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from graph.store.configuration import AWS_KEY, ON_DEMAND, Alarm, Billing

TAGS = (("application", "quakegraph"),)
"""The tags of every table that was made as it is designed, by which it is told from a table of another program."""


@dataclass(frozen=True, slots=True)
class KeyAttribute:
    """An attribute that is a key of a table or of an index."""

    name: str
    type: Literal["S", "N"]  # text or number, in DynamoDB's letters


@dataclass(frozen=True, slots=True)
class Index:
    """A way to read a table: items that share a partition key, in the order of a sort key.

    `narrowed_by` names attributes that queries of this index filter on or often select. An engine may keep
    them inside the index, so that it reads only matching items, or nothing but the index. `ranked_by` is one
    of them whose filter few items of a partition pass: an engine may also keep each partition in its order.
    Neither changes a result.
    """

    name: str
    partition_key: KeyAttribute
    sort_key: KeyAttribute
    narrowed_by: tuple[str, ...] = ()
    ranked_by: str | None = None

    def __hash__(self) -> int:
        return hash(self.name)  # since each query looks its index up several times


@dataclass(frozen=True)
class TableDesign:
    """A table with its primary key, its indexes (projection ALL), its expiry and its configuration on DynamoDB.

    `{env}` in the name stands for the environment that the table belongs to. SQLite has no use for the configuration.
    """

    name: str
    partition_key: KeyAttribute = KeyAttribute("pk", "S")
    sort_key: KeyAttribute = KeyAttribute("sk", "S")
    indexes: tuple[Index, ...] = ()
    ttl: str | None = None  # attribute in epoch seconds after which an item no longer exists
    entity: str | None = None  # attribute that names the entity of each item on DynamoDB
    resource: str = ""  # its logical id in a CloudFormation template; by default derived from the name
    billing: Billing = ON_DEMAND
    encryption: str = AWS_KEY  # or `CUSTOMER_KEY`, or the ARN or alias of a key in KMS
    recovery: bool = True  # to any point of the last 35 days
    protection: bool = True  # from deletion
    stream: bool = True
    alarms: tuple[Alarm, ...] = ()
    tags: tuple[tuple[str, str], ...] = TAGS

    def __hash__(self) -> int:
        return hash(self.name)  # since each request looks its table up

    @cached_property
    def primary(self) -> Index:
        """The primary key as an index."""
        return Index("primary", self.partition_key, self.sort_key)

    @property
    def key_attributes(self) -> tuple[KeyAttribute, ...]:
        """Every attribute that is a key of the table or of an index, without repetition."""
        every = (self.primary, *self.indexes)
        return tuple(dict.fromkeys(key for index in every for key in (index.partition_key, index.sort_key)))


def table_name(design: TableDesign, *, prefix: str = "", environment: str = "dev") -> str:
    """The name of a table on DynamoDB."""
    return prefix + design.name.replace("{env}", environment)
