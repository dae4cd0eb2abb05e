"""The stream of a table: read without a gap, and where it cannot be read, a ring a second in its place."""

import asyncio
import logging
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing
from dataclasses import replace
from typing import Any
from uuid import uuid4

import pytest

from graph.store.contract import Put
from graph.store.dynamodb.changes import GAP_S, MOST_SWEEPS, ROUND_S, SWEEP_S
from graph.store.dynamodb.shards import ROUNDS_PER_LISTING, ROUNDS_PER_LISTING_OF_CHILDREN
from tests.processes import TIMEOUT_S
from tests.store.engines import UNHURRIED, create_tables, open_dynamodb, open_samples
from tests.store.fault_proxy import Answer, FaultProxy, Forward, Rule, held_until, pass_on
from tests.store.one_entity import OneEntity
from tests.store.samples import READING, SAMPLE, sample
from tests.store.test_dynamodb_administration import set_stream

Rings = AsyncGenerator[None, None]

FIRST = Put(SAMPLE, sample())


@pytest.fixture(scope="module")
def dynamodb_endpoint(administered_dynamodb: str) -> str:
    return administered_dynamodb


@pytest.fixture(scope="module")
def prefix(dynamodb_endpoint: str) -> str:
    """That of the table of all these tests, each of which follows it from its own beginning on."""
    prefix = f"streamed-{uuid4().hex}-"
    asyncio.run(create_stream(prefix))
    return prefix


@pytest.fixture(scope="module")
def name(prefix: str) -> str:
    """The table's name."""
    return f"{prefix}samples"


@pytest.fixture
async def table(
    prefix: str, fault_proxy: FaultProxy, pauses: list[float], monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[OneEntity]:
    async def pause(seconds: float) -> None:
        pauses.append(seconds)
        await asyncio.sleep(0)

    monkeypatch.setenv("AWS_ENDPOINT_URL", fault_proxy.url)
    async with open_samples(prefix, retry_policy=replace(UNHURRIED, attempts=2, sleep=pause)) as table:
        yield table


@pytest.fixture
async def switched_on_again(prefix: str, fault_proxy: FaultProxy) -> AsyncIterator[None]:
    """For a test that switches the stream off."""
    yield
    await create_stream(prefix)


@pytest.fixture
async def rings(table: OneEntity) -> AsyncIterator[Rings]:
    async with aclosing(table.changes()) as rings:
        yield rings


async def create_stream(prefix: str, first: Put = FIRST) -> None:
    """A table with a stream that has a record.

    In an empty stream, DynamoDB Local may lose its latest place with the first record: `TrimmedDataAccessException`.
    """
    await create_tables([first.entity], prefix=prefix)
    async with open_dynamodb([first.entity], prefix=prefix) as database:
        await database.put(first)


async def ring(rings: Rings, times: int = 1) -> None:
    async with asyncio.timeout(TIMEOUT_S):
        for _ in range(times):
            await anext(rings)


async def change_rings(table: OneEntity, rings: Rings, pauses: list[float]) -> None:
    """A change rings by its record: long before a listing would."""
    pauses.clear()
    await table.put(sample(number=uuid4().hex))
    await ring(rings)
    assert pauses[0] == ROUND_S
    assert set(pauses) == {ROUND_S}
    assert len(pauses) < ROUNDS_PER_LISTING_OF_CHILDREN


async def back_to_reading(rings: Rings, pauses: list[float]) -> None:
    """The stream is read again soon, which rings too, and from then on it rings by records."""
    for _ in range(MOST_SWEEPS + 1):
        pauses.clear()
        await ring(rings)
    while SWEEP_S in pauses:
        pauses.clear()
        await ring(rings)


def of(operation: str, answer: Answer | None, times: int) -> Rule:
    """That answer to so many requests for one operation."""
    left = [answer] * times

    async def rule(asked: str, request: dict[str, Any], forward: Forward) -> Answer | None:
        return left.pop() if asked == operation and left else await forward(request)

    return rule


def warnings(caplog: pytest.LogCaptureFixture) -> list[str]:
    """The causes that were told, each with the same words before it."""
    told = [record for record in caplog.records if record.name == "graph.store.dynamodb.changes"]
    assert {(record.levelno, record.getMessage()) for record in told} <= {
        (logging.WARNING, "The service polls for changes once a second")
    }
    return [record.__dict__["keywords"]["cause"] for record in told]


async def test_each_change_rings_by_its_record(
    table: OneEntity, rings: Rings, pauses: list[float], fault_proxy: FaultProxy, caplog: pytest.LogCaptureFixture
) -> None:
    await ring(rings)
    for _ in range(3):
        await change_rings(table, rings, pauses)

    assert [len(fault_proxy.of(name)) for name in ("DescribeTable", "DescribeStream", "GetShardIterator")] == [1, 1, 1]
    assert warnings(caplog) == []
    assert ROUND_S >= 1 / 10, "it rings at most ten times a second"


async def test_without_a_change_it_rings_once_a_listing(
    rings: Rings, pauses: list[float], fault_proxy: FaultProxy
) -> None:
    await ring(rings, 3)

    assert pauses == [ROUND_S] * ROUNDS_PER_LISTING * 2
    assert len(fault_proxy.of("DescribeStream")) == 3
    assert len(fault_proxy.of("GetShardIterator")) == 1


@pytest.mark.usefixtures("switched_on_again")
async def test_a_stream_that_is_switched_off_is_reported_once_and_looked_for_again(
    prefix: str,
    name: str,
    table: OneEntity,
    rings: Rings,
    pauses: list[float],
    fault_proxy: FaultProxy,
    caplog: pytest.LogCaptureFixture,
) -> None:
    await ring(rings)
    await set_stream(name, StreamEnabled=False)
    await ring(rings, 2)
    pauses.clear()

    await ring(rings, 100)

    assert pauses == [SWEEP_S] * 100
    assert len(fault_proxy.of("DescribeTable")) < 2 * 100 / MOST_SWEEPS, "the table is not asked at each ring"
    (told,) = warnings(caplog)
    assert told.startswith(f"the stream of table {name} cannot be read: ")
    async with aclosing(table.changes()) as others:
        await ring(others)
    assert warnings(caplog)[1:] == [
        f"the stream of table {name} cannot be read: it has no stream of its changes: run `quakegraph tables create`"
    ]

    await create_stream(prefix)
    await back_to_reading(rings, pauses)
    await change_rings(table, rings, pauses)


@pytest.mark.parametrize("operation", ["DescribeTable", "DescribeStream", "GetShardIterator", "GetRecords"])
async def test_a_forbidden_stream_rings_every_second_and_is_reported_once(
    name: str,
    rings: Rings,
    pauses: list[float],
    fault_proxy: FaultProxy,
    caplog: pytest.LogCaptureFixture,
    operation: str,
) -> None:
    fault_proxy.rule = of(operation, Answer.error("AccessDeniedException"), 1000)

    await ring(rings, 30)

    assert pauses == [SWEEP_S] * 29
    (told,) = warnings(caplog)
    assert "cannot be read: it may not be used by these credentials: check the policy of the user or role" in told


@pytest.mark.parametrize("operation", ["DescribeStream", "GetShardIterator", "GetRecords"])
async def test_temporary_failures_only_slow_the_rings_down(
    table: OneEntity, pauses: list[float], fault_proxy: FaultProxy, caplog: pytest.LogCaptureFixture, operation: str
) -> None:
    codes = ("ProvisionedThroughputExceededException", "LimitExceededException", "ThrottlingException")
    for answer in (*map(Answer.error, codes), Answer.error("InternalServerError", 500), None):
        fault_proxy.rule = of(operation, answer, 2)
        pauses.clear()
        caplog.clear()
        async with aclosing(table.changes()) as rings:
            await ring(rings, 3)  # of the first failure one, of the second two
            assert pauses == [SWEEP_S] * 2
            await ring(rings)  # of the first reading
            assert pauses == [SWEEP_S] * 3

            await change_rings(table, rings, pauses)
        assert len(warnings(caplog)) == 1


@pytest.mark.parametrize(
    ("code", "starts_again"),
    [
        ("ProvisionedThroughputExceededException", False),
        ("ExpiredIteratorException", True),
        ("TrimmedDataAccessException", True),
        ("ResourceNotFoundException", True),
        ("NewException", True),
    ],
)
async def test_a_read_resumes_after_throttling_and_starts_again_with_an_expired_iterator(
    table: OneEntity, rings: Rings, pauses: list[float], fault_proxy: FaultProxy, code: str, starts_again: bool
) -> None:
    await ring(rings)
    fault_proxy.rule = of("GetRecords", Answer.error(code), 1)

    await ring(rings)
    await table.put(sample())  # between the old place and the new one
    await ring(rings)

    assert pauses == [ROUND_S, SWEEP_S]
    places = [request["ShardIteratorType"] for request in fault_proxy.of("GetShardIterator")]
    assert places == ["LATEST"] * (1 + starts_again)
    await change_rings(table, rings, pauses)


@pytest.mark.parametrize("operation", ["DescribeTable", "DescribeStream", "GetShardIterator", "GetRecords"])
async def test_a_malformed_answer_only_slows_the_rings_down(
    table: OneEntity, pauses: list[float], fault_proxy: FaultProxy, operation: str
) -> None:
    for body in (b"no JSON", b"[]", b"{}", b""):

        async def garbled(asked: str, request: dict[str, Any], forward: Forward) -> Answer | bytes | None:
            return body if asked == operation else await forward(request)  # noqa: B023 — it ends with this round

        fault_proxy.rule = garbled
        pauses.clear()
        async with aclosing(table.changes()) as rings:
            await ring(rings, 3)
            assert set(pauses) == {SWEEP_S}
            fault_proxy.rule = pass_on
            if body == b"no JSON":
                await back_to_reading(rings, pauses)
                await change_rings(table, rings, pauses)


async def test_a_stream_that_never_answers_only_makes_it_slower(
    prefix: str, fault_proxy: FaultProxy, table: OneEntity
) -> None:
    """The time limit is a real one, and short."""
    answering = asyncio.Event()

    fault_proxy.rule = held_until(answering, "GetRecords")
    async with open_samples(prefix, retry_policy=replace(UNHURRIED, read_seconds=0.2, sleep=no_pause)) as hasty:
        async with aclosing(hasty.changes()) as rings:
            while (asked := len(fault_proxy.of("GetRecords"))) < 2:
                await ring(rings)
                assert len(fault_proxy.of("GetRecords")) <= asked + 1, "botocore tries none of them again"
        answering.set()


async def no_pause(seconds: float) -> None:
    await asyncio.sleep(0)


async def test_an_invalid_endpoint_for_streams_only_slows_the_rings_down(
    table: OneEntity,
    rings: Rings,
    pauses: list[float],
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL_DYNAMODB_STREAMS", "nonsense")
    await ring(rings, 3)

    (told,) = warnings(caplog)
    assert "cannot be read: it cannot be found: check AWS_REGION, AWS_ENDPOINT_URL and" in told
    monkeypatch.delenv("AWS_ENDPOINT_URL_DYNAMODB_STREAMS")
    await back_to_reading(rings, pauses)
    await change_rings(table, rings, pauses)


async def test_the_children_of_a_closed_shard_are_read(
    rings: Rings, pauses: list[float], fault_proxy: FaultProxy
) -> None:
    """As when a partition splits, or after some hours in any case, for which no test waits."""
    stream = Splitting()
    fault_proxy.rule = stream.answer
    await ring(rings)

    stream.shards["parent"] = CLOSED
    await ring(rings)  # which lists the shards, and finds no child yet
    assert pauses == [ROUND_S] * 2
    pauses.clear()
    stream.shards |= {"left": OPEN, "right": OPEN}
    await ring(rings)
    assert pauses == [ROUND_S] * ROUNDS_PER_LISTING_OF_CHILDREN
    assert stream.read[-2:] == ["left", "right"]

    pauses.clear()
    stream.changed = "right"
    await ring(rings)
    assert pauses == [ROUND_S]
    stream.changed = "left"
    await ring(rings)
    assert pauses == [ROUND_S] * 2
    await ring(rings)
    assert len(pauses) == ROUNDS_PER_LISTING, "listings are rare again"


async def test_a_shard_that_was_closed_before_is_not_read(rings: Rings, fault_proxy: FaultProxy) -> None:
    stream = Splitting()
    stream.shards = {"parent": CLOSED, "left": OPEN, "right": OPEN}
    fault_proxy.rule = stream.answer

    await ring(rings)

    assert stream.read == ["left", "right"]
    assert [request["ShardId"] for request in fault_proxy.of("GetShardIterator")] == ["left", "right"]
    assert [request.get("ExclusiveStartShardId") for request in fault_proxy.of("DescribeStream")] == [
        *(None, "parent", "left"),
    ]


OPEN, CLOSED = True, False


class Splitting:
    """A stream whose shards a test opens and closes; a listing has one to a page."""

    def __init__(self) -> None:
        self.shards = {"parent": OPEN}
        self.changed = ""  # the shard that has a record
        self.read: list[str] = []

    async def answer(self, operation: str, request: dict[str, Any], forward: Forward) -> Answer | None:
        match operation:
            case "DescribeStream":
                return Answer(200, {"StreamDescription": self._page(request.get("ExclusiveStartShardId"))})
            case "GetShardIterator":
                return Answer(200, {"ShardIterator": request["ShardId"]})
            case "GetRecords":
                shard = request["ShardIterator"]
                self.read.append(shard)
                records = [{"eventName": "INSERT"}] if shard == self.changed else []
                self.changed = "" if records else self.changed
                following = {"NextShardIterator": shard} if self.shards[shard] is OPEN else {}
                return Answer(200, {"Records": records, **following})
        return await forward(request)

    def _page(self, after: str | None) -> dict[str, Any]:
        names = list(self.shards)
        at = names.index(after) + 1 if after else 0
        name = names[at]
        numbers = {"StartingSequenceNumber": "1"} | ({} if self.shards[name] is OPEN else {"EndingSequenceNumber": "2"})
        parent = {} if name == "parent" else {"ParentShardId": "parent"}
        last = {"LastEvaluatedShardId": name} if at + 1 < len(names) else {}
        shard = {"ShardId": name, "SequenceNumberRange": numbers, **parent}
        return {"StreamStatus": "ENABLED", "Shards": [shard], **last}


# Several tables


async def test_a_change_of_any_table_rings(
    prefix: str, fault_proxy: FaultProxy, pauses: list[float], monkeypatch: pytest.MonkeyPatch
) -> None:
    await create_stream(prefix, Put(READING, {"station": 1, "number": 1, "value": "x"}))
    monkeypatch.setenv("AWS_ENDPOINT_URL", fault_proxy.url)
    async with open_dynamodb([SAMPLE, READING], prefix=prefix) as database, aclosing(database.changes()) as rings:
        await ring(rings)  # of the first readings: each table has been read once two listings are through
        async with asyncio.timeout(TIMEOUT_S):
            while len(fault_proxy.of("DescribeStream")) < 2:
                await anext(rings)
        for put in (Put(READING, {"station": 1, "number": 2, "value": "x"}), Put(SAMPLE, sample())):
            await database.put(put)
            await ring(rings)


async def test_several_tables_ring_at_most_ten_times_a_second_and_one_without_a_stream_holds_up_no_other(
    prefix: str, pauses: list[float], monkeypatch: pytest.MonkeyPatch
) -> None:
    async def pause(seconds: float) -> None:
        pauses.append(seconds)
        await asyncio.sleep(0)

    silent = f"silent-{uuid4().hex}-"
    await create_tables([SAMPLE, READING], prefix=silent, stream=False)
    await create_tables([SAMPLE], prefix=silent)
    policy = replace(UNHURRIED, sleep=pause)
    opening = open_dynamodb([SAMPLE, READING], prefix=silent, retry_policy=policy)
    rung = 0
    async with asyncio.timeout(TIMEOUT_S), opening as database, aclosing(database.changes()) as rings:
        while rung < 50 or not {SWEEP_S, ROUND_S} <= set(pauses):
            await anext(rings)
            rung += 1

    assert pauses.count(GAP_S) == rung - 1
    assert GAP_S >= 1 / 10
