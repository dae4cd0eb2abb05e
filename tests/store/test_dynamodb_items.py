"""What stands in DynamoDB: the documented items, and no more of them is read than needed."""

from collections.abc import AsyncIterator
from typing import Any

import pytest

from graph.store.attributes import JsonDocument, Real, Text, Whole
from graph.store.conditions import Absent, Compare, OneOf, Present
from graph.store.contract import Database, Delete, Put, Update
from graph.store.design import Index, KeyAttribute, TableDesign
from graph.store.entity import Entity, Item
from graph.store.query import Query
from graph.store.values import InvalidItem
from tests.store.engines import empty_tables, emulator_calls, open_dynamodb
from tests.store.fault_proxy import FaultProxy
from tests.store.test_meter import Recorder

BY_TIME = Index("TimeOrderedIndex", KeyAttribute("gsi1pk", "S"), KeyAttribute("gsi1sk", "N"))
BY_NAME = Index("NameIndex", KeyAttribute("gsi2pk", "S"), KeyAttribute("gsi2sk", "S"))
PK, SK = KeyAttribute("pk", "S"), KeyAttribute("sk", "S")
EARTHQUAKES = TableDesign("earthquakes-{env}", PK, SK, indexes=(BY_TIME, BY_NAME), ttl="ttl", entity="entity")
OTHERS = TableDesign("others", KeyAttribute("station", "N"), KeyAttribute("number", "N"))

EVENT = Entity(
    "EVENT",
    EARTHQUAKES,
    key=("EVENT#{eventId}", "EVENT"),
    indexes={BY_TIME: ("DAY#{dayBucket}", "{eventTsMs}"), BY_NAME: ("SOURCE#{source}", "{alert}")},
    attributes=(
        Text("eventId", longest=64),
        Whole("eventTsMs"),
        Real("mag"),
        Text("dayBucket", longest=8),
        Text("place", longest=512),
        Text("source", optional=True),
        Text("alert", optional=True),
    ),
)
SIGHTING = Entity(
    "SIGHTING",
    EARTHQUAKES,
    key=("SIGHTING#{number}", "SIGHTING"),
    indexes={BY_TIME: ("DAY#{day}", "{at}")},
    attributes=(Whole("number", digits=6, in_key_alone=True), Text("day", in_key_alone=True), Whole("at")),
)
LOG = Entity(
    "LOG",
    EARTHQUAKES,
    key=("LOG#{day}", "{timestamp}#{requestId}"),
    attributes=(
        Text("day", longest=8, in_key_alone=True),
        Whole("timestamp", digits=13),
        Text("requestId", longest=64),
        Whole("ttl"),
    ),
)
DAY_SUMMARY = Entity(
    "DAY_SUMMARY",
    EARTHQUAKES,
    key=("SUMMARY#{year}", "DAY#{day}"),
    attributes=(Text("year", in_key_alone=True), Text("day", in_key_alone=True), Whole("events")),
    open=True,
    label="SUMMARY",
)
YEAR_SUMMARY = Entity(
    "YEAR_SUMMARY",
    EARTHQUAKES,
    key=("SUMMARY#YEARS", "YEAR#{year}"),
    attributes=(Text("year", in_key_alone=True), Whole("events")),
    open=True,
    label="SUMMARY",
)
READING = Entity(
    "READING",
    OTHERS,
    key=("{station}", "{number}"),
    attributes=(Whole("station"), Whole("number"), JsonDocument("values", optional=True), Text("unit", optional=True)),
)
ENTITIES = (EVENT, SIGHTING, LOG, DAY_SUMMARY, YEAR_SUMMARY, READING)

NOW_S = 1_700_000_000


class Raw:
    """The items as they are in the tables behind a prefix."""

    def __init__(self, prefix: str) -> None:
        self.prefix = prefix

    def put(self, item: dict[str, Any]) -> None:
        with emulator_calls() as call:
            call("PutItem", TableName=f"{self.prefix}earthquakes-dev", Item=item)

    def items(self, table: str = "earthquakes-dev") -> Any:
        with emulator_calls() as call:
            return call("Scan", TableName=f"{self.prefix}{table}")["Items"]


@pytest.fixture
async def raw(dynamodb_endpoint: str) -> AsyncIterator[Raw]:
    async with empty_tables(ENTITIES) as prefix:
        yield Raw(prefix)


@pytest.fixture
async def database(raw: Raw, fault_proxy: FaultProxy, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Database]:
    monkeypatch.setenv("AWS_ENDPOINT_URL", fault_proxy.url)
    async with open_dynamodb(ENTITIES, prefix=raw.prefix, clock=lambda: NOW_S * 1000) as database:
        yield database


STORED_EVENT: dict[str, Any] = {
    "pk": {"S": "EVENT#us1"},
    "sk": {"S": "EVENT"},
    "entity": {"S": "EVENT"},
    "gsi1pk": {"S": "DAY#20230803"},
    "gsi1sk": {"N": "1691064000000"},
    "eventId": {"S": "us1"},
    "eventTsMs": {"N": "1691064000000"},
    "mag": {"N": "4.55"},
    "dayBucket": {"S": "20230803"},
    "place": {"S": "10 km N of Nowhere"},
}
AN_EVENT: Item = {
    "eventId": "us1",
    "eventTsMs": 1_691_064_000_000,
    "mag": 4.55,
    "dayBucket": "20230803",
    "place": "10 km N of Nowhere",
}
STORED_LOG: dict[str, Any] = {
    "pk": {"S": "LOG#20230803"},
    "sk": {"S": "1691064000000#b2c0"},
    "entity": {"S": "LOG"},
    "timestamp": {"N": "1691064000000"},
    "requestId": {"S": "b2c0"},
    "ttl": {"N": str(NOW_S + 1)},
}
A_LOG: Item = {"day": "20230803", "timestamp": 1_691_064_000_000, "requestId": "b2c0", "ttl": NOW_S + 1}
STORED_DAY: dict[str, Any] = {
    "pk": {"S": "SUMMARY#2023"},
    "sk": {"S": "DAY#20230803"},
    "entity": {"S": "SUMMARY"},
    "events": {"N": "3"},
    "bin45": {"N": "3"},
}
A_DAY: Item = {"year": "2023", "day": "20230803", "events": 3, "bin45": 3}
STORED_YEAR: dict[str, Any] = {
    "pk": {"S": "SUMMARY#YEARS"},
    "sk": {"S": "YEAR#2023"},
    "entity": {"S": "SUMMARY"},
    "events": {"N": "3"},
}
A_YEAR: Item = {"year": "2023", "events": 3}
STORED_SIGHTING: dict[str, Any] = {
    "pk": {"S": "SIGHTING#000007"},
    "sk": {"S": "SIGHTING"},
    "entity": {"S": "SIGHTING"},
    "gsi1pk": {"S": "DAY#20230803"},
    "gsi1sk": {"N": "5"},
    "at": {"N": "5"},
}
A_SIGHTING: Item = {"number": 7, "day": "20230803", "at": 5}

EACH: list[tuple[Entity, Item, dict[str, Any]]] = [
    (EVENT, AN_EVENT, STORED_EVENT),
    (LOG, A_LOG, STORED_LOG),
    (DAY_SUMMARY, A_DAY, STORED_DAY),
    (YEAR_SUMMARY, A_YEAR, STORED_YEAR),
    (SIGHTING, A_SIGHTING, STORED_SIGHTING),
]


@pytest.mark.parametrize(("entity", "item", "stored"), EACH, ids=[entity.name for entity, *_ in EACH])
async def test_an_item_is_written_as_it_is_documented_and_so_it_is_read(
    database: Database, raw: Raw, entity: Entity, item: Item, stored: dict[str, Any]
) -> None:
    put, key = Put(entity, item), entity.key_of(item)
    for write in (database.put(put), database.put_many([put]), database.put(Put(entity, item, if_absent=True))):
        await write
        assert raw.items() == [stored]
        assert await database.get(key) == item
        await database.delete(Delete(key))

    for other, _, each in EACH:
        raw.put(each if other.open else {**each, "colour": {"S": "blue"}})  # which is not declared
    assert await database.get_many([key]) == {key: item}
    assert [found async for found in database.scan(entity)] == [item]
    for index in (entity.table.primary, *entity.indexes):
        if index == BY_NAME:
            continue  # the event has no alert
        named = None if index == entity.table.primary else index
        query = Query(entity=entity, index=named, partitions=[entity.partition_of(index, item)])
        assert (await database.query(query)).items == [item]
        assert await database.count(query) == 1


async def test_an_item_with_the_name_of_another_entity_or_none_is_not_there(database: Database, raw: Raw) -> None:
    nameless = {name: value for name, value in STORED_EVENT.items() if name != "entity"}
    of_day = Query(entity=EVENT, index=BY_TIME, partitions=[("20230803",)])
    for stored in (nameless, {**STORED_EVENT, "entity": {"S": "LOG"}}):
        raw.put(stored)
        assert await database.get(EVENT.key_for("us1"), attributes=("mag",)) is None
        assert await database.get_many([EVENT.key_for("us1")]) == {}
        assert (await database.query(of_day)).items == [item async for item in database.scan(EVENT)] == []
        assert await database.count(of_day) == 0


async def test_entities_with_equal_attributes_are_distinguished_in_one_partition(database: Database, raw: Raw) -> None:
    raw.put(STORED_YEAR)
    raw.put({**STORED_DAY, "pk": {"S": "SUMMARY#YEARS"}})

    assert (await database.query(Query(entity=YEAR_SUMMARY))).items == [A_YEAR]
    days = await database.query(Query(entity=DAY_SUMMARY, partitions=[("YEARS",)]))
    assert days.items == [{**A_DAY, "year": "YEARS"}]


async def test_the_keys_of_an_index_are_written_where_all_their_attributes_are(database: Database, raw: Raw) -> None:
    await database.put(Put(EVENT, {**AN_EVENT, "source": "USGS"}))
    assert raw.items() == [{**STORED_EVENT, "source": {"S": "USGS"}}]

    await database.put(Put(EVENT, {**AN_EVENT, "source": "USGS", "alert": "green"}))
    keys = {"gsi2pk": {"S": "SOURCE#USGS"}, "gsi2sk": {"S": "green"}}
    assert raw.items() == [{**STORED_EVENT, "source": {"S": "USGS"}, "alert": {"S": "green"}, **keys}]


async def test_an_update_that_makes_an_item_writes_it_as_it_is_documented(database: Database, raw: Raw) -> None:
    assert await database.update(Update(DAY_SUMMARY.key_for("2023", "20230803"), add={"events": 3, "bin45": 3}))
    assert raw.items() == [STORED_DAY]
    await database.delete(Delete(DAY_SUMMARY.key_for("2023", "20230803")))

    known = {name: value for name, value in AN_EVENT.items() if name != "eventId"}
    assert await database.update(Update(EVENT.key_for("us1"), set=known))
    assert raw.items() == [STORED_EVENT]


async def test_attributes_that_are_keys_are_stored_once(database: Database, raw: Raw) -> None:
    reading: Item = {"station": 3, "number": 1, "values": [1, 2.5]}
    await database.put(Put(READING, reading))

    stored = {"station": {"N": "3"}, "number": {"N": "1"}, "values": {"L": [{"N": "1"}, {"N": "2.5"}]}}
    assert raw.items("others") == [stored]
    assert await database.get(READING.key_for(3, 1)) == reading
    assert await database.update(Update(READING.key_for(3, 1), set={"unit": "mm"}))
    assert raw.items("others") == [{**stored, "unit": {"S": "mm"}}]


async def test_one_request_reads_items_of_several_tables(database: Database, fault_proxy: FaultProxy, raw: Raw) -> None:
    await database.put(Put(EVENT, AN_EVENT))
    await database.put(Put(DAY_SUMMARY, A_DAY))
    await database.put(Put(READING, {"station": 3, "number": 1}))
    keys = [EVENT.key_for("us1"), EVENT.key_for("us2"), DAY_SUMMARY.key_of(A_DAY), READING.key_for(3, 1)]

    found = await database.get_many(keys, attributes={"mag", "events", "number"})

    assert found == {keys[0]: {"mag": 4.55}, keys[2]: {"events": 3}, keys[3]: {"number": 1}}
    (request,) = fault_proxy.of("BatchGetItem")
    assert sorted(request["RequestItems"]) == [f"{raw.prefix}earthquakes-dev", f"{raw.prefix}others"]


# Reading no more than is needed


def projected(request: dict[str, Any]) -> set[str]:
    names = request["ExpressionAttributeNames"]
    return {names[alias] for alias in request["ProjectionExpression"].split(", ")}


async def test_a_query_reads_the_attributes_that_are_needed_and_the_position(
    database: Database, fault_proxy: FaultProxy
) -> None:
    """What only a key holds is read from the key."""
    await database.put_many([Put(EVENT, AN_EVENT), Put(SIGHTING, A_SIGHTING)])
    event, sighting = (
        Query(entity=entity, index=BY_TIME, partitions=[("20230803",)], attributes=frozenset(attributes))
        for entity, attributes in ((EVENT, {"mag"}), (SIGHTING, set[str]()))
    )

    position = {name: AN_EVENT[name] for name in ("dayBucket", "eventTsMs", "eventId")}
    assert (await database.query(event)).items == [{**position, "mag": 4.55}]
    assert (await database.query(sighting)).items == [A_SIGHTING]
    assert await database.count(event) == 1

    *queried, counted = fault_proxy.of("Query")
    assert list(map(projected, queried)) == [
        {"dayBucket", "eventTsMs", "mag", "pk", "sk", "gsi1pk", "gsi1sk"},
        {"pk", "sk", "gsi1pk", "gsi1sk", "at"},
    ]
    assert "ProjectionExpression" not in counted


async def test_other_readings_read_the_attributes_that_are_needed_and_the_expiry_or_the_key(
    database: Database, fault_proxy: FaultProxy
) -> None:
    gone = {**A_LOG, "requestId": "gone", "ttl": NOW_S}
    keys = [EVENT.key_for("us1"), LOG.key_of(gone)]
    await database.put_many([Put(EVENT, AN_EVENT), Put(LOG, gone), Put(SIGHTING, A_SIGHTING)])

    assert await database.get(keys[0], attributes=["mag"]) == {"mag": 4.55}
    assert await database.get(keys[0], attributes=[]) == {}
    assert await database.get(keys[1], attributes=["timestamp"]) is None
    assert await database.get(SIGHTING.key_for(7), attributes=["number"]) == {"number": 7}
    assert await database.get_many(keys, attributes=["mag"]) == {keys[0]: {"mag": 4.55}}
    assert [item async for item in database.scan(EVENT, attributes={"mag"})] == [{"mag": 4.55}]

    (looked_up,) = fault_proxy.of("BatchGetItem")[0]["RequestItems"].values()
    (scan,) = fault_proxy.of("Scan")
    assert [projected(request) for request in (*fault_proxy.of("GetItem"), looked_up, scan)] == [
        {"mag", "pk", "sk", "entity", "ttl"},
        {"pk", "sk", "entity", "ttl"},
        {"pk", "sk", "entity", "ttl"},
        {"pk", "sk", "entity", "ttl"},
        {"mag", "pk", "sk", "entity", "ttl"},
        {"mag", "pk", "sk"},
    ]


async def test_an_event_is_charged_as_one_item_whatever_is_read_of_it(raw: Raw) -> None:
    recorder = Recorder()
    async with open_dynamodb(ENTITIES, prefix=raw.prefix, meter=recorder) as database:
        await database.put(Put(EVENT, AN_EVENT))
        recorder.consumed.clear()
        query = Query(entity=EVENT, index=BY_TIME, partitions=[("20230803",)])
        await database.query(query)
        await database.query(Query(entity=EVENT, index=BY_TIME, partitions=[("20230803",)], attributes=frozenset()))

    assert recorder.consumed == [("read", 0.5), ("read", 0.5)]


# What is refused


async def test_a_query_that_its_entity_has_no_keys_for_is_refused(database: Database) -> None:
    for query in (
        Query(entity=EVENT, partitions=[("us1",)], between=("A", None)),
        Query(entity=LOG, index=BY_TIME, partitions=[("20230803",)]),
        Query(entity=EVENT, index=BY_TIME, partitions=[("20230803",)], start={"eventId": "us1"}),
    ):
        with pytest.raises(InvalidItem):
            await database.query(query)
    other = Entity("OTHER", OTHERS, key=("{station}", "{number}"), attributes=(Whole("station"), Whole("number")))
    with pytest.raises(InvalidItem, match="without OTHER"):
        await database.get(other.key_for(1, 2))


async def test_of_an_attribute_that_only_a_key_holds_a_condition_may_ask_whether_it_is_present(
    database: Database,
) -> None:
    key = DAY_SUMMARY.key_for("2023", "20230803")
    assert not await database.update(Update(key, add={"events": 1}, condition=Present("day")))
    assert await database.update(Update(key, add={"events": 1}, condition=Absent("day")))
    assert await database.update(Update(key, add={"events": 1}, condition=Present("day")))

    for condition in (Compare("day", "=", "20230803"), OneOf("day", ("20230803",))):
        with pytest.raises(InvalidItem, match="`day`"):
            await database.update(Update(key, add={"events": 1}, condition=condition))
