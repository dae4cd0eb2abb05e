"""Pages and volumes of service logs equal what looking at every log finds, on either engine, also after expiry.

Subscribers get each selected log once, in the order of storing, from wherever they begin.
"""

from collections import Counter
from collections.abc import AsyncIterator, Sequence
from contextlib import aclosing, asynccontextmanager
from typing import Any

import orjson
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from graph.core.errors import InvalidCursor
from graph.core.paging import Page, Paging
from graph.domains.service_logs.entities import ENTITIES
from graph.domains.service_logs.live import ServiceLogBroadcast
from graph.domains.service_logs.model import NewLog, ServiceLog, ServiceLogType
from graph.domains.service_logs.selection import ServiceLogSelection
from graph.domains.service_logs.volumes import ServiceLogInterval, VolumeBy
from graph.store.ordering import PageRequest
from tests.domains.service_logs.builders import (
    DAY,
    NOON_NS,
    SECOND,
    Logs,
    a_log,
    counted,
    held_clock,
    is_consistent,
    logs_of,
    messages,
    numbered,
    service_logs,
)
from tests.domains.service_logs.expected import (
    DAYS_KEPT,
    batches,
    expected_page,
    expected_volume,
    foreign_logs,
    positions,
    selections,
    selects,
)
from tests.domains.service_logs.foreign_logs import table_behind
from tests.effort import rounds
from tests.feed.notes import records, some
from tests.store.engines import empty_database
from tests.store.samples import HeldClock

SOME = settings(
    max_examples=rounds(40), suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)
ROWS = 4  # of a part, so that days with a few logs are divided


@asynccontextmanager
async def written(
    engine: str, before: Sequence[NewLog], later: Sequence[NewLog]
) -> AsyncIterator[tuple[Logs, HeldClock]]:
    """The logs of two batches. `late` becomes a hot service between them."""
    clock = held_clock()
    async with empty_database(engine, ENTITIES, clock=clock) as database:
        await logs_of(database, clock=clock, hot_services=("hot",), **DAYS_KEPT).write(*before)
        logs = logs_of(database, clock=clock, rows_per_part=ROWS, hot_services=("hot", "late"), **DAYS_KEPT)
        await logs.write(*later)
        yield logs, clock


async def page(logs: Logs, selection: ServiceLogSelection, paging: Paging, *, forward: bool) -> Page[ServiceLog]:
    return await logs.read.page(selection, PageRequest(paging), forward=forward)


def as_json(metadata: Any) -> bytes:
    """Metadata in one way; an engine may change the order of its names."""
    return orjson.dumps(metadata or None, option=orjson.OPT_SORT_KEYS)


@SOME
@given(batch=batches)
async def test_each_log_is_stored_once_with_all_that_it_says_at_its_time_or_behind_a_crowd(
    engine: str, batch: list[NewLog]
) -> None:
    async with written(engine, [], batch) as (logs, _):
        stored = await logs.stored()

        assert Counter(
            (
                log.service,
                int(log.time_unix_nano),
                log.message,
                log.log_type,
                log.severity_number,
                as_json(log.metadata),
            )
            for log in stored
        ) == Counter(
            (log.service, log.time_ns, log.message, log.log_type, log.severity, as_json(log.metadata)) for log in batch
        )
        for service in {log.service for log in stored}:
            slots = [round(log.timestamp * 1_000_000) for log in stored if log.service == service]
            times = [int(log.time_unix_nano) for log in stored if log.service == service]
            assert times == sorted(times)
            free = 0
            for slot, time_ns in zip(slots, times, strict=True):
                assert slot == max(time_ns // 1000, free)
                free = slot + 1
        assert await is_consistent(logs)


@SOME
@given(
    before=batches,
    later=batches,
    foreign=st.lists(foreign_logs, max_size=25),
    is_adopted=st.booleans(),
    days=st.sampled_from([0, 0, 1, 2, 4]),
    wanted=st.lists(st.tuples(selections, st.integers(0, 8), st.booleans(), st.booleans()), min_size=6, max_size=6),
    data=st.data(),
)
async def test_a_page_has_what_any_filter_selects_between_any_cursors_in_either_order(
    engine: str,
    before: list[NewLog],
    later: list[NewLog],
    foreign: list[dict[str, Any]],
    is_adopted: bool,
    days: int,
    wanted: list[tuple[ServiceLogSelection, int, bool, bool]],
    data: st.DataObject,
) -> None:
    async with written(engine, before, later) as (logs, clock):
        if logs.database.other_writers is not None:
            table = table_behind(logs.database)
            for log in foreign:
                table.put_item(Item=log)  # some take the place of others
            if is_adopted:
                await logs.adopt()
                await logs.note_adopted_until(clock.now - data.draw(st.sampled_from([-DAY, 0, DAY])) // 1_000_000)
        clock.now += days * DAY // 1_000_000
        stored = await logs.stored()
        of_logs = [log.item for log in stored]
        cursors = st.none() | positions | (st.sampled_from(of_logs) if of_logs else st.none())
        for selection, size, backward, forward in wanted:
            paging = Paging(size, backward, data.draw(cursors), data.draw(cursors))
            found = await page(logs, selection, paging, forward=forward)
            wanted_ids = expected_page(stored, selection, paging, forward=forward)
            assert [log.log_id for log in found.records] == wanted_ids, (selection, paging)
            # A subscription admits what a query would find.
            assert [selection.admits(log.item) for log in stored] == [selects(selection, log) for log in stored]


@SOME
@given(
    before=batches,
    later=batches,
    days=st.sampled_from([0, 1, 2, 4]),
    services=st.none() | st.lists(st.sampled_from(["hot", "hot", "late", "quiet", "unknown", "", "hot#3", "x" * 65])),
    seconds=st.tuples(st.integers(-DAY // 10**9, 4000), st.integers(0, 2 * DAY // 10**9)),
)
async def test_volumes_equal_a_count_of_all_logs_by_periods_of_which_some_have_expired(
    engine: str,
    before: list[NewLog],
    later: list[NewLog],
    days: int,
    services: list[str] | None,
    seconds: tuple[int, int],
) -> None:
    async with written(engine, before, later) as (logs, clock):
        everything = await logs.stored()
        clock.now += days * DAY // 1_000_000
        assert await logs.counters() == counted(everything, clock.now)
        first = NOON_NS // 10**9 + seconds[0]
        last = first + seconds[1]
        for by in VolumeBy:
            for interval in ServiceLogInterval:
                first = max(first, last - 9_999 * interval.value)
                found = await logs.read.volume(interval, by, first, last, services)
                assert found == expected_volume(everything, interval, by, first, last, services, now=clock.now)


async def test_a_crowd_at_the_edge_of_a_minute_is_filtered_and_counted_by_its_own_time(engine: str) -> None:
    """It has 1,500 logs of the last millisecond, which has a thousand microseconds."""
    minute, time_ns = NOON_NS // 1000 + 60_000_000, NOON_NS + 60 * SECOND - 1_000_000
    async with service_logs(engine) as logs:
        await logs.write(*numbered(1500, time_ns), a_log(time_ns=minute * 1000, message="next"))

        for services in (None, ("checkout",)):
            for text in (None, "1", "next"):
                before = ServiceLogSelection(last=minute - 1, services=services, text=text)
                after = ServiceLogSelection(first=minute, last=minute, services=services, text=text)
                wanted = [f"{n}" for n in range(1500) if (text or "") in f"{n}"]
                for forward in (True, False):
                    found = messages((await page(logs, before, Paging(1500), forward=forward)).records)
                    assert found == (wanted if forward else wanted[::-1])
                found = messages((await page(logs, after, Paging(1500), forward=True)).records)
                assert found == (["next"] if text != "1" else [])
        volume = await logs.read.volume(
            ServiceLogInterval.MINUTE, VolumeBy.LEVEL, NOON_NS // SECOND, NOON_NS // SECOND + 119
        )
        assert [each.count for each in volume] == [1500, 1]


async def test_a_log_expires_days_after_its_second_as_its_type_says(engine: str) -> None:
    """Not after it was written: that was a day later."""
    clock = held_clock()
    async with service_logs(engine, clock, **DAYS_KEPT) as logs:
        await logs.write(*[a_log(time_ns=NOON_NS - DAY, message=each.value, log_type=each) for each in ServiceLogType])
        kept = {}
        for day in range(1, 5):
            clock.now = (NOON_NS - DAY + day * DAY) // 1_000_000
            first = await messages_of_first_page(logs)
            clock.now -= 1  # the last millisecond before it
            kept[day] = (await messages_of_first_page(logs), first)

    everything = ["application", "audit", "system"]
    assert kept[1] == (everything, everything)
    assert kept[2] == (everything, ["audit", "system"])
    assert kept[3] == (["audit", "system"], ["audit", "system"])
    assert kept[4] == (["audit", "system"], ["audit"])


async def messages_of_first_page(logs: Logs) -> list[str]:
    return sorted(messages((await page(logs, ServiceLogSelection(), Paging(5), forward=True)).records))


ALL = ServiceLogSelection()


def broadcasting(logs: Logs) -> ServiceLogBroadcast:
    return ServiceLogBroadcast(logs.writer.sequence, logs.read)


async def test_a_cursor_of_a_log_that_is_not_there_is_refused(engine: str) -> None:
    async with service_logs(engine, stream=True) as logs:
        await logs.write(a_log())
        (log,) = await logs.stored()
        unknown = ServiceLog({**log.item, "timestamp": log.timestamp + 1}).cursor
        async with broadcasting(logs) as broadcast:
            for cursor in ("", "nonsense", log.identity[1], log.cursor[:-1], unknown):
                with pytest.raises(InvalidCursor):
                    await broadcast.logs(ALL, cursor)


async def test_changes_expire_with_the_last_of_their_logs_and_the_rest_is_replayed(engine: str) -> None:
    clock = held_clock()
    kept: dict[str, Any] = {"application_log_days": 1, "system_log_days": 2, "audit_log_days": 0}
    async with service_logs(engine, clock, **kept) as logs:
        await logs.write(a_log(message="audited", log_type=ServiceLogType.AUDIT))
        await logs.write(a_log(message="short-lived"))
        await logs.write(a_log(message="longer", log_type=ServiceLogType.SYSTEM), a_log(message="shorter"))
        await logs.write(a_log(message="for ever", log_type=ServiceLogType.AUDIT), a_log(message="short-lived, too"))
        cursor = (await logs.stored())[0].cursor

        rest = {1: ["longer", "for ever", "new 1"], 2: ["for ever", "new 1", "new 2"]}  # days later
        for gone, kept_changes in ((1, [1, 3, 4, 5]), (2, [1, 4, 5, 6])):
            clock.now = (NOON_NS // DAY + 1 + gone) * DAY // 1_000_000
            new = a_log(time_ns=clock.now * 1_000_000, message=f"new {gone}", log_type=ServiceLogType.AUDIT)
            await logs.write(new)
            assert [change.number for change in await logs.writer.sequence.since(0, 100)] == kept_changes

            async with broadcasting(logs) as broadcast, aclosing(await broadcast.logs(ALL, cursor)) as notices:
                assert messages(records(await some(notices, len(rest[gone])))) == rest[gone]
