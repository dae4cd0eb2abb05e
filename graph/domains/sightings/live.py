"""The broadcast of what happens to sightings."""

from collections.abc import AsyncGenerator, Mapping, Sequence

from graph.core.clock import Clock
from graph.domains.sightings.entities import CHANGES_IN_ORDER, SIGHTING_CHANGE
from graph.domains.sightings.model import Sighting, SightingChange
from graph.domains.sightings.selection import SightingSelection
from graph.feed.broadcast import Broadcast, Charge, FeedRecords, SubscriberMessage, free_of_charge
from graph.feed.sequence import ChangeSequence
from graph.store.client_input import find
from graph.store.contract import Database
from graph.store.records import records_at


class SightingBroadcast(Broadcast[SightingChange]):
    """Sends changes of sightings as any process stores them, each with the sighting if that is active now."""

    def __init__(self, database: Database, sequence: ChangeSequence, clock: Clock) -> None:
        async def load(keys: Sequence[str]) -> Mapping[str, SightingChange]:
            wanted = [SIGHTING_CHANGE.key_for(int(key)) for key in keys]
            changes = await records_at(database, SightingChange, wanted)
            there = await find(database, Sighting, {each.sighting_id for each in changes})
            active = {key: sighting for key, sighting in there.items() if sighting.is_active(clock() / 1000)}
            return {str(each.number): SightingChange(each.item, active.get(each.sighting_id)) for each in changes}

        super().__init__(sequence, FeedRecords.of(CHANGES_IN_ORDER, load))

    async def changes(
        self, selection: SightingSelection, after: str | None = None, charge: Charge = free_of_charge
    ) -> AsyncGenerator[SubscriberMessage[SightingChange], None]:
        """Subscribe to the changes of the selected sightings, see `subscribe`. A hidden one passes no longer."""
        keep = selection.keep()

        def wants(change: SightingChange) -> bool:
            return keep is None or keep.holds(change.item)

        return await self.subscribe(wants, after, charge, matches=lambda change: change.present is not None)
