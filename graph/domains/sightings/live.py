"""The broadcast of what happens to sightings."""

from collections.abc import AsyncGenerator, Mapping, Sequence

from graph.domains.sightings.entities import CHANGES_IN_ORDER, SIGHTING_CHANGE
from graph.domains.sightings.model import Sighting, SightingChange
from graph.domains.sightings.slugs import slug_in_key
from graph.feed.broadcast import Broadcast, Charge, FeedRecords, SubscriberMessage, free_of_charge
from graph.feed.sequence import ChangeSequence
from graph.store.client_input import find
from graph.store.contract import Database
from graph.store.records import records_at


class SightingBroadcast(Broadcast[SightingChange]):
    """Sends changes of sightings as any process stores them. A sighting that was hidden later is left out."""

    def __init__(self, database: Database, sequence: ChangeSequence) -> None:
        async def load(keys: Sequence[str]) -> Mapping[str, SightingChange]:
            wanted = [SIGHTING_CHANGE.key_for(int(key)) for key in keys]
            changes = await records_at(database, SightingChange, wanted)
            there = await find(database, Sighting, {each.sighting_id for each in changes}, frozenset())
            return {
                str(each.number): each if each.sighting_id in there else each.without_sighting() for each in changes
            }

        super().__init__(sequence, FeedRecords.of(CHANGES_IN_ORDER, load))

    async def changes(
        self,
        area: str | None,
        category: str | None,
        after: str | None = None,
        charge: Charge = free_of_charge,
    ) -> AsyncGenerator[SubscriberMessage[SightingChange], None]:
        """Subscribe to the changes of an area's and a category's sightings, see `subscribe`. None for all of them."""

        def wants(change: SightingChange) -> bool:
            item = change.item
            return area in (None, slug_in_key(item["areaSlug"])) and category in (None, item["category"])

        return await self.subscribe(wants, after, charge)
