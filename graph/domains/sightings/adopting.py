"""Adopts what other programs have written under the documented keys: sightings, and confirmations of sightings.

A sighting is found by its documented keys at once. Adoption adds what our own report stores beside it: the items of its
other keys, its tally, its area, its reporter's profile, and the numbered change by which subscribers and watches learn
of it. An adopted sighting has a rank.

Another program confirms a sighting by changing its documented item, and puts a confirmation beside it. Adoption passes
such a change on to the other items. The same happens where a put has replaced an adopted item.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from graph.core.clock import Clock
from graph.core.errors import NotThere
from graph.domains.sightings import copies, profiles
from graph.domains.sightings.active_areas import ActiveAreas
from graph.domains.sightings.areas import NamedArea
from graph.domains.sightings.categories import Categories
from graph.domains.sightings.changes import SightingChanges
from graph.domains.sightings.entities import (
    ADOPTION,
    CONFIRMATION,
    CONFIRMER,
    HIDING,
    SEEN_CATEGORY,
    SIGHTING,
    SIGHTING_BY_ID,
)
from graph.domains.sightings.expiring import expire_confirmations
from graph.domains.sightings.iso import seconds_of
from graph.domains.sightings.lifetimes import Lifetimes
from graph.domains.sightings.model import SightingChangeKind, documented_key
from graph.domains.sightings.selection import list_of_event, list_of_user
from graph.domains.sightings.slugs import slug_in_key
from graph.domains.sightings.tiers import TrustTier
from graph.feed.adoption import Adoption, adopt_by
from graph.observability.logs import get_logger
from graph.store.client_input import possible_key
from graph.store.conditions import Compare, unchanged
from graph.store.contract import Action, Database, Put, Update
from graph.store.entity import Item, Key

logger = get_logger(__name__)

MOST_ATTEMPTS = 10  # then something is in the way that no attempt removes
POSITION = frozenset({"cell", "lat", "lon"})  # the document has none, and nobody has rounded another program's
FOREIGN = Compare("rank", "=", 0)
NOT_COUNTED = Compare("counted", "=", False)


@dataclass(frozen=True, slots=True)
class Adopting:
    """Adopts sightings and confirmations."""

    database: Database
    changes: SightingChanges
    areas: ActiveAreas
    lifetimes: Lifetimes
    categories: Categories
    clock: Clock

    async def own_id(self, key: str) -> str:
        """The own id of a sighting that a client wants to change. It is adopted first, if need be.

        Args:
            key: of its global id, or its own id.

        Raises:
            NotThere: There is no such sighting, or it has expired.
        """
        if (parts := documented_key(key)) is None:
            return key
        documented = possible_key(SIGHTING, *parts)
        if documented is None or await self.database.get(documented) is None:
            raise NotThere("sightingId", "active sighting")
        await self._sighting(documented)
        return parts[-1]

    async def documented(self, sighting: Item) -> Item | None:
        """The documented item of a sighting, with which its other items agree from now on. None if it is gone."""
        if self.database.other_writers is None:
            return sighting
        found = await self.database.get(SIGHTING.key_of(sighting))
        if found:
            await self._pass_on(sighting, found)
        return found

    async def sightings(self, items: Sequence[Item]) -> None:
        """Adopt sightings, unless they have been adopted."""
        for item in items:
            await self._sighting(SIGHTING.key_of(item))

    async def confirmations(self, items: Sequence[Item]) -> None:
        """Adopt confirmations: what each has changed of its sighting, and who has confirmed that, if it says so."""
        for item in items:
            await self._confirmation(item)

    async def _sighting(self, key: Key) -> None:
        for _ in range(MOST_ATTEMPTS):
            found = await self.database.get(key)
            if found is None or found["rank"]:
                return
            before = await self.database.get(SIGHTING_BY_ID.key_for(found["sightingId"]))
            if before is None:
                done = await self._add(found)
            elif SIGHTING.key_of(before) == key:
                done = await self._pass_on(before, found)
            else:
                break
            if done:
                return
        logger.warning("A sighting of another program cannot be adopted", key=key.values)

    async def _confirmation(self, item: Item) -> None:
        for _ in range(MOST_ATTEMPTS):
            before = await self.database.get(SIGHTING_BY_ID.key_for(item["sightingId"]))
            found = before and await self.database.get(SIGHTING.key_of(before))
            if before is None or found is None or await self._pass_on(before, found):
                break
        else:
            logger.warning("A confirmation of another program cannot be adopted", sighting_id=item["sightingId"])
            return
        if "userId" in item:  # the sighting may be adopted later
            expires_at = (found or item)["expiresAt"]
            of = {"sightingId": item["sightingId"], "userId": item["userId"], "expiresAt": expires_at}
            await self.database.put(Put(CONFIRMER, of, if_absent=True))
        await self.database.update(Update(CONFIRMATION.key_of(item), set={"counted": True}, condition=NOT_COUNTED))

    async def _add(self, found: Item) -> bool:
        """Add what our own report stores beside a sighting. False if something has changed meanwhile."""
        now, reported_at = self.clock(), seconds_of(found["reportedAt"])
        expires_at = min(found["expiresAt"], self.lifetimes.last_expiry(reported_at))
        if expires_at <= now // 1000:
            return True
        if await self.database.get(HIDING.key_for(found["sightingId"])):
            hidden = Update(SIGHTING.key_of(found), set={"expiresAt": now // 1000}, condition=FOREIGN)
            return await self.database.update(hidden)
        profile = await profiles.profile_of(self.database, found["userId"]) if "userId" in found else None
        tier = profile.tier if profile else TrustTier.BRONZE
        lists = [
            *([list_of_user(profile.user_id)] if profile else ()),
            *([list_of_event(found["eventId"])] if "eventId" in found else ()),
        ]
        whole = {"reporterTier": tier.value, **found, "lists": lists, "expiresAt": expires_at}
        adopted = self.lifetimes.ranked({name: value for name, value in whole.items() if name not in POSITION})
        marks = {name: adopted[name] for name in ("rank", "lists", "reporterTier", "confirmationCount", "category")}
        slug, count = slug_in_key(found["areaSlug"]), adopted["confirmationCount"]
        actions: list[Action] = [
            Update(SIGHTING.key_of(found), set=marks, condition=FOREIGN),
            *copies.puts_beside(adopted),
            *(await profiles.reported(self.database, profile, now, confirmations=count) if profile else ()),
            *await self.areas.with_new(adopted, NamedArea(slug, found.get("area") or found["areaSlug"])),
        ]
        if found["category"] not in self.categories.names:
            lasts = now // 1000 + self.lifetimes.longest_kept  # so none that was adopted before lasts longer
            actions.append(Put(SEEN_CATEGORY, {"category": found["category"], "expiresAt": lasts}))
        return await self.changes.store(SightingChangeKind.REPORTED, adopted, actions)

    async def _pass_on(self, before: Item, found: Item) -> bool:
        """Let all items of a sighting have what another program has changed of its documented one.

        Returns:
            False if something has changed meanwhile.
        """
        last = self.lifetimes.last_expiry(seconds_of(before["reportedAt"]))
        count, expires_at = found["confirmationCount"], min(found["expiresAt"], last)
        after = self.lifetimes.ranked({**before, "confirmationCount": count, "expiresAt": expires_at})
        marks = {"lists": before["lists"], "reporterTier": before["reporterTier"], "category": before["category"]}
        as_read = unchanged(found, "expiresAt", "confirmationCount")
        further = count - before["confirmationCount"]
        if not further and expires_at == before["expiresAt"]:
            lasting = {"rank": before["rank"], **marks}
            return bool(found["rank"]) or await self.database.update(
                Update(SIGHTING.key_of(found), set=lasting, condition=as_read)
            )
        if after["expiresAt"] != before["expiresAt"]:
            await expire_confirmations(self.database, after)
        actions = [
            *copies.updates(before, after, documented=as_read, **marks),
            *copies.moved(before, after),
            *await self.areas.with_longer(after),
            *(profiles.received(before, further) if further > 0 else ()),
        ]
        return await self.changes.store(SightingChangeKind.CONFIRMED, after, actions)


ADOPTIONS = (
    Adoption(SIGHTING, ADOPTION, FOREIGN, adopt_by(Adopting, Adopting.sightings)),
    Adoption(CONFIRMATION, ADOPTION, NOT_COUNTED, adopt_by(Adopting, Adopting.confirmations)),
)
