"""What the engine asks of DynamoDB for an answer: how many requests, how large, and how many at the same time."""

import asyncio
from typing import Any

import pytest

from graph.core.errors import QueryTooComplex
from graph.store.conditions import AllOf, Compare, Condition, HasText
from graph.store.dynamodb.engine import PARTITIONS_AT_ONCE
from tests.store.fault_proxy import Answer, Forward, Proxied
from tests.store.samples import BY_TIME, sample, sks, timed
from tests.work.accounts import an_account

DAYS = [f"d{n:02}" for n in range(40)]


@pytest.fixture
async def table(proxied: Proxied) -> Proxied:
    await proxied.put_many([timed(f"{day}-{n}", n, day, mag=n) for day in DAYS for n in range(3)])
    proxied.proxy.requests.clear()
    return proxied


async def test_an_open_table_keeps_its_connections(table: Proxied) -> None:
    opened = set(table.proxy.connections)

    for n in range(20):
        await table.put(sample("q", str(n)))
        assert await table.get(("q", str(n))) == sample("q", str(n))

    assert table.proxy.connections == opened


@pytest.mark.parametrize("where", [Compare("mag", "=", 9), HasText("kind", "e")])
async def test_a_filtered_page_begins_small_and_grows(table: Proxied, where: Condition) -> None:
    await table.put_many([timed(f"x{n:04}", n, "long") for n in range(700)])
    await table.put(timed("last", 10_000, "long", mag=9, kind="É"))

    page = await table.query(BY_TIME, "long", limit=20, where=where)

    assert sks(page.items) == ["last"]
    assert [request["Limit"] for request in table.proxy.of("Query")] == [80, 640]


async def test_a_caller_is_charged_for_a_long_tie_which_is_read_to_its_end(table: Proxied) -> None:
    await table.put_many([timed(f"x{n:04}", 0, "long") for n in range(700)])

    with an_account() as account:
        page = await table.query(BY_TIME, "long", limit=20, orders_ties=True)
    assert sks(page.items) == [f"x{n:04}" for n in range(20)]
    assert account.spent == (700 - 22) // 10

    for start in (None, page.items[-1]):
        with an_account(most=10), pytest.raises(QueryTooComplex):
            await table.query(BY_TIME, "long", limit=20, start=start, orders_ties=True)


async def test_dynamodb_tests_what_it_can_of_a_filter(table: Proxied) -> None:
    """For the rest, it returns no more than the attributes that the test needs."""
    await table.put_many([timed(f"x{n}", n, "long", mag=n, note="Ā", more="more") for n in range(9)])
    where = AllOf((Compare("mag", ">=", 7), HasText("note", "a")))
    table.proxy.requests.clear()

    assert await table.count(BY_TIME, ["long"], where=where) == 2
    assert await table.count(BY_TIME, ["long"], where=Compare("mag", ">=", 7)) == 2

    tested, counted = table.proxy.of("Query")
    names = tested["ExpressionAttributeNames"]
    assert sorted(names[alias] for alias in tested["ProjectionExpression"].split(", ")) == [
        *("at", "day", "note", "pk", "sk")
    ]
    assert sorted(name for alias, name in names.items() if alias in tested["FilterExpression"]) == [
        *("entity", "mag", "ttl")
    ]
    assert counted["Select"] == "COUNT"


async def test_a_read_by_primary_key_is_consistent(table: Proxied) -> None:
    await table.get(("p", "s"))
    await table.get_many([("p", "s")])
    await table.query(table.design.primary, "p")
    await table.count(table.design.primary, ["p"])
    _ = [item async for item in table.scan()]
    await table.query(BY_TIME, "d00")

    asked: list[dict[str, Any]] = [
        *table.proxy.of("GetItem"),
        *table.proxy.of("BatchGetItem")[0]["RequestItems"].values(),
        *table.proxy.of("Query"),
        *table.proxy.of("Scan"),
    ]
    assert [request.get("ConsistentRead", False) for request in asked] == [True, True, True, True, False, True]


async def test_empty_queries_send_no_request(table: Proxied) -> None:
    await table.query(BY_TIME, "d00", between=(5, 4))
    await table.query(BY_TIME, "d00", between=(1, 2), start=timed("x", 3))
    await table.query(BY_TIME, "d00", between=(1, 2), start=timed("x", 0), forward=False)
    await table.get_many([])
    await table.put_many([])
    await table.transact([])

    assert table.proxy.requests == []


async def test_partitions_are_read_at_the_same_time_but_not_all_of_them(table: Proxied) -> None:
    waiting = asyncio.Semaphore(0)

    async def wait_for_a_window_full(operation: str, request: dict[str, Any], forward: Forward) -> Answer | None:
        if table.proxy.most_at_once == PARTITIONS_AT_ONCE:
            waiting.release()
        await waiting.acquire()
        waiting.release()
        return await forward(request)

    table.proxy.most_at_once = 0
    table.proxy.rule = wait_for_a_window_full
    page = await table.query_many(BY_TIME, DAYS)

    assert sks(page.items) == [f"{day}-{n}" for day in DAYS for n in range(3)]
    assert table.proxy.most_at_once == PARTITIONS_AT_ONCE
    assert len(table.proxy.of("Query")) == len(DAYS)


async def test_a_page_reads_the_items_that_it_has_room_for_and_no_partition_after_it(table: Proxied) -> None:
    await table.query(BY_TIME, "d00", limit=2)
    await table.query(table.design.primary, "p", limit=50)
    assert [request["Limit"] for request in table.proxy.of("Query")] == [2, 50]

    table.proxy.requests.clear()
    page = await table.query_many(BY_TIME, DAYS, limit=7)
    assert page.partitions == 3
    assert len(table.proxy.of("Query")) <= 2 + PARTITIONS_AT_ONCE
    assert all(request["Limit"] <= 7 for request in table.proxy.of("Query"))


async def test_a_conditional_write_carries_a_token_and_a_plain_one_needs_none(table: Proxied) -> None:
    await table.put(sample("q"))
    await table.put(sample("r"), if_absent=True)
    await table.put(sample("s"), if_absent=True)

    assert len(table.proxy.of("PutItem")) == 1
    first, second = (request["ClientRequestToken"] for request in table.proxy.of("TransactWriteItems"))
    assert first != second
