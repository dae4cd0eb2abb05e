"""Counts the events of a query before the first of them is sent, and says how to divide a query that is too large."""

from collections.abc import Awaitable, Callable
from dataclasses import replace
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


async def exact_count(catalogue: Catalogue, query: FdsnQuery) -> int:
    """The exact number of events that match, whatever `limit` and `offset` are.

    Raises:
        TooMuchData: Too many events would have to be read to count them.
    """
    try:
        return await catalogue.count(query.selection, query.view)
    except QueryTooComplex as error:
        raise TooMuchData(
            "Too many events would have to be read to count those that match. "
            "Ask for a shorter time, a smaller area or greater magnitudes."
        ) from error


async def check_size(catalogue: Catalogue, query: FdsnQuery, most: int) -> None:
    """Check that the answer to a query is not too large. Nothing is read of a query that cannot be too large.

    Raises:
        TooMuchData: It has more events than one answer may have.
    """
    if query.event_ids is not None or (query.limit is not None and query.limit <= most):
        return
    bound = await catalogue.count(plain(query.selection), query.view)
    if bound - query.offset < most:
        return
    matching = bound if query.selection.summarised else await exact_count(catalogue, query)
    if matching - query.offset < most:
        return
    division = await _division(catalogue, plain(query.selection), most)
    raise TooMuchData(f"{matching:,} events match, and one answer has {most:,} at most. {division}")


async def _division(catalogue: Catalogue, selection: Selection, most: int) -> str:
    """How to divide a query: time ranges with at most so many events each, the earliest first."""
    begin, last = await _extent(catalogue, selection)
    parts: list[str] = []
    while begin <= last and len(parts) < PARTS_NAMED:
        end = await _end_of_part(catalogue, replace(selection, start_ms=begin), last, most)
        parts.append(f"starttime={_day(begin)}&endtime={_instant(end)}")
        begin = end + 1
    more = " And so on." if begin <= last else ""
    named = "\n".join(parts)
    return f"Ask for one part after the other, such as these, or give `limit` and `offset`:\n\n{named}{more}"


async def _end_of_part(catalogue: Catalogue, rest: Selection, last: int, most: int) -> int:
    """The last millisecond of the longest part of whole days that is not too large, and at least a day long."""

    async def fits(day: int) -> bool:
        return await catalogue.count(replace(rest, end_ms=(day + 1) * DAY_MS - 1)) <= most

    return min(last, (await last_where(rest.span[0] // DAY_MS, last // DAY_MS, fits) + 1) * DAY_MS - 1)


async def _extent(catalogue: Catalogue, selection: Selection) -> tuple[int, int]:
    """The first and the last millisecond of the days that have selected events."""
    first, last = selection.span
    whole = await catalogue.count(selection)

    async def has_all(begin: int, end: int) -> bool:
        return await catalogue.count(replace(selection, start_ms=begin, end_ms=end)) == whole

    async def none_before(day: int) -> bool:
        return await has_all(day * DAY_MS, last)

    first_day = await last_where(first // DAY_MS, last // DAY_MS, none_before)
    begin = max(first, first_day * DAY_MS)

    async def some_from(day: int) -> bool:
        return not await has_all(begin, day * DAY_MS - 1)

    last_day = await last_where(first_day, last // DAY_MS, some_from)
    return begin, min(last, (last_day + 1) * DAY_MS - 1)


async def last_where(low: int, high: int, holds: Callable[[int], Awaitable[bool]]) -> int:
    """The last number up to which a condition holds. It holds at `low`, and once it does not, at no greater one."""
    while low < high:
        middle = -((-low - high) // 2)
        low, high = (middle, high) if await holds(middle) else (low, middle - 1)
    return low


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
