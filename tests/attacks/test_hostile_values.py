"""Values that no decent client sends, in every place that takes one: each is refused by its code, or does no harm."""

import gzip
import re
from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any

import httpx
import orjson
import pytest

from tests.attacks.leaks import checked, leaks
from tests.forking import serving
from tests.processes import TIMEOUT_S
from tests.service import Service

BAD, INPUT, COMPLEX = "BAD_REQUEST", "BAD_USER_INPUT", "QUERY_TOO_COMPLEX"
PARSE, INVALID = "GRAPHQL_PARSE_FAILED", "GRAPHQL_VALIDATION_FAILED"


def ask(service: Service, query: str, variables: Any = None) -> httpx.Response:
    return checked(service.http.post("/graphql", json={"query": query, "variables": variables}))


def send(service: Service, body: bytes, **headers: str) -> httpx.Response:
    given = {"Content-Type": "application/json", **headers}
    return checked(service.http.post("/graphql", content=body, headers=given))


def codes(answer: httpx.Response) -> list[str]:
    return [error["extensions"]["code"] for error in answer.json().get("errors", [])]


# Numbers


LARGE = [str(2**31), str(2**63), str(-(2**63) - 1)]  # which a Float may be


@pytest.mark.parametrize(
    "number",
    ["1" + "0" * 400, "1e400", "-1e400", *LARGE],
    ids=["digits", "positive", "negative", "int", "long", "less"],
)
def test_numbers_beyond_all_bounds_are_refused(week: Service, number: str) -> None:
    in_documents = [
        f"{{ events(first: {number}) {{ totalCount }} }}",
        f"{{ events(filter: {{minMagnitude: {number}}}) {{ totalCount }} }}",
        f"{{ events(filter: {{circle: {{lat: {number}, lon: 0, radiusKm: 1}}}}) {{ totalCount }} }}",
        f"{{ popularFilters(windowDays: {number}) {{ totalRequests }} }}",
        f"{{ catalogueStatistics(filter: {{minMagnitude: {number}}}) {{ count largest {{ id }} }} }}",
        f'{{ event(eventId: "us6000kxnn") {{ nearby(days: {number}) {{ totalCount }} }} }}',
    ]
    for query in in_documents:
        answer = ask(week, query)
        assert set(codes(answer)) <= {INPUT, INVALID}, answer.text
        assert codes(answer) or number in LARGE, answer.text
    body = b'{"query": "query($n: Int) { events(first: $n) { totalCount } }", "variables": {"n": %s}}' % number.encode()
    assert codes(send(week, body)) in ([INPUT], [BAD])


# Text

PLACES: list[str] = [
    "query($x: ID!) { event(eventId: $x) { id } }",
    "query($x: ID!) { node(id: $x) { id } }",
    "query($x: ID!) { nodes(ids: [$x]) { id } }",
    "query($x: String!) { events(after: $x) { totalCount } }",
    "query($x: String!) { events(before: $x) { totalCount } }",
    "query($x: String!) { events(filter: {types: [$x]}) { bucketsScanned } }",
    "query($x: DateTime!) { events(filter: {startTime: $x}) { totalCount } }",
    "query($x: EventOrder!) { events(orderBy: $x) { totalCount } }",
    "query($x: String!) { requestLogs(filter: {routes: [$x]}) { nodes { id } } }",
    "query($x: Date!) { popularFilters(day: $x) { totalRequests } }",
    "query($x: Int!) { events(first: $x) { totalCount } }",
    "query($x: EventFilter!) { events(filter: $x) { totalCount } }",
]
TEXTS = [
    *("\0", "\n", "\r\nX-Evil: 1", "\x1b[31m", "\u2028", "\u202e", "\ufeff", "\uffff", "💥" * 50),
    *("' OR 1=1 --", '"; DROP TABLE x; --', "{{7*7}}", "${jndi:ldap://127.0.0.1/a}", "%s%n%x", "../../etc/passwd"),
    *("__proto__", "constructor", "<script>alert(1)</script>", "EVENT#x", "null", "-1", "9" * 400),
]


def test_no_text_does_harm_anywhere(week: Service) -> None:
    for place, text in product(PLACES, TEXTS):
        answer = week.http.post("/graphql", json={"query": place, "variables": {"x": text}})
        assert set(codes(answer)) <= {INPUT, "INVALID_CURSOR"}, (place, text)
        assert [leak for leak in leaks(answer) if leak not in text] == [], (place, text)


def test_a_megabyte_of_text_is_not_sent_back_and_half_a_surrogate_pair_is_refused(week: Service) -> None:
    for place in PLACES:
        assert len(ask(week, place, {"x": "x" * 1_000_000}).content) < 3000, place
        body = orjson.dumps({"query": place, "variables": {"x": "@"}}).replace(b'"@"', b'"\\ud800"')
        assert codes(send(week, body)) == [BAD], place
    literals = ("\\ud800", "\\uDFFF\\uD800", "\\u{D800}", "\\u{110000}", "\\u{}", "\\x")
    for query, literal in product(
        ('{ event(eventId: "%s") { id } }', '{ events(after: "%s") { totalCount } }'), literals
    ):
        assert codes(ask(week, query % literal)) == [PARSE], literal


def test_text_of_events_is_kept_as_it_is_or_cut(service: Service) -> None:
    event = {"eventTsMs": 0, "mag": 1, "lat": 0, "lon": 0}
    odd = "\0\x1b[31m\u202e' OR 1=1 --\u2028💥"
    events = [
        {**event, "eventId": "odd", "place": odd},
        {**event, "eventId": "long", "place": "x" * 300_000, "url": "y" * 300_000},
    ]
    ask(
        service,
        "mutation($events: [EventInput!]!) { ingestEvents(input: {events: $events}) { upserted } }",
        {"events": events},
    )

    stored = service.ask('{ odd: event(eventId: "odd") { place } long: event(eventId: "long") { place url } }')
    assert stored == {"odd": {"place": odd}, "long": {"place": "x" * 512, "url": "y" * 1024}}


# Lists and nesting


LISTS: list[tuple[str, Any]] = [
    ("query($x: [ID!]!) { nodes(ids: $x) { id } }", "x"),
    ("query($x: [String!]) { events(filter: {types: $x}) { totalCount } }", "x"),
    ("mutation($x: [EventInput!]!) { ingestEvents(input: {events: $x}) { fetched } }", {}),
    ("query($x: [ID!]!) { nodes(ids: $x) { id } }", None),
    ("query($x: [ID!]!) { nodes(ids: $x) { __typename } }", ["x"]),
]


@pytest.mark.parametrize(("query", "value"), LISTS)
def test_a_list_with_far_too_many_values_is_refused(week: Service, query: str, value: Any) -> None:
    assert codes(ask(week, query, {"x": [value] * 100_000})) == [BAD]

    answer = ask(week, query, {"x": [value] * 20_000})
    assert codes(answer) in ([INPUT], [COMPLEX])
    assert len(answer.content) < 1000


def test_json_that_is_nested_deeply_or_without_end_is_refused(week: Service) -> None:
    for name, opened in product((b"variables", b"extensions", b"query", b"operationName"), (b"[", b'{"a":')):
        body = b'{"query": "{ __typename }", "%s": ' % name + opened * 40_000
        assert codes(send(week, body)) == [BAD], (name, opened)
    query = b"query($f: EventFilter) { events(filter: $f) { totalCount } }"
    for levels in (50, 1000, 5000):
        nested = b'{"box":' * levels + b"{}" + b"}" * levels
        answer = send(week, b'{"query": "%s", "variables": {"f": %s}}' % (query, nested))
        assert set(codes(answer)) in ({INPUT}, {BAD}), levels


# HTTP


def test_a_body_is_not_decompressed(week: Service) -> None:
    typename = b'{"query": "{ __typename }"}'
    for body, encoding in ((gzip.compress(typename + b" " * 10_000_000), "gzip"), (typename, "br")):
        assert send(week, body, **{"Content-Encoding": encoding}).status_code == 415, encoding


# Logs


def test_no_input_forges_a_line_of_the_log(tmp_path: Path) -> None:
    forged = "\n2026-01-01T00:00:00Z critical graph: forged\r\x1b[2K\u2028forged"
    find = "query($x: ID!) { event(eventId: $x) { id } }"
    asked = {"query": "{ __typename }"}
    with serving(folder=tmp_path, settings={"GRAPH_LOG_LEVEL": "debug"}) as server:
        attempts: list[Callable[[], httpx.Response]] = [
            lambda: httpx.post(server.url, json={"query": forged}, timeout=TIMEOUT_S),
            lambda: httpx.post(server.url, json={"query": find, "variables": {"x": forged}}, timeout=TIMEOUT_S),
            lambda: httpx.get(server.url, params={**asked, "operationName": forged}, timeout=TIMEOUT_S),
            lambda: httpx.get(f"{server.url}/%0Aforged", timeout=TIMEOUT_S),
            lambda: httpx.post(
                server.url, json=asked, headers={"X-Request-Id": "forged", "User-Agent": "forged"}, timeout=TIMEOUT_S
            ),
            lambda: httpx.post(server.url, json=asked, headers={"Authorization": "Bearer forged"}, timeout=TIMEOUT_S),
        ]
        for attempt in attempts:
            assert attempt().status_code < 500
        assert server.end() == 0
        server.read_to_end()

    for line in server.output[2:]:
        assert re.match(r"\d{4}-\d\d-\d\dT[\d:.]+Z \w+ +[\w.]+: ", line), line
        assert "critical" not in line
        assert line.isprintable()
