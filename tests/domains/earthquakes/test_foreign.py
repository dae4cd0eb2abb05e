"""Events that another program writes as the earthquake data platform's document has them, and the reverse."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from decimal import Decimal
from typing import Any

import pytest
from boto3.dynamodb.conditions import Attr, Key

from graph.core.days import DAY_MS, day_bucket
from graph.core.times import rfc3339_of_millis
from graph.domains.earthquake_events import EARTHQUAKE_EVENTS
from tests.domains.earthquakes.builders import NOON, at
from tests.domains.entities import ENTITIES
from tests.observability.scraping import scraped
from tests.other_programs import table_of
from tests.service import Service, running
from tests.settings import Settings
from tests.store.engines import make_tables

INGESTED_AT = NOON + 3 * DAY_MS


def an_item(event_id: str, event_ts_ms: int, mag: str, **others: Any) -> dict[str, Any]:
    """The document's attributes, all required ones and an optional depth, as its programs write them."""
    day = day_bucket(event_ts_ms)
    return {
        "pk": f"EVENT#{event_id}",
        "sk": "EVENT",
        "entity": "EVENT",
        "eventId": event_id,
        "eventTsMs": event_ts_ms,
        "mag": Decimal(mag),
        "place": "35km NNW of Kandrian, Papua New Guinea",
        "lat": Decimal("-5.9082"),
        "lon": Decimal("149.4336"),
        "depth": Decimal("10.00"),
        "dayBucket": day,
        "gsi1pk": f"DAY#{day}",
        "gsi1sk": event_ts_ms,
        "source": "USGS",
        "ingestedAt": INGESTED_AT,
        **others,
    }


OLD = an_item("iscgem895681", at("1950-06-01T10:00:00"), "7.05")
del OLD["depth"]
WEAK = an_item("nc73919986", NOON, "2.1", depth=None)
SAME_TIME = an_item("nc73919987", NOON, "4.5", depth=0)
STRONG = an_item(
    "us7000kjwt", NOON + 60_000, "6.5", place="Off the coast of Oregon", lat=Decimal(44), lon=Decimal(-129)
)
FOREIGN = [STRONG, SAME_TIME, WEAK, OLD]
"""Newest first."""
IDS = [item["eventId"] for item in FOREIGN]

PAGE = """query ($filter: EventFilter, $first: Int, $after: String, $last: Int, $before: String) {
  events(filter: $filter, first: $first, after: $after, last: $last, before: $before) {
    totalCount nodes { eventId } pageInfo { hasNextPage hasPreviousPage startCursor endCursor } } }"""
INGEST = """mutation ($events: [EventInput!]!) { ingestEvents(input: {events: $events}) {
  fetched upserted revised skipped rejected rejections { eventId code index } } }"""


@pytest.fixture
def prefix(dynamodb_endpoint: str) -> str:
    """The prefix of empty tables with streams."""
    return make_tables(ENTITIES, stream=True)


@pytest.fixture
def table(prefix: str) -> Any:
    """The table, as another program sees it."""
    return table_of(EARTHQUAKE_EVENTS, prefix)


@contextmanager
def serving(prefix: str) -> Iterator[Service]:
    with running(Settings(store=f"dynamodb://{prefix}")) as service:
        yield service


def insert(table: Any, *items: dict[str, Any]) -> None:
    """The document's access pattern Insert Event (Idempotent)."""
    for item in items:
        table.put_item(Item=item, ConditionExpression="attribute_not_exists(pk)")


@contextmanager
def adopted(prefix: str) -> Iterator[Service]:
    """A service that has taken up the foreign events, whose tables are created without summaries."""
    insert(table_of(EARTHQUAKE_EVENTS, prefix), *FOREIGN)
    with serving(prefix) as service:
        wait_for(service, len(FOREIGN))
        yield service


@pytest.fixture(scope="module")
def service(dynamodb_endpoint: str) -> Iterator[Service]:
    """Such a service for tests that only read."""
    with adopted(make_tables(ENTITIES, stream=True)) as service:
        yield service


@pytest.fixture
def own_service(prefix: str) -> Iterator[Service]:
    """Such a service for one test, which may change its events."""
    with adopted(prefix) as service:
        yield service


def wait_for(service: Service, events: int) -> None:
    """Wait until so many events are counted."""
    while service.ask("{ events { totalCount } }")["events"]["totalCount"] != events:
        pass


def page_of(service: Service, **variables: Any) -> dict[str, Any]:
    page: dict[str, Any] = service.ask(PAGE, variables)["events"]
    return page


def ids_of(page: dict[str, Any]) -> list[str]:
    return [node["eventId"] for node in page["nodes"]]


def in_order_of_ids(ids: list[str]) -> list[str]:
    """The ids with those of one millisecond in the order of lists that are newest first."""
    return [ids[0], *sorted(ids[1:3], reverse=True), ids[3]]


def test_foreign_events_are_listed_and_paged_both_ways(service: Service) -> None:
    every = in_order_of_ids(IDS)
    assert ids_of(page_of(service)) == every

    for backward in (False, True):
        assert [node["eventId"] for node in service.nodes(PAGE, backward=backward)] == every


@pytest.mark.parametrize(
    ("condition", "matching"),
    [
        ({"minMagnitude": 4.5}, [STRONG, SAME_TIME, OLD]),
        ({"maxMagnitude": 2.1}, [WEAK]),
        ({"startTime": "2023-08-03T12:00:00Z", "endTime": "2023-08-03T12:00:30Z"}, [SAME_TIME, WEAK]),
        ({"minDepth": 5}, [STRONG]),
        ({"maxDepth": 5}, [SAME_TIME]),
        ({"place": "oregon"}, [STRONG]),
        ({"box": {"minLat": -10, "maxLat": 0, "minLon": 140, "maxLon": 150}}, [SAME_TIME, WEAK, OLD]),
        ({"types": ["earthquake"]}, []),
        ({"tsunami": False}, FOREIGN),
    ],
)
def test_foreign_events_are_filtered_and_counted(
    service: Service, condition: dict[str, Any], matching: list[dict[str, Any]]
) -> None:
    page = page_of(service, filter=condition)

    assert sorted(ids_of(page)) == sorted(item["eventId"] for item in matching)
    assert page["totalCount"] == len(matching)


def test_a_foreign_event_is_looked_up_whole(service: Service) -> None:
    fields = """id eventId eventTsMs time mag place lat lon depth sourceDepth dayBucket source ingestedAt magType type
        status updatedAt url tsunami felt alert sig revision publishedAt recordedAt preferredId aliases { eventId }
        mergedInto { id } deletion { publishedAt } revisions { nodes { number kind changes { field } } }"""
    found = service.ask(f'{{ event(eventId: "{WEAK["eventId"]}") {{ {fields} }} }}')["event"]

    absent = dict.fromkeys(
        ("depth", "sourceDepth", "magType", "type", "status", "updatedAt", "url", "tsunami", "felt", "alert", "sig")
    )
    assert {**found, **absent} == found
    expected = {name: WEAK[name] for name in ("eventId", "eventTsMs", "place", "dayBucket", "source", "ingestedAt")}
    assert {**found, **expected} == found
    assert (found["mag"], found["lat"], found["lon"]) == (2.1, -5.9082, 149.4336)
    assert (found["revision"], found["publishedAt"], found["recordedAt"]) == (1, None, rfc3339_of_millis(INGESTED_AT))
    assert (found["preferredId"], found["mergedInto"], found["deletion"]) == (WEAK["eventId"], None, None)
    assert found["revisions"]["nodes"] == [{"number": 1, "kind": "CREATED", "changes": []}]
    by_id = service.ask(f'{{ node(id: "{found["id"]}") {{ ... on Event {{ {fields} }} }} }}')["node"]
    assert by_id == found


def test_foreign_events_are_in_statistics_fdsn_and_exports(service: Service) -> None:
    statistics = service.ask("{ catalogueStatistics { count largest { eventId } magnitudeFrequency { count } } }")[
        "catalogueStatistics"
    ]
    assert statistics["count"] == 4
    assert statistics["largest"] == {"eventId": OLD["eventId"]}
    assert sum(each["count"] for each in statistics["magnitudeFrequency"]) == 4

    def fdsn(path: str) -> str:
        return service.http.get(f"/fdsnws/event/1/{path}").text

    assert fdsn("count?starttime=1900-01-01") == "4"
    lines = fdsn("query?starttime=1900-01-01&format=text&orderby=time-asc").splitlines()[1:]
    assert [line.split("|")[0] for line in lines] == in_order_of_ids(IDS)[::-1]
    assert fdsn("query?starttime=1900-01-01&format=xml").count("<event ") == 4

    rows = service.http.get("/export/events.ndjson").text.splitlines()
    assert [json.loads(row)["eventId"] for row in rows[:-1]] == in_order_of_ids(IDS)
    assert json.loads(rows[-1])["_end"]["count"] == 4
    assert all((json.loads(row)["revision"], json.loads(row)["recordedAt"]) == (1, INGESTED_AT) for row in rows[:-1])


def given_as(item: dict[str, Any], **others: Any) -> dict[str, Any]:
    """The same event for an ingest."""
    values = {name: item[name] for name in ("eventId", "eventTsMs", "place", "source")}
    return {**values, **{name: float(item[name]) for name in ("mag", "lat", "lon")}, **others}


def test_an_ingest_skips_a_foreign_event_or_revises_it(own_service: Service, table: Any) -> None:
    def ingest(*events: dict[str, Any]) -> dict[str, int]:
        counts: dict[str, int] = own_service.ask(INGEST, {"events": list(events)})["ingestEvents"]
        return {name: counts[name] for name in ("upserted", "revised", "skipped", "rejected")}

    unpublished, later = given_as(STRONG, mag=6.6), {"updatedAt": rfc3339_of_millis(INGESTED_AT + 1000)}
    assert ingest(unpublished) == {"upserted": 0, "revised": 0, "skipped": 1, "rejected": 0}
    revised = ingest(given_as(STRONG, mag=6.6, **later), given_as(WEAK, status="deleted", **later))
    assert revised == {"upserted": 0, "revised": 2, "skipped": 0, "rejected": 0}

    found = own_service.ask(
        f"""{{ event(eventId: "{STRONG["eventId"]}") {{ mag revision ingestedAt
            revisions {{ nodes {{ number kind recordedAt event {{ mag }} }} }} }}
        deleted: event(eventId: "{WEAK["eventId"]}") {{ deletion {{ publishedAt }} }}
        before: eventVersion(eventId: "{STRONG["eventId"]}", asOf: {{first: true}}) {{ mag }}
        events {{ totalCount nodes {{ eventId mag }} }} }}"""
    )
    assert (found["event"]["mag"], found["event"]["revision"], found["event"]["ingestedAt"]) == (6.6, 2, INGESTED_AT)
    first, second = found["event"]["revisions"]["nodes"]
    assert first == {
        "number": 1,
        "kind": "CREATED",
        "recordedAt": rfc3339_of_millis(INGESTED_AT),
        "event": {"mag": 6.5},
    }
    assert (second["kind"], second["event"]) == ("REVISED", {"mag": 6.6})
    assert found["deleted"] == {"deletion": {"publishedAt": later["updatedAt"]}}
    assert found["before"] == {"mag": 6.5}
    assert found["events"]["totalCount"] == 3
    # The document's programs find the latest version under the same key.
    item = table.get_item(Key={"pk": STRONG["pk"], "sk": "EVENT"})["Item"]
    assert (item["mag"], item["entity"], item["gsi1sk"]) == (Decimal("6.6"), "EVENT", STRONG["eventTsMs"])


def test_an_event_whose_id_another_one_lists_is_an_alias(own_service: Service) -> None:
    ids = [SAME_TIME["eventId"], STRONG["eventId"]]
    listing = given_as(SAME_TIME, ids=ids, updatedAt=rfc3339_of_millis(INGESTED_AT + 1000))
    assert own_service.ask(INGEST, {"events": [listing]})["ingestEvents"]["revised"] == 1

    (merged,) = [each for each in ids if each not in ids_of(page_of(own_service))]
    found = own_service.ask(f'{{ event(eventId: "{merged}") {{ mergedInto {{ eventId }} }} events {{ totalCount }} }}')
    assert found["event"]["mergedInto"]["eventId"] in ids
    assert found["events"]["totalCount"] == 3


def test_foreign_events_are_seen_as_of_the_time_at_which_they_were_ingested(own_service: Service, table: Any) -> None:
    insert(table, an_item("us7000late", NOON + 1, "5.0", ingestedAt=INGESTED_AT + DAY_MS))
    wait_for(own_service, 5)

    def as_of(time: str) -> list[str]:
        answer = own_service.ask(
            f'{{ eventVersions(asOf: {{recorded: "{time}"}}) {{ totalCount nodes {{ eventId }} }} }}'
        )
        assert answer["eventVersions"]["totalCount"] == len(answer["eventVersions"]["nodes"])
        return ids_of(answer["eventVersions"])

    assert as_of("2023-08-06T12:00:00Z") == in_order_of_ids(IDS)
    assert as_of("2023-08-07T12:00:00Z") == [STRONG["eventId"], "us7000late", *in_order_of_ids(IDS)[1:]]
    assert own_service.codes('{ eventVersions(asOf: {recorded: "2023-08-06T11:59:59Z"}) { totalCount } }') == [
        "HISTORY_UNAVAILABLE"
    ]


def test_what_another_program_replaces_and_removes_is_so_for_clients(own_service: Service, table: Any) -> None:
    table.put_item(Item={**STRONG, "mag": Decimal("5.4"), "ingestedAt": INGESTED_AT + 1})
    table.delete_item(Key={"pk": WEAK["pk"], "sk": "EVENT"})

    found = own_service.ask(
        f"""{{ strong: event(eventId: "{STRONG["eventId"]}") {{ mag }}
        weak: event(eventId: "{WEAK["eventId"]}") {{ mag }} events {{ nodes {{ eventId mag }} }} }}"""
    )
    assert (found["strong"], found["weak"]) == ({"mag": 5.4}, None)
    assert WEAK["eventId"] not in ids_of(found["events"])
    assert {"eventId": STRONG["eventId"], "mag": 5.4} in found["events"]["nodes"]


BROKEN: dict[str, dict[str, Any]] = {
    "a text for a number": {"mag": "strong"},
    "no magnitude": {"mag": None},
    "a magnitude beyond all": {"mag": Decimal(11)},
    "no such latitude": {"lat": Decimal(91)},
    "no such day": {"dayBucket": "20239999"},
    "a partition for a day": {"dayBucket": "DAY#20230803"},
    "a number for a text": {"place": 7},
    "no time of its ingest": {"ingestedAt": None},
}


READ = "mag place lat ingestedAt dayBucket"


def test_a_broken_item_is_left_out_and_breaks_nothing_beside_it(prefix: str, table: Any) -> None:
    ids = [f"broken{number}" for number in range(len(BROKEN))]
    for number, (event_id, values) in enumerate(zip(ids, BROKEN.values(), strict=True)):
        item = {**an_item(event_id, NOON + number, "4.0"), **values}
        insert(table, {name: value for name, value in item.items() if value is not None})
    insert(table, *FOREIGN)
    with serving(prefix) as service:
        wait_for(service, len(FOREIGN))
        page = service.ask(f"{{ events(first: 3) {{ totalCount nodes {{ eventId {READ} }} }} }}")["events"]
        assert (ids_of(page), page["totalCount"]) == (in_order_of_ids(IDS)[:3], 4)
        looked_up = [service.ask(f'{{ event(eventId: "{each}") {{ {READ} }} }}')["event"] for each in ids]
        assert looked_up == [None] * len(ids)
        left_out = scraped(service.url).value("quakegraph_store_broken_items_total", table="earthquake-events")
        assert left_out is not None
        assert left_out > 0

        events = [
            given_as(an_item(each, NOON, "4.0"), updatedAt=rfc3339_of_millis(INGESTED_AT))
            for each in (*ids, "us7000new1")
        ]
        report = service.ask(INGEST, {"events": events})["ingestEvents"]

        assert (report["upserted"], report["rejected"]) == (1, len(ids))
        assert [each["code"] for each in report["rejections"]] == ["ITEM_UNREADABLE"] * len(ids)
        assert sorted((each["index"], each["eventId"]) for each in report["rejections"]) == list(enumerate(ids))
        assert service.ask("{ events { totalCount } }")["events"]["totalCount"] == 5


def test_an_event_whose_id_no_cursor_can_hold_is_left_out(own_service: Service, table: Any) -> None:
    insert(table, *[an_item(event_id, NOON, "4.0") for event_id in ("", "nul\0")])
    assert ids_of(page_of(own_service)) == in_order_of_ids(IDS)


def test_foreign_texts_under_names_fail_no_batch(prefix: str, table: Any) -> None:
    broken = {"broken1": "{us1, us2}", "broken2": '{"us1": 5}', "broken3": "[]"}
    insert(table, *(an_item(event_id, NOON, "4.0", names=names) for event_id, names in broken.items()))
    with serving(prefix) as service:
        events = [
            given_as(an_item(each, NOON, "4.0"), updatedAt=rfc3339_of_millis(INGESTED_AT))
            for each in (*broken, "us7000new1")
        ]
        report = service.ask(INGEST, {"events": events})["ingestEvents"]
        assert (report["upserted"], report["rejected"]) == (1, 3)
        rejections = sorted(report["rejections"], key=lambda each: int(each["index"]))
        assert rejections == [
            {"eventId": event_id, "code": "ITEM_UNREADABLE", "index": at} for at, event_id in enumerate(broken)
        ]


def test_the_documents_access_patterns_find_our_events(prefix: str, table: Any) -> None:
    with serving(prefix) as service:
        ours = [given_as(item, depth=None if item.get("depth") is None else 10.0) for item in FOREIGN]
        assert service.ask(INGEST, {"events": ours})["ingestEvents"]["upserted"] == 4

    with pytest.raises(table.meta.client.exceptions.ConditionalCheckFailedException):
        insert(table, STRONG)
    of_day = Key("gsi1pk").eq("DAY#20230803") & Key("gsi1sk").between(NOON, NOON + DAY_MS)
    found = table.query(IndexName="TimeOrderedIndex", KeyConditionExpression=of_day)["Items"]
    assert sorted(item["eventId"] for item in found) == sorted(item["eventId"] for item in (STRONG, SAME_TIME, WEAK))
    for item in found:
        (given,) = [each for each in FOREIGN if each["eventId"] == item["eventId"]]
        same = set(given) - {"ingestedAt", "depth"}
        assert {name: item[name] for name in same} == {name: given[name] for name in same}
        assert item.get("depth") == (None if given["depth"] is None else 10)
    strong = table.query(
        IndexName="TimeOrderedIndex", KeyConditionExpression=of_day, FilterExpression=Attr("mag").gte(6)
    )
    assert [item["eventId"] for item in strong["Items"]] == [STRONG["eventId"]]


def test_a_foreign_event_reaches_subscriptions_and_watches_once(prefix: str, table: Any) -> None:
    insert(table, OLD)
    with serving(prefix) as service:
        wait_for(service, 1)
        cursor = service.ask("{ events { edges { cursor } } }")["events"]["edges"][0]["cursor"]
        service.ask('mutation { createWatch(input: {name: "all", filter: {minMagnitude: 4}}) { watch { id } } }')
        insert(table, STRONG, WEAK, SAME_TIME)

        query = "subscription ($after: String) { events(after: $after) { kind node { eventId mag } dropped } }"
        request = {"query": query, "variables": {"after": cursor}}
        headers = {"Accept": "text/event-stream"}
        with service.http.stream("POST", "/graphql", json=request, headers=headers) as stream:
            told = (json.loads(line[6:]) for line in stream.iter_lines() if line.startswith("data: "))
            notices = [next(told)["data"]["events"] for _ in range(3)]
            report = service.ask(INGEST, {"events": [given_as(an_item("us7000last", NOON, "5.0"))]})["ingestEvents"]
            assert report["upserted"] == 1
            assert next(told)["data"]["events"]["node"]["eventId"] == "us7000last"
        assert all((notice["kind"], notice["dropped"]) == ("CREATED", 0) for notice in notices)
        assert sorted(notice["node"]["eventId"] for notice in notices) == sorted(IDS[:3])

        matching = {STRONG["eventId"], SAME_TIME["eventId"], "us7000last"}
        while len(made := service.ask("{ triggerEvents { nodes { payload } } }")["triggerEvents"]["nodes"]) < 3:
            pass
        assert len(made) == 3
        assert {event_id for each in made for event_id in matching if event_id in json.dumps(each)} == matching
