"""From a version of an event to the payload that brought it, and from a payload to all versions that it brought."""

from collections.abc import Iterable
from functools import partial

from graph.core.paging import Page, Paging, Position
from graph.domains.earthquakes.revisions.history import History
from graph.domains.earthquakes.revisions.live import event_sequence
from graph.domains.earthquakes.revisions.model import EventRevision
from graph.store.attributes import Text, Whole
from graph.store.between import Between, ItemsFound, Place, page_between
from graph.store.contract import Database
from graph.store.entity import Item
from graph.store.ordering import Order

VERSIONS = Order(
    "payloadversions",
    Whole("number", least=1),  # of a change
    Text("payloadId", shortest=1, longest=64),
    Whole("at", least=0),  # the place of a version in its change
)
CHANGES_AT_ONCE = 10


class PayloadVersion(EventRevision):
    """A version that a payload brought, in the order in which they were stored."""

    __slots__ = ("_cursor",)

    def __init__(self, revision: EventRevision, cursor: str) -> None:
        super().__init__(revision.item, revision.before)
        self._cursor = cursor

    @property
    def cursor(self) -> str:
        return self._cursor


class PayloadVersions:
    """Reads which payload brought which versions."""

    def __init__(self, database: Database) -> None:
        self._sequence = event_sequence(database)
        self._history = History(database)

    async def payloads_of(self, changes: Iterable[int]) -> dict[int, str]:
        """Number of a change (`arrival` of its versions) → its payload's id, where that is known; by one reading."""
        return await self._sequence.origins_of(changes)

    async def page(self, payload_id: str, paging: Paging) -> Page[PayloadVersion]:
        """A page of the versions that a payload brought, in the order in which they were stored.

        Raises:
            InvalidCursor: A cursor is of another payload's versions.
        """
        paging.check(lambda position: position["payloadId"] == payload_id)
        page = await page_between(
            partial(self._read, payload_id), paging, forward=True, place_of=_place, record_of=dict.copy
        )
        found = await self._history.revisions([item["key"] for item in page.records]) if page.records else {}
        return page.of(
            [
                PayloadVersion(version, VERSIONS.cursor_of(item))
                for item in page.records
                if (version := found.get(item["key"]))
            ]
        )

    async def _read(self, payload_id: str, size: int, within: Between, *, forward: bool) -> ItemsFound:
        """The first versions between two places."""
        low, high = (place[0] if place else None for place in (within.after, within.before))
        items: list[Item] = []
        while len(items) <= size:
            changes = await self._sequence.changes_from(payload_id, (low, high), CHANGES_AT_ONCE, forward=forward)
            for change in changes:
                versions = list(enumerate(change.keys))
                for at, key in versions if forward else reversed(versions):
                    if within.holds((change.number, at)):
                        items.append({"number": change.number, "payloadId": payload_id, "at": at, "key": key})
            if len(changes) < CHANGES_AT_ONCE:
                break
            if forward:
                low = changes[-1].number + 1
            else:
                high = changes[-1].number - 1
        return ItemsFound(items[:size], len(items) > size, 1)


def _place(item: Position) -> Place:
    return item["number"], item["at"]
