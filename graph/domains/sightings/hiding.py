"""Hides sightings that a moderator objects to: they are not there any more, on no path."""

from graph.core.errors import NotThere
from graph.domains.sightings import copies, profiles
from graph.domains.sightings.checking import check_text
from graph.domains.sightings.entities import HIDING, SIGHTING_BY_ID
from graph.domains.sightings.expiring import expire_confirmations
from graph.domains.sightings.iso import iso_of
from graph.domains.sightings.model import SightingChangeKind, node_key
from graph.domains.sightings.reporting import Reporting
from graph.observability.logs import get_logger
from graph.store.client_input import possible_key
from graph.store.contract import Put
from graph.store.rounds import until_applied

logger = get_logger(__name__)


async def hide(reporting: Reporting, moderator_id: str, key: str, reason: str) -> str:
    """Hide a sighting for good. Who has hidden it and why is stored and logged.

    Args:
        key: of its global id, or its own id.

    Returns:
        The key of its global id.

    Raises:
        BadUserInput: The reason is impossible.
        NotThere: There is no such sighting, or it has expired.
    """
    check_text(HIDING.named["reason"], reason)
    sighting_id = await reporting.adopting.own_id(key)
    hidden = await _hide(reporting, moderator_id, sighting_id, reason)
    logger.info("A sighting is hidden", sighting_id=sighting_id, moderator_id=moderator_id, reason=reason)
    return hidden


@until_applied("other processes kept changing the same sighting")
async def _hide(reporting: Reporting, moderator_id: str, sighting_id: str, reason: str) -> str | None:
    key = possible_key(SIGHTING_BY_ID, sighting_id)
    if key is None or (before := await reporting.database.get(key)) is None:
        raise NotThere("sightingId", "active sighting")
    now = reporting.clock() // 1000
    hiding = {"sightingId": sighting_id, "userId": moderator_id, "reason": reason, "hiddenAt": iso_of(now)}
    after = reporting.lifetimes.ranked({**before, "expiresAt": now})
    actions = [
        Put(HIDING, hiding),
        *copies.updates(before, after),
        copies.counted(before, -1),
        *profiles.hidden(before),
        *await reporting.areas.without(before),
    ]
    if not await reporting.changes.store(SightingChangeKind.HIDDEN, after, actions):
        return None
    await expire_confirmations(reporting.database, after)
    return node_key(before)
