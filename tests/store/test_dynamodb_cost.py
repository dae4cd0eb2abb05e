"""What the engine asks of DynamoDB for an answer: how many requests, how large, and how many at the same time."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest

from graph.store.conditions import AllOf, Compare, Condition, HasText
from graph.store.dynamodb.engine import PARTITIONS_AT_ONCE
from tests.store.engines import make_tables, open_samples
from tests.store.fault_proxy import Answer, FaultProxy, Forward
from tests.store.one_entity import OneEntity
from tests.store.samples import BY_TIME, SAMPLE, sample, sks, timed

DAYS = [f"d{n:02}" for n in range(40)]


@pytest.fixture
async def table(fault_proxy: FaultProxy, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[OneEntity]:
    prefix = make_tables([SAMPLE])
    monkeypatch.setenv("AWS_ENDPOINT_URL", fault_proxy.url)
    async with open_samples(prefix) as table:
        await table.put_many([timed(f"{day}-{n}", n, day, mag=n) for day in DAYS for n in range(3)])
        fault_proxy.requests.clear()
        yield table


async def test_an_open_table_keeps_its_connections(table: OneEntity, fault_proxy: FaultProxy) -> None:
    opened = set(fault_proxy.connections)

    for n in range(20):
        await table.put(sample("q", str(n)))
        assert await table.get(("q", str(n))) == sample("q", str(n))

    assert fault_proxy.connections == opened


@pytest.mark.parametrize("where", [Compare("mag", "=", 9), HasText("kind", "e")])
async def test_a_filtered_page_begins_small_and_grows(
    table: OneEntity, fault_proxy: FaultProxy, where: Condition
) -> None:
    await table.put_many([timed(f"x{n:04}", n, "long") for n in range(700)])
    await table.put(timed("last", 10_000, "long", mag=9, kind="É"))

    page = await table.query(BY_TIME, "long", limit=20, where=where)

    assert sks(page.items) == ["last"]
    assert [request["Limit"] for request in fault_proxy.of("Query")] == [80, 640]


async def test_dynamodb_tests_what_it_can_of_a_filter(table: OneEntity, fault_proxy: FaultProxy) -> None:
    """For the rest, it returns no more than the attributes that the test needs."""
    await table.put_many([timed(f"x{n}", n, "long", mag=n, note="Ā", more="more") for n in range(9)])
    where = AllOf((Compare("mag", ">=", 7), HasText("note", "a")))
    fault_proxy.requests.clear()

    assert await table.count(BY_TIME, ["long"], where=where) == 2
    assert await table.count(BY_TIME, ["long"], where=Compare("mag", ">=", 7)) == 2

    tested, counted = fault_proxy.of("Query")
    names = tested["ExpressionAttributeNames"]
    assert sorted(names[alias] for alias in tested["ProjectionExpression"].split(", ")) == [
        *("at", "day", "note", "pk", "sk")
    ]
    assert sorted(name for alias, name in names.items() if alias in tested["FilterExpression"]) == [
        *("entity", "mag", "ttl")
    ]
    assert counted["Select"] == "COUNT"


async def test_a_read_by_primary_key_is_consistent(table: OneEntity, fault_proxy: FaultProxy) -> None:
    await table.get(("p", "s"))
    await table.get_many([("p", "s")])
    await table.query(table.design.primary, "p")
    await table.count(table.design.primary, ["p"])
    _ = [item async for item in table.scan()]
    await table.query(BY_TIME, "d00")

    asked: list[dict[str, Any]] = [
        *fault_proxy.of("GetItem"),
        *fault_proxy.of("BatchGetItem")[0]["RequestItems"].values(),
        *fault_proxy.of("Query"),
        *fault_proxy.of("Scan"),
    ]
    assert [request.get("ConsistentRead", False) for request in asked] == [True, True, True, True, False, True]


async def test_empty_queries_send_no_request(table: OneEntity, fault_proxy: FaultProxy) -> None:
    await table.query(BY_TIME, "d00", between=(5, 4))
    await table.query(BY_TIME, "d00", between=(1, 2), start=timed("x", 3))
    await table.query(BY_TIME, "d00", between=(1, 2), start=timed("x", 0), forward=False)
    await table.get_many([])
    await table.put_many([])
    await table.transact([])

    assert fault_proxy.requests == []


async def test_partitions_are_read_at_the_same_time_but_not_all_of_them(
    table: OneEntity, fault_proxy: FaultProxy
) -> None:
    waiting = asyncio.Semaphore(0)

    async def wait_for_a_window_full(operation: str, request: dict[str, Any], forward: Forward) -> Answer | None:
        if fault_proxy.most_at_once == PARTITIONS_AT_ONCE:
            waiting.release()
        await waiting.acquire()
        waiting.release()
        return await forward(request)

    fault_proxy.most_at_once = 0
    fault_proxy.rule = wait_for_a_window_full
    page = await table.query_many(BY_TIME, DAYS)

    assert sks(page.items) == [f"{day}-{n}" for day in DAYS for n in range(3)]
    assert fault_proxy.most_at_once == PARTITIONS_AT_ONCE
    assert len(fault_proxy.of("Query")) == len(DAYS)


async def test_a_page_reads_the_items_that_it_has_room_for_and_no_partition_after_it(
    table: OneEntity, fault_proxy: FaultProxy
) -> None:
    await table.query(BY_TIME, "d00", limit=2)
    await table.query(table.design.primary, "p", limit=50)
    assert [request["Limit"] for request in fault_proxy.of("Query")] == [2, 50]

    fault_proxy.requests.clear()
    page = await table.query_many(BY_TIME, DAYS, limit=7)
    assert page.partitions == 3
    assert len(fault_proxy.of("Query")) <= 2 + PARTITIONS_AT_ONCE
    assert all(request["Limit"] <= 7 for request in fault_proxy.of("Query"))


async def test_a_conditional_write_carries_a_token_and_a_plain_one_needs_none(
    table: OneEntity, fault_proxy: FaultProxy
) -> None:
    await table.put(sample("q"))
    await table.put(sample("r"), if_absent=True)
    await table.put(sample("s"), if_absent=True)

    assert len(fault_proxy.of("PutItem")) == 1
    first, second = (request["ClientRequestToken"] for request in fault_proxy.of("TransactWriteItems"))
    assert first != second
