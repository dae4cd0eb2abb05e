"""Versions of an event: what makes a new one, and the items before and after. No I/O.

    stored version + values of the latest record → the same version, with other untracked values | the next version

A new version exists only where a tracked value changed. USGS moves `updated` with every product, so it is
no sign of a change. The other attributes are updated in place. `names` decides which record is the latest.

Source: https://github.com/usgs/pdl `docs/indexer.md`, which associates, merges and deletes events
"""

from collections.abc import Callable
from hashlib import blake2b
from typing import Any

from graph.core.compilation import Namespace
from graph.core.days import day_bucket
from graph.core.described import DescribedText
from graph.domains.earthquakes.model import DELETED
from graph.store.entity import Item

FIRST_VERSION = 1


class RevisionKind(DescribedText):
    """What made a version of an event."""

    CREATED = "CREATED", "The first version that was stored here."
    REVISED = "REVISED", "A tracked value changed."
    RENAMED = "RENAMED", "The source prefers another id."
    MERGED = "MERGED", "The event turned out to be another one, see `mergedInto`."
    DELETED = "DELETED", "The source deleted the event."
    RESTORED = "RESTORED", "The source has the event again."


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
    return blake2b(tracked_text(item).encode(), digest_size=8).hexdigest()


def _compiled_text() -> Callable[[Item], str]:
    """The function that writes the tracked values as Python writes a list. Each new event needs it."""
    special = {"depth": "get('sourceDepth', get('depth'))", "preferredId": "get('preferredId') or item['eventId']"}
    values = [special.get(name, f"get({name!r})") for name in TRACKED]
    text = ", ".join(f"{{{value}!r}}" for value in values)
    return Namespace().define("item", ["get = item.get", f'return f"[{text}]"'])


tracked_text = _compiled_text()
"""Writes the tracked values of an item as text, by which two items can be compared."""


def published(item: Item) -> int | None:
    """When the source last updated what is stored, epoch milliseconds; None if it did not say."""
    return item.get("updated", item.get("publishedAt"))


def first_version(item: Item) -> Item:
    """What the item of a new event lacks as a first version, but for the time and the number of its recording."""
    of_version: Item = {"revision": FIRST_VERSION, "hash": hash_of(item)}
    if "updated" in item:
        of_version["publishedAt"] = item["updated"]
    return of_version


def completed(item: Item) -> Item:
    """A version with the attributes that other programs do not store."""
    whole = {"revision": FIRST_VERSION, "recordedAt": item["ingestedAt"], "hash": hash_of(item), **item}
    if "publishedAt" not in whole and "updated" in whole:
        whole["publishedAt"] = whole["updated"]
    return whole


def next_version(stored: Item | None, values: Item) -> Item:
    """The item of an event with other values: its first or next version, or the same one if no tracked value changes.

    Args:
        stored: completed; None of a new event, which is not deleted in its first version.
        values: with the event's id and, of a deleted event, its status.
    """
    deleted = values.get("status") == DELETED
    if stored is None:
        return {**values, "dayBucket": day_bucket(values["eventTsMs"]), **first_version(values)}
    kind = kind_of(stored)
    if hash_of(values) == stored["hash"] and (kind is RevisionKind.DELETED if deleted else kind not in GONE):
        kept = ("revision", "recordedAt", "publishedAt", "hash", "kind", "arrival", "dayBucket")
        return {**values, **{name: stored[name] for name in kept if name in stored}}
    if deleted:
        return _version(stored, values, RevisionKind.DELETED)
    if kind in GONE:
        return _version(stored, values, RevisionKind.RESTORED)
    is_renamed = changed(stored, values).keys() <= {"preferredId"}
    return _version(stored, values, RevisionKind.RENAMED if is_renamed else RevisionKind.REVISED)


def merged_version(stored: Item, into: str, published_at: int | None) -> Item:
    """The version of an event that turned out to be another one.

    Args:
        stored: completed.
        into: the id of the other event.
        published_at: when the source published the record that shows it, epoch milliseconds.
    """
    times = [time for time in (published(stored), published_at) if time is not None]
    values = {**stored, "mergedInto": into, **({"updated": max(times)} if times else {})}
    values.pop("names", None)  # the other event has them
    return _version(stored, values, RevisionKind.MERGED)


def superseded(stored: Item, by: Item) -> Item:
    """The item of a version that another one replaced.

    Args:
        stored: completed.
    """
    published_at = by.get("publishedAt", stored.get("publishedAt", stored["recordedAt"]))
    return {**stored, "supersededAt": by["recordedAt"], "supersededPublishedAt": published_at}


def recorded(version: Item, before: Item, *, at: int, number: int) -> Item:
    """The version with the time of its recording and the number of its change.

    Clocks differ, but versions are recorded in order.
    """
    return {**version, "recordedAt": max(at, before["recordedAt"]), "arrival": number}


def _version(stored: Item, values: Item, kind: RevisionKind) -> Item:
    """The next version, but for the time and the number of its recording.

    It was not published before the one that it replaces, since of two versions only one is valid at a time.
    """
    day = day_bucket(values["eventTsMs"])
    times = [item[name] for item, name in ((stored, "publishedAt"), (values, "updated")) if name in item]
    return {
        **{name: value for name, value in values.items() if name not in ("recordedAt", "arrival", "publishedAt")},
        "revision": stored["revision"] + 1,
        "kind": kind.value,
        **({"publishedAt": max(times)} if times else {}),
        "dayBucket": f"{kind.value}#{day}" if kind in GONE else day,
        "hash": hash_of(values),
    }
