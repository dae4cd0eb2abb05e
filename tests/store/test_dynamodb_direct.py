"""Calls go to DynamoDB without botocore, and by it where that does not succeed."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace

import pytest

from graph.store.conditions import Compare
from graph.store.contract import Update
from graph.store.dynamodb.direct import BY_BOTOCORE
from tests.store.engines import UNHURRIED, make_tables, open_samples
from tests.store.fault_proxy import Answer, FaultProxy, always, first, held_until
from tests.store.one_entity import OneEntity
from tests.store.samples import BY_TIME, SAMPLE, sks, timed
from tests.store.test_meter import Recorder

DIRECT, BY_BOTOCORES = False, True


@pytest.fixture
async def name(fault_proxy: FaultProxy, monkeypatch: pytest.MonkeyPatch) -> str:
    name = make_tables([SAMPLE])
    async with open_samples(name) as table:
        await table.put_many([timed(f"t{n}", n, "mon", mag=n) for n in range(5)])
    monkeypatch.setenv("AWS_ENDPOINT_URL", fault_proxy.url)
    return name


@pytest.fixture
async def table(name: str) -> AsyncIterator[OneEntity]:
    async with open_samples(name) as table:
        yield table


def sent_by_botocore(fault_proxy: FaultProxy) -> list[bool]:
    """Of each request, whether botocore sent it, which tells its attempts."""
    return ["amz-sdk-request" in head for head in fault_proxy.heads]


async def test_successful_calls_are_sent_once_without_botocore(table: OneEntity, fault_proxy: FaultProxy) -> None:
    found = timed("t3", 3, "mon", mag=3)

    assert await table.get((found["pk"], found["sk"])) == found
    assert await table.get_many([(found["pk"], found["sk"])]) == {(found["pk"], found["sk"]): found}
    assert sks((await table.query(BY_TIME, "mon", limit=2, where=Compare("mag", ">", 1))).items) == ["t2", "t3"]
    assert await table.count(BY_TIME, ["mon"]) == 5
    await table.put(timed("t5", 5))
    await table.put_many([timed("t6", 6)])
    assert len([item async for item in table.scan()]) == 7

    asked = ["GetItem", "BatchGetItem", "Query", "Query", "PutItem", "BatchWriteItem", "Scan"]
    assert [operation for operation, _ in fault_proxy.requests] == asked
    assert sent_by_botocore(fault_proxy) == [DIRECT] * 7


async def test_calls_that_must_not_arrive_twice_go_through_botocore(table: OneEntity, fault_proxy: FaultProxy) -> None:
    assert not await table.put(timed("t3", 3), if_absent=True)
    assert await table.update(Update(SAMPLE.key_of(timed("t3", 3)), add={"mag": 1}))

    assert sent_by_botocore(fault_proxy) == [BY_BOTOCORES] * 2


FAILURES: dict[str, Answer | bytes | None] = {
    "the connection ends": None,
    "an outage": Answer.error("InternalServerError", 500),
    "throttling": Answer.error("ThrottlingException"),
    "credentials that expired": Answer.error("ExpiredTokenException"),
    "half an answer": b"{",
    "an answer that was damaged": Answer(200, {}, {"x-amz-crc32": "1"}),
}


@pytest.mark.parametrize("failure", FAILURES)
async def test_a_failed_call_and_the_next_ones_go_through_botocore(
    table: OneEntity, fault_proxy: FaultProxy, failure: str
) -> None:
    found = timed("t3", 3, "mon", mag=3)
    fault_proxy.rule = first(always(FAILURES[failure]))

    for _ in range(BY_BOTOCORE + 2):
        assert await table.get((found["pk"], found["sk"])) == found

    assert sent_by_botocore(fault_proxy) == [DIRECT, *[BY_BOTOCORES] * (BY_BOTOCORE + 1), DIRECT]


async def test_a_call_without_an_answer_in_time_and_the_next_ones_go_through_botocore(
    name: str, fault_proxy: FaultProxy
) -> None:
    over = asyncio.Event()
    found = timed("t3", 3, "mon", mag=3)
    fault_proxy.rule = first(held_until(over))
    async with open_samples(name, retry_policy=replace(UNHURRIED, direct_seconds=0.2)) as table:
        for _ in range(BY_BOTOCORE + 1):
            assert await table.get((found["pk"], found["sk"])) == found

    assert sent_by_botocore(fault_proxy) == [DIRECT, *[BY_BOTOCORES] * (BY_BOTOCORE + 1)]
    over.set()


async def test_direct_and_botocore_requests_are_equal(table: OneEntity, fault_proxy: FaultProxy) -> None:
    fault_proxy.rule = first(always(None))
    await table.get(("p", "s"))

    (_, directly), (_, ordinarily) = fault_proxy.requests
    assert directly == ordinarily
    head, botocores = fault_proxy.heads
    for name in ("host", "content-type", "x-amz-target", "accept-encoding"):
        assert head[name] == botocores[name]
    assert botocores["user-agent"].startswith(f"{head['user-agent']} ")


async def test_a_session_token_is_sent_and_signed(
    name: str, fault_proxy: FaultProxy, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_SESSION_TOKEN", "of-a-role")
    async with open_samples(name) as table:
        await table.get(("p", "s"))

    (head,) = fault_proxy.heads
    assert head["x-amz-security-token"] == "of-a-role"
    assert "x-amz-security-token" in head["authorization"]


async def test_units_are_counted_either_way(name: str, fault_proxy: FaultProxy) -> None:
    recorder = Recorder()
    async with open_samples(name, meter=recorder) as table:
        await table.put_many([timed("t8", 8)])
        await table.get(("p", "s"))
        fault_proxy.rule = first(always(None))
        await table.get(("p", "s"))
        await table.put_many([timed("t9", 9)])

    assert sent_by_botocore(fault_proxy) == [DIRECT] * 3 + [BY_BOTOCORES] * 2
    (index,) = {units for kind, units in recorder.consumed if kind == "write"}
    assert recorder.consumed == [("write", index), ("read", 1.0), ("read", 1.0), ("write", index)]


async def test_through_a_proxy_botocore_knows_the_way(
    name: str, fault_proxy: FaultProxy, dynamodb_endpoint: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL", dynamodb_endpoint)  # which answers without the proxy too
    monkeypatch.setenv("HTTP_PROXY", fault_proxy.url)
    monkeypatch.delenv("NO_PROXY", raising=False)
    monkeypatch.delenv("no_proxy", raising=False)
    async with open_samples(name) as table:
        assert await table.get(("p", "s")) is None

    assert sent_by_botocore(fault_proxy) == [BY_BOTOCORES]
