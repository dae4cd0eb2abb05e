"""The access patterns of the catalogue: one event, a page in the order of time or of magnitude, an exact total.

A page costs only what it holds. The summaries name the days that can have a match, and
`graph.store.time_walk` reads only these, newest or oldest first, until the page is full.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from graph.core.days import day_bucket
from graph.core.errors import DatabaseUnavailable
from graph.core.paging import Later, Page, Paging, Position, Total
from graph.domains.earthquake_events import TIME_ORDERED
from graph.domains.earthquakes.catalogue.by_id import find, locate
from graph.domains.earthquakes.catalogue.by_magnitude import IN_ORDER, MagnitudeWalk, magnitude_place
from graph.domains.earthquakes.catalogue.planning import (
    EVERYTHING,
    FEWEST_DAYS_FOR_FACETS,
    MostRead,
    Planner,
    count_at_rest,
)
from graph.domains.earthquakes.entities import EVENT, REVISION
from graph.domains.earthquakes.model import Event, EventVersion, possible_id
from graph.domains.earthquakes.revisions.history import History
from graph.domains.earthquakes.revisions.merged_walk import MergedWalk
from graph.domains.earthquakes.revisions.model import EventRevision
from graph.domains.earthquakes.revisions.views import PRESENT, AsOf, Stream, View
from graph.domains.earthquakes.selection import Selection
from graph.domains.earthquakes.summaries import Summaries
from graph.store.between import page_between
from graph.store.contract import Database
from graph.store.entity import Item
from graph.store.query import Needed
from graph.store.time_walk import Keep, Walk

TOO_MUCH_TO_COUNT = "Counting would read too many days, or events were revised meanwhile: ask for a shorter time."


@dataclass(frozen=True, kw_only=True)
class EventPage(Page[Event]):
    """A page of events, with the total of all pages."""

    was_read: bool = True  # false if only the total is selected
    arguments: Mapping[str, Any] | None = None  # of the field `events`, in Python's names; None for other lists


class Catalogue:
    """The stored earthquakes."""

    def __init__(
        self,
        database: Database,
        *,
        most_days_counted: int | None = None,
        fewest_days_for_facets: int = FEWEST_DAYS_FOR_FACETS,
    ) -> None:
        """Prepare the access patterns.

        Args:
            most_days_counted: read for a total; None for as many as the store reads quickly.
            fewest_days_for_facets: of a year; of fewer days, no facets are read.
        """
        self._database = database
        self.summaries = Summaries(database)
        self.planner = Planner(self.summaries, fewest_days_for_facets=fewest_days_for_facets)
        self._history = History(database)
        self.most_days = database.quick_partitions if most_days_counted is None else most_days_counted

    async def event(self, event_id: str, attributes: Needed = None) -> Event | None:
        """The event with this id or alias, perhaps deleted or merged."""
        if not possible_id(event_id):
            return None
        item = await find(self._database, event_id, _with_position(attributes))
        return Event.reading(attributes)(item) if item else None

    async def version(self, event_id: str, as_of: AsOf) -> EventVersion | None:
        """The event with this id or alias, perhaps deleted or merged, as it was.

        Raises:
            HistoryUnavailable: It is a time before the first ingest, and no version of then is stored.
        """
        if not possible_id(event_id):
            return None
        await self._history.check(as_of)
        latest = await find(self._database, event_id)
        version = await self._history.version_as_of(latest, as_of) if latest else None
        await self._history.check(as_of, found=version is not None)
        return version

    async def versions(self, keys: Iterable[str], _: Needed = None) -> dict[str, EventVersion]:
        """The existing versions, by their keys, read whole."""
        return await self._history.named(keys)

    async def revisions(self, event: Event, paging: Paging) -> Page[EventRevision]:
        """A page of an event's versions, the first one first.

        Raises:
            InvalidCursor: A cursor is of another event's versions.
        """
        return await self._history.versions(event.item, paging)

    async def earlier_versions(self, events: Iterable[Event], most: int) -> dict[str, list[Event]]:
        """Event id → the versions before this one, the latest first, so many at most. Events without any are left out.

        Args:
            events: read with `revision`.
        """
        earlier = {
            event.event_id: range(event.revision - 1, max(event.revision - 1 - most, 0), -1)
            for event in events
            if event.revision > 1
        }
        keys = [REVISION.key_for(event_id, number) for event_id, numbers in earlier.items() for number in numbers]
        items = await self._database.get_many(keys) if keys else {}
        return {
            event_id: [Event(items[key]) for number in numbers if (key := REVISION.key_for(event_id, number)) in items]
            for event_id, numbers in earlier.items()
        }

    async def events(self, event_ids: Iterable[str], attributes: Needed = None) -> dict[str, Event]:
        """The existing events, by id."""
        keys = {EVENT.key_for(event_id) for event_id in event_ids if possible_id(event_id)}
        items = await self._database.get_many(keys, attributes=_with_position(attributes)) if keys else {}
        record_of = Event.reading(attributes)
        return {item["eventId"]: record_of(item) for item in items.values()}

    async def is_empty(self) -> bool:
        """Whether no event was ever ingested, and none was written by another program."""
        if any(summary.events for summary in (await self.summaries.years()).values()):
            return False
        async for _ in self._database.scan(EVENT, attributes=("eventId",)):
            return False
        return True

    async def page(
        self,
        selection: Selection,
        paging: Paging,
        *,
        ascending: bool = False,
        attributes: Needed = None,
        view: View = PRESENT,
    ) -> EventPage:
        """A page of the selected events, newest first unless `ascending`.

        Raises:
            HistoryUnavailable: The view is of a time before the first ingest, and no version of then is stored.
        """
        await self._history.check(view.as_of)
        selection = await self.locate(selection)
        attributes = view.needed(attributes)
        record_of = view.record.reading(attributes)
        if len(view.streams) == 1:
            (stream,) = view.streams
            walk = self._walk(stream, attributes, selection, selection.keep)
            place_of = partial(_place, prefix=stream.prefix)
            page = await walk.page(paging, forward=ascending, place_of=place_of, record_of=record_of)
        else:
            merged = self._merged_walk(view, attributes, selection)
            page = await merged.page(paging, forward=ascending, record_of=record_of)
        await self._history.check(view.as_of, found=_has_any(page, paging))
        return EventPage(**vars(page.counted(partial(self._total, selection, view))))

    async def page_by_magnitude(
        self,
        selection: Selection,
        paging: Paging,
        *,
        ascending: bool = False,
        attributes: Needed = None,
        view: View = PRESENT,
    ) -> EventPage:
        """A page of the selected events, the largest first unless `ascending`.

        Raises:
            HistoryUnavailable: The view is of a time before the first ingest, and no version of then is stored.
            QueryTooComplex: The operation in progress may not read so many events.
        """
        await self._history.check(view.as_of)
        selection = await self.locate(selection)
        needed = None if attributes is None else view.needed(attributes | {"mag"})
        walk = MagnitudeWalk(
            self._database,
            self.planner,
            selection,
            view.streams,
            query_of=lambda selection, stream: stream.query(selection, needed),
            in_time=partial(self._merged_walk, view, needed),
        )
        page = await page_between(
            walk.read,
            paging,
            forward=ascending,
            place_of=magnitude_place,
            record_of=IN_ORDER[view.record].reading(needed),
        )
        await self._history.check(view.as_of, found=_has_any(page, paging))
        return EventPage(**vars(page.counted(partial(self._total, selection, view))))

    def unread_page(self, selection: Selection, view: View = PRESENT) -> EventPage:
        """A page without records, for its total only."""
        total = Later(partial(self._total, selection, view))
        return EventPage(
            records=(), partitions=0, backward=False, has_more=False, has_behind=False, total=total, was_read=False
        )

    async def total(self, selection: Selection, view: View = PRESENT) -> int | None:
        """The exact number of selected events, or None if counting would read too many days.

        Raises:
            HistoryUnavailable: The view is of a time before the first ingest, and no version of then is stored.
            QueryTooComplex: The operation in progress may not read so many events.
        """
        return await self._count(selection, view, MostRead(self.most_days))

    async def _total(self, selection: Selection, view: View) -> Total:
        total = await self.total(selection, view)
        return TOO_MUCH_TO_COUNT if total is None else total

    async def count(self, selection: Selection, view: View = PRESENT) -> int:
        """The exact number of selected events, however many days must be read.

        Raises:
            HistoryUnavailable: The view is of a time before the first ingest, and no version of then is stored.
            QueryTooComplex: The operation in progress may not read so many events.
            DatabaseUnavailable: Several streams of versions are counted, and versions were stored all the time.
        """
        total = await self._count(selection, view, EVERYTHING)
        if total is None:
            raise DatabaseUnavailable("the events that are counted were revised all the time")
        return total

    async def _count(self, selection: Selection, view: View, most: MostRead) -> int | None:
        await self._history.check(view.as_of)
        located = await self.locate(selection)
        total = await count_at_rest(self._database, self.planner, located, view.streams, most)
        await self._history.check(view.as_of, found=total != 0)
        return total

    async def locate(self, selection: Selection) -> Selection:
        """The selection, with what its ids name now, for a query that is not made here."""
        return await locate(self._database, selection)

    def _walk(self, stream: Stream, attributes: Needed, selection: Selection, keep: Keep | None) -> Walk:
        """The walk through the selected versions of a stream that pass the rest of a filter, too."""
        query = stream.query(selection, attributes)
        return Walk(self._database, query, partial(self.planner.days, selection, stream), keep)

    def _merged_walk(self, view: View, attributes: Needed, selection: Selection) -> MergedWalk:
        """The walk through the selected versions of a view."""
        walks = [partial(self._walk, stream, attributes) for stream in view.streams]
        return MergedWalk(selection, partial(self.planner.days_of_any, view.streams), walks)


def _has_any(page: Page[Any], paging: Paging) -> bool:
    """Whether a list has something, on this page or on the one that a cursor is from."""
    return bool(page.records or page.has_more or paging.after or paging.before)


def _place(position: Position, *, prefix: str = "") -> Item:
    """The place of a position in the time-ordered index."""
    return {**position, "dayBucket": f"{prefix}{day_bucket(position['eventTsMs'])}"}


def _with_position(attributes: Needed) -> Needed:
    """The needed attributes of an event, and those of its position, which only a query reads by itself."""
    return None if attributes is None else attributes.union(EVENT.position_names(TIME_ORDERED))
