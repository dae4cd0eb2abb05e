"""Reads the events of a query in its order, a page at a time.

By time, a page resumes at the position of the last event, so that page 1,000 costs what page 1 costs. `offset` leaves
events out: whole days of them by the summaries' counts where these are exact, the rest one by one, without reading more
than their positions.

By magnitude, the events up to the last one are read at once, at most some thousands.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from graph.core.days import DAY_MS
from graph.core.paging import Paging, Position
from graph.domains.earthquakes.catalogue import Catalogue, EventPage
from graph.domains.earthquakes.model import BY_TIME, Event
from graph.domains.earthquakes.revisions.views import PRESENT
from graph.domains.earthquakes.selection import Selection
from graph.domains.fdsn.counting import last_where
from graph.domains.fdsn.errors import TooMuchData
from graph.domains.fdsn.history import named_events
from graph.domains.fdsn.query import FdsnQuery
from graph.store.query import Needed
from graph.work.account import charge_rows

PAGE_SIZE = 1000  # events; more would hold up other callers
MOST_SORTED = 5000  # events in memory, some 8 MB


@dataclass(slots=True)
class EventRows:
    """The events of one query."""

    catalogue: Catalogue
    query: FdsnQuery
    attributes: Needed  # beside the position of an event
    is_over: bool = False
    _read: int = 0  # events in order of time
    _after: Position | None = None
    _sorted: list[Event] | None = None  # all that are left, where they cannot be read in their order
    _begins: bool = True

    async def next_page(self) -> Sequence[Event]:
        """The next events; none if there are no more. It may be called again after it has failed."""
        if self._begins:
            await self._begin()
        if self._sorted is not None:
            page, self._sorted = self._sorted[:PAGE_SIZE], self._sorted[PAGE_SIZE:]
            self.is_over = not self._sorted
            return page
        limit = self.query.limit
        size = PAGE_SIZE if limit is None else min(PAGE_SIZE, limit - self._read)
        await charge_rows(read=size)
        read = await self._page(self.query.selection, size, self._after, self.attributes)
        self._read += len(read.records)
        if read.records:
            self._after = BY_TIME.position_of(read.records[-1].item)
        self.is_over = not read.has_more or self._read == limit
        return read.records

    async def _begin(self) -> None:
        """Leave out what comes before `offset`, or read and sort."""
        query = self.query
        if query.event_ids is not None:
            self._sorted = self._cut(await named_events(self.catalogue, query, query.event_ids))
        elif query.by_magnitude:
            self._sorted = await self._by_magnitude()
        elif query.offset > 1 and (after := await self._position_of(query.offset - 1)) is None:
            self._sorted = []  # there are not so many
        elif query.offset > 1:
            self._after = after
        self._begins = False

    def _cut(self, events: list[Event]) -> list[Event]:
        """The events from `offset` on, in the query's order, up to `limit`."""
        query = self.query
        if query.by_magnitude:
            events.sort(key=lambda event: (event.mag, event.event_ts_ms, event.event_id), reverse=not query.ascending)
        else:
            events.sort(key=lambda event: (event.event_ts_ms, event.event_id), reverse=not query.ascending)
        begin = query.offset - 1
        return events[begin : None if query.limit is None else begin + query.limit]

    async def _page(self, selection: Selection, size: int, after: Position | None, attributes: Needed) -> EventPage:
        return await self.catalogue.page(
            selection,
            Paging(size, after=after),
            ascending=self.query.ascending,
            attributes=attributes,
            view=self.query.view,
        )

    async def _by_magnitude(self) -> list[Event]:
        """The events from `offset` on, up to `limit`.

        Raises:
            TooMuchData: There are too many to be sorted.
        """
        query, begin = self.query, self.query.offset - 1
        size = MOST_SORTED if query.limit is None else min(begin + query.limit, MOST_SORTED)
        await charge_rows(read=size)
        page = await self.catalogue.page_by_magnitude(
            query.selection, Paging(size), ascending=query.ascending, attributes=self.attributes, view=query.view
        )
        if page.has_more and (query.limit is None or begin + query.limit > MOST_SORTED):
            raise TooMuchData(
                f"More than {MOST_SORTED:,} events would have to be sorted by magnitude. "
                "Give a `limit`, a shorter time or greater magnitudes, or order by time."
            )
        return list(page.records[begin:])

    async def _exact(self, selection: Selection) -> int:
        return await self.catalogue.count(selection, self.query.view)

    async def _position_of(self, number: int) -> Position | None:
        """The position of the event with this number, from 1; None if there is none."""
        left, selection, after = number, self.query.selection, None
        if left > PAGE_SIZE and selection.summarised and self.query.view == PRESENT:  # then counts are exact
            selection, left = await self._after_whole_days(left)
        while True:
            size = min(left, PAGE_SIZE)
            await charge_rows(read=size)
            page = await self._page(selection, size, after, frozenset())
            left -= len(page.records)
            if not left:
                return BY_TIME.position_of(page.records[-1].item)
            if not page.has_more:
                return None
            after = BY_TIME.position_of(page.records[-1].item)

    async def _after_whole_days(self, left: int) -> tuple[Selection, int]:
        """The selection without the first whole days, in the query's order, and how many are still to leave out.

        At least one event is still to leave out: its position is where the answer begins.
        """
        selection, ascending = self.query.selection, self.query.ascending
        first, last = selection.span
        direction = 1 if ascending else -1  # of the query's order

        def rest(day: int) -> Selection:
            if ascending:
                return replace(selection, start_ms=max(first, day * DAY_MS))
            return replace(selection, end_ms=min(last, (1 - day) * DAY_MS - 1))

        async def leaves_some(day: int) -> bool:
            return whole - await self._exact(rest(day)) < left

        whole = await self._exact(selection)
        low, high = sorted((direction * (first // DAY_MS), direction * (last // DAY_MS)))
        found = rest(await last_where(low, high, leaves_some))  # the last day on which the rest may begin
        return found, left - (whole - await self._exact(found))
