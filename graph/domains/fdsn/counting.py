"""Counts the events of a query before the first of them is sent, and says how to divide a query that is too large."""

from dataclasses import dataclass, replace
from typing import Final

from graph.core.days import DAY_MS, datetime_of
from graph.core.errors import QueryTooComplex
from graph.core.times import rfc3339_of_millis
from graph.domains.earthquakes.catalogue import Catalogue
from graph.domains.earthquakes.magnitudes import MagnitudeRange, bin_of
from graph.domains.earthquakes.selection import Selection
from graph.domains.fdsn.errors import TooMuchData
from graph.domains.fdsn.query import FdsnQuery

PARTS_NAMED: Final = 10  # of a divided query, in the message


@dataclass(frozen=True, slots=True)
class Counting:
    """The count of a catalogue's events, and the greatest number that one answer may have."""

    catalogue: Catalogue
    most: int

    async def exact(self, query: FdsnQuery) -> int:
        """The exact number of events that match, whatever `limit` and `offset` are.

        Raises:
            TooMuchData: Too many events would have to be read to count them.
        """
        try:
            return await self.catalogue.count(query.selection, query.view)
        except QueryTooComplex as error:
            raise TooMuchData(
                "Too many events would have to be read to count those that match. "
                "Ask for a shorter time, a smaller area or greater magnitudes."
            ) from error

    async def check(self, query: FdsnQuery) -> None:
        """Check that the answer to a query is not too large. Nothing is read of a query that cannot be too large.

        Raises:
            TooMuchData: It is.
        """
        if query.event_ids is not None or (query.limit is not None and query.limit <= self.most):
            return
        bound = await self.catalogue.count(plain(query.selection), query.view)
        if bound - query.offset < self.most:
            return
        matching = bound if query.selection.summarised else await self.exact(query)
        if matching - query.offset < self.most:
            return
        raise TooMuchData(
            f"{matching:,} events match, and one answer has {self.most:,} at most. {await self._division(query)}"
        )

    async def _division(self, query: FdsnQuery) -> str:
        """How to divide the query: time ranges with at most so many events each, the earliest first."""
        selection = plain(query.selection)
        first, last = await self._extent(selection)
        parts: list[str] = []
        begin = first
        while begin <= last and len(parts) < PARTS_NAMED:
            end = await self._end_of_part(selection, begin, last)
            parts.append(f"starttime={_day(begin)}&endtime={_instant(end)}")
            begin = end + 1
        more = " And so on." if begin <= last else ""
        named = "\n".join(parts)
        return f"Ask for one part after the other, such as these, or give `limit` and `offset`:\n\n{named}{more}"

    async def _extent(self, selection: Selection) -> tuple[int, int]:
        """The first and the last millisecond of the days that have selected events."""
        first, last = selection.span
        whole = await self.catalogue.count(selection)

        async def has_all(begin: int, end: int) -> bool:
            part = replace(selection, start_ms=begin, end_ms=end)
            return await self.catalogue.count(part) == whole

        low, high = first // DAY_MS, last // DAY_MS
        while low < high:  # the last day from which on there are all
            middle = -((-low - high) // 2)
            low, high = (middle, high) if await has_all(middle * DAY_MS, last) else (low, middle - 1)
        begin = max(first, low * DAY_MS)
        low, high = low, last // DAY_MS
        while low < high:  # the first day until which there are all
            middle = (low + high) // 2
            low, high = (low, middle) if await has_all(begin, (middle + 1) * DAY_MS - 1) else (middle + 1, high)
        return begin, min(last, (high + 1) * DAY_MS - 1)

    async def _end_of_part(self, selection: Selection, begin: int, last: int) -> int:
        """The last millisecond of the longest part of whole days that is not too large, and at least a day long."""
        low, high = begin // DAY_MS, last // DAY_MS
        while low < high:
            middle = -((-low - high) // 2)
            part = replace(selection, start_ms=begin, end_ms=(middle + 1) * DAY_MS - 1)
            fits = await self.catalogue.count(part) <= self.most
            low, high = (middle, high) if fits else (low, middle - 1)
        return min(last, (low + 1) * DAY_MS - 1)


def plain(selection: Selection) -> Selection:
    """The selection by time and magnitude alone, on tenths. It holds the other one, and summaries count it."""
    low, high = selection.magnitudes.minimum, selection.magnitudes.maximum
    least = None if low is None else bin_of(low)[0] / 10
    greatest = None if high is None else high if bin_of(high)[1] else (bin_of(high)[0] + 1) / 10
    return Selection(start_ms=selection.start_ms, end_ms=selection.end_ms, magnitudes=MagnitudeRange(least, greatest))


def _day(time_ms: int) -> str:
    return datetime_of(time_ms).strftime("%Y-%m-%d") if time_ms % DAY_MS == 0 else _instant(time_ms)


def _instant(time_ms: int) -> str:
    return rfc3339_of_millis(time_ms)[:-1]
