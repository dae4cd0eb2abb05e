"""The broadcast of events: their sequence, and their subscribers. Each subscriber gets those of its own user."""

from collections.abc import AsyncGenerator, Mapping, Sequence

from graph.core.errors import InvalidCursor
from graph.domains.triggers.entities import INBOX, key_of_event
from graph.domains.triggers.inbox import EventSelection
from graph.domains.triggers.model import TriggerEvent, user_and_key
from graph.feed.broadcast import Broadcast, Charge, FeedRecords, SubscriberMessage, free_of_charge
from graph.feed.sequence import ChangeSequence
from graph.store.contract import Database
from graph.store.records import records_at


class TriggerEventBroadcast(Broadcast[TriggerEvent]):
    """Sends events as any process stores them."""

    def __init__(self, database: Database, sequence: ChangeSequence) -> None:
        async def load(keys: Sequence[str]) -> Mapping[str, TriggerEvent]:
            possible = {key for user_id, each in map(user_and_key, keys) if (key := key_of_event(user_id, each))}
            events = await records_at(database, TriggerEvent, possible)
            return {event.change_key: event for event in events}

        super().__init__(
            sequence,
            FeedRecords(
                load=load,
                key_of_cursor=lambda cursor: TriggerEvent(dict(INBOX.place_of(cursor, "after"))).change_key,
            ),
        )

    async def events(
        self, user_id: str, selection: EventSelection, after: str | None = None, charge: Charge = free_of_charge
    ) -> AsyncGenerator[SubscriberMessage[TriggerEvent], None]:
        """Subscribe to a user's selected events, see `subscribe`."""
        if after is not None and INBOX.place_of(after, "after")["user_id"] != user_id:
            raise InvalidCursor("after")
        return await self.subscribe(
            lambda event: event.user_id == user_id and selection.admits(event.item), after, charge
        )
