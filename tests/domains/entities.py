"""All that the domains keep in tables."""

from graph.domain import entities_of
from graph.domains import DOMAINS
from graph.store.contract import Database
from graph.store.entity import Entity, Item

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
    return {**keys, "entity": entity.label or entity.name, **kept}


async def everything_in(database: Database) -> list[Item]:
    """All items, as the documents describe them."""
    return [documented(entity, item) for entity in ENTITIES async for item in database.scan(entity)]
