"""Finds what is stored of the ids of records, with few reads.

A record is about the event with its id, and about those that its other ids name: as events of their own,
or as aliases. An event that was merged leads to the event that it was merged into.
"""

from collections.abc import Iterable, MutableMapping, Sequence
from dataclasses import dataclass, field

from graph.domains.earthquakes.entities import ALIAS, EVENT
from graph.domains.earthquakes.ingest.deciding import NOTHING, KnownEvents
from graph.domains.earthquakes.model import Event, Incoming, SourceDeletion, is_deleted
from graph.domains.earthquakes.revisions.merges import follow_merges
from graph.domains.earthquakes.revisions.names import NEVER, Rank, absorb, followed, ids_of, joined, names_of
from graph.domains.earthquakes.revisions.versions import hash_of
from graph.store.contract import Database
from graph.store.entity import Item

NEEDED = frozenset(
    {
        *("eventId", "updated", "publishedAt", "ids", "preferredId", "names", "mergedInto", "revision", "hash"),
        "dayBucket",
    }
)
"""The attributes that show whether a record may change an event."""


@dataclass(slots=True)
class LookUp:
    """The stored events of some records, as of one round of reads."""

    database: Database
    aliases: MutableMapping[str, str]  # alias → event id, as known from earlier; new ones are added
    # Whether to look for what was stored of an event's own id before the event, too: its deletion, or another's alias.
    every: bool = False
    _of_alias: dict[str, Item] = field(default_factory=dict)  # the items of aliases, as they were read
    _events: dict[str, Item] = field(default_factory=dict)  # by id
    _looked_for: set[str] = field(default_factory=set)  # ids, found or not

    async def own_ids(self, records: Sequence[Incoming]) -> None:
        """Find the events with the records' own ids, in one read each."""
        event_ids = [record.event_id for record in records]
        await self._read([self.aliases.get(each, each) for each in event_ids])
        if self._events:
            event_ids = [record.event_id for record in records if self.own(record) is None]
        await self._read(event_ids)

    def own(self, record: Incoming) -> Item | None:
        """The event with the record's own id, or with a known alias of it."""
        if not self._events:
            return None
        if itself := self._events.get(record.event_id):
            return itself
        named = self._events.get(self.aliases.get(record.event_id, ""))
        if named is None or "mergedInto" in named or record.event_id not in names_of(named):
            return None  # it was an alias when an earlier ingest read it
        return named

    async def other_ids(self, records: Sequence[Incoming]) -> None:
        """Find the events of those ids that the own event does not have."""
        unknown = set[str]()
        for record in records:
            own = self.own(record)
            if own is None or self.every or "mergedInto" in own:  # a merged one no longer has its ids
                unknown.update(ids_of(record))
            elif record.ids:
                unknown.update(set(ids_of(record)) - names_of(own).keys())
        found = await self.database.get_many(list(ALIAS.keys_for(unknown))) if unknown else {}
        self._of_alias.update({item["alias"]: item for item in found.values()})
        self.aliases.update({item["alias"]: item["eventId"] for item in found.values()})
        own_ids = {record.event_id for record in records}  # an insert finds whether these are stored
        await self._read((*(unknown - own_ids), *(item["eventId"] for item in found.values())))

    async def known(self, records: Sequence[Incoming]) -> list[KnownEvents]:
        """What is stored of the ids of each record."""
        found = [await self._current(record) for record in records]
        names = [
            {*ids_of(record), *(event_id for item in items.values() for event_id in names_of(item))} if items else set()
            for record, items in zip(records, found, strict=True)
        ]
        keys = {EVENT.key_for(event_id) for some in names for event_id in some}
        items = await self.database.get_many(list(keys)) if keys else {}
        whole = {item["eventId"]: item for item in items.values()}
        known: list[KnownEvents] = []
        for record, some in zip(records, names, strict=True):
            aliases = {each: self._of_alias[each] for each in some.union(ids_of(record)) if each in self._of_alias}
            events = {each: whole[each] for each in sorted(some) if each in whole}  # in any process the same
            known.append(KnownEvents(events, aliases) if events or aliases else NOTHING)
        return known

    async def _current(self, record: Incoming) -> dict[str, Item]:
        """The events that a record is about, by id: none, one, or several that turn out to be one."""
        if not self._events:
            return {}
        found: dict[str, Item] = {}
        for name in ids_of(record):
            own, other = self._events.get(name), self._events.get(self.aliases.get(name, ""))
            for item in [own, other if not own or (self.every and other and name in names_of(other)) else None]:
                if (item := await follow_merges(item, self._event)) is not None:
                    found[item["eventId"]] = item
        for item in await self._following(record, found.values()):
            found[item["eventId"]] = item
        return found

    async def _following(self, record: Incoming, items: Iterable[Item]) -> list[Item]:
        """The other events that follow an id of a record because of it.

        Args:
            items: the events that the record is about.
        """
        names = joined(*map(names_of, items))
        listers = {each: names[each].listers - names.keys() for each in ids_of(record) if each in names}
        if isinstance(record, SourceDeletion) or not any(listers.values()):
            return []
        absorb(names, record)
        found: list[Item] = []
        for event_id, some in listers.items():
            for lister in sorted(some):
                other = await self._event_of(lister)
                if other and followed(lister, names_of(other), event_id, names[event_id]):
                    found.append(other)
        return found

    async def _event_of(self, event_id: str) -> Item | None:
        """The event with an id or an alias."""
        item = await self._event(event_id)
        if item is None:
            if event_id not in self._of_alias:
                found = await self.database.get_many(list(ALIAS.keys_for((event_id,))))
                self._of_alias.update({each["alias"]: each for each in found.values()})
            if event_id not in self._of_alias:
                return None
            item = await self._event(self._of_alias[event_id]["eventId"])
        return await follow_merges(item, self._event)

    async def _read(self, event_ids: Iterable[str]) -> None:
        wanted = set(event_ids) - self._looked_for
        self._looked_for |= wanted
        keys = list(EVENT.keys_for(wanted))
        found = await self.database.get_many(keys, attributes=NEEDED) if keys else {}
        self._events.update({item["eventId"]: item for item in found.values()})

    async def _event(self, event_id: str) -> Item | None:
        await self._read((event_id,))
        return self._events.get(event_id)


def is_known(record: Incoming, item: Item) -> bool:
    """Whether a stored event already is what a record says, or what later ones say.

    Args:
        item: the event with the record's id, with the `NEEDED` attributes.
    """
    if "mergedInto" in item:
        return False
    names = names_of(item)
    if not names.keys() >= set(ids_of(record) if record.ids else (record.event_id,)):
        return False
    after = dict(names)
    absorb(after, record)
    if after != names:
        return False
    if not isinstance(record, Event):
        return True
    rank, stored = Rank.of(record), Rank.of_values(item)
    if rank.time == NEVER or rank < stored:
        return names[record.event_id].listing != rank  # else it is the record that another one hides, or rivals it
    is_same = item.get("hash") in (None, hash_of(record.item)) and item.get("ids") == record.item.get("ids")
    return rank == stored and not is_deleted(item) and is_same
