"""The stream of a table: read without a gap, and where it cannot be read, a ring a second in its place."""

import asyncio
import logging
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass, replace
from typing import Any
from uuid import uuid4

import pytest

from graph.store.choices import TableChoices
from graph.store.contract import Put
from graph.store.dynamodb import RetryPolicy
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


@dataclass
class Followed:
    """A table whose changes are followed through a fault proxy. The engine's pauses take no time."""

    table: OneEntity
    proxy: FaultProxy
    rings: Rings
    pauses: list[float]

    async def ring(self, times: int = 1) -> None:
        async with asyncio.timeout(TIMEOUT_S):
            for _ in range(times):
                await anext(self.rings)

    async def change_rings(self) -> None:
        """A change rings by its record: long before a listing would."""
        self.pauses.clear()
        await self.table.put(sample(number=uuid4().hex))
        await self.ring()
        assert self.pauses[0] == ROUND_S
        assert set(self.pauses) == {ROUND_S}
        assert len(self.pauses) < ROUNDS_PER_LISTING_OF_CHILDREN

    async def back_to_reading(self) -> None:
        """The stream is read again soon, which rings too, and from then on it rings by records."""
        for _ in range(MOST_SWEEPS + 1):
            self.pauses.clear()
            await self.ring()
        while SWEEP_S in self.pauses:
            self.pauses.clear()
            await self.ring()

    @asynccontextmanager
    async def anew(self) -> AsyncIterator["Followed"]:
        """The same table, followed from now on by another iteration."""
        self.pauses.clear()
        async with aclosing(self.table.changes()) as rings:
            yield replace(self, rings=rings)


@pytest.fixture
def policy(pauses: list[float]) -> RetryPolicy:
    async def pause(seconds: float) -> None:
        pauses.append(seconds)
        await asyncio.sleep(0)

    return replace(UNHURRIED, attempts=2, sleep=pause)


@pytest.fixture
async def stream(
    prefix: str, fault_proxy: FaultProxy, pauses: list[float], policy: RetryPolicy, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[Followed]:
    monkeypatch.setenv("AWS_ENDPOINT_URL", fault_proxy.url)
    async with open_samples(prefix, retry_policy=policy) as table, aclosing(table.changes()) as rings:
        yield Followed(table, fault_proxy, rings, pauses)


@pytest.fixture
async def switched_on_again(prefix: str, fault_proxy: FaultProxy) -> AsyncIterator[None]:
    """For a test that switches the stream off."""
    yield
    await create_stream(prefix)


async def create_stream(prefix: str, first: Put = FIRST) -> None:
    """A table with a stream that has a record.

    In an empty stream, DynamoDB Local may lose its latest place with the first record: `TrimmedDataAccessException`.
    """
    await create_tables([first.entity], prefix=prefix)
    async with open_dynamodb([first.entity], prefix=prefix) as database:
        await database.put(first)


def of(operation: str, answer: Answer | None, times: int) -> Rule:
    """That answer to so many requests for one operation."""
    left = [answer] * times

    async def rule(asked: str, request: dict[str, Any], forward: Forward) -> Answer | None:
        return left.pop() if asked == operation and left else await forward(request)

    return rule


def warnings(caplog: pytest.LogCaptureFixture) -> list[str]:
    """The causes that were told, each with the same words before it."""
    told = [record for record in caplog.records if record.name == "graph.store.dynamodb.shards"]
    assert {(record.levelno, record.getMessage()) for record in told} <= {
        (logging.WARNING, "The service polls for changes once a second")
    }
    return [record.__dict__["keywords"]["cause"] for record in told]


async def test_each_change_rings_by_its_record(stream: Followed, caplog: pytest.LogCaptureFixture) -> None:
    await stream.ring()
    for _ in range(3):
        await stream.change_rings()

    assert [len(stream.proxy.of(name)) for name in ("DescribeTable", "DescribeStream", "GetShardIterator")] == [1, 1, 1]
    assert warnings(caplog) == []
    assert ROUND_S >= 1 / 10, "it rings at most ten times a second"


async def test_without_a_change_it_rings_once_a_listing(stream: Followed) -> None:
    await stream.ring(3)

    assert stream.pauses == [ROUND_S] * ROUNDS_PER_LISTING * 2
    assert len(stream.proxy.of("DescribeStream")) == 3
    assert len(stream.proxy.of("GetShardIterator")) == 1


@pytest.mark.usefixtures("switched_on_again")
async def test_a_stream_that_is_switched_off_is_reported_once_and_looked_for_again(
    prefix: str, name: str, stream: Followed, caplog: pytest.LogCaptureFixture
) -> None:
    await stream.ring()
    await set_stream(name, StreamEnabled=False)
    await stream.ring(2)
    stream.pauses.clear()

    await stream.ring(100)

    assert stream.pauses == [SWEEP_S] * 100
    assert len(stream.proxy.of("DescribeTable")) < 2 * 100 / MOST_SWEEPS, "the table is not asked at each ring"
    (told,) = warnings(caplog)
    assert told.startswith(f"the stream of table {name} cannot be read: ")
    async with stream.anew() as another:
        await another.ring()
    assert warnings(caplog)[1:] == [
        f"the stream of table {name} cannot be read: it has no stream of its changes: run `quakegraph tables adopt`"
    ]

    await create_stream(prefix)
    await stream.back_to_reading()
    await stream.change_rings()


@pytest.mark.parametrize("operation", ["DescribeTable", "DescribeStream", "GetShardIterator", "GetRecords"])
async def test_a_forbidden_stream_rings_every_second_and_is_reported_once(
    stream: Followed, caplog: pytest.LogCaptureFixture, operation: str
) -> None:
    stream.proxy.rule = of(operation, Answer.error("AccessDeniedException"), 1000)

    await stream.ring(30)

    assert stream.pauses == [SWEEP_S] * 29
    (told,) = warnings(caplog)
    assert "cannot be read: it may not be used by these credentials: check the policy of the user or role" in told


@pytest.mark.parametrize("operation", ["DescribeStream", "GetShardIterator", "GetRecords"])
async def test_temporary_failures_only_slow_the_rings_down(
    stream: Followed, caplog: pytest.LogCaptureFixture, operation: str
) -> None:
    codes = ("ProvisionedThroughputExceededException", "LimitExceededException", "ThrottlingException")
    for answer in (*map(Answer.error, codes), Answer.error("InternalServerError", 500), None):
        stream.proxy.rule = of(operation, answer, 2)
        caplog.clear()
        async with stream.anew() as another:
            await another.ring(3)  # of the first failure one, of the second two
            assert another.pauses == [SWEEP_S] * 2
            await another.ring()  # of the first reading
            assert another.pauses == [SWEEP_S] * 3

            await another.change_rings()
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
    stream: Followed, code: str, starts_again: bool
) -> None:
    await stream.ring()
    stream.proxy.rule = of("GetRecords", Answer.error(code), 1)

    await stream.ring()
    await stream.table.put(sample())  # between the old place and the new one
    await stream.ring()

    assert stream.pauses == [ROUND_S, SWEEP_S]
    places = [request["ShardIteratorType"] for request in stream.proxy.of("GetShardIterator")]
    assert places == ["LATEST"] * (1 + starts_again)
    await stream.change_rings()


@pytest.mark.parametrize("operation", ["DescribeTable", "DescribeStream", "GetShardIterator", "GetRecords"])
async def test_a_malformed_answer_only_slows_the_rings_down(stream: Followed, operation: str) -> None:
    for body in (b"no JSON", b"[]", b"{}", b""):

        async def garbled(asked: str, request: dict[str, Any], forward: Forward) -> Answer | bytes | None:
            return body if asked == operation else await forward(request)  # noqa: B023 — it ends with this round

        stream.proxy.rule = garbled
        async with stream.anew() as another:
            await another.ring(3)
            assert set(another.pauses) == {SWEEP_S}
            stream.proxy.rule = pass_on
            if body == b"no JSON":
                await another.back_to_reading()
                await another.change_rings()


async def test_a_stream_that_never_answers_only_makes_it_slower(
    prefix: str, stream: Followed, policy: RetryPolicy
) -> None:
    """The time limit is a real one, and short."""
    answering = asyncio.Event()

    stream.proxy.rule = held_until(answering, "GetRecords")
    async with open_samples(prefix, retry_policy=replace(policy, read_seconds=0.2)) as hasty:
        async with replace(stream, table=hasty).anew() as another:
            while (asked := len(another.proxy.of("GetRecords"))) < 2:
                await another.ring()
                assert len(another.proxy.of("GetRecords")) <= asked + 1, "botocore tries none of them again"
        answering.set()


async def test_an_invalid_endpoint_for_streams_only_slows_the_rings_down(
    stream: Followed, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL_DYNAMODB_STREAMS", "nonsense")
    await stream.ring(3)

    (told,) = warnings(caplog)
    assert "cannot be read: it cannot be found: check AWS_REGION, AWS_ENDPOINT_URL and" in told
    monkeypatch.delenv("AWS_ENDPOINT_URL_DYNAMODB_STREAMS")
    await stream.back_to_reading()
    await stream.change_rings()


async def test_the_children_of_a_closed_shard_are_read(stream: Followed) -> None:
    """As when a partition splits, or after some hours in any case, for which no test waits."""
    shards = Splitting()
    stream.proxy.rule = shards.answer
    await stream.ring()

    shards.open["parent"] = CLOSED
    await stream.ring()  # which lists the shards, and finds no child yet
    assert stream.pauses == [ROUND_S] * 2
    stream.pauses.clear()
    shards.open |= {"left": OPEN, "right": OPEN}
    await stream.ring()
    assert stream.pauses == [ROUND_S] * ROUNDS_PER_LISTING_OF_CHILDREN
    assert shards.read[-2:] == ["left", "right"]

    stream.pauses.clear()
    shards.changed = "right"
    await stream.ring()
    assert stream.pauses == [ROUND_S]
    shards.changed = "left"
    await stream.ring()
    assert stream.pauses == [ROUND_S] * 2
    await stream.ring()
    assert len(stream.pauses) == ROUNDS_PER_LISTING, "listings are rare again"


async def test_a_shard_that_was_closed_before_is_not_read(stream: Followed) -> None:
    shards = Splitting()
    shards.open = {"parent": CLOSED, "left": OPEN, "right": OPEN}
    stream.proxy.rule = shards.answer

    await stream.ring()

    assert shards.read == ["left", "right"]
    assert [request["ShardId"] for request in stream.proxy.of("GetShardIterator")] == ["left", "right"]
    assert [request.get("ExclusiveStartShardId") for request in stream.proxy.of("DescribeStream")] == [
        *(None, "parent", "left")
    ]


OPEN, CLOSED = True, False


class Splitting:
    """A stream whose shards a test opens and closes; a listing has one to a page."""

    def __init__(self) -> None:
        self.open = {"parent": OPEN}
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
                following = {"NextShardIterator": shard} if self.open[shard] is OPEN else {}
                return Answer(200, {"Records": records, **following})
        return await forward(request)

    def _page(self, after: str | None) -> dict[str, Any]:
        names = list(self.open)
        at = names.index(after) + 1 if after else 0
        name = names[at]
        numbers = {"StartingSequenceNumber": "1"} | ({} if self.open[name] is OPEN else {"EndingSequenceNumber": "2"})
        parent = {} if name == "parent" else {"ParentShardId": "parent"}
        last = {"LastEvaluatedShardId": name} if at + 1 < len(names) else {}
        shard = {"ShardId": name, "SequenceNumberRange": numbers, **parent}
        return {"StreamStatus": "ENABLED", "Shards": [shard], **last}


# Several tables


async def test_a_change_of_any_table_rings(
    prefix: str, fault_proxy: FaultProxy, monkeypatch: pytest.MonkeyPatch
) -> None:
    await create_stream(prefix, Put(READING, {"station": 1, "number": 1, "value": "x"}))
    monkeypatch.setenv("AWS_ENDPOINT_URL", fault_proxy.url)
    opening = open_dynamodb([SAMPLE, READING], prefix=prefix)
    async with asyncio.timeout(TIMEOUT_S), opening as database, aclosing(database.changes()) as rings:
        await anext(rings)  # of the first readings: each table has been read once two listings are through
        while len(fault_proxy.of("DescribeStream")) < 2:
            await anext(rings)
        for put in (Put(READING, {"station": 1, "number": 2, "value": "x"}), Put(SAMPLE, sample())):
            await database.put(put)
            await anext(rings)


async def test_several_tables_ring_at_most_ten_times_a_second_and_one_without_a_stream_holds_up_no_other(
    prefix: str, pauses: list[float], policy: RetryPolicy
) -> None:
    silent = f"silent-{uuid4().hex}-"
    await create_tables([SAMPLE, READING], prefix=silent, choices=TableChoices(stream=False))
    await create_tables([SAMPLE], prefix=silent)
    opening = open_dynamodb([SAMPLE, READING], prefix=silent, retry_policy=policy)
    rung = 0
    async with asyncio.timeout(TIMEOUT_S), opening as database, aclosing(database.changes()) as rings:
        while rung < 50 or not {SWEEP_S, ROUND_S} <= set(pauses):
            await anext(rings)
            rung += 1

    assert pauses.count(GAP_S) == rung - 1
    assert GAP_S >= 1 / 10
