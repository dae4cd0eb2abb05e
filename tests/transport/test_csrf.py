"""Requests that a browser sends for any page: none of them executes anything. A page of a named origin may ask."""

from pathlib import Path

import httpx
import pytest
from starlette.responses import PlainTextResponse

from graph.transport.origins import allows, with_cors
from tests.bearers import bearer
from tests.domains.earthquakes.usgs.usgs_server import UsgsServer
from tests.processes import TIMEOUT_S
from tests.service import Service, running, settings

GRAPHQL_JSON = "application/graphql-response+json"
BROWSER = {"User-Agent": "Mozilla/5.0 (X11; Linux x86_64)", "Accept": "*/*"}
QUERY = "{ events { totalCount } }"


@pytest.mark.parametrize(
    ("headers", "executed"),
    [
        ({}, True),  # as curl does, and audit 5A70
        (BROWSER, False),
        ({**BROWSER, "Accept": "image/avif,image/webp,*/*;q=0.8"}, False),
        ({**BROWSER, "Accept": "application/json"}, False),
        ({"Sec-Fetch-Site": "cross-site"}, False),
        ({"Origin": "https://evil.example"}, False),
        ({"Referer": "https://evil.example/"}, False),
        ({"Cookie": "a=b"}, False),
        ({**BROWSER, "GraphQL-Require-Preflight": "1"}, True),
        ({**BROWSER, "Apollo-Require-Preflight": "true"}, True),
        ({**BROWSER, "X-Apollo-Operation-Name": "Q"}, True),
        ({**BROWSER, "GraphQL-Require-Preflight": ""}, False),
        ({**BROWSER, **bearer()}, True),
        ({**BROWSER, "Content-Type": "application/json"}, True),
        ({**BROWSER, "Content-Type": "text/plain; application/json"}, False),
        ({**BROWSER, "Content-Type": "application/x-www-form-urlencoded"}, False),
        ({**BROWSER, "Accept": GRAPHQL_JSON}, True),
        (
            {**BROWSER, "Accept": GRAPHQL_JSON, "Origin": "https://evil.example"},
            False,
        ),  # which is all that a site without TLS is told
        ({**BROWSER, "Accept": GRAPHQL_JSON, "Sec-Fetch-Site": "same-origin"}, True),
        ({**BROWSER, "Accept": GRAPHQL_JSON, "Sec-Fetch-Site": "cross-site"}, False),
        ({**BROWSER, "Accept": GRAPHQL_JSON, "Sec-Fetch-Site": "same-site"}, False),
    ],
)
def test_a_get_is_executed_unless_any_page_could_have_caused_it(
    week: Service, headers: dict[str, str], executed: bool
) -> None:
    with httpx.Client(base_url=week.url, timeout=TIMEOUT_S) as client:
        client.headers = httpx.Headers()
        answer = client.get("/graphql", params={"query": QUERY}, headers=headers)

    assert (answer.status_code == 200) is executed
    if not executed:
        assert answer.status_code == 400
        assert answer.json()["errors"][0]["extensions"] == {"code": "CSRF_PREVENTION", "classification": "BAD_REQUEST"}


NAMED = ("https://a.example",)
LOOPBACK = ("http://localhost:5173", "http://127.0.0.1:3000", "http://[::1]:8080", "http://localhost")
NEITHER = (
    *("http://localhost.evil.example", "http://localhost:1@evil.example", "http://evil.example#localhost"),
    *("http://localhost:5173.evil.example", "http://evil-localhost:5173", "http://127.0.0.1.evil.example:80"),
    *("http://127.0.0.11:3000", "http://127a0b0c1:3000", "ftp://localhost", "null", "loopback", "http://[::1"),
    *("http://localhost:123456", "https://b.example", "http://localhost:5173/"),
)
ALLOWED = [(NAMED, NAMED), (("loopback",), LOOPBACK), (("https://a.example", "loopback"), (*NAMED, *LOOPBACK))]
"""The setting, and the origins that it lets in."""


@pytest.mark.parametrize(("origins", "allowed"), ALLOWED, ids=["named", "loopback", "both"])
def test_cors_and_websockets_are_open_only_to_the_named_origins(
    tmp_path: Path, usgs: UsgsServer, origins: tuple[str, ...], allowed: tuple[str, ...]
) -> None:
    preflight = {
        "Access-Control-Request-Method": "POST",
        "Access-Control-Request-Headers": "authorization,content-type,graphql-cost",
    }
    with running(settings(tmp_path / "empty.db", usgs, cors_origins=origins)) as service:
        for origin in (*NAMED, *LOOPBACK, *NEITHER):
            is_allowed = origin in allowed
            for answer in (
                service.http.options("/graphql", headers={**preflight, "Origin": origin}),
                service.http.post("/graphql", json={"query": QUERY}, headers={"Origin": origin}),
            ):
                assert answer.headers.get("Access-Control-Allow-Origin") == (origin if is_allowed else None), origin
                assert "Access-Control-Allow-Credentials" not in answer.headers
            assert "ETag" in answer.headers["Access-Control-Expose-Headers"].split(", ")
            assert allows(origins, origin) is is_allowed  # which decides for WebSockets


PROGRAMS = (
    *("apollographql-client-name", "apollographql-client-version", "apollo-require-preflight", "traceparent"),
    *("tracestate", "baggage", "sentry-trace", "x-requested-with", "cache-control", "last-event-id"),
    *("x-apollo-operation-id", "if-none-match", "x-tenant"),
)
"""Headers that clients and their libraries send, and one of the setting."""


def test_pages_may_send_the_headers_of_usual_programs_and_of_the_setting_and_a_refusal_says_what_allows_more(
    tmp_path: Path, usgs: UsgsServer, caplog: pytest.LogCaptureFixture
) -> None:
    allowed = {"Origin": NAMED[0], "Access-Control-Request-Method": "POST"}
    refused = {**allowed, "Origin": "https://b.example"}
    with running(settings(tmp_path / "empty.db", usgs, cors_origins=NAMED, cors_headers=("X-Tenant",))) as service:
        asked = {"Access-Control-Request-Headers": ",".join(PROGRAMS)}
        answer = service.http.options("/graphql", headers={**allowed, **asked})
        assert (answer.status_code, answer.text) == (200, "OK")
        assert set(PROGRAMS) <= set(answer.headers["Access-Control-Allow-Headers"].lower().split(", "))
        for headers, reason in (
            ({**allowed, "Access-Control-Request-Headers": "baggage, x-b3, X-B3"}, NO_HEADER),
            (refused, NO_ORIGIN),
            ({**refused, "Access-Control-Request-Headers": "x-b3"}, f"{NO_ORIGIN}\n{NO_HEADER}"),
            ({**allowed, "Access-Control-Request-Method": "PUT"}, "The method PUT is not allowed: use GET or POST."),
        ):
            answer = service.http.options("/graphql", headers=headers)
            assert (answer.status_code, answer.text) == (400, reason)
    assert [record.__dict__["keywords"] for record in caplog.records if record.name == "graph.transport.origins"] == [
        {"header": "x-b3", "setting": "GRAPH_CORS_HEADERS"},
        {"origin": "https://b.example", "setting": "GRAPH_CORS_ORIGINS"},
    ]


async def test_the_setting_may_allow_all_headers_and_the_log_names_a_hundred_refused_ones_shortly(
    caplog: pytest.LogCaptureFixture,
) -> None:
    preflight = {"Origin": NAMED[0], "Access-Control-Request-Method": "POST"}
    statuses = []
    for headers in (["*"], []):
        transport = httpx.ASGITransport(with_cors(PlainTextResponse(), NAMED, headers))
        async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as http:
            asked = [{**preflight, "Access-Control-Request-Headers": f"x-{'b' * 300}{number}"} for number in range(101)]
            statuses += [(await http.options("/", headers=each)).status_code for each in asked]

    assert statuses == [200] * 101 + [400] * 101
    logged = [record.__dict__["keywords"]["header"] for record in caplog.records]
    assert list(map(len, logged)) == [200] * 100


NO_HEADER = "The header x-b3 may not be sent: GRAPH_CORS_HEADERS allows it."
NO_ORIGIN = "The origin https://b.example may not send requests: GRAPH_CORS_ORIGINS allows it."


def test_cors_is_closed_where_no_origin_is_named_and_says_how_it_is_opened(week: Service) -> None:
    preflight = {"Origin": "https://b.example", "Access-Control-Request-Method": "POST"}
    closed = week.http.options("/graphql", headers=preflight)

    assert (closed.status_code, closed.text) == (400, NO_ORIGIN)
    assert "Access-Control-Allow-Origin" not in closed.headers
    assert "Vary" not in week.http.get("/healthz", headers={"Origin": "https://b.example"}).headers
