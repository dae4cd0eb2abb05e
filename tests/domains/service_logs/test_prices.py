"""What reading and writing service logs costs, whatever else the table holds.

A day with many logs is read by its hours, an hour by its minutes, and no period without a matching log.
"""

from collections.abc import AsyncIterator

import pytest
from strawberry.utils.await_maybe import await_maybe

from graph.core.errors import BadUserInput
from graph.core.paging import Paging
from graph.domains.service_logs.entities import LOG_VOLUME, SERVICE_LOG, TIMESTAMP_INDEX
from graph.domains.service_logs.model import ServiceLog, ServiceLogLevel, ServiceLogType
from graph.domains.service_logs.planning import LogPlan, RangePart
from graph.domains.service_logs.selection import ServiceLogSelection
from graph.domains.service_logs.volumes import MOST_PERIODS, ServiceLogInterval, ServiceLogVolume, VolumeBy, Volumes
from graph.store.contract import Database
from graph.store.merging import AT_LEAST
from graph.store.ordering import PageRequest
from graph.store.query import ItemPage, Query
from tests.domains.earthquakes.watched_database import WatchedDatabase
from tests.domains.service_logs.builders import (
    DAY,
    MICROSECOND,
    NOON,
    NOON_NS,
    SECOND,
    Logs,
    a_log,
    held_clock,
    is_consistent,
    logs_of,
    numbered,
    service_logs,
)

SERVICES = 6
EACH = 200  # logs of a service
HOT = ("service 0",)
SIZE = 20


class Counting(WatchedDatabase):
    """A real database that counts the logs that it returns."""

    def __init__(self, database: Database) -> None:
        super().__init__(database)
        self.logs = 0

    async def query(self, query: Query) -> ItemPage:
        page = await super().query(query)
        self.logs += len(page.items) if query.entity is SERVICE_LOG else 0
        return page

    async def looked_for_spread_logs(self, logs: Logs, selection: ServiceLogSelection) -> None:
        """Look whether another program has spread logs of the services, as a process does once a minute."""
        await logs.services.partitions(selection.services or ())
        self.calls.clear()
        self.logs = 0

    def queries(self) -> list[tuple[str, int]]:
        """The readings of logs: by which index, and of how many partitions."""
        return [(call.index, len(call.partitions)) for call in self.calls if call.entity is SERVICE_LOG]


@pytest.fixture
async def written(engine: str) -> AsyncIterator[Logs]:
    """Some services, each with a log every second."""
    async with service_logs(engine, hot_services=HOT) as logs:
        for service in range(SERVICES):
            batch = [
                a_log(f"service {service}", NOON_NS + n * SECOND + service * MICROSECOND, f"{n}") for n in range(EACH)
            ]
            await logs.write(*batch)
        yield logs


async def read(
    written: Logs, selection: ServiceLogSelection, paging: Paging, *, rows_per_part: int | None = None
) -> tuple[list[ServiceLog], Counting]:
    """A page newest first, and what it cost."""
    watched = Counting(written.database)
    logs = logs_of(watched, clock=held_clock(), rows_per_part=rows_per_part, hot_services=HOT)
    await watched.looked_for_spread_logs(logs, selection)
    page = await logs.read.page(selection, PageRequest(paging))
    assert page.has_more
    return list(page.records), watched


async def test_a_page_by_service_takes_one_query_and_reads_its_own_logs_and_a_hot_one_each_of_its_partitions(
    written: Logs,
) -> None:
    for seconds in (EACH, 150):
        after = (
            {"timestamp": (NOON_NS + 3000) / SECOND + seconds, "service_name": "service 3"} if seconds < EACH else None
        )
        records, watched = await read(written, ServiceLogSelection(services=("service 3",)), Paging(SIZE, after=after))
        assert [record.message for record in records] == [f"{n}" for n in range(seconds - 1, -1, -1)[:SIZE]]
        assert watched.queries() == [(SERVICE_LOG.table.primary.name, 1)]
        assert watched.logs <= SIZE + 3

    records, watched = await read(written, ServiceLogSelection(services=HOT), Paging(SIZE))

    assert [record.message for record in records] == [f"{n}" for n in range(EACH - 1, EACH - 1 - SIZE, -1)]
    if written.database.merges > 1:
        assert watched.queries() == [(SERVICE_LOG.table.primary.name, 11)]
        assert watched.logs <= SIZE + 3
    else:
        assert set(watched.queries()) == {(SERVICE_LOG.table.primary.name, 1)}
        assert 11 <= len(watched.queries()) <= 13
        assert watched.logs <= AT_LEAST * 14


async def test_a_page_by_type_takes_one_query_and_one_of_all_logs_at_most_three(written: Logs) -> None:
    records, watched = await read(written, ServiceLogSelection(types=(ServiceLogType.APPLICATION,)), Paging(SIZE))
    assert (len(records), watched.queries()) == (SIZE, [(TIMESTAMP_INDEX.name, 1)])
    assert watched.logs <= SIZE + 3

    records, watched = await read(written, ServiceLogSelection(), Paging(SIZE))
    assert (len(records), len({record.service for record in records})) == (SIZE, SERVICES)
    if written.database.merges > 1:
        assert watched.queries() == [(TIMESTAMP_INDEX.name, 3)]
        assert watched.logs <= SIZE + 3
    else:
        assert watched.queries()[:3] == [(TIMESTAMP_INDEX.name, 1)] * 3
        assert len(watched.queries()) <= 4
        assert watched.logs <= 3 * SIZE


async def test_a_filtered_page_reads_only_the_periods_that_have_such_logs(engine: str) -> None:
    async with service_logs(engine) as written:
        hours = [a_log(time_ns=NOON_NS - n * 60 * SECOND, message=f"{n}") for n in range(400)]
        errors = [a_log(time_ns=NOON_NS - n * 60 * SECOND, message=f"error {n}", severity=17) for n in (390, 380, 375)]
        await written.write(*hours, *errors)
        await written.note_adopted_until(NOON + 600_000)  # 5 minutes more than the latest time

        selection = ServiceLogSelection(services=("checkout",), levels=(ServiceLogLevel.ERROR,))
        records, watched = await read(written, selection, Paging(2), rows_per_part=20)

        assert [record.message for record in records] == ["error 375", "error 380"]
        read_hours = [call for call in watched.calls if call.entity is LOG_VOLUME]
        assert {call.partitions[0][0] for call in read_hours} == {"DAY", "HOUR", "MINUTE"}
        assert watched.logs <= 3
        assert len(watched.queries()) <= (3 if written.database.other_writers is None else 4)


async def test_a_write_of_fresh_logs_reads_the_services_and_the_number_once_and_then_nothing(engine: str) -> None:
    async with service_logs(engine) as empty:
        watched = Counting(empty.database)
        logs = logs_of(watched, clock=held_clock())
        await logs.write(*numbered(3))
        assert [call.entity.name for call in watched.calls] == ["LOGGING_SERVICE"]
        assert [entity.name for entity, _ in watched.gets] == ["LATEST_SERVICE_LOGS"]

        watched.calls.clear()
        watched.gets.clear()
        watched.transactions.clear()
        number = watched.transaction_limit - 8  # beside the counters and the change
        await logs.write(*numbered(number, NOON_NS + SECOND))
        assert (watched.calls, watched.gets, watched.transactions) == ([], [], [number + 8])

        watched = Counting(empty.database)  # what is written again is looked up at once
        assert (await logs_of(watched, clock=held_clock()).write(*numbered(3))).skipped == 3
        assert len(watched.transactions) == 1
        assert [entity.name for entity, _ in watched.gets].count("SERVICE_LOG") == 1


async def test_a_crowd_is_read_once_and_then_each_further_log_of_its_microsecond_costs_one_transaction(
    engine: str,
) -> None:
    async with service_logs(engine) as empty:
        await empty.write(*numbered(1000))
        watched = Counting(empty.database)
        logs = logs_of(watched, clock=held_clock())

        batch = [a_log(message=f"later {n}") for n in range(300)]
        assert (await logs.write(*batch, *numbered(10))).skipped == 10
        assert watched.logs <= 1000 + 300
        assert len(watched.queries()) <= 7  # of 128 logs, 256, 512 and so on; on DynamoDB, further ones of this batch

        for n in range(3):
            watched.calls.clear()
            watched.gets.clear()
            watched.transactions.clear()
            assert (await logs.write(a_log(message=f"last {n}"))).accepted == 1
            assert (watched.queries(), watched.gets, len(watched.transactions)) == ([], [], 1)
        assert (await logs.write(*batch)).skipped == 300

        stored = [str(n) for n in range(1000)] + [f"later {n}" for n in range(300)] + [f"last {n}" for n in range(3)]
        assert await logs.messages() == stored
        assert await is_consistent(logs)


async def test_what_precedes_a_page_is_read_only_on_request_and_global_ids_together(written: Logs) -> None:
    watched = Counting(written.database)
    logs = logs_of(watched, clock=held_clock())
    await watched.looked_for_spread_logs(logs, ServiceLogSelection(services=("service 3",)))
    after = {"timestamp": NOON_NS / SECOND + 100, "service_name": "service 3"}
    page = await logs.read.page(ServiceLogSelection(services=("service 3",)), PageRequest(Paging(SIZE, after=after)))
    assert len(watched.queries()) == 1
    assert await await_maybe(page.has_previous)
    assert len(watched.queries()) == 2
    assert watched.logs <= SIZE + 6

    stored = await written.stored()
    watched = Counting(written.database)
    keys = [log.identity[1] for log in stored[:30]]
    found = await logs_of(watched, clock=held_clock()).read.by_key([*keys, "1@nobody", "x"], frozenset({"message"}))
    assert [found[key].message for key in keys] == [log.message for log in stored[:30]]
    assert (len(found), len(watched.gets), watched.calls) == (30, 1, [])


MINUTE = 60 * SECOND


async def parts_of(
    logs: Logs, selection: ServiceLogSelection, rows: int, wanted: int = 1, *, forward: bool = True
) -> list[RangePart]:
    plan = LogPlan(Volumes(logs.database), selection, rows)
    return [part async for part in plan.parts(wanted, forward=forward)]


async def test_a_busy_day_is_divided_into_hours_and_a_busy_hour_into_minutes() -> None:
    async with service_logs("sqlite") as logs:
        await logs.write(
            *[a_log(time_ns=NOON_NS + n * MINUTE, message=f"{n}") for n in range(5)],
            a_log(time_ns=NOON_NS - 60 * MINUTE),
            a_log(time_ns=NOON_NS - DAY),
        )
        noon = NOON_NS // SECOND
        hour, yesterday = noon - 3600, (noon // 86_400 - 1) * 86_400

        # A part promises one log, the next one two, and so on.
        assert await parts_of(logs, ServiceLogSelection(), 4) == [
            RangePart(yesterday, yesterday + 86_399, 1, 1),
            RangePart(hour, noon + 59, 2, 2),
            RangePart(noon + 60, noon + 299, 4, 4),
        ]
        # The same in reverse, where only a part's number of logs bounds it.
        assert await parts_of(logs, ServiceLogSelection(), 2, 100, forward=False) == [
            RangePart(noon + 180, noon + 299, 2, 2),
            RangePart(noon + 60, noon + 179, 2, 2),
            RangePart(hour, noon + 59, 2, 2),
            RangePart(yesterday, yesterday + 86_399, 1, 1),
        ]

        await logs.write(a_log(time_ns=NOON_NS + 3 * MINUTE, message="error", severity=17))
        errors, debug = (
            ServiceLogSelection(levels=(level,)) for level in (ServiceLogLevel.ERROR, ServiceLogLevel.DEBUG)
        )
        assert await parts_of(logs, errors, 4, 100) == [RangePart(noon + 180, noon + 239, 1, 2)]
        assert await parts_of(logs, debug, 4) == []


async def test_a_time_range_that_begins_within_a_minute_has_the_rest_of_it() -> None:
    async with service_logs("sqlite") as logs:
        await logs.write(*[a_log(time_ns=NOON_NS + n * SECOND, message=f"{n}") for n in range(100)])
        noon, first = NOON_NS // SECOND, NOON_NS // 1000 + 30_000_000

        of_rest = ServiceLogSelection(first=first, last=first + 40_000_000)
        assert await parts_of(logs, of_rest, 1000, 100) == [RangePart(noon + 30, noon + 70, 100, 100)]
        assert await parts_of(logs, of_rest, 50) == [
            RangePart(noon + 30, noon + 59, 60, 60),
            RangePart(noon + 60, noon + 70, 40, 40),
        ]


NOON_S = NOON_NS // SECOND


async def test_a_volume_of_more_numbers_than_it_may_have_is_refused(engine: str) -> None:
    async with service_logs(engine) as logs:
        await logs.write(a_log(severity=9), a_log(severity=9, message="too"), a_log("search", severity=17))
        by_level = [
            ServiceLogVolume(NOON_S, 2, level=ServiceLogLevel.INFO),
            ServiceLogVolume(NOON_S, 1, level=ServiceLogLevel.ERROR),
        ]
        wanted = ServiceLogInterval.MINUTE, VolumeBy.LEVEL, NOON_S, NOON_S + 59

        found = await Volumes(logs.database, most_counts=2).volume(*wanted)
        with pytest.raises(BadUserInput, match="at most 1 numbers: choose a longer `interval`"):
            await Volumes(logs.database, most_counts=1).volume(*wanted)

    assert sorted(found, key=str) == sorted(by_level, key=str)


async def test_a_volume_of_more_periods_than_it_may_have_is_refused() -> None:
    async with service_logs("sqlite") as logs:
        for interval in ServiceLogInterval:
            first = interval.start_of(NOON_S)
            last = first + MOST_PERIODS * interval.value - 1
            assert await logs.read.volume(interval, VolumeBy.TYPE, first, last) == []
            with pytest.raises(BadUserInput, match="at most 10,000 periods"):
                await logs.read.volume(interval, VolumeBy.TYPE, first, last + 1)
