"""Plans the reading of filtered logs: the parts of a time range that may hold matching logs, by their counters.

A day with many logs is divided into its hours, and an hour into its minutes. So a part has a bounded number of logs,
unless a minute has more, and parts without a matching level are not read.
"""

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from graph.domains.service_logs.entities import LAST_SECOND
from graph.domains.service_logs.model import LEVELS, MICROSECONDS, ServiceLogType
from graph.domains.service_logs.selection import ServiceLogSelection
from graph.domains.service_logs.volumes import ALL_SERVICES, ServiceLogInterval, Volumes

FROM_LONG_TO_SHORT = (ServiceLogInterval.DAY, ServiceLogInterval.HOUR, ServiceLogInterval.MINUTE)


class RangePart(NamedTuple):
    """A part of a time range, and what it may hold."""

    first: int  # epoch seconds
    last: int  # epoch seconds, inclusive
    matches: int  # the most logs that match
    rows: int  # the logs that a filter is tested on

    @property
    def slots(self) -> tuple[int, int]:
        """Its first and last slot."""
        return self.first * MICROSECONDS, (self.last + 1) * MICROSECONDS - 1


@dataclass(frozen=True, slots=True)
class LogPlan:
    """The parts of one selection's time range."""

    volumes: Volumes
    selection: ServiceLogSelection
    rows_per_part: int  # about the most

    async def parts(self, wanted: int, *, forward: bool) -> AsyncIterator[RangePart]:
        """The parts in order, or in reverse.

        Args:
            wanted: the logs of a page. A part promises so many, the next one twice as many, and so on.
        """
        joined: RangePart | None = None
        first, last = self._seconds()
        # A period that is longer than the time range would count many logs that are not in it.
        intervals = [each for each in FROM_LONG_TO_SHORT if each.value <= last - first] or [ServiceLogInterval.MINUTE]
        async for part in self._parts(intervals, first, last, forward=forward):
            if not part.matches:  # logs that need not be read lie between
                if joined:
                    yield joined
                joined = None
                continue
            joined = _join(joined, part)
            if joined.matches >= wanted or joined.rows >= self.rows_per_part:
                yield joined
                joined, wanted = None, 2 * wanted
        if joined:
            yield joined

    def _seconds(self) -> tuple[int, int]:
        selection = self.selection
        first = 0 if selection.first is None else max(selection.first // MICROSECONDS, 0)
        last = LAST_SECOND if selection.last is None else min(max(selection.last // MICROSECONDS, 0), LAST_SECOND)
        return min(first, LAST_SECOND), last

    async def _parts(
        self, intervals: Sequence[ServiceLogInterval], first: int, last: int, *, forward: bool
    ) -> AsyncIterator[RangePart]:
        interval, *shorter = intervals
        counted = await self._counted(interval, first, last)
        for start in sorted(counted, reverse=not forward):
            matches, rows = counted[start]
            part = RangePart(max(first, start), min(last, start + interval.value - 1), matches, rows)
            if matches and rows > self.rows_per_part and shorter:
                async for each in self._parts(shorter, part.first, part.last, forward=forward):
                    yield each
            else:
                yield part

    async def _counted(self, interval: ServiceLogInterval, first: int, last: int) -> dict[int, tuple[int, int]]:
        """Start of a period → the most matching logs, and the logs that the filter is tested on."""
        selection, services = self.selection, self.selection.services
        # A partition of a service has logs of all types.
        read = selection.possible_types if services is None else tuple(ServiceLogType)
        types = frozenset(each.value for each in selection.possible_types)
        levels = selection.possible_levels
        counted: dict[int, tuple[int, int]] = {}
        async for items in self.volumes.counted(
            interval, services or (ALL_SERVICES,), read, interval.start_of(first), last
        ):
            for item in items:
                matches, rows = counted.get(item["start"], (0, 0))
                if item["log_type"] in types:
                    matches += sum(item.get(level, 0) for level in levels)
                counted[item["start"]] = matches, rows + sum(item.get(level, 0) for level in LEVELS)
        return counted


def _join(joined: RangePart | None, part: RangePart) -> RangePart:
    """Two parts that follow each other, in either direction, as one."""
    if joined is None:
        return part
    return RangePart(
        min(joined.first, part.first),
        max(joined.last, part.last),
        joined.matches + part.matches,
        joined.rows + part.rows,
    )
