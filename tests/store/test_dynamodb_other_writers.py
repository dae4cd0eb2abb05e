"""Every record of a table's stream is read, and every item of the table, however the reading is interrupted."""

from collections.abc import AsyncIterator, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from typing import Any

import pytest

from graph.store.conditions import Absent, Condition
from graph.store.contract import Database, Found, OtherWriters, Put
from graph.store.dynamodb.other_writers import BUSY_ROUND_S, MANY, MOST_FAILURES, PART_OF_CAPACITY, ROUND_S, UNITS_PER_S
from graph.store.entity import Entity, Item
from tests.held_time import Pauses
from tests.store.engines import UNHURRIED, make_tables, open_dynamodb
from tests.store.fault_proxy import Answer, FaultProxy, Forward
from tests.store.samples import NOON_SECONDS, PERSON, VISIT, HeldClock

WANTED: dict[Entity, Condition] = {PERSON: Absent("score"), VISIT: Absent("note")}
ENTITIES = [PERSON, VISIT]
THROTTLED = Answer.error("ThrottlingException")


@dataclass
class Opened:
    """An open table of people and visits, behind a proxy. The engine's pauses take no time."""

    database: Database
    proxy: FaultProxy
    pauses: list[float]
    prefix: str

    @property
    def others(self) -> OtherWriters:
        found = self.database.other_writers
        assert found
        return found


@pytest.fixture
async def opened(
    fault_proxy: FaultProxy, pauses: Pauses, monkeypatch: pytest.MonkeyPatch, clock: HeldClock
) -> AsyncIterator[Opened]:
    prefix = make_tables(ENTITIES, stream=True)
    monkeypatch.setenv("AWS_ENDPOINT_URL", fault_proxy.url)
    policy = replace(UNHURRIED, attempts=1, sleep=pauses.sleep)
    async with open_dynamodb(ENTITIES, prefix=prefix, retry_policy=policy, clock=clock) as database:
        yield Opened(database, fault_proxy, pauses, prefix)


# The stream, whose shards a test makes up


def a_record(person: str, event: str = "INSERT", /, **attributes: Any) -> dict[str, Any]:
    """A record of a person, with its image unless `attributes` has none."""
    keys = {"pk": {"S": f"PERSON#{person}"}, "sk": {"S": "PERSON"}}
    return {
        "eventName": event,
        "dynamodb": {"Keys": keys, "NewImage": {**keys, **attributes}, "ApproximateCreationDateTime": 1_700_000_000},
    }


@dataclass
class Shard:
    """A shard. Its records have the numbers 1, 2, 3, …; some of them may be trimmed."""

    records: list[dict[str, Any]] = field(default_factory=list)
    parent: str | None = None
    closed: bool = False
    trimmed: int = 0


class Stream:
    """A stream as the proxy answers for it: two records to an answer."""

    def __init__(self, **shards: Shard) -> None:
        self.shards = shards
        self.failures: dict[str, list[Answer | bytes | None]] = {}  # of an operation, to come
        self.most = 2  # records of an answer

    async def answer(self, operation: str, request: dict[str, Any], forward: Forward) -> Answer | bytes | None:
        if self.failures.get(operation):
            return self.failures[operation].pop()
        match operation:
            case "DescribeStream":
                shards = [self._described(name, shard) for name, shard in self.shards.items()]
                return Answer(200, {"StreamDescription": {"StreamStatus": "ENABLED", "Shards": shards}})
            case "GetShardIterator":
                name = request["ShardId"]
                at = int(request.get("SequenceNumber", self.shards[name].trimmed))
                if at < self.shards[name].trimmed:
                    return Answer.error("TrimmedDataAccessException")
                return Answer(200, {"ShardIterator": f"{name}:{at}"})
            case "GetRecords":
                return self._records(*request["ShardIterator"].split(":"))
        return await forward(request)

    def _described(self, name: str, shard: Shard) -> dict[str, Any]:
        numbers = {"StartingSequenceNumber": "1"} | ({"EndingSequenceNumber": "9"} if shard.closed else {})
        parent = {"ParentShardId": shard.parent} if shard.parent else {}
        return {"ShardId": name, "SequenceNumberRange": numbers, **parent}

    def _records(self, name: str, at: str) -> Answer:
        shard, start = self.shards[name], int(at)
        end = min(start + self.most, len(shard.records))
        records = [
            {**record, "dynamodb": {**record["dynamodb"], "SequenceNumber": str(number)}}
            for number, record in enumerate(shard.records[start:end], start + 1)
        ]
        is_over = shard.closed and end == len(shard.records)
        return Answer(200, {"Records": records} | ({} if is_over else {"NextShardIterator": f"{name}:{end}"}))


def people(*names: str) -> list[dict[str, Any]]:
    return [a_record(name) for name in names]


def a_family() -> Stream:
    """A shard that was split, and one of its children that was split again."""
    return Stream(
        root=Shard(people("r1", "r2", "r3"), closed=True),
        left=Shard(people("a1", "a2"), "root", closed=True),
        right=Shard(people("b1", "b2", "b3"), "root"),
        leaf=Shard(people("c1", "c2", "c3"), "left"),
    )


FAMILY = {"r1", "r2", "r3", "a1", "a2", "b1", "b2", "b3", "c1", "c2", "c3"}


@dataclass
class Reading:
    """What a reading found."""

    people: list[str]
    gaps: int
    position: Item | None


async def read(opened: Opened, position: Item | None = None, *, most: int = 40) -> Reading:
    """Read the stream: so many findings, or until the reading ends."""
    found = Reading([], 0, position)
    async with aclosing(opened.others.written(WANTED, position)) as findings:
        async for each in findings:
            found.people += names_of(each)
            found.gaps += each.is_gap
            found.position = each.position()
            if (most := most - 1) == 0:
                break
    return found


def names_of(found: Found) -> Sequence[str]:
    return [key.values[0] for key in found.keys]


async def test_all_shards_are_read_from_the_horizon_on_each_after_its_parent(opened: Opened) -> None:
    opened.proxy.rule = a_family().answer

    found = await read(opened)

    assert sorted(found.people) == sorted(FAMILY)
    for shard in ("r", "a", "b", "c"):
        assert [name for name in found.people if name[0] == shard] == sorted(n for n in FAMILY if n[0] == shard)
    order = [name[0] for name in found.people]
    assert order.index("a") > 2
    assert order.index("b") > 2
    assert order.index("c") > max(at for at, shard in enumerate(order) if shard == "a")
    assert found.gaps == 1, "what was written before the horizon must be found otherwise"


@pytest.mark.parametrize("first_part", range(1, 13))
async def test_a_reading_that_was_interrupted_goes_on_without_a_loss_or_a_repetition(
    opened: Opened, first_part: int
) -> None:
    stream = a_family()
    opened.proxy.rule = stream.answer
    before = await read(opened, most=first_part)
    stream.shards["right"].records += people("b4")

    after = await read(opened, before.position)

    assert sorted(before.people + after.people) == sorted({*FAMILY, "b4"})
    assert after.gaps == 0


async def test_only_the_end_of_a_round_has_no_time(opened: Opened) -> None:
    opened.proxy.rule = Stream(full=Shard(people("a", "b", "c")), empty=Shard(), other=Shard(people("d"))).answer

    async with aclosing(opened.others.written(WANTED, None)) as findings:
        found = [await anext(findings) for _ in range(6)]

    assert [(names_of(each), each.written_at is None) for each in found] == [
        *((["a", "b"], False), (["d"], False), ([], True)),
        *((["c"], False), ([], True), ([], True)),
    ]


async def test_a_position_that_was_trimmed_is_a_gap(opened: Opened) -> None:
    stream = Stream(one=Shard(people("a", "b", "c", "d")))
    opened.proxy.rule = stream.answer
    before = await read(opened, most=1)
    assert before.people == ["a", "b"]
    stream.shards["one"].trimmed = 3

    after = await read(opened, before.position)

    assert (after.people, after.gaps) == (["d"], 1)


async def test_a_shard_that_disappeared_unread_is_a_gap(opened: Opened) -> None:
    stream = Stream(one=Shard(people("a", "b", "c")))
    opened.proxy.rule = stream.answer
    before = await read(opened, most=1)
    stream.shards = {"later": Shard(people("d"), "unknown")}

    after = await read(opened, before.position)

    assert (after.people, after.gaps) == (["d"], 1)
    assert (await read(opened, after.position)).gaps == 0


async def test_another_stream_of_the_table_is_a_gap(opened: Opened) -> None:
    opened.proxy.rule = Stream(one=Shard(people("a"))).answer
    before = await read(opened)
    assert before.position

    after = await read(opened, {**before.position, "stream": "an earlier one"})

    assert (after.people, after.gaps) == (["a"], 1)


@pytest.mark.parametrize(
    "failure",
    [Answer.error("ExpiredIteratorException"), THROTTLED, Answer.error("InternalError", 500), None, b"{}", b"no JSON"],
    ids=["expired", "throttled", "outage", "hung up", "malformed", "garbled"],
)
@pytest.mark.parametrize("operation", ["DescribeStream", "GetShardIterator", "GetRecords"])
async def test_a_failure_loses_nothing(opened: Opened, operation: str, failure: Answer | bytes | None) -> None:
    stream = a_family()
    opened.proxy.rule = stream.answer
    before = await read(opened, most=2)
    stream.failures[operation] = [failure] * 3

    after = await read(opened, before.position)

    assert sorted(before.people + after.people) == sorted(FAMILY)
    assert after.gaps == 0


async def test_a_failure_before_the_first_reading_hides_no_gap(opened: Opened) -> None:
    stream = a_family()
    stream.failures = {"DescribeStream": [THROTTLED], "GetRecords": [THROTTLED]}
    opened.proxy.rule = stream.answer

    assert (await read(opened)).gaps == 1


async def test_a_reading_ends_after_many_failures_in_a_row(opened: Opened, caplog: pytest.LogCaptureFixture) -> None:
    stream = Stream()
    stream.failures = {"DescribeStream": [Answer.error("AccessDeniedException")] * 1000}
    opened.proxy.rule = stream.answer

    assert (await read(opened)).people == []
    assert len(opened.pauses) == MOST_FAILURES
    (logged,) = [record.__dict__["keywords"]["cause"] for record in caplog.records]
    assert f"the stream of table {opened.prefix}people-dev cannot be read: it may not be used by these" in logged


async def test_only_items_that_fulfil_the_condition_are_found_and_no_deletions(opened: Opened) -> None:
    number = {"N": "1"}
    visit = {"pk": {"S": "PERSON#v"}, "sk": {"S": "VISIT#1700000000000#x"}}
    other = {"pk": {"S": "TOTALS"}, "sk": {"S": "ALL"}}
    records = [
        a_record("own", score=number),
        a_record("foreign", tags={"L": []}),
        a_record("deleted", "REMOVE"),
        a_record("changed", "MODIFY"),
        a_record("x" * 41),
        *({"eventName": "INSERT", "dynamodb": {"Keys": keys, "NewImage": keys}} for keys in (visit, other)),
    ]
    for record in records:
        record["dynamodb"].setdefault("ApproximateCreationDateTime", 1_700_000_000.5)
    stream = Stream(one=Shard(records))
    stream.most = 100
    opened.proxy.rule = stream.answer

    async with aclosing(opened.others.written(WANTED, None)) as findings:
        found = await anext(findings)

    assert found.keys == [
        *(PERSON.key_for("foreign"), PERSON.key_for("changed")),
        VISIT.key_for("v", 1_700_000_000_000, "x"),
    ]
    assert found.written_at == 1_700_000_000_500


async def test_in_a_stream_without_images_every_item_may_be_one(opened: Opened) -> None:
    records = people("a", "b")
    for record in records:
        del record["dynamodb"]["NewImage"]
    opened.proxy.rule = Stream(one=Shard(records)).answer

    assert (await read(opened)).people == ["a", "b"]


async def test_a_stream_is_read_once_a_second_and_more_often_while_it_brings_much(opened: Opened) -> None:
    stream = Stream(one=Shard(people(*map(str, range(2 * MANY)))))
    stream.most = MANY
    opened.proxy.rule = stream.answer

    await read(opened, most=6)

    assert opened.pauses == [BUSY_ROUND_S, BUSY_ROUND_S, ROUND_S]


# The scan


async def search(opened: Opened, position: Item | None = None, *, most: int = 1000) -> Reading:
    """Scan the table: so many pages, or all."""
    found = Reading([], 0, position)
    async with aclosing(opened.others.stored(WANTED, position)) as findings:
        async for each in findings:
            found.people += names_of(each)
            found.position = each.position()
            if (most := most - 1) == 0:
                break
    return found


async def two_at_once(operation: str, request: dict[str, Any], forward: Forward) -> Answer:
    """Pages of two items."""
    return await forward({**request, "Limit": 2} if operation == "Scan" else request)


def a_person(name: str, **attributes: Any) -> Put:
    return Put(PERSON, {"person": name, "day": "20260101", "seenMs": 1, **attributes})


NAMES = [f"p{at}" for at in range(9)]


@pytest.mark.parametrize("pages", range(1, 6))
async def test_a_scan_finds_every_item_once_also_if_it_is_interrupted(opened: Opened, pages: int) -> None:
    await opened.database.put_many([*map(a_person, NAMES), a_person("own", score=1.0)])
    opened.proxy.rule = two_at_once

    before = await search(opened, most=pages)
    after = await search(opened, before.position) if before.position else Reading([], 0, None)

    assert sorted(before.people + after.people) == NAMES


async def test_a_scan_leaves_out_what_has_expired_and_reads_only_what_it_tests(opened: Opened) -> None:
    visits = [
        {"person": name, "timestamp": 1, "requestId": "x", "expires": NOON_SECONDS + left}
        for name, left in (("expired", 0), ("living", 1))
    ]
    await opened.database.put_many([Put(VISIT, visit) for visit in visits])
    rule = opened.proxy.rule
    answers: list[Answer] = []

    async def noting(operation: str, request: dict[str, Any], forward: Forward) -> Any:
        answer = await rule(operation, request, forward)
        if operation == "Scan" and isinstance(answer, Answer):
            answers.append(answer)
        return answer

    opened.proxy.rule = noting
    assert (await search(opened)).people == ["living"]
    (answer,) = answers
    assert answer.body["Items"] == [{"pk": {"S": "PERSON#living"}, "sk": {"S": "VISIT#0000000000001#x"}}]


@pytest.mark.parametrize(("provisioned", "units_per_s"), [(0, UNITS_PER_S), (40, 40 * PART_OF_CAPACITY)])
async def test_a_scan_pauses_for_the_units_that_it_used(opened: Opened, provisioned: int, units_per_s: float) -> None:
    await opened.database.put_many([*map(a_person, NAMES)])

    async def measured(operation: str, request: dict[str, Any], forward: Forward) -> Answer:
        answer = await two_at_once(operation, request, forward)
        if operation == "Scan":
            answer.body["ConsumedCapacity"] = {"CapacityUnits": 64.0}
        if operation == "DescribeTable":
            answer.body["Table"]["ProvisionedThroughput"] = {"ReadCapacityUnits": provisioned}
        return answer

    opened.proxy.rule = measured
    await search(opened)

    assert opened.pauses == [64 / units_per_s] * (len(opened.proxy.of("Scan")) - 1)
    assert len(opened.pauses) >= len(NAMES) // 2
