"""Logs that another program writes are counted, numbered and sent to subscribers once each."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import aclosing, suppress
from typing import Any

import pytest

from graph.core.services import Services
from graph.domains.service_logs.adoption import ADOPT_LOGS
from graph.domains.service_logs.live import ServiceLogBroadcast
from graph.domains.service_logs.model import ServiceLog
from graph.domains.service_logs.selection import ServiceLogSelection
from graph.domains.service_logs.volumes import ServiceLogInterval, ServiceLogVolume, VolumeBy
from graph.feed.adopter import tasks_of
from graph.observability.metrics import Metrics
from graph.store.ordering import PageRequest
from tests.domains.service_logs.builders import Logs, a_log, counted, held_clock, is_consistent, messages, service_logs
from tests.domains.service_logs.foreign_logs import DAYS_90, NOON_S, a_log_entry, table_behind
from tests.feed.notes import records, some
from tests.processes import TIMEOUT_S

ALL = ServiceLogSelection()


@pytest.fixture
async def logs(dynamodb_endpoint: str) -> AsyncIterator[Logs]:
    async with service_logs("dynamodb", stream=True) as logs:
        yield logs


async def test_adoption_counts_and_numbers_each_log_once_however_often_it_comes(logs: Logs) -> None:
    table = table_behind(logs.database)
    await logs.write(a_log("checkout"))
    for number in range(40):  # with counters of 40 minutes, they take three transactions
        table.put_item(Item=a_log_entry("api-service", NOON_S + 60 * number, ttl=NOON_S + 60 * number + DAYS_90))
    table.put_item(Item=a_log_entry("checkout#3", NOON_S, level="ERROR", log_type="audit"))
    foreign = [item for log in await logs.stored() if "change" not in (item := log.item)]
    assert len(foreign) == 41

    services = Services([logs.services, logs.writer])
    await asyncio.gather(*[ADOPT_LOGS.adopt(services, foreign) for _ in range(3)])

    assert await is_consistent(logs)
    assert len(await logs.stored()) == 42
    by_service = await logs.read.volume(ServiceLogInterval.HOUR, VolumeBy.SERVICE, NOON_S, NOON_S)
    assert by_service == [
        ServiceLogVolume(NOON_S, 40, service="api-service"),
        ServiceLogVolume(NOON_S, 2, service="checkout"),
    ]
    known = {service.name: bool(service.is_spread) for service in await logs.services.all()}
    assert known == {"api-service": False, "checkout": True}


async def test_what_was_replaced_or_removed_meanwhile_is_left_for_later(logs: Logs) -> None:
    table = table_behind(logs.database)
    for second in range(3):
        table.put_item(Item=a_log_entry(timestamp=NOON_S + second))
    foreign = [log.item for log in await logs.stored()]
    table.put_item(Item=a_log_entry(timestamp=NOON_S, level="ERROR"))
    table.delete_item(Key={"service_name": "api-service", "timestamp": NOON_S + 1})

    await ADOPT_LOGS.adopt(Services([logs.services, logs.writer]), foreign)
    assert ["change" in log.item for log in await logs.stored()] == [False, True]
    assert await logs.counters() == counted([ServiceLog(foreign[2])])

    await logs.adopt()
    assert await is_consistent(logs)


async def test_a_log_that_takes_the_place_of_an_adopted_one_is_adopted_too(logs: Logs) -> None:
    table = table_behind(logs.database)
    for message in ("first", "second"):
        table.put_item(Item=a_log_entry(message=message))
        await logs.adopt()

    assert await logs.messages() == ["second"]
    volume = await logs.read.volume(ServiceLogInterval.MINUTE, VolumeBy.LEVEL, NOON_S, NOON_S)
    assert [each.count for each in volume] == [2], "so many were written"


async def test_subscribers_get_what_another_program_writes_and_begin_at_a_log_that_waits_for_its_number(
    logs: Logs,
) -> None:
    table, clock = table_behind(logs.database), held_clock()
    await logs.write(a_log("checkout", message="before"))
    table.put_item(Item=a_log_entry(message="waiting"))
    page = await logs.read.page(ServiceLogSelection(services=("api-service",)), PageRequest.of_first(1))
    broadcast = ServiceLogBroadcast(logs.writer.sequence, logs.read)
    services = Services([logs.services, logs.writer])
    (adopting,) = tasks_of((ADOPT_LOGS,), services, logs.database, clock, Metrics()).values()
    async with broadcast, aclosing(await broadcast.logs(ALL, page.records[0].cursor)) as notices:
        task: asyncio.Task[Any] = asyncio.create_task(adopting())  # type: ignore[arg-type]
        try:
            async with asyncio.timeout(TIMEOUT_S):
                found = records(await some(notices, 1))
                table.put_item(Item=a_log_entry("cart#7", NOON_S + 1, message="live"))
                found += records(await some(notices, 1))
        finally:
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task

    assert [(log.service, log.message) for log in found] == [("api-service", "waiting"), ("cart", "live")]
    assert await is_consistent(logs)
    assert [service.name for service in await logs.services.all()] == ["api-service", "cart", "checkout"]


async def test_a_service_is_found_spread_as_another_program_does_before_and_after_it_is_known(logs: Logs) -> None:
    table: Any = table_behind(logs.database)

    async def found(*names: str) -> list[str]:
        page = await logs.read.page(ServiceLogSelection(services=names), PageRequest.of_first(9), forward=True)
        return messages(page.records)

    table.put_item(Item=a_log_entry("api#9", message="spread"))
    assert await found("api") == await found("api", "unknown", "", "\ud800", "api#9") == ["spread"]
    await logs.write(a_log("cart", message="ours"))
    table.put_item(Item=a_log_entry("cart#0", NOON_S + 1, message="theirs"))
    assert await found("cart") == ["ours", "theirs"]
    assert await found("#3", "api#9") == []
    table.put_item(Item=a_log_entry("#3", NOON_S + 2, message="a name, not a shard"))
    assert await found("#3") == ["a name, not a shard"]
