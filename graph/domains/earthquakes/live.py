"""The broadcast of events: their sequence, and their subscribers."""

from collections.abc import AsyncGenerator
from operator import attrgetter

from graph.core.paging import Position
from graph.domains.earthquakes.catalogue import Catalogue
from graph.domains.earthquakes.entities import EVENT_SEQUENCE
from graph.domains.earthquakes.model import EVENTS, Event
from graph.domains.earthquakes.selection import Selection
from graph.feed.broadcast import Broadcast, Charge, Notice, Records, free_of_charge
from graph.feed.sequence import ChangeSequence
from graph.store.contract import Database


def event_sequence(database: Database) -> ChangeSequence:
    """The order in which the events of a database were stored."""
    return ChangeSequence(database, EVENT_SEQUENCE)


class EventBroadcast(Broadcast[Event]):
    """Sends events as any process stores them."""

    def __init__(self, database: Database, catalogue: Catalogue) -> None:
        super().__init__(
            event_sequence(database),
            Records(
                load=catalogue.events,
                number_of=lambda event: EVENT_SEQUENCE.number_of(event.item),
                cursor_of=attrgetter("cursor"),
                key_of_cursor=lambda cursor: Position.of_cursor(EVENTS, cursor, "after").key,
            ),
        )

    async def events(
        self, selection: Selection, after: str | None = None, charge: Charge = free_of_charge
    ) -> AsyncGenerator[Notice[Event], None]:
        """Subscribe to the selected events, see `subscribe`."""
        return await self.subscribe(lambda event: selection.admits(event.item), after, charge)
