"""Which ids name one event, and which record gives its values: decided by publication and ids alone. No I/O.

    an id → the latest record that lists it → the id of that record → … → a record that is the latest of its own id

All ids that lead to the same record are one event, and that record gives its values. If a later record lists one of its
ids without its own, that depends on which of the two ids was published first: an older id goes on as the event, and the
id that is no longer listed follows it; a younger one has been split off.

So the outcome depends on which records arrived, and not on their order. Of each id is remembered what that takes, and
each of it only grows or only falls: the latest record that lists it, the first publication under it, and the last
deletion under it; of an id that follows an older one also its last record, which nothing shows any more. And so that an
older id finds the events that are to follow it, the ids of other events whose latest record lists it.

An event's item remembers it for all of its ids. What its other attributes imply is left out of `names`; most events
have one id, one version, and no `names`. A deletion whose event is unknown is remembered in the item of an alias.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Self

import orjson

from graph.domains.earthquakes.model import Incoming, SourceDeletion, is_deleted, listed, possible_id
from graph.store.entity import Item

NEVER = -(2**53)  # the time of a record that does not say when it was published: earlier than all others
MOST_IDS = 32  # of a record; further ones are not looked at

MOST_LISTERS = 8  # that are remembered of an id

HIDDEN_AT, LISTERS_AT = 3, 4  # the places of a hidden record and of the listers in what is remembered of an id
_OF_VALUES = ""  # the key of what is remembered of a deleted event's values; no id is empty


class Rank(NamedTuple):
    """The order of records: by publication; of one time, the one that lists more ids is the later one."""

    time: int  # of its publication, epoch milliseconds
    ids: int  # that it lists; 0 if it lists none
    event_id: str  # under which it was published

    @classmethod
    def of(cls, record: Incoming) -> Self:
        """The rank of a record."""
        time = NEVER if record.updated is None else record.updated
        return cls(time, len(ids_of(record)) if record.ids else 0, record.event_id)

    @classmethod
    def of_values(cls, item: Item) -> Self:
        """The rank of the record whose values a stored event has, deleted or not."""
        by: str = item.get("preferredId") or item["eventId"]
        deleted = _remembered(item).get(_OF_VALUES)
        stored: Any = item.get("updated", item.get("publishedAt"))
        time: int = deleted[0] if deleted else NEVER if stored is None else stored
        return cls(time, len(_ids(by, listed(item["ids"]))) if "ids" in item else 0, by)


@dataclass(frozen=True, slots=True)
class Name:
    """What is remembered of an id."""

    listing: Rank | None = None  # the latest record that lists it
    since: int | None = None  # the first publication under it; None if there was none
    deleted: int | None = None  # the last deletion under it
    listers: frozenset[str] = frozenset()  # the ids of other events whose latest record lists it


Names = dict[str, Name]
"""The ids of events."""


def ids_of(record: Incoming) -> list[str]:
    """The ids of a record, its own one first, each once."""
    return _ids(record.event_id, record.ids or ())


def hidden_in(item: Item) -> Iterator[Item]:
    """The last records of ids of a stored event that another record hides."""
    for remembered in _remembered(item).values():
        if remembered and len(remembered) > HIDDEN_AT and remembered[HIDDEN_AT]:
            yield remembered[HIDDEN_AT]


def names_of(item: Item) -> Names:
    """The ids of a stored event, with what is remembered of each."""
    names = _implied(item)
    for event_id, remembered in _remembered(item).items():
        if remembered is None:
            names.pop(event_id, None)  # the record lists it, and it names another event now
        elif event_id != _OF_VALUES:
            listing, since, deleted = remembered[:HIDDEN_AT]
            listers = frozenset(remembered[LISTERS_AT] if len(remembered) > LISTERS_AT else ())
            names[event_id] = Name(Rank(*listing) if listing else None, since, deleted, listers)
    return names


def with_names(
    item: Item, names: Mapping[str, Name], hidden: Mapping[str, Item], values: tuple[int, str | None] | None = None
) -> Item:
    """The item of an event with what its other attributes do not imply of its ids.

    Args:
        hidden: the last records of ids that another record hides, by id.
        values: of a deleted event, the publication and the status of its values.
    """
    remembered: dict[str, Any] = {_OF_VALUES: values} if values else {}
    implied = _implied(_with_remembered(item, remembered))
    remembered |= {event_id: None for event_id in implied if event_id not in names}
    for event_id, name in sorted(names.items()):
        if name != implied.get(event_id) or event_id in hidden:
            remembered[event_id] = [list(name.listing) if name.listing else None, name.since, name.deleted]
            if event_id in hidden or name.listers:
                remembered[event_id].append(hidden.get(event_id))
            if name.listers:
                remembered[event_id].append(sorted(name.listers))
    return _with_remembered(item, remembered)


def status_of_values(item: Item) -> str | None:
    """The status that the values of a deleted event had before."""
    deleted = _remembered(item).get(_OF_VALUES)
    return deleted[1] if deleted else None


def absorb(names: Names, record: Incoming) -> None:
    """Remember what a record says of its ids. A deletion deletes, and says nothing of what is one event."""
    rank = Rank.of(record)
    if isinstance(record, SourceDeletion):
        for event_id in ids_of(record):
            if (name := names.get(event_id)) and (name.deleted is None or name.deleted < rank.time):
                names[event_id] = replace(name, deleted=rank.time)
        return
    own = names.get(record.event_id, Name())
    names[record.event_id] = replace(own, since=rank.time if own.since is None else min(own.since, rank.time))
    if not record.ids:
        return
    for event_id in ids_of(record):
        name = names.get(event_id, Name())
        if name.listing is None or name.listing < rank:
            names[event_id] = replace(name, listing=rank)


def joined(*places: Names) -> Names:
    """What several places remember of ids."""
    names: Names = {}
    for place in places:
        for event_id, name in place.items():
            names[event_id] = _joined(names[event_id], name) if event_id in names else name
    return names


def _joined(one: Name, other: Name) -> Name:
    since = [each for each in (one.since, other.since) if each is not None]
    deleted = [each for each in (one.deleted, other.deleted) if each is not None]
    listings = [each for each in (one.listing, other.listing) if each is not None]
    listers = one.listers | other.listers
    return Name(max(listings, default=None), min(since, default=None), max(deleted, default=None), listers)


def events_of(names: Names, listed_by: Mapping[str, Iterable[str]]) -> list[Names]:
    """The ids by the events that they name.

    Args:
        listed_by: id → the ids that the latest record lists which was published under it.
    """
    events: dict[str, Names] = {}
    for event_id, name in names.items():
        events.setdefault(_head(event_id, names, listed_by), {})[event_id] = name
    return list(events.values())


def with_listers(events: Iterable[Names], listed_by: Mapping[str, Iterable[str]]) -> list[Names]:
    """The ids of events, each with the ids of other events whose latest record lists it.

    Args:
        listed_by: id → the ids that the latest record lists which was published under it.
    """
    of_events = list(events)
    known = set().union(*of_events)
    listers: dict[str, set[str]] = {}
    for lister, event_ids in listed_by.items():
        for event_id in event_ids:
            listers.setdefault(event_id, set()).add(lister)

    def of(event_id: str, names: Names) -> frozenset[str]:
        unread = names[event_id].listers - known
        others = listers.get(event_id, set()) - names.keys()
        return frozenset(sorted(unread | others)[:MOST_LISTERS])

    return [
        {event_id: replace(name, listers=of(event_id, names)) for event_id, name in names.items()}
        for names in of_events
    ]


def followed(lister: str, names: Names, event_id: str, name: Name) -> bool:
    """Whether an id whose latest record lists another one follows that one.

    Args:
        names: of the lister's event.
        name: what is remembered of the other id.
    """
    listing = names[lister].listing if lister in names else None
    if listing is None or listing.event_id != lister or name.listing is None:
        return False
    return name.listing > listing and _age(event_id, {event_id: name}) < _age(lister, names)


def event_id_of(names: Names) -> str | None:
    """The id of an event among its ids: the one under which it was published first. None if it was under none."""
    published = [event_id for event_id, name in names.items() if name.since is not None]
    return min(published, key=lambda event_id: _age(event_id, names), default=None)


def _age(event_id: str, names: Names) -> tuple[int, str]:
    """What ids are ordered by, the one that was published first before the others."""
    since = names[event_id].since
    return 2**63 if since is None else since, event_id


def deleted_at(names: Names) -> int:
    """The last deletion of an event under any of its ids."""
    return max((name.deleted for name in names.values() if name.deleted is not None), default=NEVER - 1)


def _head(event_id: str, names: Names, listed_by: Mapping[str, Iterable[str]]) -> str:
    """The id to which an id leads."""
    for _ in range(2 * len(names)):  # each record is later than the one before; only damaged names could have a circle
        listing = names[event_id].listing
        if listing is None or listing.event_id not in names:
            break
        if listing.event_id != event_id:
            event_id = listing.event_id
            continue
        older = [
            each
            for each in listed_by.get(event_id, ())
            if (name := names.get(each)) and name.listing and name.listing > listing
            if _age(each, names) < _age(event_id, names)
        ]
        if not older:
            break
        event_id = min(older, key=lambda each: _age(each, names))
    return event_id


def _implied(item: Item) -> Names:
    """What the attributes of a stored event imply of its ids. `names` stores only what differs from it."""
    rank, own = Rank.of_values(item), item["eventId"]
    first = item.get("publishedAt", NEVER)
    lists = _ids(rank.event_id, listed(item["ids"])) if rank.ids else []
    names: Names = {}
    for event_id in (own, rank.event_id, *lists):
        listing = rank if event_id in lists else None
        if listing is None and event_id != rank.event_id:
            listing = Rank(NEVER, 0, rank.event_id)
        names[event_id] = Name(listing, first if event_id == rank.event_id else None)
    if own != rank.event_id or item.get("revision", 1) > 1:
        names[own] = replace(names[own], since=NEVER)
    if is_deleted(item) and _OF_VALUES not in _remembered(item):
        names[own] = replace(names[own], deleted=item.get("updated", NEVER))
    return names


def _ids(own: str, others: Iterable[str]) -> list[str]:
    return list(dict.fromkeys((own, *filter(possible_id, others))))[:MOST_IDS]


def _with_remembered(item: Item, remembered: Mapping[str, Any]) -> Item:
    bare = {name: value for name, value in item.items() if name != "names"}
    return {**bare, "names": orjson.dumps(remembered).decode()} if remembered else bare


def _remembered(item: Item) -> dict[str, Any]:
    text = item.get("names")
    return orjson.loads(text) if text else {}
