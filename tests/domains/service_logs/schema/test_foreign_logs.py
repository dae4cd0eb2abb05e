"""Logs that another program writes by boto3, in the document's own words, are served as our own, before any adoption.

The service here has no background work for other programs' items: what is found depends on nothing but the table.
"""

from collections.abc import Iterator
from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest
from boto3.dynamodb.conditions import Key

from graph.domains import service_logs
from tests.documents.pages import Page
from tests.domains.service_logs.builders import NOON, held_clock
from tests.domains.service_logs.foreign_logs import DAYS_90, NOON_S, a_log_entry
from tests.other_programs import ForeignTable, table_of
from tests.service import Service
from tests.store.engines import make_tables

PAGE = Page.followed_by(__file__, "docs/service-logs.md")
DOMAINS = (replace(service_logs.DOMAIN, adoptions=()),)
LOGS = """query ($filter: ServiceLogFilter, $first: Int, $after: String, $last: Int, $before: String) {
  serviceLogs(filter: $filter, first: $first, after: $after, last: $last, before: $before) {
    nodes {
      id logId service type level severityNumber severityText message loggedAt timeUnixNano metadata traceId expiresAt
    }
    pageInfo { hasNextPage hasPreviousPage startCursor endCursor }
  }
}"""


@pytest.fixture
def foreign(dynamodb_endpoint: str) -> ForeignTable:
    prefix = make_tables(service_logs.DOMAIN.entities)
    return ForeignTable(prefix, table_of(service_logs.entities.LOGS, prefix), held_clock())


@pytest.fixture
def served(foreign: ForeignTable) -> Iterator[Service]:
    with foreign.served(DOMAINS) as service:
        yield service


def page(service: Service, filter: dict[str, Any] | None = None, **paging: Any) -> Any:
    return service.ask(LOGS, {"filter": filter, **paging})["serviceLogs"]


def messages(service: Service, **filter: Any) -> list[str]:
    """The messages of the selected logs, newest first."""
    return [node["message"] for node in page(service, filter)["nodes"]]


def at(second: int) -> str:
    """A second of the minute of noon."""
    return f"2100-03-02T12:00:{second:02}Z"


def test_the_document_s_log_entry_is_served_with_what_its_writer_left_out(
    served: Service, foreign: ForeignTable
) -> None:
    current_timestamp = NOON_S
    # Add TTL attribute during ingestion
    ttl_timestamp = current_timestamp + (90 * 24 * 60 * 60)  # 90 days
    log_entry = {
        "service_name": "api-service",
        "timestamp": current_timestamp,
        "ttl": ttl_timestamp,  # Auto-delete after 90 days
        "log_id": "6f2c2b3e-7d0e-4f49-9c57-5f5a1d3f2b10",
        "log_type": "application",
        "level": "WARN",
        "message": "The queue is long",
        "metadata": {"order": 18, "region": "eu", "tags": ["a", None], "nested": {"ok": True}},
    }
    foreign.put(log_entry)

    (node,) = page(served)["nodes"]
    assert served.ask("query ($id: ID!) { node(id: $id) { ... on ServiceLog { message } } }", {"id": node["id"]}) == {
        "node": {"message": "The queue is long"}
    }
    del node["id"]
    assert node == {
        "logId": "6f2c2b3e-7d0e-4f49-9c57-5f5a1d3f2b10",
        "service": "api-service",
        "type": "APPLICATION",
        "level": "WARN",
        "severityNumber": 13,
        "severityText": None,
        "message": "The queue is long",
        "loggedAt": "2100-03-02T12:00:00.000Z",
        "timeUnixNano": f"{NOON_S}000000000",
        "metadata": {"order": 18, "region": "eu", "tags": ["a", None], "nested": {"ok": True}},
        "traceId": None,
        "expiresAt": "2100-05-31T12:00:00.000Z",
    }


def test_what_the_page_shows_another_program_do_is_served(served: Service, foreign: ForeignTable) -> None:
    foreign.clock.now = 1000 * 1785499200
    exec(PAGE.shown("python", "put_item"), {"table": foreign.table})  # noqa: S102 - the page's own
    (node,) = page(served, {"services": ["api-service"]})["nodes"]
    assert (node["message"], node["loggedAt"]) == ("The queue is long", "2026-07-31T12:00:00.000Z")


def test_each_access_pattern_and_filter_finds_them_among_ours(served: Service, foreign: ForeignTable) -> None:
    levels = {"DEBUG": 5, "INFO": 9, "WARN": 13, "ERROR": 17}
    for second, level in enumerate(levels):
        foreign.put(a_log_entry(timestamp=NOON_S + second, level=level, message=f"{level} of api"))
    foreign.put(a_log_entry("cart", NOON_S + 4, log_type="audit", message="audited", metadata={"ms": 5}))
    foreign.put(a_log_entry("cart", NOON_S + 5, log_type="system", message="Réstarted", level="ERROR"))
    own = """mutation { writeServiceLogs(input: {logs: [
      {service: "api-service", level: ERROR, message: "ours", loggedAt: "2100-03-02T12:00:01.5Z", traceId: "%s"}
    ]}) { accepted } }"""
    served.ask(own % ("5b8efff7" * 4))

    of_api = ["ERROR of api", "WARN of api", "ours", "INFO of api", "DEBUG of api"]
    assert messages(served, services=["api-service"]) == of_api
    assert messages(served, services=["api-service"], startTime=at(1), endTime=at(2)) == of_api[1:4]
    assert messages(served, types=["APPLICATION"], startTime=at(1)) == of_api[:4]
    assert messages(served, types=["AUDIT", "SYSTEM"]) == ["Réstarted", "audited"]
    everything = ["Réstarted", "audited", *of_api]
    assert messages(served) == everything
    assert messages(served, levels=["ERROR"]) == ["Réstarted", "ERROR of api", "ours"]
    assert messages(served, levels=["DEBUG", "WARN"], services=["api-service"]) == ["WARN of api", "DEBUG of api"]
    for severity in range(1, 25):
        ours = ["ours"] if severity <= 17 else []
        theirs = [f"{level} of api" for level in reversed(levels) if levels[level] >= severity]
        found = messages(served, services=["api-service"], minSeverity=severity)
        assert sorted(found) == sorted([*theirs, *ours]), severity
    assert messages(served, text="RESTART") == ["Réstarted"]
    assert messages(served, metadata=[{"key": "ms", "value": "5"}]) == ["audited"]
    assert messages(served, traceId="5b8efff7" * 4) == ["ours"]
    assert served.ask("{ loggingServices { name } }")["loggingServices"] == [{"name": "api-service"}]


def test_pages_are_exact_in_both_directions_over_the_document_s_shards(served: Service, foreign: ForeignTable) -> None:
    wanted: list[str] = []
    for number in range(30):
        log_id, service_name = f"log-{number}", "api-service"
        # For very high-volume services
        shard_id = hash(log_id) % 10
        service_name_sharded = f"{service_name}#{shard_id}"
        foreign.put(a_log_entry(service_name_sharded, NOON_S + number, log_id=log_id, message=f"{number}"))
        wanted.insert(0, f"{number}")

    for chosen in ({"services": ["api-service"]}, {}, {"types": ["APPLICATION"]}, {"levels": ["INFO"]}):
        for size, backward in ((7, False), (8, True)):
            nodes = served.nodes(LOGS, {"filter": chosen}, size=size, backward=backward)
            assert [node["message"] for node in nodes] == wanted
            assert {node["service"] for node in nodes} == {"api-service"}
            assert [node["logId"] for node in nodes] == [f"log-{number}" for number in wanted]


def test_a_time_with_a_fraction_is_found_and_one_that_no_double_holds_is_left_out(
    served: Service, foreign: ForeignTable
) -> None:
    step = 2**-21  # between two doubles
    for number, steps in enumerate((0, 1, 3, 4)):
        foreign.put(a_log_entry(timestamp=Decimal(repr(NOON_S + 0.5 + steps * step)), message=f"{number}"))
    foreign.put(a_log_entry(timestamp=Decimal(f"{NOON_S}.5000012"), message="between two doubles"))

    nodes = page(served)["nodes"]
    assert [node["timeUnixNano"][10:] for node in nodes] == ["500002000", "500001400", "500000500", "500000000"]
    for node in nodes:
        found = served.ask("query ($id: ID!) { node(id: $id) { ... on ServiceLog { logId } } }", {"id": node["id"]})
        assert found == {"node": {"logId": node["logId"]}}
    assert messages(served, startTime="2100-03-02T12:00:00.500001Z") == ["3", "2"]
    one_by_one = served.nodes(LOGS, {"filter": {"levels": ["INFO"]}})
    assert [node["message"] for node in one_by_one] == ["3", "2", "1", "0"]


def test_they_expire_by_their_ttl_and_stay_without_one(served: Service, foreign: ForeignTable) -> None:
    foreign.put(a_log_entry(timestamp=NOON_S, ttl=NOON_S + DAYS_90, message="for 90 days"))
    foreign.put(a_log_entry(timestamp=NOON_S - 10 * DAYS_90, message="for ever"))
    foreign.put(a_log_entry(timestamp=NOON_S + 1, ttl=0, message="expired"))

    foreign.clock.now = NOON + 1000 * DAYS_90 - 1
    assert messages(served) == ["for 90 days", "for ever"]
    assert messages(served, levels=["INFO"], services=["api-service"]) == ["for 90 days", "for ever"]
    foreign.clock.now += 1
    assert messages(served) == ["for ever"]


BROKEN: list[dict[str, Any]] = [
    {"level": "TRACE"},
    {"log_type": "other"},
    {"metadata": ["a"]},
    {"metadata": "a"},
    {"message": 7},
    {"ttl": 10**15},
    {"ttl": "tomorrow"},
    {"timestamp": 1000 * NOON_S},
    {"time_unix_nano": "noon"},
    {"severity_number": 25},
]


def test_a_broken_one_is_left_out_and_breaks_nothing_beside_it(served: Service, foreign: ForeignTable) -> None:
    foreign.put(a_log_entry(timestamp=NOON_S - 1, message="before"))
    for number, wrong in enumerate(BROKEN):
        foreign.put(a_log_entry(**{"timestamp": NOON_S + 2 * number, **wrong}))
        foreign.put(a_log_entry(timestamp=NOON_S + 2 * number + 1, message=f"beside {number}"))
    without = a_log_entry(timestamp=NOON_S + 100)
    del without["message"]
    foreign.put(without)

    wanted = [f"beside {number}" for number in reversed(range(len(BROKEN)))] + ["before"]
    for chosen in ({}, {"services": ["api-service"]}, {"levels": ["INFO"]}, {"text": "be"}):
        assert messages(served, **chosen) == wanted
    assert [node["message"] for node in served.nodes(LOGS, size=5)] == wanted


def test_a_log_of_the_same_second_takes_the_place_of_the_first_as_the_document_has_it(
    served: Service, foreign: ForeignTable
) -> None:
    foreign.put(a_log_entry(message="first"), a_log_entry(message="second", level="ERROR"))
    assert messages(served) == messages(served, levels=["ERROR"]) == ["second"]


def test_ours_beside_theirs_keeps_both_and_one_that_is_sent_again_is_skipped(
    served: Service, foreign: ForeignTable
) -> None:
    write = """mutation ($log: ServiceLogInput!) {
        writeServiceLogs(input: {logs: [$log]}) { accepted skipped rejected } }"""
    theirs = a_log_entry(message="theirs")
    foreign.put(theirs)
    foreign.put(a_log_entry(timestamp=NOON_S + 1, level="NOTICE"))  # a broken one

    ours = {"service": "api-service", "message": "ours", "loggedAt": at(0)}
    beside_broken = {"service": "api-service", "message": "beside a broken one", "loggedAt": at(1)}
    again = {**ours, "message": "theirs", "logId": theirs["log_id"]}
    for outcome in ("accepted", "skipped"):
        for log in (ours, beside_broken):
            assert served.ask(write, {"log": log})["writeServiceLogs"][outcome] == 1
    assert served.ask(write, {"log": again})["writeServiceLogs"]["skipped"] == 1

    assert messages(served) == ["beside a broken one", "ours", "theirs"]
    raw = foreign.table.query(KeyConditionExpression=Key("service_name").eq("api-service"))["Items"]
    assert [float(item["timestamp"]) for item in raw] == [NOON_S, NOON_S + 0.000001, NOON_S + 1, NOON_S + 1.000001]
