"""What clients give, and what an entity can hold: a key that no record has, a value that is out of its bounds.

The store takes such values for a fault of the calling code. So whoever passes on what a client gave asks here.
"""

from collections.abc import Iterable
from typing import Any, TypeVar

from graph.core.errors import BadUserInput
from graph.store.contract import Database
from graph.store.entity import Entity
from graph.store.records import EntityRecord
from graph.store.values import InvalidItem

R = TypeVar("R", bound=EntityRecord)


def check_input(entity: Entity, **values: Any) -> None:
    """Check values by the names of their attributes.

    Raises:
        BadUserInput: An attribute cannot have its value. It is named.
    """
    for name, value in values.items():
        try:
            entity.named[name].check(value)
        except InvalidItem as error:
            raise BadUserInput(f"{error}.") from error


async def find(
    database: Database, record: type[R], keys: Iterable[str], attributes: frozenset[str] | None = None
) -> dict[str, R]:
    """Those of the records that exist, by their keys. A key that no record can have finds none.

    Args:
        attributes: those that are needed of each record; None for all.
    """
    entity = record.entity
    (name,) = entity.key_names
    possible = []
    for key in set(keys):
        try:
            entity.check_key([key])
        except InvalidItem:
            continue
        possible.append(entity.key_for(key))
    needed = None if attributes is None else attributes | {name}
    items = await database.get_many(possible, attributes=needed) if possible else {}
    record_of = record.reading(attributes)
    return {item[name]: record_of(item) for item in items.values()}
