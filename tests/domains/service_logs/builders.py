"""Service logs and tables to test with: `a_log("checkout")`, `async with service_logs(engine) as logs`."""

from collections import Counter, defaultdict
from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from graph.core.clock import Clock
from graph.core.services import Services
from graph.domains.service_logs.access_patterns import ServiceLogs
from graph.domains.service_logs.adoption import ADOPT_LOGS
from graph.domains.service_logs.entities import ADOPTION, ENTITIES, LOG_VOLUME, LOGS, SERVICE_LOG
from graph.domains.service_logs.model import LEVELS, NewLog, ServiceLog, WriteReport
from graph.domains.service_logs.services import LoggingServices
from graph.domains.service_logs.settings import ServiceLogSettings
from graph.domains.service_logs.volumes import ServiceLogInterval
from graph.domains.service_logs.writing import LogWriter
from graph.feed.adoption import ADOPTED_UNTIL
from graph.observability.metrics import Metrics
from graph.store.conditions import predicate
from graph.store.contract import Database, Update
from tests.domains.noon import NOON as NOON
from tests.domains.noon import held_clock as held_clock
from tests.store.engines import empty_database

NOON_NS = NOON * 1_000_000
MICROSECOND = 1000  # nanoseconds
SECOND = 1_000_000_000
DAY = 86_400 * SECOND
MIDNIGHT_NS = NOON_NS // DAY * DAY  # the beginning of the clock's day


def a_log(service: str = "checkout", time_ns: int = NOON_NS, message: str = "paid", **others: Any) -> NewLog:
    """A log that breaks no rule; what is not given does not matter."""
    return NewLog(service, message, time_ns, **others)


def numbered(number: int, time_ns: int = NOON_NS, service: str = "checkout", **others: Any) -> list[NewLog]:
    """So many logs of one moment, whose messages are their numbers."""
    return [a_log(service, time_ns, f"{n}", **others) for n in range(number)]


@dataclass(frozen=True)
class Logs:
    """The service logs of a database, as one process writes and reads them."""

    database: Database
    services: LoggingServices
    read: ServiceLogs
    writer: LogWriter

    async def write(self, *logs: NewLog) -> WriteReport:
        """Write logs as one batch, all of which must be stored or skipped."""
        report = await self.writer.write(logs)
        assert report.rejections == ()
        return report

    async def note_adopted_until(self, until: int) -> None:
        """Note that logs of other programs are adopted which they wrote until a time, epoch milliseconds."""
        await self.database.update(Update(ADOPTION.key_for(LOGS.name), set={ADOPTED_UNTIL: until}))

    async def adopt(self) -> None:
        """Adopt the logs of other programs."""
        foreign = predicate(ADOPT_LOGS.foreign)
        logs = [item async for item in self.database.scan(SERVICE_LOG) if foreign(item)]
        await ADOPT_LOGS.adopt(Services([self.services, self.writer]), logs)

    async def stored(self) -> list[ServiceLog]:
        """All stored logs, oldest first, whichever access pattern finds them."""
        logs = [ServiceLog(item) async for item in self.database.scan(SERVICE_LOG)]
        return sorted(logs, key=lambda log: (log.timestamp, log.service_name))

    async def messages(self) -> list[str]:
        """The messages of all stored logs, oldest first."""
        return [log.message for log in await self.stored()]

    async def counters(self) -> dict[tuple[str, str, str, int], dict[str, int]]:
        """All counters as they are stored: by interval, type, service and start, the number of each level."""
        counters: dict[tuple[str, str, str, int], Counter[str]] = defaultdict(Counter)
        async for item in self.database.scan(LOG_VOLUME):
            period = item["interval"], item["log_type"], item["service"], item["start"]
            counters[period].update({level: item[level] for level in LEVELS if level in item})
        return {period: dict(counts) for period, counts in counters.items()}


def logs_of(database: Database, *, clock: Clock, rows_per_part: int | None = None, **settings: Any) -> Logs:
    """The service logs of a database."""
    chosen = ServiceLogSettings(**settings)
    services = LoggingServices(database, clock, hot=chosen.hot_services, most=chosen.max_services)
    parts = {} if rows_per_part is None else {"rows_per_part": rows_per_part}
    return Logs(
        database,
        services,
        ServiceLogs(database, services, **parts),
        LogWriter(database, services, chosen, clock, Metrics()),
    )


@asynccontextmanager
async def service_logs(
    engine: str, clock: Clock | None = None, *, stream: bool = False, **options: Any
) -> AsyncIterator[Logs]:
    """The service logs of tables of their own, which are empty."""
    clock = clock or held_clock()
    async with empty_database(engine, ENTITIES, clock=clock, stream=stream) as database:
        yield logs_of(database, clock=clock, **options)


def is_counted(log: ServiceLog, interval: ServiceLogInterval, now: int) -> bool:
    """Whether a log is counted at a time, epoch ms: until the end of the period in which it expires."""
    ttl: int | None = log.item.get("ttl")
    return ttl is None or 1000 * (ttl - ttl % interval.value + interval.value) > now


def counted(logs: Iterable[ServiceLog], now: int = NOON) -> dict[tuple[str, str, str, int], dict[str, int]]:
    """What the counters of these logs must be at a time, epoch ms, see `Logs.counters`."""
    counts: dict[tuple[str, str, str, int], dict[str, int]] = {}
    for log in logs:
        second = int(log.time_unix_nano) // SECOND
        for interval in (each for each in ServiceLogInterval if is_counted(log, each, now)):
            for service in (log.service, ""):
                key = interval.name, log.item["log_type"], service, second - second % interval.value
                levels = counts.setdefault(key, {})
                levels[log.item["level"]] = levels.get(log.item["level"], 0) + 1
    return counts


async def is_consistent(logs: Logs) -> bool:
    """Whether the counters equal a count of the logs, and the changes name each log once, without a gap."""
    stored = await logs.stored()
    latest = await logs.writer.sequence.latest()
    changes = await logs.writer.sequence.since(0, 1_000_000)
    named = [(change.number, key) for change in changes for key in change.keys]
    return (
        await logs.counters() == counted(stored)
        and [change.number for change in changes] == list(range(1, latest + 1))
        and sorted(named) == sorted((log.item["change"], log.identity[1]) for log in stored)
    )


def messages(logs: Sequence[ServiceLog]) -> list[str]:
    """The messages of logs, in order."""
    return [log.message for log in logs]
