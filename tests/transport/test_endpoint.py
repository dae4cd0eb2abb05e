"""GraphQL over HTTP: what is sent, and the status, media type and body that it is answered with."""

import logging
import socket
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any
from uuid import UUID

import httpx
import orjson
import pytest

from graph.transport.request import MOST_BODY_BYTES
from tests.domains.earthquakes.usgs.usgs_server import UsgsServer
from tests.service import Service, running, settings

JSON, GRAPHQL_JSON = "application/json", "application/graphql-response+json"
TYPENAME = b'{"query": "{ __typename }"}'
MUTATION = "mutation M { ingestEvents(input: {events: []}) { fetched } }"
NAMED = "query A { a: __typename } query B { b: __typename }"

BAD, PARSE, INVALID = "BAD_REQUEST", "GRAPHQL_PARSE_FAILED", "GRAPHQL_VALIDATION_FAILED"
UNRESOLVED, INPUT = "OPERATION_RESOLUTION_FAILURE", "BAD_USER_INPUT"


def send(
    service: Service,
    method: str = "POST",
    *,
    accept: str | None = GRAPHQL_JSON,
    content_type: str | None = JSON,
    body: bytes | Iterator[bytes] | None = None,
    parameters: Mapping[str, str] | None = None,
) -> httpx.Response:
    """Send a request, and check of its answer what holds for all."""
    headers = {"Accept": accept, "Content-Type": content_type if body is not None else None}
    given = {name: value for name, value in headers.items() if value is not None}
    request = service.http.build_request(method, "/graphql", headers=given, content=body, params=parameters)
    if accept is None:
        del request.headers["Accept"]  # which httpx adds
    answer = service.http.send(request)

    assert UUID(answer.headers["X-Request-Id"]).version == 4
    assert answer.headers["Vary"] == ("Accept, Authorization" if "ETag" in answer.headers else "Accept")
    if answer.content:
        assert answer.is_success or answer.json().keys() == {"errors"}
    return answer


def data_or_codes(answer: httpx.Response) -> Any:
    """The data of an answer that has no errors, or the codes of one that has no entry for data."""
    body = answer.json()
    if body.keys() == {"data"}:
        return body["data"]
    assert body.keys() == {"errors"}
    return [error["extensions"]["code"] for error in body["errors"]]


@pytest.mark.parametrize(
    ("accept", "status", "media_type"),
    [
        (None, 200, JSON),
        ("", 200, JSON),
        ("*/*", 200, JSON),
        ("application/*", 200, JSON),
        (JSON, 200, JSON),
        (GRAPHQL_JSON, 200, GRAPHQL_JSON),
        (GRAPHQL_JSON.upper(), 200, GRAPHQL_JSON),
        (f"{JSON}, {GRAPHQL_JSON}", 200, GRAPHQL_JSON),
        (f"{GRAPHQL_JSON}; charset=utf-8, {JSON}; charset=utf-8", 200, GRAPHQL_JSON),
        (f"{GRAPHQL_JSON};q=0, {JSON}", 200, JSON),
        ("text/html, */*;q=0.1", 200, JSON),
        ("text/html", 406, JSON),  # the page is for those who GET
        ("text/plain", 406, JSON),
        ("image/png;q=0.9, application/xml", 406, JSON),
        (f"{JSON};q=0.0", 406, JSON),
    ],
)
def test_an_answer_has_a_media_type_that_the_client_accepts(
    week: Service, accept: str | None, status: int, media_type: str
) -> None:
    answer = send(week, accept=accept, body=TYPENAME)

    assert (answer.status_code, answer.headers["Content-Type"]) == (status, f"{media_type}; charset=utf-8")
    assert data_or_codes(answer) == ({"__typename": "Query"} if status == 200 else [BAD])


ACCEPTED_TYPES = (JSON, f"{JSON}; charset=utf-8", f'{JSON};charset="UTF-8"; profile=x', "Application/JSON")
REFUSED_TYPES = (
    *(None, "", "text/plain", "application/graphql", "application/x-www-form-urlencoded"),
    *("multipart/form-data; boundary=x", f"{JSON}; charset=utf-16", f"{JSON}; charset=iso-8859-1"),
)
REQUESTS = (
    b'{"query": "{ __typename }", "variables": null, "operationName": null, "extensions": null}',
    b'{"query": "{ __typename }", "variables": {"a": [1]}, "extensions": {"a": 1}, "more": 1}',
)
NO_REQUESTS = (
    *(b"", b"{", b"query", b"null", b'"{ __typename }"', b"[" + TYPENAME + b"]", b"[]", b"[" * 40_000, b"{}"),
    b'{"query": "\xff"}',
    b'{"query": "\xed\xa0\x80"}',  # half a surrogate pair
    b'{"query": "\\ud800"}',
    b'\xef\xbb\xbf{"query": "{ __typename }"}',
    *(b'{"query": null}', b'{"query": ""}', b'{"query": 1}', b'{"query": {"a": 1}}', b'{"QUERY": "{ __typename }"}'),
    *[
        b'{"query": "{ __typename }", %s}' % wrong
        for wrong in (
            *(b'"variables": []', b'"variables": "{}"', b'"variables": false', b'"variables": {"a": NaN}'),
            *(b'"operationName": 1', b'"operationName": ["A"]', b'"extensions": []', b'"extensions": "x"'),
        )
    ],
)


@pytest.mark.parametrize("accept", [JSON, GRAPHQL_JSON])
def test_a_body_is_a_request_or_is_refused(week: Service, accept: str) -> None:
    asked: list[tuple[str | None, bytes, int]] = [(each, TYPENAME, 200) for each in ACCEPTED_TYPES]
    asked += [(each, TYPENAME, 415) for each in REFUSED_TYPES]
    asked += [(JSON, body, 200) for body in REQUESTS] + [(JSON, body, 400) for body in NO_REQUESTS]
    for content_type, body, status in asked:
        answer = send(week, accept=accept, content_type=content_type, body=body)

        expected = {"__typename": "Query"} if status == 200 else [BAD]
        assert (answer.status_code, data_or_codes(answer)) == (status, expected), (content_type, body[:80])


@pytest.mark.parametrize(
    ("request_", "outcome"),
    [
        ({"query": "{"}, PARSE),
        ({"query": "   # nothing"}, PARSE),
        ({"query": "{a" * 900 + "}" * 900}, "QUERY_TOO_COMPLEX"),
        ({"query": "{a" * 10_000 + "}" * 10_000}, "QUERY_TOO_COMPLEX"),
        ({"query": "{ nothing }"}, INVALID),
        ({"query": "{ event { id } }"}, INVALID),
        ({"query": '{ events(filter: {startTime: "yesterday"}) { totalCount } }'}, INVALID),
        ({"query": "query A($x: Int) { __typename }"}, INVALID),
        ({"query": "query A { __typename } query A { __typename }", "operationName": "A"}, INVALID),
        ({"query": "query($id: ID!) { event(eventId: $id) { id } }"}, INPUT),
        ({"query": "query($id: ID!) { event(eventId: $id) { id } }", "variables": {"id": None}}, INPUT),
        ({"query": "query($id: ID!) { event(eventId: $id) { id } }", "variables": {"id": {}}}, INPUT),
        ({"query": "query($b: Boolean = true) { a: __typename @skip(if: $b) }", "variables": {"b": None}}, INPUT),
        ({"query": NAMED}, UNRESOLVED),
        ({"query": NAMED, "operationName": ""}, UNRESOLVED),
        ({"query": NAMED, "operationName": "C"}, UNRESOLVED),
        ({"query": "{ __typename }", "operationName": "C"}, UNRESOLVED),
        ({"query": "fragment F on Query { __typename }"}, INVALID),
        ({"query": "type Query { a: Int }"}, INVALID),
        ({"query": "subscription { events { totalCount } }"}, INVALID),
        ({"query": NAMED, "operationName": "A"}, {"a": "Query"}),
        ({"query": NAMED, "operationName": "B"}, {"b": "Query"}),
        ({"query": "query A { a: __typename }", "operationName": "A"}, {"a": "Query"}),
        ({"query": "query A { a: __typename }"}, {"a": "Query"}),
        ({"query": MUTATION}, {"ingestEvents": {"fetched": 0}}),
    ],
)
def test_a_document_is_executed_or_its_answer_has_no_data(
    week: Service, request_: Mapping[str, Any], outcome: Any
) -> None:
    body = orjson.dumps(request_)
    newer, older = send(week, accept=GRAPHQL_JSON, body=body), send(week, accept=JSON, body=body)

    refused = isinstance(outcome, str)
    assert (newer.status_code, older.status_code) == (400 if refused else 200, 200)
    assert data_or_codes(newer) == data_or_codes(older) == ([outcome] if refused else outcome)


@pytest.mark.parametrize(
    ("parameters", "status", "outcome"),
    [
        ({"query": "{ __typename }"}, 200, {"__typename": "Query"}),
        ({"query": NAMED, "operationName": "B"}, 200, {"b": "Query"}),
        ({"query": "query($n: Int!) { events(first: $n) { nodes { mag } } }", "variables": '{"n": 0}'}, 200, None),
        ({"query": "{ __typename }", "variables": "", "extensions": ""}, 200, {"__typename": "Query"}),
        ({"query": "{ __typename }", "variables": "null", "extensions": "{}"}, 200, {"__typename": "Query"}),
        ({"query": f"query A {{ a: __typename }} {MUTATION}", "operationName": "A"}, 200, {"a": "Query"}),
        ({"query": f"query A {{ a: __typename }} {MUTATION}", "operationName": "M"}, 405, [BAD]),
        ({}, 400, [BAD]),
        ({"query": ""}, 400, [BAD]),
        ({"query": "{ __typename }", "variables": "{"}, 400, [BAD]),
        ({"query": "{ __typename }", "variables": "[]"}, 400, [BAD]),
        ({"query": "{ __typename }", "extensions": "1"}, 400, [BAD]),
        ({"query": "{"}, 400, [PARSE]),
        ({"query": "{ nothing }"}, 400, [INVALID]),
        ({"query": NAMED}, 400, [UNRESOLVED]),
        ({"query": "subscription { x }"}, 400, [INVALID]),
        ({"query": MUTATION}, 405, [BAD]),
    ],
)
def test_a_query_may_come_in_the_url(week: Service, parameters: Mapping[str, str], status: int, outcome: Any) -> None:
    answer = send(week, "GET", parameters=parameters)

    assert answer.status_code == status
    assert data_or_codes(answer) == (outcome or {"events": {"nodes": []}})
    assert answer.headers.get("Allow") == ("POST" if status == 405 else None)
    head = send(week, "HEAD", parameters=parameters)
    assert (head.status_code, head.content) == (status, b"")
    assert head.headers.get("Allow") == answer.headers.get("Allow")


def test_other_methods_get_405_with_the_allowed_ones(week: Service) -> None:
    for method in ("PUT", "PATCH", "DELETE", "OPTIONS"):
        answer = send(week, method, body=TYPENAME)
        assert (answer.status_code, answer.headers["Allow"], data_or_codes(answer)) == (405, "GET, HEAD, POST", [BAD])


def test_a_body_may_have_a_mebibyte(week: Service) -> None:
    assert MOST_BODY_BYTES == 1024 * 1024
    largest = TYPENAME + b" " * (MOST_BODY_BYTES - len(TYPENAME))

    assert data_or_codes(send(week, body=largest)) == {"__typename": "Query"}
    assert data_or_codes(send(week, body=in_chunks(largest))) == {"__typename": "Query"}
    for too_large in (largest + b" ", in_chunks(largest + b" "), in_chunks(largest * 20)):
        answer = send(week, body=too_large)
        assert (answer.status_code, data_or_codes(answer)) == (413, [BAD])


def in_chunks(body: bytes) -> Iterator[bytes]:
    """A body that is sent without saying how long it is."""
    for first in range(0, len(body), 10_000):
        yield body[first : first + 10_000]


def test_a_browser_gets_graphiql(week: Service) -> None:
    browsers = {"Accept": "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8"}
    page = week.http.get("/graphql", headers=browsers)

    assert (page.status_code, page.headers["Content-Type"]) == (200, "text/html; charset=utf-8")
    assert 'id="graphiql"' in page.text
    assert week.http.head("/graphql", headers=browsers).headers["Content-Type"] == "text/html; charset=utf-8"


def test_a_client_that_hangs_up_is_no_defect(
    tmp_path: Path, usgs: UsgsServer, caplog: pytest.LogCaptureFixture
) -> None:
    with running(settings(tmp_path / "empty.db", usgs)) as service:
        address = (service.http.base_url.host, service.http.base_url.port or 80)
        with socket.create_connection(address) as connection:
            head = "POST /graphql HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n"
            connection.sendall(head.encode() + b"{")
        assert service.ask("{ __typename }") == {"__typename": "Query"}

    assert [record for record in caplog.records if record.levelno >= logging.WARNING] == []
