"""The history of the catalogue: when it begins, and the versions and aliases of an event."""

from collections.abc import Iterable, Set

from graph.core.errors import BadUserInput
from graph.core.paging import Page, Paging
from graph.core.times import rfc3339_of_millis
from graph.domains.earthquakes.entities import EVENT, EVENT_SEQUENCE, REVISION
from graph.domains.earthquakes.model import EventVersion, version_named
from graph.domains.earthquakes.revisions.changes import change_key, version_of
from graph.domains.earthquakes.revisions.model import EventRevision
from graph.domains.earthquakes.revisions.versions import completed
from graph.domains.earthquakes.revisions.views import AsOf
from graph.feed.sequence import ChangeSequence
from graph.store.contract import Database
from graph.store.entity import Item
from graph.store.query import Query

FIRST_CHANGES = 20  # of which one should be left


class HistoryUnavailable(BadUserInput):
    """The state of the catalogue is asked for at a time that its history does not reach."""

    code = "HISTORY_UNAVAILABLE"

    def __init__(self, earliest: str | None) -> None:
        reach = f"begins at {earliest}: choose this time or a later one" if earliest else "has not begun: ingest first"
        super().__init__(f"The catalogue's history {reach}.")
        self.earliest = earliest  # RFC 3339; None for an empty catalogue

    @property
    def extensions(self) -> dict[str, str]:
        return {**super().extensions, **({"earliest": self.earliest} if self.earliest else {})}


class History:
    """Reads superseded versions."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._sequence = ChangeSequence(database, EVENT_SEQUENCE)
        self._earliest: int | None = None
        self._is_first_ours = True  # whether an ingest made the first change

    async def earliest(self) -> int | None:
        """When the history begins: the recording of the first change, epoch milliseconds; None without any.

        It is the first one of which something is left: another program may have removed events.
        """
        if self._earliest is None:
            for change in await self._sequence.since(0, FIRST_CHANGES):
                if versions := await self.revisions(change.keys):
                    self._earliest = min(version.recorded_at for version in versions.values())
                    self._is_first_ours = bool(await self._sequence.origins_of((change.number,)))
                    break
        return self._earliest

    async def check(self, as_of: AsOf | None, *, found: bool = True) -> None:
        """Refuse a time before the history.

        What was published before the first ingest may be stored nevertheless, by a back-fill, and so may be what other
        programs stored before. So a time of publication, or one of a table that others filled, is refused only where
        nothing of it is found.

        Raises:
            HistoryUnavailable: The history begins later, or not at all.
        """
        if as_of is None or as_of.time_ms is None or (as_of.published_ms is not None and found):
            return
        earliest = await self.earliest()
        if earliest is None:
            raise HistoryUnavailable(None)
        if as_of.time_ms < earliest and (self._is_first_ours or not found):
            raise HistoryUnavailable(rfc3339_of_millis(earliest))

    async def version_as_of(self, latest: Item, as_of: AsOf) -> EventVersion | None:
        """The version of an event at a time, completed; None if it was not known yet."""
        if as_of.held(latest):
            return EventVersion(completed(latest))
        query = Query(entity=REVISION, partitions=((latest["eventId"],),), forward=False)
        for item in (await self._database.query(query)).items:
            if as_of.held(item):
                return EventVersion(item)
        return None

    async def versions(self, latest: Item, paging: Paging) -> Page[EventRevision]:
        """A page of an event's versions, the first one first.

        Raises:
            InvalidCursor: A cursor is of another event's versions.
        """
        event_id, count = latest["eventId"], latest.get("revision", 1)
        paging.check(lambda position: position["eventId"] == event_id)
        page = paging.of_list(count, lambda position: position["revision"] - 1)
        found = await self.revisions([change_key({"eventId": event_id, "revision": at + 1}) for at in page.records])
        return page.of(list(found.values()))

    async def revisions(self, keys: Iterable[str]) -> dict[str, EventRevision]:
        """The existing versions with these keys of changes, each with the one before it and the latest."""
        wanted = {key: version_of(key) for key in keys}
        found, latest = await self._items(
            {(event_id, at) for event_id, n in wanted.values() for at in (n, n - 1) if at}
        )
        return {
            key: EventRevision(found[event_id, number], found.get((event_id, number - 1)), latest.get(event_id))
            for key, (event_id, number) in wanted.items()
            if (event_id, number) in found
        }

    async def named(self, keys: Iterable[str]) -> dict[str, EventVersion]:
        """The existing versions with these keys of nodes."""
        wanted = {key: named for key in keys if (named := version_named(key))}
        found, _ = await self._items(set(wanted.values()))
        return {key: EventVersion(found[named]) for key, named in wanted.items() if named in found}

    async def _items(self, numbers: Set[tuple[str, int]]) -> tuple[dict[tuple[str, int], Item], dict[str, Item]]:
        """Event id and number → the item of the version; event id → that of the latest one. They are completed."""
        events = await self._database.get_many({EVENT.key_for(event_id) for event_id, _ in numbers})
        latest = {item["eventId"]: completed(item) for item in events.values()}
        found = {(event_id, item["revision"]): item for event_id, item in latest.items()}
        others = {REVISION.key_for(*each) for each in numbers - found.keys()}
        superseded = await self._database.get_many(others) if others else {}
        return found | {(item["eventId"], item["revision"]): item for item in superseded.values()}, latest
