"""A sighting's items: the same attributes under each key by which it is found. They are always written together."""

from collections.abc import Mapping
from typing import Any

from graph.core.times import utc_time
from graph.domains.sightings.entities import HOURS, LISTED_SIGHTING, SIGHTING, SIGHTING_BY_ID, SIGHTING_CHANGE, TALLY
from graph.domains.sightings.iso import seconds_of
from graph.domains.sightings.model import SightingChangeKind
from graph.store.conditions import Condition, unchanged
from graph.store.contract import Action, Put, Update
from graph.store.entity import Item

CHANGES_KEPT_S = 86_400  # after the report; a sighting has expired by then


def puts(item: Item) -> list[Action]:
    """The actions that store a new sighting."""
    return [Put(SIGHTING, item), *puts_beside(item)]


def puts_beside(item: Item) -> list[Action]:
    """The actions by which a sighting that is stored under its documented key is found by other keys, and counts."""
    return [
        Put(SIGHTING_BY_ID, item, if_absent=True),
        *(Put(LISTED_SIGHTING, {**item, "list": each}) for each in item["lists"]),
        counted(item, 1),
    ]


def updates(before: Item, after: Item, *, documented: Condition | None = None, **further: Any) -> list[Action]:
    """The actions that change a sighting, if it is still as it was read.

    Its expiry, its confirmations and its rank may change.

    Args:
        documented: must hold for its documented item, which another program may have changed or deleted.
        further: attributes of its documented item that change, too.
    """
    changed = {name: after[name] for name in ("expiresAt", "confirmationCount", "rank")}
    by_id = {**changed, "category": after["category"]}  # an index is ordered by the category and the rank
    return [
        Update(SIGHTING_BY_ID.key_of(before), set=by_id, condition=unchanged(before, "expiresAt", "confirmationCount")),
        Update(SIGHTING.key_of(before), set={**changed, **further}, condition=documented),
        *(
            Update(LISTED_SIGHTING.key_for(each, before["reportedAt"], before["sightingId"]), set=changed)
            for each in before["lists"]
        ),
    ]


def moved(before: Item, after: Item) -> list[Action]:
    """The actions that count a sighting by its new expiry."""
    return [counted(before, -1), counted(after, 1)] if before["expiresAt"] != after["expiresAt"] else []


def counted(item: Mapping[str, Any], number: int) -> Update:
    """The change that counts a sighting among those that expire at the same time."""
    hour = HOURS[utc_time(item["reportedAt"]).hour]
    return Update(TALLY.key_for(item["category"], item["expiresAt"]), add={hour: number})


def change(item: Item, kind: SightingChangeKind, number: int) -> Put:
    """The record of a change that has left a sighting like this. It is kept for a day after the report."""
    own = {
        "kind": kind.value,
        "change": number,
        "activeUntil": item["expiresAt"],
        "expiresAt": seconds_of(item["reportedAt"]) + CHANGES_KEPT_S,
    }
    return Put(SIGHTING_CHANGE, {**item, **own})
