"""The numbers of logs over time: counters of minutes, hours and days, kept in the transaction of the logs.

There is one for each service and type, and one for each type of all services. A counter expires at the end of the
period in which its logs do, so a period is counted whole until its last log has expired. If the setting changes, or
another program writes logs, logs of one period expire in different ones: they have counters of their own, which are
added up.
"""

from collections import defaultdict
from collections.abc import AsyncIterator, Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from operator import itemgetter

from graph.core.days import datetime_of_seconds
from graph.core.described import Described, DescribedText, described, optional, value
from graph.core.errors import BadUserInput
from graph.domains.service_logs.entities import LOG_VOLUME
from graph.domains.service_logs.model import DAY_S, LEVELS, ServiceLogLevel, ServiceLogType
from graph.store.contract import Database, Update
from graph.store.entity import Item
from graph.store.query import Query
from graph.work.account import charge_rows, give_way

ALL_SERVICES = ""
FOR_EVER = 0  # in place of the time until which logs are kept
MOST_PERIODS = 10_000  # of one volume
MOST_COUNTS = 10_000  # of one volume, some 5 MB on their way to the client
COUNTERS_AT_ONCE = 500  # some 2 ms, before giving way to other work


class ServiceLogInterval(Described):
    """The length of the periods of a volume."""

    _value_: int  # seconds

    MINUTE = 60, "A minute."
    HOUR = 3600, "An hour."
    DAY = DAY_S, "A day, UTC."

    def start_of(self, seconds: int) -> int:
        """The start of the period that holds a time, epoch seconds."""
        return seconds - seconds % self._value_

    def end_of(self, seconds: int) -> int:
        """The end of that period, which is the start of the next one."""
        return self.start_of(seconds) + self._value_


class VolumeBy(DescribedText):
    """What the logs of a volume are counted by."""

    LEVEL = "LEVEL", "Their level."
    TYPE = "TYPE", "Their type."
    SERVICE = "SERVICE", "The service that wrote them."


@value
class ServiceLogVolume:
    """The number of logs of one level, type or service in one period."""

    start_s: int  # epoch seconds
    count: int = described("The number of logs, 1 or more.")
    level: ServiceLogLevel | None = optional("Their level; null unless counted by it.")
    log_type: ServiceLogType | None = optional("Their type; null unless counted by it.")
    service: str | None = optional("Their service; null unless counted by it.")

    @property
    def starts_at(self) -> datetime:
        """The beginning of the period."""
        return datetime_of_seconds(self.start_s)


class VolumeTally:
    """Counts the logs of a transaction."""

    def __init__(self) -> None:
        self._counts: dict[tuple[str, str, int, int | None, str], int] = defaultdict(int)

    @staticmethod
    def most_actions(minutes: int) -> int:
        """The most actions that logs of so many services, types, minutes, and minutes of expiry may need."""
        return 2 * len(ServiceLogInterval) * minutes

    def add(self, service: str, log_type: str, second: int, level: str, ttl: int | None) -> None:
        """Count a log."""
        self._counts[service, log_type, *minutes_of(second, ttl), level] += 1

    def updates(self) -> list[Update]:
        """The changes of the counters."""
        added: dict[tuple[str, str, str, int, int], dict[str, int]] = defaultdict(dict)
        for (service, log_type, minute, expiry, level), number in self._counts.items():
            for interval in ServiceLogInterval:
                until = FOR_EVER if expiry is None else interval.end_of(expiry)
                for of in (service, ALL_SERVICES):
                    counts = added[interval.name, log_type, of, interval.start_of(minute), until]
                    counts[level] = counts.get(level, 0) + number
        return [
            Update(LOG_VOLUME.key_for(*key), add=counts, set={} if key[-1] == FOR_EVER else {"ttl": key[-1]})
            for key, counts in added.items()
        ]


def minutes_of(second: int, ttl: int | None) -> tuple[int, int | None]:
    """The minute of a log's second, and that in which it expires; None for never."""
    return ServiceLogInterval.MINUTE.start_of(second), None if ttl is None else ServiceLogInterval.MINUTE.start_of(ttl)


@dataclass(eq=False)
class Volumes:
    """Reads the counters."""

    database: Database
    most_counts: int = MOST_COUNTS  # of one volume

    async def counted(
        self,
        interval: ServiceLogInterval,
        services: Iterable[str],
        types: Collection[ServiceLogType],
        first: int,
        last: int,
    ) -> AsyncIterator[Sequence[Item]]:
        """The counters of the periods that begin from `first` to `last`, epoch seconds, some at a time, in no order."""
        for service in services:
            for log_type in types:
                partition = interval.name, log_type.value, service
                query = Query(entity=LOG_VOLUME, partitions=[partition], between=(first, last))
                page = await self.database.query(query)
                await charge_rows(read=len(page.items))
                for at in range(0, len(page.items), COUNTERS_AT_ONCE):
                    await give_way()
                    yield page.items[at : at + COUNTERS_AT_ONCE]
            await give_way()

    async def volume(
        self,
        interval: ServiceLogInterval,
        by: VolumeBy,
        first: int,
        last: int,
        services: Sequence[str] = (ALL_SERVICES,),
    ) -> list[ServiceLogVolume]:
        """The number of logs by period. Periods without logs are left out.

        Args:
            first, last: the first and the last second, epoch seconds; periods are counted whole.
            services: those that are counted.

        Raises:
            BadUserInput: There may be too many periods, or there are too many numbers.
        """
        first = interval.start_of(first)
        if (last - first) // interval.value >= MOST_PERIODS:
            raise BadUserInput(
                f"A volume has at most {MOST_PERIODS:,} periods: choose a longer `interval`, or a shorter time range."
            )
        counts: dict[tuple[int, str], int] = defaultdict(int)
        await charge_rows(read=len(services))
        async for items in self.counted(interval, services, tuple(ServiceLogType), first, last):
            for item in items:
                start, series = item["start"], _SERIES[by](item)
                for level in LEVELS:
                    if number := item.get(level):
                        counts[start, series or level] += number
            if len(counts) > self.most_counts:
                raise BadUserInput(
                    f"A volume has at most {self.most_counts:,} numbers: choose a longer `interval`, "
                    "a shorter time range, or fewer `services`."
                )
        await give_way()
        ordered = sorted(counts)
        await give_way()
        return [_VOLUMES[by](start, counts[start, series], series) for start, series in ordered]


_SERIES: dict[VolumeBy, Callable[[Item], str | None]] = {
    VolumeBy.LEVEL: lambda counter: None,  # a counter has the numbers of all levels
    VolumeBy.TYPE: itemgetter("log_type"),
    VolumeBy.SERVICE: itemgetter("service"),
}
"""What the logs of a counter are counted under."""
_VOLUMES: dict[VolumeBy, Callable[[int, int, str], ServiceLogVolume]] = {
    VolumeBy.LEVEL: lambda start, count, level: ServiceLogVolume(start, count, level=ServiceLogLevel[level]),
    VolumeBy.TYPE: lambda start, count, log_type: ServiceLogVolume(start, count, log_type=ServiceLogType(log_type)),
    VolumeBy.SERVICE: lambda start, count, service: ServiceLogVolume(start, count, service=service),
}
