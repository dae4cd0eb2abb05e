"""Versions of an event: what makes a new one, and the items before and after. No I/O.

    stored version + newer record of the source → nothing | the same version, completed | the next version

A new version exists only where a tracked value changed. USGS moves `updated` with every product, so it is
no sign of a change. The other attributes are updated in place. A record that the source published before
the stored one changes nothing: feeds are cached, and files are old.

Source: https://github.com/usgs/pdl `docs/indexer.md`, which associates, merges and deletes events
"""

from collections.abc import Callable, Iterable
from enum import Enum
from hashlib import blake2b
from typing import Any

from graph.core.compilation import Namespace
from graph.core.days import day_bucket
from graph.domains.earthquakes.model import DELETED, Event, Incoming, SourceDeletion, listed
from graph.store.entity import Item

FIRST_VERSION = 1


class RevisionKind(Enum):
    """What made a version of an event."""

    CREATED = "CREATED"
    REVISED = "REVISED"
    RENAMED = "RENAMED"  # only the preferred id changed
    MERGED = "MERGED"  # it is the same earthquake as another event
    DELETED = "DELETED"
    RESTORED = "RESTORED"


GONE = (RevisionKind.DELETED, RevisionKind.MERGED)
"""The kinds of versions that are not in the catalogue."""

TRACKED = (
    *("eventTsMs", "mag", "magType", "place", "lat", "lon", "depth", "type", "status", "alert", "tsunami"),
    "preferredId",
)
"""The attributes whose change makes a version."""


def kind_of(item: Item) -> RevisionKind:
    """What made this version."""
    return RevisionKind(item.get("kind", RevisionKind.CREATED.value))


def tracked(item: Item) -> dict[str, Any]:
    """The tracked values of a version. The depth is the source's, where it is known."""
    values = {name: item.get(name) for name in TRACKED}
    values["depth"] = item.get("sourceDepth", values["depth"])
    values["preferredId"] = values["preferredId"] or item["eventId"]
    return values


def changed(before: Item, after: Item) -> dict[str, tuple[Any, Any]]:
    """Attribute → its tracked value before and after, where these differ."""
    old, new = tracked(before), tracked(after)
    return {name: (old[name], value) for name, value in new.items() if value != old[name]}


def hash_of(item: Item) -> str:
    """A hash of the tracked values, 16 hexadecimal digits."""
    return blake2b(_tracked_text(item).encode(), digest_size=8).hexdigest()


def _compiled_text() -> Callable[[Item], str]:
    """The function that writes the tracked values as Python writes a list. Each new event needs it."""
    special = {"depth": "get('sourceDepth', get('depth'))", "preferredId": "get('preferredId') or item['eventId']"}
    values = [special.get(name, f"get({name!r})") for name in TRACKED]
    text = ", ".join(f"{{{value}!r}}" for value in values)
    return Namespace().define("item", ["get = item.get", f'return f"[{text}]"'])


_tracked_text = _compiled_text()


def published(item: Item) -> int | None:
    """When the source last updated what is stored, epoch milliseconds; None if it did not say."""
    return item.get("updated", item.get("publishedAt"))


def is_later(record: Incoming, item: Item) -> bool:
    """Whether the source published a record after what is stored. A record without a time is never later."""
    if record.updated is None:
        return False
    stored = published(item)
    return stored is None or record.updated > stored


def is_news(record: Incoming, item: Item) -> bool:
    """Whether a record may change a stored event: it is later, or names another id without a later time.

    When USGS finds that two events are one, the time of the last product is that of one of them.
    """
    return is_later(record, item) or (
        record.updated is not None and record.updated == published(item) and bool(alias_ids(record, item))
    )


def is_same_event(record: Incoming, item: Item) -> bool:
    """Whether a record whose id is an alias of a stored event is about this event.

    The source lists all ids of an event. If it lists none of ours any more, it has split the event.
    """
    ids = record.ids or ()
    return not ids or item["eventId"] in ids or item.get("preferredId") in ids


def first_version(item: Item) -> Item:
    """What the item of a new event lacks as a first version, but for the time and the number of its recording."""
    of_version: Item = {"revision": FIRST_VERSION, "hash": hash_of(item)}
    if "updated" in item:
        of_version["publishedAt"] = item["updated"]
    return of_version


def completed(item: Item) -> Item:
    """A version with the attributes that version 0.1 did not store."""
    whole = {"revision": FIRST_VERSION, "recordedAt": item["ingestedAt"], "hash": hash_of(item), **item}
    if "publishedAt" not in whole and "updated" in whole:
        whole["publishedAt"] = whole["updated"]
    return whole


def next_version(stored: Item, record: Incoming) -> Item | None:
    """The version that a later record makes of a stored one; None if no tracked value changes.

    Args:
        stored: completed.
    """
    if isinstance(record, SourceDeletion):
        if kind_of(stored) is RevisionKind.DELETED:
            return None
        return _next(stored, {**stored, "status": DELETED, "updated": record.updated}, RevisionKind.DELETED)
    values = _values(stored, record)
    was_gone = kind_of(stored) in GONE
    if hash_of(values) == stored["hash"] and not was_gone:
        return None
    if was_gone:
        return _next(stored, values, RevisionKind.RESTORED)
    is_renamed = changed(stored, values).keys() <= {"preferredId"}
    return _next(stored, values, RevisionKind.RENAMED if is_renamed else RevisionKind.REVISED)


def merged_version(stored: Item, into: str, record: Incoming) -> Item:
    """The version of an event that turned out to be another one, by a record.

    Args:
        stored: completed.
        into: the id of the other event.
    """
    values = {**stored, "mergedInto": into, "updated": record.updated}
    return _next(stored, values, RevisionKind.MERGED)


def same_version(stored: Item, record: Incoming) -> Item:
    """A completed version with the later record's values; only untracked ones differ."""
    if isinstance(record, SourceDeletion):
        return {**stored, "updated": record.updated}
    kept = ("revision", "recordedAt", "publishedAt", "hash", "kind", "arrival")
    return {**_values(stored, record), **{name: stored[name] for name in kept if name in stored}}


def superseded(stored: Item, by: Item) -> Item:
    """The item of a version that another one replaced.

    Args:
        stored: completed.
    """
    return {**stored, "supersededAt": by["recordedAt"], "supersededPublishedAt": by["publishedAt"]}


def recorded(version: Item, before: Item, *, at: int, number: int) -> Item:
    """The version with the time of its recording and the number of its change.

    Clocks differ, but versions are recorded in order.
    """
    return {**version, "recordedAt": max(at, before["recordedAt"]), "arrival": number}


def alias_ids(record: Incoming, stored: Item | None = None) -> list[str]:
    """The ids of a record that are no aliases yet, without the stored event's own id."""
    own = record.event_id if stored is None else stored["eventId"]
    known = {own} if stored is None else {own, stored.get("preferredId"), *listed(stored.get("ids", ""))}
    return [each for each in dict.fromkeys((record.event_id, *(record.ids or ()))) if each not in known]


def survivor_of(events: Iterable[Item]) -> Item:
    """Of several events that are one, the event that was stored first."""
    return min(events, key=lambda item: (item["ingestedAt"], item["eventId"]))


def _values(stored: Item, record: Event) -> Item:
    """The record's values, as values of the stored event."""
    own: Item = {name: stored[name] for name in ("eventId", "ingestedAt") if name in stored}
    renamed: Item = {} if record.event_id == stored["eventId"] else {"preferredId": record.event_id}
    return {**record.item, **renamed, **own}


def _next(stored: Item, values: Item, kind: RevisionKind) -> Item:
    day = day_bucket(values["eventTsMs"])
    return {
        **values,
        "revision": stored["revision"] + 1,
        "kind": kind.value,
        "publishedAt": values["updated"],
        "dayBucket": f"{kind.value}#{day}" if kind in GONE else day,
        "hash": hash_of(values),
    }
