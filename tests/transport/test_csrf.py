"""Requests that a browser sends for any page: none of them executes anything. A page of a named origin may ask."""

from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse
from starlette.routing import Route

from graph.transport.origins import allows
from tests.bearers import bearer
from tests.browser import Visit
from tests.domains.earthquakes.usgs.usgs_server import UsgsServer
from tests.processes import TIMEOUT_S
from tests.service import Service, running, serving, settings
from tests.store.samples import HeldClock

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


EVIL = """<!doctype html><meta charset="utf-8"><title>evil</title><body><script>
const graph = new URLSearchParams(location.search).get("graph");
const query = "{ events { totalCount } }";
const mutation = 'mutation { ingestEvents(input: {events: []}) { fetched } }';
const url = graph + "?query=" + encodeURIComponent(query);
function element(name, attributes) {
  const made = Object.assign(document.createElement(name), attributes);
  document.body.append(made);
  return new Promise(done => { made.onload = made.onerror = done; setTimeout(done, 2000); });
}
function form(method, enctype, fields) {
  const frame = Object.assign(document.createElement("iframe"), {name: "f" + Math.random()});
  document.body.append(frame);
  const made = Object.assign(document.createElement("form"), {action: graph, method, enctype, target: frame.name});
  for (const [name, value] of Object.entries(fields))
    made.append(Object.assign(document.createElement("input"), {name, value}));
  document.body.append(made);
  return new Promise(done => { frame.onload = done; setTimeout(done, 2000); made.submit(); });
}
function fetched(options, to = url) { return fetch(to, options).then(answer => answer.text(), () => null); }
const body = JSON.stringify({query: mutation});
window.attacked = Promise.all([
  element("img", {src: url}),
  element("script", {src: url}),
  element("link", {rel: "stylesheet", href: url}),
  element("iframe", {src: url}),
  form("get", "", {query}),
  form("post", "application/x-www-form-urlencoded", {query: mutation}),
  form("post", "multipart/form-data", {query: mutation}),
  form("post", "text/plain", {[body.slice(0, -1) + ', "x": "']: '"}'}),
  fetched({mode: "no-cors"}),
  fetched({mode: "no-cors", headers: {Accept: "application/graphql-response+json"}}),
  fetched({mode: "no-cors", method: "POST", body}, graph),
  fetched({mode: "no-cors", method: "POST", body, headers: {"Content-Type": "text/plain"}}, graph),
  fetched({method: "POST", body, headers: {"Content-Type": "application/json"}}, graph),
  fetched({headers: {"GraphQL-Require-Preflight": "1"}}),
  Promise.resolve(navigator.sendBeacon(graph, new Blob([body], {type: "text/plain"}))),
]);
window.ask = token => fetch(graph, {
  method: "POST", body, headers: {"Content-Type": "application/json", Authorization: token},
}).then(answer => answer.json(), error => String(error));
</script>"""


@pytest.fixture(scope="module")
def page() -> Iterator[str]:
    """A page of another origin than the service's."""

    async def evil(_: Request) -> HTMLResponse:
        return HTMLResponse(EVIL)

    with serving(Starlette(routes=[Route("/", evil)])) as url:
        yield url


@pytest.mark.needs("chromium")
async def test_a_page_of_another_origin_executes_nothing(
    visit: Visit, page: str, tmp_path: Path, usgs: UsgsServer, clock: HeldClock
) -> None:
    empty = settings(tmp_path / "empty.db", usgs)
    with running(empty, clock=clock) as service:
        await visit.page.goto(f"{page}/?graph={service.url}/graphql")
        outcomes = await visit.page.evaluate("window.attacked")
        answer = await visit.page.evaluate("token => window.ask(token)", bearer()["Authorization"])
        url = f"{service.url}/graphql"
    with running(empty, clock=clock) as service:  # to read all logs, of which the last were written at the end
        logs = service.ask("{ requestLogs { nodes { route } } }")["requestLogs"]["nodes"]

    assert len([requested for requested in visit.requested if requested.startswith(url)]) >= 12
    assert not any("totalCount" in str(outcome) or "fetched" in str(outcome) for outcome in outcomes)
    assert "Failed to fetch" in str(answer)
    assert {log["route"] for log in logs} == {"/graphql"}  # that of refused requests


@pytest.mark.needs("chromium")
async def test_a_page_of_a_named_origin_may_ask(visit: Visit, page: str, tmp_path: Path, usgs: UsgsServer) -> None:
    with running(settings(tmp_path / "empty.db", usgs, cors_origins=(page,))) as service:
        await visit.page.goto(f"{page}/?graph={service.url}/graphql")
        await visit.page.evaluate("window.attacked")
        answer = await visit.page.evaluate("token => window.ask(token)", bearer()["Authorization"])

    assert answer == {"data": {"ingestEvents": {"fetched": 0}}}


NAMED = ("https://a.example",)
ORIGINS: list[tuple[str, tuple[str, ...], bool]]
ORIGINS = [("https://a.example", NAMED, True), ("https://b.example", NAMED, False)]
ORIGINS += [
    (origin, origins, origins != NAMED)
    for origin in ("http://localhost:5173", "http://127.0.0.1:3000", "http://[::1]:8080", "http://localhost")
    for origins in (NAMED, ("loopback",), ("https://a.example", "loopback"))
]
ORIGINS += [
    (origin, ("loopback",), False)
    for origin in (
        *("http://localhost.evil.example", "http://localhost:1@evil.example", "http://evil.example#localhost"),
        *("http://localhost:5173.evil.example", "http://evil-localhost:5173", "http://127.0.0.1.evil.example:80"),
        *("http://127.0.0.11:3000", "http://127a0b0c1:3000", "ftp://localhost", "null", "loopback", "http://[::1"),
        *("http://localhost:123456", "https://a.example", "http://localhost:5173/"),
    )
]


@pytest.mark.parametrize(("origin", "origins", "allowed"), ORIGINS)
def test_http_and_websockets_let_the_same_origins_in(origin: str, origins: tuple[str, ...], allowed: bool) -> None:
    assert allows(origins, origin) is allowed


@pytest.mark.parametrize(("origin", "origins", "allowed"), ORIGINS)
def test_cors_is_open_only_to_the_named_origins(
    tmp_path: Path, usgs: UsgsServer, week: Service, origin: str, origins: tuple[str, ...], allowed: bool
) -> None:
    preflight = {
        "Origin": origin,
        "Access-Control-Request-Method": "POST",
        "Access-Control-Request-Headers": "authorization,content-type,graphql-cost",
    }
    with running(settings(tmp_path / "empty.db", usgs, cors_origins=origins)) as service:
        answered = service.http.options("/graphql", headers=preflight)
        asked = service.http.post("/graphql", json={"query": QUERY}, headers={"Origin": origin})
    closed = week.http.options("/graphql", headers=preflight)

    for answer in (answered, asked):
        assert answer.headers.get("Access-Control-Allow-Origin") == (origin if allowed else None)
        assert "Access-Control-Allow-Credentials" not in answer.headers
    assert (closed.status_code, "Access-Control-Allow-Origin" in closed.headers) == (405, False)
