"""All that the domains keep in tables."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

from graph.core.clock import Clock
from graph.domain import entities_of
from graph.domains import DOMAINS
from graph.store.contract import Database
from graph.store.entity import Entity, Item
from graph.store.location import StoreLocation
from tests.processes import TIMEOUT_S
from tests.store.engines import new_store

ENTITIES = entities_of(DOMAINS)


def documented(entity: Entity, item: Item) -> Item:
    """The item as the documents describe it, and DynamoDB keeps it: with its keys, and what it is."""
    keys = {
        template.key.name: template.render([item[name] for name in template.names])
        for both in entity.templates.values()
        if all(name in item for each in both for name in each.names)  # an index may leave out some items
        for template in both
    }
    in_keys_alone = {attribute.name for attribute in entity.attributes if attribute.in_key_alone}
    kept = {name: value for name, value in item.items() if name not in in_keys_alone}
    return {**keys, **entity.marks, **kept}


async def everything_in(database: Database) -> list[Item]:
    """All items, as the documents describe them."""
    return [documented(entity, item) for entity in ENTITIES async for item in database.scan(entity)]


@asynccontextmanager
async def connections(engine: str, folder: Path, number: int, clock: Clock) -> AsyncIterator[list[Database]]:
    """So many connections to tables of their own, as processes have."""
    location = StoreLocation.of(await new_store(engine, folder, ENTITIES))
    async with AsyncExitStack() as stack:
        opening = [location.open(ENTITIES, timeout_s=TIMEOUT_S, clock=clock) for _ in range(number)]
        yield [await stack.enter_async_context(each) for each in opening]
