"""Calls go to DynamoDB without botocore, and by it where that does not succeed."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any

import pytest

from graph.store.conditions import Compare
from graph.store.contract import Table, Update
from graph.store.dynamodb.direct import BY_BOTOCORE
from tests.store.engines import UNHURRIED, create_table, open_dynamodb
from tests.store.meddler import Answer, Forward, Meddler, Rule, first
from tests.store.samples import BY_TIME, SAMPLES, sks, timed
from tests.store.test_meter import Recorder

DIRECT, BY_BOTOCORES = False, True


@pytest.fixture
async def name(meddler: Meddler, monkeypatch: pytest.MonkeyPatch) -> str:
    name = f"samples-direct-{id(meddler)}"
    await create_table(name, SAMPLES)
    async with open_dynamodb(name, SAMPLES) as table:
        await table.put_many([timed(f"t{n}", n, "mon", mag=n) for n in range(5)])
    monkeypatch.setenv("AWS_ENDPOINT_URL", meddler.url)
    return name


@pytest.fixture
async def table(name: str) -> AsyncIterator[Table]:
    async with open_dynamodb(name, SAMPLES) as table:
        yield table


def ways(meddler: Meddler) -> list[bool]:
    """Of each request, whether botocore sent it, which tells its attempts."""
    return ["amz-sdk-request" in head for head in meddler.heads]


async def test_calls_that_succeed_are_asked_once_and_not_by_botocore(table: Table, meddler: Meddler) -> None:
    found = timed("t3", 3, "mon", mag=3)

    assert await table.get((found["pk"], found["sk"])) == found
    assert await table.get_many([(found["pk"], found["sk"])]) == {(found["pk"], found["sk"]): found}
    assert sks((await table.query(BY_TIME, "mon", limit=2, where=Compare("mag", ">", 1))).items) == ["t2", "t3"]
    assert await table.count(BY_TIME, ["mon"]) == 5
    await table.put(timed("t5", 5))
    await table.put_many([timed("t6", 6)])
    assert len([item async for item in table.scan()]) == 7

    asked = ["GetItem", "BatchGetItem", "Query", "Query", "PutItem", "BatchWriteItem", "Scan"]
    assert [operation for operation, _ in meddler.requests] == asked
    assert ways(meddler) == [DIRECT] * 7


async def test_what_must_not_arrive_twice_is_botocores(table: Table, meddler: Meddler) -> None:
    assert not await table.put(timed("t3", 3), if_absent=True)
    assert await table.update(Update((timed("t3", 3)["pk"], "t3"), add={"mag": 1}))

    assert ways(meddler) == [BY_BOTOCORES] * 2


async def hang_up(operation: str, request: dict[str, Any], forward: Forward) -> Answer | None:
    return None


def answering(answer: Answer | bytes) -> Rule:
    async def rule(operation: str, request: dict[str, Any], forward: Forward) -> Answer | bytes | None:
        return answer

    return rule


@pytest.mark.parametrize(
    "rule",
    [
        pytest.param(hang_up, id="the connection ends"),
        pytest.param(answering(Answer.error("InternalServerError", 500)), id="an outage"),
        pytest.param(answering(Answer.error("ThrottlingException")), id="throttling"),
        pytest.param(answering(Answer.error("ExpiredTokenException")), id="credentials that expired"),
        pytest.param(answering(b"{"), id="half an answer"),
        pytest.param(answering(Answer(200, {}, {"x-amz-crc32": "1"})), id="an answer that was damaged"),
    ],
)
async def test_what_does_not_succeed_is_asked_again_by_botocore_and_so_is_what_follows(
    table: Table, meddler: Meddler, rule: Rule
) -> None:
    found = timed("t3", 3, "mon", mag=3)
    meddler.rule = first(rule)

    for _ in range(BY_BOTOCORE + 2):
        assert await table.get((found["pk"], found["sk"])) == found

    assert ways(meddler) == [DIRECT, *[BY_BOTOCORES] * (BY_BOTOCORE + 1), DIRECT]


async def test_what_is_not_answered_in_time_is_asked_again_by_botocore_and_so_is_what_follows(
    name: str, meddler: Meddler
) -> None:
    over = asyncio.Event()

    async def hold(operation: str, request: dict[str, Any], forward: Forward) -> Answer | None:
        await over.wait()
        return None

    found = timed("t3", 3, "mon", mag=3)
    meddler.rule = first(hold)
    async with open_dynamodb(name, SAMPLES, patience=replace(UNHURRIED, direct_seconds=0.2)) as table:
        for _ in range(BY_BOTOCORE + 1):
            assert await table.get((found["pk"], found["sk"])) == found

    assert ways(meddler) == [DIRECT, *[BY_BOTOCORES] * (BY_BOTOCORE + 1)]
    over.set()


async def test_both_ways_ask_the_same(table: Table, meddler: Meddler) -> None:
    meddler.rule = first(hang_up)
    await table.get(("p", "s"))

    (_, directly), (_, ordinarily) = meddler.requests
    assert directly == ordinarily
    head, botocores = meddler.heads
    for name in ("host", "content-type", "x-amz-target", "accept-encoding"):
        assert head[name] == botocores[name]
    assert botocores["user-agent"].startswith(f"{head['user-agent']} ")


async def test_a_session_token_is_sent_and_signed(name: str, meddler: Meddler, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_SESSION_TOKEN", "of-a-role")
    async with open_dynamodb(name, SAMPLES) as table:
        await table.get(("p", "s"))

    (head,) = meddler.heads
    assert head["x-amz-security-token"] == "of-a-role"
    assert "x-amz-security-token" in head["authorization"]


async def test_units_are_counted_either_way(name: str, meddler: Meddler) -> None:
    recorder = Recorder()
    async with open_dynamodb(name, SAMPLES, meter=recorder) as table:
        await table.put_many([timed("t8", 8)])
        await table.get(("p", "s"))
        meddler.rule = first(hang_up)
        await table.get(("p", "s"))
        await table.put_many([timed("t9", 9)])

    assert ways(meddler) == [DIRECT] * 3 + [BY_BOTOCORES] * 2
    (index,) = {units for kind, units in recorder.consumed if kind == "write"}
    assert recorder.consumed == [("write", index), ("read", 1.0), ("read", 1.0), ("write", index)]


async def test_through_a_proxy_botocore_knows_the_way(
    name: str, meddler: Meddler, dynamodb_endpoint: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL", dynamodb_endpoint)  # which answers without the proxy too
    monkeypatch.setenv("HTTP_PROXY", meddler.url)
    monkeypatch.delenv("NO_PROXY", raising=False)
    monkeypatch.delenv("no_proxy", raising=False)
    async with open_dynamodb(name, SAMPLES) as table:
        assert await table.get(("p", "s")) is None

    assert ways(meddler) == [BY_BOTOCORES]
