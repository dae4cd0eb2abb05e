"""Stores what happens to sightings, each change with the next number, by which subscribers and watches learn of it."""

from collections.abc import Sequence

from graph.domains.sightings import copies, profiles
from graph.domains.sightings.entities import SIGHTING_BY_ID, SIGHTING_CHANGE, SIGHTING_CHANGES
from graph.domains.sightings.model import Sighting, SightingChange, SightingChangeKind
from graph.feed.sequence import ChangeSequence, Reservation
from graph.store.contract import Action, Database
from graph.store.entity import Item
from graph.store.values import InvalidItem


class SightingChanges:
    """The changes of sightings."""

    def __init__(self, database: Database) -> None:
        self.sequence = ChangeSequence(database, SIGHTING_CHANGES)
        self._database = database

    async def store(self, kind: SightingChangeKind, sighting: Item, actions: Sequence[Action]) -> bool:
        """Store a change that leaves a sighting like this. False, without a change, if a condition does not hold.

        Raises:
            DatabaseUnavailable: Other processes kept coming first.
        """

        def numbered(reservation: Reservation) -> list[Action]:
            record = copies.change(sighting, kind, reservation.number)
            numbering = reservation.actions([str(reservation.number)], ttl=record.item["expiresAt"])
            return [*actions, record, *numbering]

        try:
            return not await self.sequence.transact(numbered)
        except InvalidItem:  # a text of another program's profile, to which a number cannot be added
            if (rest := await profiles.without_broken(self._database, actions)) == actions:
                raise
            actions = rest
            return not await self.sequence.transact(numbered)

    async def reported(self, number: int) -> Sighting | None:
        """The sighting whose report is the change of a number. None if it is another change, or not there any more."""
        item = await self._database.get(SIGHTING_CHANGE.key_for(number))
        if item is None or (change := SightingChange(item)).kind is not SightingChangeKind.REPORTED:
            return None
        is_there = await self._database.get(SIGHTING_BY_ID.key_for(change.sighting_id)) is not None
        return change.sighting if is_there else None
