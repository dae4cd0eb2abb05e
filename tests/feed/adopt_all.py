"""Adopts the foreign items that are there now, without a stream or a lease."""

from collections.abc import Sequence

from graph.core.services import Services
from graph.feed.adoption import ITEMS_AT_ONCE, Adoption
from graph.store.conditions import predicate
from graph.store.contract import Database


async def adopt_all(services: Services, database: Database, adoptions: Sequence[Adoption]) -> None:
    """Adopt all foreign items, some at once."""
    for adoption in adoptions:
        is_foreign = predicate(adoption.foreign)
        found = [item async for item in database.scan(adoption.entity) if is_foreign(item)]
        for at in range(0, len(found), ITEMS_AT_ONCE):
            await adoption.adopt(services, found[at : at + ITEMS_AT_ONCE])
