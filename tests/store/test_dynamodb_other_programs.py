"""Items of other programs in DynamoDB: one belongs to an entity by its key, and what it lacks may have a meaning."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any

import pytest

from graph.core.errors import QueryTooComplex
from graph.store.attributes import IN_INDEX, Filled, JsonDocument, Real, Text, Whole
from graph.store.conditions import Absent, AllOf, AnyOf, Compare, Condition, Not, OneOf, Present, unchanged
from graph.store.contract import Database, Delete, Put, Update
from graph.store.design import Index, KeyAttribute, TableDesign
from graph.store.dynamodb.query import ITEMS_DECODED_AT_ONCE, PreparedDynamoQuery
from graph.store.dynamodb.requests import Requests
from graph.store.entity import Entity, Item
from graph.store.query import Query
from graph.store.records import Record, optional, stored
from graph.store.values import InvalidItem
from tests.store.engines import empty_tables, emulator_calls, open_dynamodb
from tests.store.fault_proxy import Answer, FaultProxy, always, first
from tests.store.test_meter import Recorder
from tests.work.accounts import an_account

BY_KIND = Index("ByKind", KeyAttribute("gsi1pk", "S"), KeyAttribute("gsi1sk", "N"))
BY_PART = Index("ByPart", KeyAttribute("SK", "S"), KeyAttribute("PK", "S"))
FILES = TableDesign("files", KeyAttribute("PK", "S"), KeyAttribute("SK", "S"), indexes=(BY_KIND, BY_PART))


class Part(Record):
    name = stored("name", Text(shortest=1, in_key_alone=True))
    part = stored("part", Text(shortest=1, in_key_alone=True))
    kind = stored("kind", Text(shortest=1, absent=IN_INDEX))
    size = stored("size", Whole(least=0))
    revision = stored("revision", Whole(least=1, absent=1))
    nanoseconds = stored("nanoseconds", Whole(absent=Filled(lambda size: size * 1000, "size")))
    details = stored("details", JsonDocument())
    weight = optional("weight", Real())


PART = Entity(
    "PART",
    FILES,
    Part,
    key=("{name}", "#{part}"),
    indexes={BY_KIND: ("KIND#{kind}", "{size}"), BY_PART: ("#{part}", "{name}")},
)
FILE = Entity("FILE", FILES, key=("{name}", "#"), attributes=(Text("name", shortest=1, in_key_alone=True),))
ENTITIES = (PART, FILE)

NULL = {"NULL": True}


@pytest.fixture
def recorder() -> Recorder:
    return Recorder()


@pytest.fixture
async def prefix(dynamodb_endpoint: str) -> AsyncIterator[str]:
    async with empty_tables(ENTITIES) as prefix:
        yield prefix


@pytest.fixture
async def database(prefix: str, recorder: Recorder) -> AsyncIterator[Database]:
    async with open_dynamodb(ENTITIES, prefix=prefix, meter=recorder) as database:
        yield database


def foreign(part: str, size: Any = 7, **others: Any) -> dict[str, Any]:
    """An item as another program writes it."""
    size = {"N": str(size)} if isinstance(size, int) else size
    keys = {"PK": {"S": "a"}, "SK": {"S": f"#{part}"}, "gsi1pk": {"S": "KIND#raw"}, "gsi1sk": {"N": "7"}}
    return {**keys, "size": size, "details": {"M": {}}, **others}


def write(prefix: str, *items: dict[str, Any]) -> None:
    with emulator_calls() as call:
        for item in items:
            call("PutItem", TableName=f"{prefix}files", Item=item)


def item(part: str, size: int = 7, **others: Any) -> Item:
    whole = {"name": "a", "part": part, "kind": "raw", "size": size, "revision": 1}
    return {**whole, "nanoseconds": size * 1000, "details": {}, **others}


OF_FILE = Query(entity=PART, partitions=[("a",)])
OF_KIND = Query(entity=PART, index=BY_KIND, partitions=[("raw",)], orders_ties=True)
OF_PART = Query(entity=PART, index=BY_PART, partitions=[("1",)])


async def test_an_item_is_read_and_counted_by_its_key(database: Database, prefix: str) -> None:
    write(prefix, foreign("1"), {"PK": {"S": "a"}, "SK": {"S": "#"}}, {"PK": {"S": "a"}, "SK": {"S": "##"}})
    write(prefix, {"PK": {"S": "a"}, "SK": {"S": "other"}, "gsi1pk": {"S": "KIND#raw"}, "gsi1sk": {"N": "1"}})
    broken = {"PK": {"S": "a"}, "SK": {"S": "##"}}

    assert (await database.query(OF_FILE)).items == [item("1")]
    assert (await database.query(OF_KIND)).items == [item("1")]
    assert (await database.query(OF_PART)).items == [item("1")]
    assert [found async for found in database.scan(PART)] == [item("1")]
    assert [found async for found in database.scan(FILE)] == [{"name": "a"}]
    assert await database.get(PART.key_for("a", "1")) == item("1")
    assert await database.get(FILE.key_for("a")) == {"name": "a"}
    with emulator_calls() as call:
        call("DeleteItem", TableName=f"{prefix}files", Key=broken)
    assert [await database.count(query) for query in (OF_FILE, OF_KIND, OF_PART)] == [1, 1, 1]


async def test_a_broken_item_is_left_out_counted_and_named_in_the_log(
    database: Database, prefix: str, recorder: Recorder, caplog: pytest.LogCaptureFixture
) -> None:
    write(prefix, foreign("1"), foreign("2", {"S": "large"}), foreign("3", 7, weight={"S": "heavy"}), foreign("4"))
    write(prefix, foreign("5", details=NULL))

    for query in (OF_FILE, OF_KIND):
        page = await database.query(replace(query, limit=2))
        assert (page.items, page.last_key) == ([item("1"), item("4")], None)
        assert await database.count(query) == 3, "an attribute that may be absent is tested only where it is read"
    assert await database.get(PART.key_for("a", "2")) is None
    assert set(await database.get_many([PART.key_for("a", part) for part in "12345"])) == {
        PART.key_for("a", "1"),
        PART.key_for("a", "4"),
    }

    assert set(recorder.broken) == {"files"}
    named = [record.__dict__["keywords"] for record in caplog.records if record.name.endswith("broken_items")]
    assert named == [
        {"table": f"{prefix}files", "key": {"PK": "a", "SK": f"#{part}"}, "reason": reason}
        for part, reason in (
            ("2", "`size` must be a whole number"),
            ("3", "`weight` must be a number"),
            ("5", "`details` cannot be a NoneType"),
        )
    ], "each once"


@pytest.mark.parametrize("keys", [{"gsi1sk": {"N": "9"}}, {"gsi1sk": {"N": "7.5"}}, {"kind": {"S": "cooked"}}])
async def test_an_item_that_contradicts_its_keys_in_an_index_is_left_out_there(
    database: Database, prefix: str, keys: dict[str, Any]
) -> None:
    write(prefix, *(foreign(part) for part in "13"), foreign("2", **keys))

    for forward in (True, False):
        for by_key in (True, False):
            query = replace(OF_KIND, forward=forward, orders_ties=by_key, limit=1)
            found = [item async for page in database.pages(query) for item in page]
            assert sorted(item["part"] for item in found) == ["1", "3"], "no page begins at another place"
    assert await database.get(PART.key_for("a", "2"))


async def test_broken_items_are_charged_to_the_caller_and_let_other_work_run() -> None:
    broken, turns = foreign("2", {"S": "large"}), list[None]()

    async def send(**request: Any) -> Any:
        return {"Items": [broken] * 4 * ITEMS_DECODED_AT_ONCE}

    async def take_turns() -> None:
        while True:
            await asyncio.sleep(0)
            turns.append(None)

    prepared = PreparedDynamoQuery(Requests(ENTITIES), OF_FILE, send, 0)
    with an_account() as account:
        assert await prepared.read(("a",), None, 20) == ([], False)
    assert account.spent == 4 * ITEMS_DECODED_AT_ONCE // 10
    with an_account(most=10), pytest.raises(QueryTooComplex):
        await prepared.read(("a",), None, 20)

    other = asyncio.create_task(take_turns())
    assert await prepared.read(("a",), None, 20) == ([], False)
    other.cancel()
    assert len(turns) == 2, "one before its first count, and one for each further piece"


FILTERS: list[tuple[Condition, list[str]]] = [
    (Compare("revision", "=", 1), ["1"]),
    (Compare("revision", ">=", 1), ["1", "2"]),
    (Compare("revision", ">", 1), ["2"]),
    (OneOf("revision", (1, 5)), ["1"]),
    (OneOf("revision", (3,)), ["2"]),
    (Present("revision"), ["1", "2"]),
    (Absent("revision"), []),
    (Absent("weight"), ["1", "2"]),
]


@pytest.mark.parametrize(("where", "parts"), FILTERS)
async def test_a_filter_counts_with_what_an_absent_attribute_means(
    database: Database, prefix: str, where: Condition, parts: list[str]
) -> None:
    write(prefix, foreign("1"), foreign("2", revision={"N": "3"}))

    for query in (OF_FILE, OF_KIND):
        filtered = replace(query, where=where)
        assert [found["part"] for found in (await database.query(filtered)).items] == parts
        assert await database.count(filtered) == len(parts)


async def test_a_write_counts_with_what_an_absent_attribute_means(database: Database, prefix: str) -> None:
    write(prefix, foreign("1"))
    key, missing = PART.key_for("a", "1"), PART.key_for("a", "2")
    read = await database.get(key)

    assert not await database.update(Update(key, set={"weight": 0.5}, condition=Absent("revision")))
    assert not await database.update(Update(key, set={"weight": 0.5}, condition=Compare("revision", "=", 2)))
    assert not await database.update(Update(missing, set={"weight": 0.5}, condition=Compare("revision", "=", 1)))
    assert not await database.update(Update(missing, set={"weight": 0.5}, condition=Present("revision")))
    assert await database.update(Update(key, set={"weight": 0.5}, condition=unchanged(read, "revision")))
    assert await database.update(Update(key, add={"revision": 2}, condition=Present("revision")))
    assert await database.get(key) == item("1", revision=3, weight=0.5)
    assert await database.put(Put(PART, item("2"), condition=Absent("revision")))
    assert not await database.put(Put(PART, item("2"), condition=Absent("revision")))
    assert await database.delete(Delete(key, condition=Compare("revision", "=", 3)))
    assert [found async for found in database.scan(PART)] == [item("2")]


async def test_nothing_is_compared_with_an_attribute_that_may_be_computed(database: Database) -> None:
    with pytest.raises(InvalidItem, match="`nanoseconds`"):
        await database.query(Query(entity=PART, partitions=[("a",)], where=Compare("nanoseconds", ">", 1)))


WITH_NULL: list[tuple[Condition, list[str]]] = [
    (Absent("weight"), ["1", "3"]),
    (Present("weight"), ["2"]),
    (Compare("revision", "=", 1), ["1", "3"]),
    (Compare("revision", ">", 1), ["2"]),
    (Present("revision"), ["1", "2", "3"]),
    (AnyOf((Absent("weight"), Compare("weight", ">", 9))), ["1", "3"]),
    (AllOf((Absent("weight"), Compare("size", "=", 7))), ["1", "3"]),
    (Not(Compare("revision", ">", 1)), ["1", "3"]),
    (Not(Absent("weight")), ["2"]),
]


@pytest.mark.parametrize(("where", "parts"), WITH_NULL)
async def test_null_is_missing_in_filters_writes_and_streams_as_it_is_to_readers(
    database: Database, prefix: str, where: Condition, parts: list[str]
) -> None:
    write(prefix, foreign("1", weight=NULL, revision=NULL), foreign("3"))
    write(prefix, foreign("2", weight={"N": "0.5"}, revision={"N": "3"}))

    for query in (OF_FILE, OF_KIND):
        filtered = replace(query, where=where)
        assert [found["part"] for found in (await database.query(filtered)).items] == parts
        assert await database.count(filtered) == len(parts)
    found = (await database.query(OF_FILE)).items
    assert found == [item("1"), item("2", weight=0.5, revision=3), item("3")]
    others = database.other_writers
    assert others
    scanned = [key.values[1] async for each in others.stored({PART: where}, None) for key in each.keys]
    assert sorted(scanned) == parts
    for part in "123":
        update = Update(PART.key_for("a", part), set={"details": {"seen": 1}}, condition=where)
        assert await database.update(update) is (part in parts)


async def test_a_number_is_added_to_what_null_means(database: Database, prefix: str) -> None:
    write(prefix, foreign("1", revision=NULL, weight=NULL), foreign("2", weight={"S": "heavy"}))
    key, broken = PART.key_for("a", "1"), PART.key_for("a", "2")
    both = Update(key, add={"revision": 2, "weight": 0.5}, condition=Absent("weight"))

    assert await database.transact([Put(PART, item("3"), condition=Absent("name")), both]) == ()
    assert await database.get(key) == item("1", revision=3, weight=0.5)
    assert await database.get(PART.key_for("a", "3")) == item("3")
    assert not await database.update(both)
    with pytest.raises(InvalidItem):
        await database.transact([Put(PART, item("4")), Update(broken, add={"weight": 1.0})])
    assert await database.get(PART.key_for("a", "4")) is None


async def test_a_number_is_added_to_null_whichever_error_dynamodb_answers(
    prefix: str, fault_proxy: FaultProxy, monkeypatch: pytest.MonkeyPatch
) -> None:
    reasons = [{"Code": "ValidationError", "Message": "An operand in the update expression has an incorrect data type"}]
    fault_proxy.rule = first(always(Answer.error("TransactionCanceledException", CancellationReasons=reasons)))
    monkeypatch.setenv("AWS_ENDPOINT_URL", fault_proxy.url)
    write(prefix, foreign("1", revision=NULL))

    async with open_dynamodb(ENTITIES, prefix=prefix) as database:
        assert await database.update(Update(PART.key_for("a", "1"), add={"revision": 2}))
        assert await database.get(PART.key_for("a", "1")) == item("1", revision=3)
    assert len(fault_proxy.of("TransactWriteItems")) == 2
