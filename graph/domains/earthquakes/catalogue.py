"""The access patterns of the catalogue: one event, a page in time order, an exact total.

A page costs only what it holds. The summaries name the days that can have a match, and
`graph.store.time_walk` reads only these, newest or oldest first, until the page is full.
"""

from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable, Sequence
from contextlib import AsyncExitStack, aclosing
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from sys import maxsize
from typing import Any

from graph.core.days import day_bucket
from graph.core.paging import Page, Paging, Position
from graph.core.spans import TimeSpan
from graph.domains.earthquake_events import TIME_ORDERED
from graph.domains.earthquakes.entities import ALIAS, EVENT, REVISION
from graph.domains.earthquakes.export.formats import ExportFormat
from graph.domains.earthquakes.model import Event, day_of, possible_id
from graph.domains.earthquakes.revisions.history import History
from graph.domains.earthquakes.revisions.merged_walk import MergedWalk
from graph.domains.earthquakes.revisions.merges import follow_merges
from graph.domains.earthquakes.revisions.model import EventRevision
from graph.domains.earthquakes.revisions.views import LATEST, PRESENT, AsOf, Stream, View
from graph.domains.earthquakes.selection import Selection
from graph.domains.earthquakes.settings import MOST_STATISTICS_EVENTS
from graph.domains.earthquakes.statistics.other_types import OtherTypes
from graph.domains.earthquakes.statistics.population import Population
from graph.domains.earthquakes.statistics.statistics import Statistics
from graph.domains.earthquakes.summaries import Summaries, promised_on
from graph.store.conditions import all_of
from graph.store.contract import Database
from graph.store.entity import Item
from graph.store.query import Partition, Query
from graph.store.time_walk import Keep, Promise, Promises, Walk, count_of, items_of, reading_for
from graph.work.account import give_way

DAYS_AT_ONCE = 100  # named by a plan before it gives way

Attributes = frozenset[str] | None
"""The needed attributes of each event, beside its position; None for all."""

Defaults = dict[str, Any] | None
"""Values of attributes that an event lacks, in the order in which its item has them."""


@dataclass(frozen=True, kw_only=True)
class EventPage(Page[Event]):
    """A page of events, and a function for the total of all pages."""

    total: Callable[[], Awaitable[int | None]]
    was_read: bool = True  # false if only the total is selected
    export_url: Callable[[ExportFormat], str] | None = None  # the address of an export of all pages, if there is one


class Catalogue:
    """The stored earthquakes."""

    def __init__(
        self, database: Database, *, most_days_counted: int, most_statistics_events: int = MOST_STATISTICS_EVENTS
    ) -> None:
        """Prepare the access patterns.

        Args:
            most_days_counted: read for a total.
            most_statistics_events: read for statistics.
        """
        self._database = database
        self._summaries = Summaries(database)
        self._other_types = OtherTypes(database, self._summaries)
        self._history = History(database)
        self._most_days_counted = most_days_counted
        self._most_statistics_events = most_statistics_events

    async def event(self, event_id: str, attributes: Attributes = None, as_of: AsOf | None = None) -> Event | None:
        """The event with this id or alias, perhaps deleted or merged; with `as_of`, as it was.

        Raises:
            HistoryUnavailable: `as_of` is a time before the first ingest.
        """
        if not possible_id(event_id):
            return None
        if as_of is None:
            item = await self._found(event_id, _with_position(attributes))
            return Event.reading(attributes)(item) if item else None
        await self._history.check(as_of)
        latest = await self._found(event_id, None)
        version = await self._history.version_as_of(latest, as_of) if latest else None
        return Event(version) if version else None

    async def _found(self, event_id: str, attributes: Attributes) -> Item | None:
        """The event with this id, or else the one that it is an alias of."""
        item = await self._database.get(EVENT.key_for(event_id), attributes=attributes)
        if item is not None or (alias := await self._database.get(ALIAS.key_for(event_id))) is None:
            return item
        needed = None if attributes is None else attributes | {"mergedInto"}

        async def read(stored_id: str) -> Item | None:
            return await self._database.get(EVENT.key_for(stored_id), attributes=needed)

        return await follow_merges(await read(alias["eventId"]), read)

    async def revisions(self, event: Event, paging: Paging[Position]) -> Page[EventRevision]:
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

    async def events(self, event_ids: Iterable[str], attributes: Attributes = None) -> dict[str, Event]:
        """The existing events, by id."""
        keys = {EVENT.key_for(event_id) for event_id in event_ids if possible_id(event_id)}
        items = await self._database.get_many(keys, attributes=_with_position(attributes)) if keys else {}
        record_of = Event.reading(attributes)
        return {item["eventId"]: record_of(item) for item in items.values()}

    async def is_empty(self) -> bool:
        """Whether no event was ever ingested."""
        return not any(summary.events for summary in (await self._summaries.years()).values())

    async def page(
        self,
        selection: Selection,
        paging: Paging[Position],
        *,
        ascending: bool = False,
        attributes: Attributes = None,
        defaults: Defaults = None,
        view: View = PRESENT,
    ) -> EventPage:
        """A page of the selected events, newest first unless `ascending`.

        Args:
            defaults: as of `Query`.

        Raises:
            HistoryUnavailable: The view is of a time before the first ingest.
        """
        await self._history.check(view.as_of)
        record_of = Event.reading(attributes)
        if len(view.streams) == 1:
            (stream,) = view.streams
            walk = self._walk(stream, attributes, defaults, selection, selection.keep)
            place_of = partial(_place, prefix=stream.prefix)
            page = await walk.page(paging, forward=ascending, place_of=place_of, record_of=record_of)
        else:
            walks = [partial(self._walk, stream, attributes, defaults) for stream in view.streams]
            merged = MergedWalk(selection, partial(self._days, view.streams), walks)
            page = await merged.page(paging, forward=ascending, record_of=record_of)
        return EventPage(**vars(page), total=partial(self.total, selection, view))

    def unread_page(self, selection: Selection, view: View = PRESENT) -> EventPage:
        """A page without records, for its total only."""
        total = partial(self.total, selection, view)
        return EventPage(
            records=(), partitions=0, backward=False, has_more=False, has_behind=False, total=total, was_read=False
        )

    async def total(self, selection: Selection, view: View = PRESENT) -> int | None:
        """The exact number of selected events, or None if counting would read too many days.

        Raises:
            HistoryUnavailable: The view is of a time before the first ingest.
            QueryTooComplex: The operation in progress may not read so many events.
        """
        return await self._counted(selection, view, self._most_days_counted)

    async def count(self, selection: Selection, view: View = PRESENT) -> int:
        """The exact number of selected events, however many days must be read.

        Raises:
            HistoryUnavailable: The view is of a time before the first ingest.
            QueryTooComplex: The operation in progress may not read so many events.
        """
        return await self._counted(selection, view, maxsize) or 0

    async def _counted(self, selection: Selection, view: View, most_days: int) -> int | None:
        await self._history.check(view.as_of)
        total = 0
        for stream in view.streams:
            counted = await self._total_of(selection, stream, most_days)
            if counted is None:
                return None
            total += counted
        return total

    async def _total_of(self, selection: Selection, stream: Stream, most_days: int) -> int | None:
        if selection.summarised and stream == LATEST:
            counted, promises = await self._summarised(selection)
        else:
            counted, promises = 0, await self._unsummarised(selection, stream, most_days)
        if len(promises) > most_days:
            return None
        query = _selected(selection, stream, frozenset())
        if (keep := selection.keep) is not None:
            async for items in items_of(self._database, reading_for(query, keep), promises):
                counted += sum(map(keep.holds, items))
            return counted
        return counted + await count_of(self._database, query, promises)

    async def statistics(self, selection: Selection, attributes: Attributes = None) -> Statistics:
        """Statistics of the selected events: of earthquakes alone, unless the selection names types.

        The events are counted at once.

        Args:
            attributes: those that the selected statistics need of events; None for all.

        Raises:
            QueryTooComplex: Counting would read too many events.
        """
        population = Population(
            self._database,
            self._summaries,
            self._other_types,
            partial(self._plan, stream=LATEST, forward=True, start=None),
            selection,
            attributes=attributes,
            most_events=self._most_statistics_events,
        )
        await population.bins()
        return Statistics(self._database, population, most_days_read=self._most_days_counted)

    async def _summarised(self, selection: Selection) -> tuple[int, list[Promise]]:
        """The number that the summaries give, and the days that the bounds cover only in part."""
        counted, promises = 0, list[Promise]()
        for part in TimeSpan.of(*selection.span).years(await self._summaries.years()):
            if part.is_whole:
                counted += part.value.matching(selection.magnitudes)
                continue
            days = await self._summaries.days(part.year, part.value)
            matching = days.matching(selection.magnitudes)
            counted += matching.total(matching.between(part.first, part.last))
            for day in part.cut:
                if of_day := days.days.get(day):
                    counted -= of_day.matching(selection.magnitudes)
                    promises.append(promised_on(day, of_day.may_match(selection.magnitudes)))
            await give_way()
        return counted, promises

    async def _unsummarised(self, selection: Selection, stream: Stream, most_days: int) -> list[Promise]:
        """The days that may hold a match: all of them, or more than may be read."""
        promises: list[Promise] = []
        async with aclosing(self._plan(selection, stream, forward=True, start=None)) as plan:
            async for some in plan:
                promises += some
                if len(promises) > most_days:
                    break
        return promises

    def _walk(
        self,
        stream: Stream,
        attributes: Attributes,
        defaults: Defaults,
        selection: Selection,
        keep: Keep | None,
    ) -> Walk:
        """The walk through the selected versions of a stream that pass the rest of a filter, too."""
        query = replace(_selected(selection, stream, attributes), defaults=defaults)
        return Walk(self._database, query, partial(self._plan, selection, stream), keep)

    async def _days(
        self, streams: Sequence[Stream], selection: Selection, *, forward: bool
    ) -> AsyncGenerator[tuple[str, int], None]:
        """The days that may hold a selected version in any stream, each with the number that it probably holds.

        A view has at most one version of an event, so that is the number of the first stream that has the day.
        """
        async with AsyncExitStack() as stack:
            plans = [self._plan(selection, stream, forward=forward, start=None) for stream in streams]
            planned = [_flattened(await stack.enter_async_context(aclosing(plan))) for plan in plans]
            next_of = [await anext(days, None) for days in planned]
            while heads := [_day_of(promise) for promise in next_of if promise]:
                day = min(heads) if forward else max(heads)
                at = [number for number, promise in enumerate(next_of) if promise and _day_of(promise) == day]
                yield day, next(promise[1] for number in at if (promise := next_of[number]))
                for number in at:
                    next_of[number] = await anext(planned[number], None)

    async def _plan(
        self, selection: Selection, stream: Stream, *, forward: bool, start: Partition | None
    ) -> AsyncGenerator[Promises, None]:
        """The days that may hold a selected version, from the partition `start` on."""
        first = start[0].removeprefix(stream.prefix) if start else None
        span = TimeSpan.of(*selection.span).starting_on(first, forward=forward)
        since, magnitudes = selection.updated_since_ms, selection.magnitudes
        some, number = list[Promises](), 0
        for part in span.years(await self._summaries.years(), forward=forward):
            if not part.value.may_match(magnitudes, stream.counted) or not part.value.changed_since(since):
                continue
            year = await self._summaries.days(part.year, part.value)
            days = year.may_match(magnitudes, stream.counted)
            if since is not None:
                days = year.changed_since(since, days)
            within = days.between(part.first, part.last)
            some.append(days.promises(within, forward=forward, prefix=stream.prefix))
            number += within.stop - within.start
            if number >= DAYS_AT_ONCE:
                yield chain.from_iterable(some)
                some, number = [], 0
                await give_way()
        yield chain.from_iterable(some)


async def _flattened(plan: AsyncGenerator[Promises, None]) -> AsyncGenerator[Promise, None]:
    async for some in plan:
        for promise in some:
            yield promise


def _day_of(promise: Promise) -> str:
    """The day of a partition, whose name may have a prefix."""
    return day_of(promise[0][0])


def _selected(selection: Selection, stream: Stream, attributes: Attributes) -> Query:
    """The query for the selected versions of any days."""
    return Query(
        entity=stream.entity,
        index=TIME_ORDERED,
        between=selection.span,
        where=all_of(selection.condition, stream.condition),
        attributes=attributes,
    )


def _place(position: Position, *, prefix: str = "") -> Item:
    """The place of a position in the time-ordered index."""
    day = f"{prefix}{day_bucket(position.time_ms)}"
    return {"dayBucket": day, "eventTsMs": position.time_ms, "eventId": position.key}


def _with_position(attributes: Attributes) -> Attributes:
    """The needed attributes of an event, and those of its position, which only a query reads by itself."""
    return None if attributes is None else attributes.union(EVENT.position_names(TIME_ORDERED))
