"""Pages through several streams of versions at once, in order of time and event id.

Some days at a time are read from every stream, as many as may fill the page. So a page costs at most as many
pages as there are streams, also where one of them has nothing.

A version may move to another stream while a page is read. So the streams that versions move to are read behind those
that they leave: a version is found in at least one of them. If it is found in both, one is dropped.
"""

from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing
from dataclasses import replace
from typing import Protocol

from graph.core.days import day_span
from graph.core.paging import Page, Paging, Position
from graph.domains.earthquakes.model import Event
from graph.domains.earthquakes.selection import Selection
from graph.store.between import Between, ItemsFound, page_between
from graph.store.entity import Item
from graph.store.time_walk import Keep, Walk

WalkOf = Callable[[Selection, Keep], Walk]
"""Makes the walk through the selected versions of a stream that pass the rest of a filter, too."""


class Days(Protocol):
    """Lists the days to read."""

    def __call__(self, selection: Selection, *, forward: bool) -> AsyncGenerator[tuple[str, int], None]:
        """The days that may have a selected version in any stream, in order, and how many each probably has."""


class MergedWalk:
    """The selected versions of several streams, in order of time and event id."""

    def __init__(self, selection: Selection, days: Days, walks: Sequence[WalkOf]) -> None:
        self._selection = selection
        self._days = days
        self._walks = walks

    async def page(self, paging: Paging, *, forward: bool, record_of: Callable[[Item], Event]) -> Page[Event]:
        """A page in order of time, or with `forward=False` in reverse."""
        return await page_between(self.read, paging, forward=forward, place_of=_place, record_of=record_of)

    async def read(self, size: int, within: Between, *, forward: bool) -> ItemsFound:
        """The first versions between two places, which are times and event ids."""
        items: list[Item] = []
        selection, partitions, more = _select(self._selection, within), 0, False
        if selection is None:
            return ItemsFound(items, more, partitions)
        async with aclosing(self._windows(selection, size + 1, forward=forward)) as windows:
            async for window in windows:
                found, more, read = await self._read_window(window, size - len(items), within, forward=forward)
                items += found
                partitions += read
                if more:
                    break
        return ItemsFound(items, more, partitions)

    async def _windows(self, selection: Selection, wanted: int, *, forward: bool) -> AsyncGenerator[Selection, None]:
        """Parts of a selection, one after the other: some days that may fill a page, then twice as many each time."""
        first, last = selection.span
        days: list[str] = []
        probable = 0

        def window() -> Selection:
            low, high = day_span(min(days[0], days[-1]))[0], day_span(max(days[0], days[-1]))[1]
            return replace(selection, start_ms=max(first, low), end_ms=min(last, high))

        async with aclosing(self._days(selection, forward=forward)) as listed:
            async for day, number in listed:
                days.append(day)
                probable += number
                if probable >= wanted:
                    yield window()
                    days, probable, wanted = [], 0, wanted * 2
        if days:
            yield window()

    async def _read_window(self, selection: Selection, size: int, within: Between, *, forward: bool) -> ItemsFound:
        """The first versions of a part of the range, and whether more follow in it."""
        readings = [await self._walk(of, selection, within).read(size + 1, forward=forward) for of in self._walks]
        merged = _merged([reading.items for reading in readings], forward=forward)
        more = len(merged) > size or any(reading.more for reading in readings)
        return ItemsFound(merged[:size], more, sum(reading.partitions for reading in readings))

    def _walk(self, of: WalkOf, selection: Selection, within: Between) -> Walk:
        own = selection.keep
        if own is None:
            return of(selection, Keep(lambda item: within.holds(_place(item)), frozenset()))
        return of(selection, Keep(lambda item: within.holds(_place(item)) and own.holds(item), own.reads))


def _select(selection: Selection, within: Between) -> Selection | None:
    """The selection between the times of two places; None if it is empty."""
    first, last = selection.span
    if within.after:
        first = max(first, within.after[0])
    if within.before:
        last = min(last, within.before[0])
    return replace(selection, start_ms=first, end_ms=last) if first <= last else None


def _merged(streams: Sequence[Sequence[Item]], *, forward: bool) -> list[Item]:
    """All versions, each place once."""
    places = {_place(item): item for items in streams for item in items}
    return [places[place] for place in sorted(places, reverse=not forward)]


def _place(item: Position) -> tuple[int, str]:
    return item["eventTsMs"], item["eventId"]
