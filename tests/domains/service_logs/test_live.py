"""Subscribers get each selected log once, in the order of storing, from wherever they begin."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import aclosing, asynccontextmanager
from typing import Any

import pytest

from graph.core.errors import InvalidCursor
from graph.domains.service_logs.live import ServiceLogBroadcast
from graph.domains.service_logs.model import ServiceLog, ServiceLogType
from graph.domains.service_logs.selection import ServiceLogSelection
from graph.feed.broadcast import SubscriberMessage
from tests.domains.service_logs.builders import DAY, NOON_NS, SECOND, Logs, a_log, held_clock, service_logs
from tests.processes import TIMEOUT_S

ALL = ServiceLogSelection()


@pytest.fixture
async def logs(engine: str) -> AsyncIterator[Logs]:
    async with service_logs(engine, stream=True, hot_services=("hot",)) as logs:
        yield logs


@asynccontextmanager
async def broadcasting(logs: Logs) -> AsyncIterator[ServiceLogBroadcast]:
    """A broadcast of what is stored, whose subscriptions all end before it does."""
    async with ServiceLogBroadcast(logs.writer.sequence, logs.read) as broadcast:
        yield broadcast
        assert broadcast.subscriptions == 0


async def some(notices: AsyncIterator[SubscriberMessage[ServiceLog]], number: int) -> list[str]:
    """The messages of the next logs, so many, of which none was dropped."""
    async with asyncio.timeout(TIMEOUT_S):
        taken = [await anext(notices) for _ in range(number)]
    records = [notice.record for notice in taken if notice.record]
    assert [(notice.cursor, notice.dropped) for notice in taken] == [(record.cursor, 0) for record in records]
    return [record.message for record in records]


async def test_only_selected_logs_stored_after_subscribing_are_sent_in_the_order_of_storing(logs: Logs) -> None:
    await logs.write(a_log(message="before"))
    warnings = ServiceLogSelection(services=("checkout", "hot"), min_severity=13, metadata=(("user", "anna"),))
    anna: dict[str, Any] = {"metadata": {"user": "anna"}}
    async with broadcasting(logs) as broadcast, aclosing(await broadcast.logs(warnings)) as notices:
        first = asyncio.ensure_future(some(notices, 3))
        await logs.write(
            a_log(message="quiet", severity=12, **anna),
            a_log(message="second", time_ns=NOON_NS + SECOND, severity=13, **anna),
            a_log(message="first", severity=24, **anna),
            a_log("hot", message="third", severity=17, **anna),
            a_log("cart", message="other", severity=17, **anna),
            a_log(message="nobody's", severity=17),
        )
        assert await first == ["first", "second", "third"]

        await logs.write(a_log(message="first", severity=24, **anna))  # again
        await logs.write(a_log(time_ns=NOON_NS - DAY, message="late", severity=24, **anna))
        assert await some(notices, 1) == ["late"]


async def test_a_cursor_of_a_log_that_is_not_there_is_refused(logs: Logs) -> None:
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
                assert await some(notices, len(rest[gone])) == rest[gone]
