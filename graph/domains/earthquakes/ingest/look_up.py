"""Finds the stored events that records are about, by all their ids, with few reads.

A record is about the event with its id, and about those that its other ids name: as events of their own,
or as aliases. An event that was merged leads to the event that it was merged into.
"""

from collections.abc import Iterable, MutableMapping, Sequence

from graph.domains.earthquakes.entities import ALIAS, EVENT
from graph.domains.earthquakes.model import Incoming, possible_id
from graph.domains.earthquakes.revisions.merges import follow_merges
from graph.domains.earthquakes.revisions.versions import alias_ids, is_same_event
from graph.store.contract import Database
from graph.store.entity import Item

NEEDED = frozenset({"eventId", "updated", "publishedAt", "ids", "preferredId", "mergedInto"})
"""The attributes that show whether a record may change an event."""


class LookUp:
    """The stored events of some records, as of one round of reads."""

    def __init__(self, database: Database, aliases: MutableMapping[str, str]) -> None:
        """Prepare to look events up.

        Args:
            aliases: alias → event id, as known from earlier. New ones are added.
        """
        self._database = database
        self._aliases = aliases
        self._events: dict[str, Item] = {}  # by id
        self._looked_for: set[str] = set()  # ids, found or not

    async def own_ids(self, records: Sequence[Incoming]) -> None:
        """Find the events with the records' own ids, in one read each."""
        event_ids = [record.event_id for record in records]
        await self._read([self._aliases.get(each, each) for each in event_ids])
        if not self.found_nothing:
            event_ids = [record.event_id for record in records if self.own(record) is None]
        await self._read(event_ids)

    @property
    def found_nothing(self) -> bool:
        """Whether no event was found yet. In most chunks of an import, all events are new."""
        return not self._events

    def own(self, record: Incoming) -> Item | None:
        """The event with the record's own id, or with a known alias of it."""
        if self.found_nothing:
            return None
        if itself := self._events.get(record.event_id):
            return itself
        named = self._events.get(self._aliases.get(record.event_id, ""))
        return named if named and is_same_event(record, named) else None

    async def other_ids(self, records: Sequence[Incoming]) -> None:
        """Find the events of those ids that are no known alias of the own event."""
        others, unknown = set[str](), set[str]()
        for record in records:
            own = self.own(record)
            if own is None:
                unknown.add(record.event_id)
            if own is not None or record.ids:
                others.update(filter(possible_id, alias_ids(record, own)))
        keys = list(ALIAS.keys_for(unknown | others))
        found = await self._database.get_many(keys) if keys else {}
        self._aliases.update({item["alias"]: item["eventId"] for item in found.values()})
        await self._read((*others, *(item["eventId"] for item in found.values())))

    async def events_of(self, record: Incoming) -> list[Item]:
        """The events that a record is about, each once: none, one, or several that turn out to be one."""
        found: dict[str, Item] = {}
        for name in (record.event_id, *(record.ids or ())):
            itself = self._events.get(name)
            item = await follow_merges(itself or self._events.get(self._aliases.get(name, "")), self._event)
            if item is not None and item["eventId"] != name and not is_same_event(record, item):
                item = itself if name == record.event_id else None  # the source has split the event
            if item is not None:
                found[item["eventId"]] = item
        return list(found.values())

    async def whole(self, found: Iterable[Sequence[Item]]) -> dict[str, Item]:
        """The found events with all attributes, by id."""
        keys = {EVENT.key_for(item["eventId"]) for items in found for item in items}
        items = await self._database.get_many(keys) if keys else {}
        return {item["eventId"]: item for item in items.values()}

    async def _read(self, event_ids: Iterable[str]) -> None:
        wanted = set(event_ids) - self._looked_for
        self._looked_for |= wanted
        keys = list(EVENT.keys_for(wanted))
        found = await self._database.get_many(keys, attributes=NEEDED) if keys else {}
        self._events.update({item["eventId"]: item for item in found.values()})

    async def _event(self, event_id: str) -> Item | None:
        await self._read((event_id,))
        return self._events.get(event_id)
