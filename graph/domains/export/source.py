"""The events of an export: pages of the catalogue, read one after the other, as of one moment.

No transaction of the store is open between two pages, so a slow client costs the store nothing. While nothing has
changed since the moment, the present catalogue is the catalogue of the moment, and the faster one to read. From the
first change on, the rest is read as of the moment, which has the same order.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from graph.core.clock import Clock
from graph.core.errors import BadUserInput, InvalidCursor
from graph.core.paging import Paging, Position
from graph.domains.earthquakes.catalogue import Catalogue, EventPage
from graph.domains.earthquakes.entities import EVENT_SEQUENCE
from graph.domains.earthquakes.model import BY_TIME, Event
from graph.domains.earthquakes.revisions.views import AsOf, Deleted, View
from graph.domains.earthquakes.selection import Selection
from graph.feed.sequence import ChangeSequence
from graph.store.contract import Database
from graph.work.account import charge_rows

EVENTS_PER_PAGE = 999  # a page reads one more, and SQLite reads a thousand rows at once
CLOCKS_DIFFER_MS = 60_000  # at most, so that an export can be resumed at another process


@dataclass(frozen=True, slots=True)
class ExportRequest:
    """Which events to export, and in which order."""

    selection: Selection
    ascending: bool = False
    after: Position | str | None = None  # only the events behind this position, or behind the event with this id
    as_of_ms: int | None = None  # epoch milliseconds; None for now
    deleted: Deleted = Deleted.EXCLUDE


@dataclass(slots=True)
class ExportSource:
    """The events of one export."""

    catalogue: Catalogue
    changes: ChangeSequence
    request: ExportRequest
    as_of_ms: int  # epoch milliseconds
    is_over: bool = False
    _change: int | None = None  # the latest one, while the present catalogue is that of the moment
    _last: Position | None = None  # of the events that are given, or behind which the export begins

    @classmethod
    async def begin(
        cls, catalogue: Catalogue, database: Database, clock: Clock, request: ExportRequest
    ) -> "ExportSource":
        """Fix the moment of an export, and the position where it begins.

        Raises:
            BadUserInput: The moment is in the future.
            HistoryUnavailable: The moment is before the first ingest.
            InvalidCursor: The catalogue does not have the event to begin behind.
        """
        changes = ChangeSequence(database, EVENT_SEQUENCE)
        change, now = await changes.latest(), clock()
        if request.as_of_ms is not None and request.as_of_ms > now + CLOCKS_DIFFER_MS:
            raise BadUserInput("`asOf` must not be in the future.")
        source = cls(catalogue, changes, request, now if request.as_of_ms is None else request.as_of_ms)
        if request.as_of_ms is None:
            source._change = change
        source._last = await source._start(request.after)
        return source

    async def next_page(self, attributes: frozenset[str]) -> Sequence[Event]:
        """The next events, perhaps none although others follow. The caller is charged for them.

        It may be called again after it has failed: then it neither repeats nor misses an event.

        Args:
            attributes: the needed ones of each event.
        """
        if self._change is not None:
            page = await self._page(View(deleted=self.request.deleted), attributes)
            if await self.changes.latest() != self._change:
                self._change = None
        if self._change is None:
            page = await self._page(View(AsOf(recorded_ms=self.as_of_ms), self.request.deleted), attributes)
        await charge_rows(read=2 * len(page.records))  # to write an event takes as long as to read it
        if page.records:
            self._last = BY_TIME.position_of(page.records[-1].item)
        self.is_over = not page.has_more
        return page.records

    async def _page(self, view: View, attributes: frozenset[str]) -> EventPage:
        return await self.catalogue.page(
            self.request.selection,
            Paging(EVENTS_PER_PAGE, after=self._last),
            ascending=self.request.ascending,
            attributes=attributes,
            view=view,
        )

    async def _start(self, after: Position | str | None) -> Position | None:
        """The position that a client names."""
        if not isinstance(after, str):
            return after
        if self._change is not None:
            event = await self.catalogue.event(after, frozenset())
        else:
            event = await self.catalogue.version(after, AsOf(recorded_ms=self.as_of_ms))
        if event is None:
            raise InvalidCursor("after")
        return BY_TIME.position_of(event.item)
