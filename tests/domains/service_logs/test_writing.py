"""Each log is stored once and in its order, whatever has its time, whoever writes it, and however often.

A write that breaks off at any call leaves whole transactions, exact counters, and a sequence without a gap.
"""

import asyncio
from collections.abc import AsyncIterator
from itertools import chain
from pathlib import Path
from typing import Any

import pytest

from graph.domains.service_logs.checking import LogDraft
from graph.domains.service_logs.entities import ENTITIES
from graph.domains.service_logs.model import INFO, MOST_SHIFT, LogProblem, NewLog, WriteReport
from graph.domains.service_logs.selection import ServiceLogSelection
from graph.domains.service_logs.slots import PLACED_AT_ONCE, BatchSlots, TakenSlots
from graph.store.location import StoreLocation
from graph.store.ordering import PageRequest
from tests.domains.service_logs.builders import (
    DAY,
    MICROSECOND,
    MIDNIGHT_NS,
    NOON_NS,
    SECOND,
    Logs,
    a_log,
    counted,
    held_clock,
    is_consistent,
    logs_of,
    numbered,
    service_logs,
)
from tests.domains.watches.cuts import Cut, cut_off
from tests.processes import TIMEOUT_S
from tests.store.engines import empty_database, new_store
from tests.turns import turns_counted

HOT: dict[str, Any] = {"hot_services": ("checkout",)}
BATCHES = 2  # of a writer
THOUSAND = [f"{n}" for n in range(1000)]


@pytest.fixture(params=["sqlite", "sqlite hot", "dynamodb"])
async def logs(request: pytest.FixtureRequest) -> AsyncIterator[Logs]:
    """Empty tables, in which the service `checkout` is hot or not: which partition a log has is no engine's matter."""
    engine, _, hot = request.param.partition(" ")
    if engine == "dynamodb":
        request.getfixturevalue("dynamodb_endpoint")
    async with service_logs(engine, **(HOT if hot else {})) as logs:
        yield logs


async def test_a_thousand_logs_of_one_microsecond_are_all_stored_in_their_order(logs: Logs) -> None:
    assert await logs.write(*numbered(1000)) == WriteReport(1000, 0, ())

    assert await logs.messages() == THOUSAND
    assert {log.time_unix_nano for log in await logs.stored()} == {str(NOON_NS)}
    assert await is_consistent(logs)


async def test_batches_that_overlap_lose_nothing_and_store_nothing_twice(logs: Logs) -> None:
    batch = [a_log(time_ns=NOON_NS + n // 3 * MICROSECOND, message=f"{n}") for n in range(300)]

    assert await logs.write(*batch[100:220]) == WriteReport(120, 0, ())
    assert await logs.write(*batch[:150]) == WriteReport(100, 50, ())
    assert await logs.write(*batch[50:]) == WriteReport(80, 170, ())

    assert sorted(await logs.messages()) == sorted(log.message for log in batch)
    assert await is_consistent(logs)


async def test_equal_logs_of_one_batch_are_all_kept_and_again_skipped(logs: Logs) -> None:
    batch = [a_log() for _ in range(7)]
    others = [a_log("cart"), a_log(time_ns=NOON_NS + 1), a_log(message="refunded")]

    assert await logs.write(*batch) == WriteReport(7, 0, ())
    assert await logs.write(*batch[:3]) == WriteReport(0, 3, ())
    assert await logs.write(*batch, a_log()) == WriteReport(1, 7, ())
    assert await logs.write(*others) == WriteReport(3, 0, ())

    assert len({log.log_id for log in await logs.stored()}) == len(await logs.stored()) == 11
    assert await is_consistent(logs)


async def test_a_log_with_an_id_is_stored_once_for_its_time_however_often_a_batch_has_it(logs: Logs) -> None:
    uuid = "0198F3C2-0000-7000-8000-00000000000a"
    given = a_log(log_id=uuid)

    assert await logs.write(given, a_log(), given) == WriteReport(2, 1, ())
    assert await logs.write(given) == WriteReport(0, 1, ())
    assert await logs.write(a_log(time_ns=NOON_NS + SECOND, log_id=uuid)) == WriteReport(1, 0, ())

    assert [log.log_id for log in await logs.stored()].count(uuid.lower()) == 2
    assert await is_consistent(logs)


async def test_a_crowd_that_is_moved_into_the_next_minute_hour_and_day_is_counted_at_its_time(logs: Logs) -> None:
    """It fills a transaction with the counters of one minute."""
    number = logs.database.transaction_limit - 8
    first = MIDNIGHT_NS - number * MICROSECOND
    await logs.write(a_log(time_ns=first, message="before"))

    assert await logs.write(*numbered(number, first)) == WriteReport(number, 0, ())

    assert await logs.messages() == ["before", *[f"{n}" for n in range(number)]]
    assert await logs.write(*numbered(number, first)) == WriteReport(0, number, ())
    assert await is_consistent(logs)


async def test_a_log_that_is_moved_into_the_next_hour_expires_by_its_own_time_and_is_counted_until_its_period_has(
    engine: str,
) -> None:
    clock = held_clock()
    async with service_logs(engine, clock, application_log_days=1) as logs:
        await logs.write(*numbered(3, NOON_NS - MICROSECOND))  # the last two of them move
        everything = await logs.stored()

        clock.now = (NOON_NS + DAY) // 1_000_000 - 1
        assert await logs.stored() == []
        assert await logs.counters() == counted(everything, clock.now)
        assert {interval for interval, *_ in await logs.counters()} == {"MINUTE", "HOUR", "DAY"}

        clock.now += 1
        assert {interval for interval, *_ in await logs.counters()} == {"DAY"}
        clock.now = (MIDNIGHT_NS + 2 * DAY) // 1_000_000
        assert await logs.counters() == {}


async def test_long_logs_take_as_many_transactions_as_they_need(engine: str) -> None:
    """A transaction of DynamoDB takes 4 MB."""
    async with service_logs(engine) as logs:
        batch = [a_log(message="€" * 65_000 + f"{n}", metadata={"x": "y" * 60_000}) for n in range(24)]
        assert await logs.write(*batch) == WriteReport(24, 0, ())
        assert await is_consistent(logs)


# Several writers


@pytest.mark.parametrize("settings", [{}, HOT], ids=["plain", "hot"])
async def test_two_writers_at_the_same_time_lose_nothing_and_count_each_log_once(
    engine: str, tmp_path: Path, settings: dict[str, Any]
) -> None:
    """They compete for the same slots, and share half of their logs."""
    location, clock = StoreLocation.of(await new_store(engine, tmp_path, ENTITIES)), held_clock()

    def batch(writer: str, number: int) -> list[NewLog]:
        time_ns = NOON_NS + number * 20 * MICROSECOND
        return [*numbered(25, time_ns), *[a_log(time_ns=time_ns, message=f"{writer} {n}") for n in range(25)]]

    async def write(logs: Logs, writer: str) -> list[WriteReport]:
        return list(await asyncio.gather(*[logs.write(*batch(writer, number)) for number in range(BATCHES)]))

    async with (
        location.open(ENTITIES, timeout_s=TIMEOUT_S, clock=clock) as one,
        location.open(ENTITIES, timeout_s=TIMEOUT_S, clock=clock) as other,
    ):
        first, second = (logs_of(database, clock=clock, **settings) for database in (one, other))
        reports = [*chain.from_iterable(await asyncio.gather(write(first, "a"), write(second, "b")))]

        stored = await first.stored()
        assert sum(report.accepted for report in reports) == len(stored) == BATCHES * 75
        assert sum(report.skipped for report in reports) == BATCHES * 25
        assert await is_consistent(first)
        for writer in ("a", "b"):
            for number in range(BATCHES):
                time_unix_nano = str(NOON_NS + number * 20_000)
                own = [log.message for log in stored if log.time_unix_nano == time_unix_nano and writer in log.message]
                assert own == [f"{writer} {n}" for n in range(25)]


async def test_many_batches_of_one_process_at_once_wait_for_each_other_however_many_are_known() -> None:
    """A batch whose logs are stored refuses a transaction, and those behind it have to be sent again."""
    async with service_logs("sqlite") as logs:
        await logs.write(*numbered(3))

        times = [(NOON_NS + n % 2 * n * SECOND, f"service {n}" if n % 2 else "checkout") for n in range(120)]
        reports = await asyncio.gather(*[logs.write(*numbered(3, *each)) for each in times])

        assert sum(report.accepted for report in reports) == 180
        assert await is_consistent(logs)


async def test_writers_of_other_services_do_not_make_a_writer_give_up() -> None:
    """They compete for the number of their changes, and for nothing else."""
    async with service_logs("sqlite") as first:
        writers = [logs_of(first.database, clock=held_clock()) for _ in range(24)]

        async def write(number: int) -> None:
            for turn in range(4):
                await writers[number].write(a_log(f"service {number}", message=f"{turn}"))

        await asyncio.gather(*[write(number) for number in range(24)])

        assert len(await first.stored()) == 96
        assert await is_consistent(first)


async def test_counters_expire_with_their_logs_where_the_setting_has_changed(engine: str) -> None:
    """Some logs of a minute are kept for two days and others for one, whichever setting is the later one."""
    clock = held_clock()
    async with empty_database(engine, ENTITIES, clock=clock) as database:
        long, short = (logs_of(database, clock=clock, application_log_days=days) for days in (2, 1))
        for nth, logs in enumerate((long, short, long)):
            await logs.write(a_log(message=f"paid {nth}", severity=INFO + 4 * nth))
        everything = await long.stored()

        for left in (["paid 0", "paid 1", "paid 2"], ["paid 0", "paid 2"], []):
            assert await long.messages() == left
            assert await long.counters() == counted(everything, clock.now)
            page = await long.read.page(ServiceLogSelection(text="PAID"), PageRequest.of_first(10), forward=True)
            assert [log.message for log in page.records] == left
            clock.now += 86_400_000


LOGS = 16  # of a batch, which takes several transactions


def batch(number: int) -> list[NewLog]:
    """A batch whose times overlap those of its neighbours, and that shares a log with one of them."""
    start = NOON_NS + number * 10 * MICROSECOND
    times = [start + n // 3 * 100 * MICROSECOND for n in range(LOGS)]
    return [
        *(a_log(("hot", "plain")[n % 2], at, f"{number} {n}", severity=1 + n % 24) for n, at in enumerate(times)),
        a_log("plain", NOON_NS + number // 2 * 1000 * MICROSECOND, "shared"),
    ]


async def test_a_batch_that_breaks_off_at_any_call_can_be_written_again() -> None:
    number, written = 0, set[str]()
    async with service_logs("sqlite", hot_services=("hot",)) as logs:
        for way in ("refused", "answer lost"):
            left, broke_off = 0, True
            while broke_off:
                number, left = number + 1, left + 1
                database = Cut(logs.database, way)
                database.left = left
                await cut_off(logs_of(database, clock=held_clock(), hot_services=("hot",)).write(*batch(number)))
                broke_off = database.left <= 0
                assert await is_consistent(logs)

                report = await logs.write(*batch(number))  # by whoever does not know whether it was stored
                written |= {f"{log.service} {log.message} {log.time_ns}" for log in batch(number)}
                stored = [f"{log.service} {log.message} {log.time_unix_nano}" for log in await logs.stored()]
                assert sorted(stored) == sorted(written)
                assert report.accepted + report.skipped == LOGS + 1
                assert await is_consistent(logs)
            assert left > 4


LOGS_OF_MANY = 10 * PLACED_AT_ONCE


async def test_many_logs_are_placed_in_pieces() -> None:
    drafts = [LogDraft(n, "checkout", 1000 * n, {"log_id": f"{n}"}, n, 0) for n in range(LOGS_OF_MANY)]
    async with service_logs("sqlite") as logs, turns_counted() as turns:
        placed = await BatchSlots(logs.database, logs.services, TakenSlots()).place(drafts)

    assert [draft.slot for draft in placed] == list(range(LOGS_OF_MANY))
    assert turns.number >= LOGS_OF_MANY // PLACED_AT_ONCE


async def test_a_log_is_shifted_by_a_crowd_as_far_as_the_bound_and_refused_behind_it() -> None:
    slot = NOON_NS // 1000
    async with service_logs("sqlite") as logs:
        for n in range(MOST_SHIFT):
            logs.writer.taken.add("checkout", slot + n, {"log_id": f"{n}", "time_unix_nano": "0"})
        report = await logs.writer.write([*numbered(3), a_log("cart")])

        assert (report.accepted, report.skipped) == (2, 0)
        assert [(each.index, each.code) for each in report.rejections] == [
            (1, LogProblem.TIME_CROWDED),
            (2, LogProblem.TIME_CROWDED),
        ]
        assert [log.timestamp for log in await logs.stored()] == [slot / 1e6, (slot + MOST_SHIFT) / 1e6]
