"""Checks values from clients: keys that no record can have, and values out of their bounds.

The store treats such values as defects of the calling code. So code that passes on a client's values checks them
here first.
"""

from collections.abc import Iterable
from typing import Any, TypeVar

from graph.core.errors import BadUserInput
from graph.store.attributes import Attribute
from graph.store.contract import Database
from graph.store.entity import Entity, Key
from graph.store.query import Needed
from graph.store.records import EntityRecord, records_at
from graph.store.values import InvalidItem

R = TypeVar("R", bound=EntityRecord)


def check_input(entity: Entity, **values: Any) -> None:
    """Check values by the names of their attributes.

    Raises:
        BadUserInput: An attribute cannot have its value. The message names the attribute.
    """
    for name, value in values.items():
        check_attribute(entity.named[name], value)


def check_attribute(attribute: Attribute, value: Any) -> None:
    """Check a value that a client gives an attribute.

    Raises:
        BadUserInput: The attribute cannot have it. The message names the attribute.
    """
    try:
        attribute.check(value)
    except InvalidItem as error:
        raise BadUserInput(f"{error}.") from error


def possible_key(entity: Entity, *values: Any) -> Key | None:
    """The primary key with these values of `key_names`; None if no item can have it."""
    try:
        entity.check_keys([values])
    except InvalidItem:
        return None
    return entity.key_for(*values)


async def find(database: Database, record: type[R], keys: Iterable[str], attributes: Needed = None) -> dict[str, R]:
    """The existing records by their keys. A key that no record can have finds none."""
    entity = record.entity
    (name,) = entity.key_names
    possible = [each for key in set(keys) if (each := possible_key(entity, key))]
    return {each.item[name]: each for each in await records_at(database, record, possible, attributes)}
