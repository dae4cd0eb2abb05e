"""A page of another origin in Chromium: whatever it sends, nothing is executed. A page of a named origin may ask."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from starlette.applications import Starlette
from starlette.responses import HTMLResponse
from starlette.routing import Route

from tests.acceptance.browser import Visit
from tests.bearers import bearer
from tests.domains.earthquakes.usgs.usgs_server import UsgsServer
from tests.service import running, serving, settings
from tests.store.samples import HeldClock

pytestmark = pytest.mark.needs("chromium")

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
    with serving(Starlette(routes=[Route("/", HTMLResponse(EVIL))])) as url:
        yield url


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


async def test_a_page_of_a_named_origin_may_ask(visit: Visit, page: str, tmp_path: Path, usgs: UsgsServer) -> None:
    with running(settings(tmp_path / "empty.db", usgs, cors_origins=(page,))) as service:
        await visit.page.goto(f"{page}/?graph={service.url}/graphql")
        await visit.page.evaluate("window.attacked")
        answer = await visit.page.evaluate("token => window.ask(token)", bearer()["Authorization"])

    assert answer == {"data": {"ingestEvents": {"fetched": 0}}}
