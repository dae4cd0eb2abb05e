"""The access patterns of the catalogue: one event, a page in time order, an exact total.

A page costs only what it holds. The summaries name the days that can have a match, and
`graph.store.time_walk` reads only these, newest or oldest first, until the page is full.
"""

from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable
from contextlib import aclosing
from dataclasses import dataclass
from functools import partial
from itertools import chain

from graph.core.days import day_bucket
from graph.core.paging import Page, Paging, Position
from graph.core.spans import TimeSpan
from graph.domains.earthquake_events import TIME_ORDERED
from graph.domains.earthquakes.entities import EVENT
from graph.domains.earthquakes.model import Event, possible_id
from graph.domains.earthquakes.selection import Selection
from graph.domains.earthquakes.statistics.statistics import Statistics
from graph.domains.earthquakes.summaries import Summaries, promised_on
from graph.store.contract import Database
from graph.store.entity import Item
from graph.store.query import Partition, Query
from graph.store.time_walk import Promise, Promises, Walk, count_of, items_of, reading_for
from graph.work.account import give_way

DAYS_AT_ONCE = 100  # named by a plan before it gives way

Attributes = frozenset[str] | None
"""The needed attributes of each event, beside its position; None for all."""


@dataclass(frozen=True, kw_only=True)
class EventPage(Page[Event]):
    """A page of events, and a function for the total of all pages."""

    total: Callable[[], Awaitable[int | None]]
    was_read: bool = True  # false if only the total is selected


class Catalogue:
    """The stored earthquakes."""

    def __init__(self, database: Database, *, most_days_counted: int) -> None:
        self._database = database
        self._summaries = Summaries(database)
        self._most_days_counted = most_days_counted

    async def event(self, event_id: str, attributes: Attributes = None) -> Event | None:
        """The event with this id."""
        if not possible_id(event_id):
            return None
        item = await self._database.get(EVENT.key_for(event_id), attributes=_with_position(attributes))
        return Event.reading(attributes)(item) if item else None

    async def events(self, event_ids: Iterable[str], attributes: Attributes = None) -> dict[str, Event]:
        """The existing events, by id."""
        keys = {EVENT.key_for(event_id) for event_id in event_ids if possible_id(event_id)}
        items = await self._database.get_many(keys, attributes=_with_position(attributes)) if keys else {}
        record_of = Event.reading(attributes)
        return {item["eventId"]: record_of(item) for item in items.values()}

    async def is_empty(self) -> bool:
        """Whether no event was ever ingested."""
        return not await self._summaries.years()

    async def page(
        self, selection: Selection, paging: Paging[Position], *, ascending: bool = False, attributes: Attributes = None
    ) -> EventPage:
        """A page of the selected events, newest first unless `ascending`."""
        query = _selected(selection, attributes)
        walk = Walk(self._database, query, partial(self._plan, selection), selection.keep)
        record_of = Event.reading(attributes)
        page = await walk.page(paging, forward=ascending, place_of=_place, record_of=record_of)
        return EventPage(**vars(page), total=partial(self.total, selection))

    def unread_page(self, selection: Selection) -> EventPage:
        """A page without records, for its total only."""
        total = partial(self.total, selection)
        return EventPage(
            records=(), partitions=0, backward=False, has_more=False, has_behind=False, total=total, was_read=False
        )

    async def total(self, selection: Selection) -> int | None:
        """The exact number of selected events, or None if counting would read too many days.

        Raises:
            QueryTooComplex: The operation in progress may not read so many events.
        """
        counted, promises = await (self._summarised if selection.summarised else self._unsummarised)(selection)
        if len(promises) > self._most_days_counted:
            return None
        query = _selected(selection, frozenset())
        if (keep := selection.keep) is not None:
            async for items in items_of(self._database, reading_for(query, keep), promises):
                counted += sum(map(keep.holds, items))
            return counted
        return counted + await count_of(self._database, query, promises)

    async def statistics(self, selection: Selection) -> Statistics:
        """Statistics of the selected events. The events are counted at once.

        Raises:
            BadUserInput: The selection is not by time and by magnitudes on tenths.
        """
        statistics = Statistics(self._database, self._summaries, selection, most_days_read=self._most_days_counted)
        await statistics.counts()
        return statistics

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

    async def _unsummarised(self, selection: Selection) -> tuple[int, list[Promise]]:
        """Zero, and the days that may hold a match: all of them, or more than may be read."""
        promises: list[Promise] = []
        async with aclosing(self._plan(selection, forward=True, start=None)) as plan:
            async for some in plan:
                promises += some
                if len(promises) > self._most_days_counted:
                    break
        return 0, promises

    async def _plan(
        self, selection: Selection, *, forward: bool, start: Partition | None
    ) -> AsyncGenerator[Promises, None]:
        """The days that may hold a selected event, from the partition `start` on."""
        span = TimeSpan.of(*selection.span).starting_on(start[0] if start else None, forward=forward)
        some, number = list[Promises](), 0
        for part in span.years(await self._summaries.years(), forward=forward):
            if not part.value.may_match(selection.magnitudes):
                continue
            days = (await self._summaries.days(part.year, part.value)).may_match(selection.magnitudes)
            within = days.between(part.first, part.last)
            some.append(days.promises(within, forward=forward))
            number += within.stop - within.start
            if number >= DAYS_AT_ONCE:
                yield chain.from_iterable(some)
                some, number = [], 0
                await give_way()
        yield chain.from_iterable(some)


def _selected(selection: Selection, attributes: Attributes) -> Query:
    """The query for the selected events of any days."""
    return Query(
        entity=EVENT,
        index=TIME_ORDERED,
        between=selection.span,
        where=selection.condition,
        attributes=attributes,
    )


def _place(position: Position) -> Item:
    """The place of a position in the time-ordered index."""
    return {"dayBucket": day_bucket(position.time_ms), "eventTsMs": position.time_ms, "eventId": position.key}


def _with_position(attributes: Attributes) -> Attributes:
    """The needed attributes of an event, and those of its position, which only a query reads by itself."""
    return None if attributes is None else attributes.union(EVENT.position_names(TIME_ORDERED))
