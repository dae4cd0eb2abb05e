"""Confirms sightings. A user confirms a sighting once, and never their own.

Confirmations of one sighting that come at the same time are stored in one transaction: the count, the markers of those
who confirm, and all items of the sighting. So the count is always that of the markers, beside what others count.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from secrets import token_urlsafe
from weakref import WeakValueDictionary

from graph.core.clock import Clock
from graph.core.errors import NotThere
from graph.domains.sightings import copies, profiles
from graph.domains.sightings.active_areas import ActiveAreas
from graph.domains.sightings.adopting import Adopting
from graph.domains.sightings.changes import SightingChanges
from graph.domains.sightings.entities import CONFIRMATION, CONFIRMER, SIGHTING_BY_ID
from graph.domains.sightings.expiring import expire_confirmations
from graph.domains.sightings.felt_reports import FeltReport, count_once
from graph.domains.sightings.iso import iso_of, seconds_of
from graph.domains.sightings.lifetimes import Lifetimes
from graph.domains.sightings.model import ConfirmationOutcome, Sighting, SightingChangeKind
from graph.store.client_input import possible_key
from graph.store.conditions import unchanged
from graph.store.contract import Database, Put
from graph.store.entity import Item
from graph.store.rounds import until_applied
from graph.work.together import WrittenTogether

MOST_AT_ONCE = 16  # users whose confirmations are stored at once, with at most five actions each


@dataclass(eq=False, slots=True)
class _Entry:
    """A user who confirms a sighting."""

    user_id: str
    sighting_id: str
    felt: FeltReport | None = None
    sighting: Sighting | None = None  # afterwards; None if it is not there
    confirmed: bool = False


@dataclass(frozen=True, slots=True)
class Confirming:
    """Stores confirmations."""

    database: Database
    changes: SightingChanges
    areas: ActiveAreas
    lifetimes: Lifetimes
    adopting: Adopting
    clock: Clock
    _writers: WeakValueDictionary[str, WrittenTogether[_Entry]] = field(default_factory=WeakValueDictionary, init=False)

    async def confirm(self, user_id: str, key: str, felt: FeltReport | None = None) -> ConfirmationOutcome:
        """Confirm a sighting. Nothing changes if the user has confirmed or reported it.

        Args:
            key: of its global id, or its own id.
            felt: what the user has felt, which is counted with a new confirmation.

        Raises:
            NotThere: There is no such sighting, or it has expired.
        """
        sighting_id = await self.adopting.own_id(key)
        if possible_key(SIGHTING_BY_ID, sighting_id) is None:
            raise NotThere("sightingId", "active sighting")
        entry = _Entry(user_id, sighting_id, felt)
        await self._writer_of(sighting_id).write(entry)
        if entry.sighting is None:
            raise NotThere("sightingId", "active sighting")
        return ConfirmationOutcome(entry.sighting, confirmed=entry.confirmed)

    def _writer_of(self, sighting_id: str) -> WrittenTogether[_Entry]:
        """What writes the confirmations of a sighting, as long as somebody waits for one. There is one for each."""
        writer = self._writers.get(sighting_id)
        if writer is None:
            writer = self._writers[sighting_id] = WrittenTogether(self._store_some, most=MOST_AT_ONCE)
        return writer

    @until_applied("other processes kept changing the same sighting")
    async def _store_some(self, entries: Sequence[_Entry]) -> Collection[_Entry] | None:
        """Store confirmations of one sighting."""
        before = await self.database.get(SIGHTING_BY_ID.key_for(entries[0].sighting_id))
        documented = before and await self.adopting.documented(before)
        if before is None or documented is None:
            return entries
        new = await self._new(before, entries)
        after = self._confirmed(before, len(new)) if new else before
        if after["expiresAt"] != before["expiresAt"]:
            await expire_confirmations(self.database, after)  # at most once a minute
        if new and not await self._store(before, after, documented, new):
            return None
        for entry in entries:
            entry.sighting, entry.confirmed = Sighting(after), entry in new
        return entries

    async def _new(self, sighting: Item, entries: Sequence[_Entry]) -> list[_Entry]:
        """The first entry of each user who has neither confirmed nor reported the sighting."""
        markers = [CONFIRMER.key_for(sighting["sightingId"], user_id) for user_id in {each.user_id for each in entries}]
        known = {item["userId"] for item in (await self.database.get_many(markers)).values()}
        first = {entry.user_id: entry for entry in reversed(entries)}
        return [entry for user_id, entry in first.items() if user_id not in known | {sighting.get("userId")}]

    def _confirmed(self, before: Item, number: int) -> Item:
        """A sighting after so many further confirmations."""
        expires_at = self.lifetimes.next_expiry(
            before["expiresAt"], reported_at=seconds_of(before["reportedAt"]), now=self.clock() // 1000
        )
        count = before["confirmationCount"] + number
        return self.lifetimes.ranked({**before, "confirmationCount": count, "expiresAt": expires_at})

    async def _store(self, before: Item, after: Item, documented: Item, new: Sequence[_Entry]) -> bool:
        """Store confirmations, if the sighting is as it was read and none of the users has confirmed it."""
        confirmed_at = iso_of(self.clock() // 1000)
        actions = [
            *copies.updates(before, after, documented=unchanged(documented, "expiresAt", "confirmationCount")),
            *copies.moved(before, after),
            *await self.areas.with_longer(after),
        ]
        for entry in new:
            of_user = {"sightingId": before["sightingId"], "userId": entry.user_id, "expiresAt": after["expiresAt"]}
            nano_id = token_urlsafe(16)[:21]
            actions += [
                Put(CONFIRMER, of_user, if_absent=True),
                Put(CONFIRMATION, {**of_user, "confirmedAt": confirmed_at, "nanoId": nano_id, "counted": True}),
                profiles.confirmed(entry.user_id),
            ]
        actions += [
            *profiles.received(before, len(new)),
            *await count_once(self.database, {entry.user_id: entry.felt for entry in new if entry.felt}),
        ]
        return await self.changes.store(SightingChangeKind.CONFIRMED, after, actions)
