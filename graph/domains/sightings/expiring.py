"""Lets the confirmations of a sighting expire with it.

If a sighting is to last longer, its confirmations and the markers are made to do so first, and it is changed only if no
confirmation has come in between. If it is hidden, they end after it. So none expires before its sighting.
"""

from graph.domains.sightings.entities import CONFIRMATION, CONFIRMER
from graph.store.conditions import Present
from graph.store.contract import Database, Update
from graph.store.entity import Item
from graph.store.query import Query


async def expire_confirmations(database: Database, sighting: Item) -> None:
    """Let the confirmations of a sighting, and the markers, expire with it."""
    expiry = {"expiresAt": sighting["expiresAt"]}
    for entity in (CONFIRMATION, CONFIRMER):
        found = await database.query(Query(entity=entity, partitions=[(sighting["sightingId"],)]))
        updates = [
            Update(entity.key_of(item), set=expiry, condition=Present("expiresAt"))
            for item in found.items
            if item["expiresAt"] != expiry["expiresAt"]
        ]
        for first in range(0, len(updates), database.transaction_limit):
            some = updates[first : first + database.transaction_limit]
            while some and (refused := await database.transact(some)):  # they have expired meanwhile
                some = [update for at, update in enumerate(some) if at not in refused]
