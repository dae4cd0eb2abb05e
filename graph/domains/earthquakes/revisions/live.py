"""The broadcast of versions of events: their sequence, and their subscribers."""

from collections.abc import AsyncGenerator, Collection
from operator import attrgetter

from graph.core.errors import InvalidCursor
from graph.domains.earthquakes.entities import EVENT_SEQUENCE
from graph.domains.earthquakes.model import BY_TIME, is_listed
from graph.domains.earthquakes.revisions.changes import change_key
from graph.domains.earthquakes.revisions.history import History
from graph.domains.earthquakes.revisions.model import REVISIONS, EventRevision
from graph.domains.earthquakes.revisions.versions import GONE, RevisionKind
from graph.domains.earthquakes.selection import Selection
from graph.feed.broadcast import Broadcast, Charge, FeedRecords, SubscriberMessage, free_of_charge
from graph.feed.sequence import ChangeSequence
from graph.feed.subscriber import Test
from graph.store.contract import Database
from graph.store.entity import Item


def event_sequence(database: Database) -> ChangeSequence:
    """The order in which the versions of a database were stored."""
    return ChangeSequence(database, EVENT_SEQUENCE)


class EventBroadcast(Broadcast[EventRevision]):
    """Sends versions of events as any process stores them."""

    def __init__(self, database: Database) -> None:
        super().__init__(
            event_sequence(database),
            FeedRecords(
                load=History(database).revisions,
                key_of_cursor=_key_of_cursor,
                cursor_of=attrgetter("notice_cursor"),
            ),
        )

    async def events(
        self,
        selection: Selection,
        after: str | None = None,
        charge: Charge = free_of_charge,
        kinds: Collection[RevisionKind] = tuple(RevisionKind),
    ) -> AsyncGenerator[SubscriberMessage[EventRevision], None]:
        """Subscribe to versions of the selected events, and to those that take an event out, see `subscribe`.

        Args:
            kinds: of the versions.
        """
        admits, once_admitted = selection.admits, selection.lasting.admits

        def passes(item: Item | None, admits: Test[Item] = admits) -> bool:
            return item is not None and is_listed(item) and admits(item)

        def wants(version: EventRevision) -> bool:
            # A subscriber must hear that an event is no longer one of those that it selected. What has left the
            # catalogue may have been one before its untracked values were updated.
            was = once_admitted if version.kind in GONE else admits
            return version.kind in kinds and (passes(version.item) or passes(version.before, was))

        return await self.subscribe(wants, after, charge, matches=lambda version: passes(version.latest))


def _key_of_cursor(cursor: str) -> str:
    """The key of the version that a cursor of a notice names; of an event's edge, the key of its first version."""
    try:
        return change_key(REVISIONS.place_of(cursor, "after"))
    except InvalidCursor:
        return str(BY_TIME.place_of(cursor, "after")["eventId"])
