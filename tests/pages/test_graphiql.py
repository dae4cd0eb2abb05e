"""GraphiQL in a real browser on the real service, and what its page and files say to any client."""

import asyncio
import json
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import pytest
from graphql import OperationDefinitionNode, build_schema, parse, validate
from playwright.async_api import Route as BrowserRoute
from playwright.async_api import expect
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from graph.access.authentication import shared_secret
from graph.app import create_app
from graph.domains import DOMAINS
from graph.domains.data_files import demo as data_files_demo
from graph.opening import open_services
from graph.pages import graphiql, packages
from graph.transport.compression import Compression
from graph.transport.direct_route import DirectRoute
from graph.transport.request_ids import RequestIds
from tests.bearers import SCOPES
from tests.acceptance.browser import Visit
from tests.domains.earthquakes.usgs.usgs_server import week_features
from tests.processes import TIMEOUT_S
from tests.schemas import printed
from tests.service import Service, serving, without_timeouts
from tests.settings import Settings

EDITORS = "[...document.querySelectorAll('.graphiql-editors .CodeMirror')].map(editor => editor.CodeMirror.getValue())"
RESULT = "document.querySelector('.result-window .CodeMirror').CodeMirror.getValue()"
WHEN_READ = """operationName => new Promise(done => {
  const editor = document.querySelector('.graphiql-query-editor .CodeMirror').CodeMirror;
  const look = () => editor.operationName === operationName ? done() : requestAnimationFrame(look);
  look();
})"""  # a moment after its tab was chosen, GraphiQL has read a query and knows its operation
SET_VARIABLES = "text => document.querySelectorAll('.graphiql-editors .CodeMirror')[1].CodeMirror.setValue(text)"
EXAMPLES = [example for domain in DOMAINS if domain.examples for example in graphiql.examples_of(domain.examples)]
TABS = [
    operation.name.value
    for example in EXAMPLES
    for operation in parse(example.query).definitions
    if isinstance(operation, OperationDefinitionNode) and operation.name
]
A_SIGHTING = "01979a5d-3c40-7d2e-9b6f-4a1c8e0d7f53"  # in the variables of an example
QUERIES = [example for example in EXAMPLES if "subscription " not in example.query]

in_browser = pytest.mark.needs("chromium", "the web pages' packages")


async def from_package(_: Request) -> Response:
    return graphiql.page("/graphql", EXAMPLES, from_package=True)


async def from_cdn(_: Request) -> Response:
    return graphiql.page("/graphql", EXAMPLES, from_package=False)


@pytest.fixture(scope="module")
def origin(tmp_path_factory: pytest.TempPathFactory, week_file: Path) -> Iterator[str]:
    """Where the service is, with two routes more: the page in both kinds, whichever of them the service has."""
    file = tmp_path_factory.mktemp("graphiql") / "week.db"
    file.write_bytes(week_file.read_bytes())
    app = create_app(without_timeouts(Settings(store=f"sqlite:///{file}", usgs_url="http://127.0.0.1:9")))
    assert isinstance(app, RequestIds)
    assert isinstance(app.app, Compression)
    assert isinstance(app.app.app, DirectRoute)
    assert isinstance(app.app.app.app, Starlette)
    app.app.app.app.router.routes += [Route("/from-package", from_package), Route("/from-cdn", from_cdn)]
    with serving(app) as url:
        yield url


@pytest.fixture
def client(origin: str) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=origin, timeout=TIMEOUT_S) as client:
        yield client


@in_browser
async def test_the_execute_button_fills_the_result_pane(visit: Visit, origin: str) -> None:
    await visit.page.goto(f"{origin}/graphql")
    await visit.page.locator(".graphiql-execute-button").click()

    result = visit.page.locator(".result-window")
    await expect(result).to_contain_text('"eventId": "nc73919986"')
    await expect(result).to_contain_text('"place": "2 km ESE of Larkfield-Wikiup, CA"')


@in_browser
async def test_the_token_of_the_printed_address_is_sent_and_shown_nowhere_else(visit: Visit, tmp_path: Path) -> None:
    settings = Settings(store=f"sqlite:///{tmp_path}/empty.db")
    token = shared_secret(settings).issue("graphiql", SCOPES, 3600)
    page, result = visit.page, visit.page.locator(".result-window")
    logs = page.locator(".graphiql-tab-button").nth(TABS.index("RequestLogs"))
    with serving(create_app(without_timeouts(settings))) as url:
        await page.goto(f"{url}/graphql")
        await logs.click()
        await page.evaluate(WHEN_READ, "RequestLogs")
        await page.locator(".graphiql-execute-button").click()
        await expect(result).to_contain_text('"code": "UNAUTHENTICATED"')

        await page.evaluate("localStorage.clear()")
        await page.goto("about:blank")
        await page.goto(f"{url}/graphql#token={token}")
        assert page.url == f"{url}/graphql"
        await logs.click()
        assert json.loads((await page.evaluate(EDITORS))[2]) == {"Authorization": f"Bearer {token}"}
        for _ in range(2):
            await page.evaluate(WHEN_READ, "RequestLogs")
            await page.locator(".graphiql-execute-button").click()
            await expect(result).to_contain_text('"requestLogs": {')
            await page.reload()  # which leaves the tab its token

        assert token not in await page.evaluate("JSON.stringify(localStorage)")
        assert token not in "".join(visit.requested)


@in_browser
async def test_the_example_of_paging_leads_to_the_next_page(visit: Visit, origin: str) -> None:
    page = visit.page
    await page.goto(f"{origin}/graphql")
    await page.locator(".graphiql-tab-button").nth(TABS.index("NextPageByCursor")).click()
    async with asyncio.timeout(TIMEOUT_S):
        await page.evaluate(WHEN_READ, "NextPageByCursor")
    for some in (week_features()[:5], week_features()[5:10]):
        await page.locator(".graphiql-execute-button").click()
        await page.wait_for_function(f"eventId => {RESULT}.includes(eventId)", arg=some[-1]["id"])
        answer = json.loads(await page.evaluate(RESULT))
        assert [edge["node"]["eventId"] for edge in answer["data"]["events"]["edges"]] == [row["id"] for row in some]
        await page.evaluate(SET_VARIABLES, json.dumps({"after": answer["data"]["events"]["pageInfo"]["endCursor"]}))

    assert visit.complaints == []


@in_browser
async def test_a_subscription_shows_what_is_stored_while_it_runs(visit: Visit, tmp_path: Path) -> None:
    settings = Settings(store=f"sqlite:///{tmp_path}/empty.db", public_read=False)
    token = shared_secret(settings).issue("graphiql", SCOPES, 3600)
    page, result = visit.page, visit.page.locator(".result-window")
    with serving(create_app(without_timeouts(settings))) as url:
        await page.goto(f"{url}/graphql#token={token}")
        await page.locator(".graphiql-tab-button").nth(TABS.index("LiveEarthquakes")).click()
        await page.evaluate(WHEN_READ, "LiveEarthquakes")
        await page.locator(".graphiql-execute-button").click()
        await expect(page.get_by_label("Stop query")).to_be_visible()
        async with httpx.AsyncClient(
            base_url=url, headers={"Authorization": f"Bearer {token}"}, timeout=TIMEOUT_S
        ) as client:
            for number in range(100):  # until the first that is stored after the subscription has begun
                event = f'{{eventId: "us{number}", eventTsMs: 0, mag: 5, lat: 1, lon: 1}}'
                mutation = f"mutation {{ ingestEvents(input: {{events: [{event}]}}) {{ upserted }} }}"
                assert (await client.post("/graphql", json={"query": mutation})).json()["data"]
                with suppress(AssertionError):
                    await expect(result).to_contain_text('"eventId": "us', timeout=500)
                    break
        await expect(result).to_contain_text('"lost": 0')
        await page.get_by_label("Stop query").click()
        await expect(page.get_by_label("Execute query")).to_be_visible()
    assert visit.complaints == []


@pytest.mark.parametrize("example", EXAMPLES, ids=TABS)
def test_every_example_is_valid(example: graphiql.Example) -> None:
    """As GraphiQL asks before it sends anything."""
    assert validate(build_schema(printed()), parse(example.query)) == []


@pytest.mark.parametrize("example", QUERIES)
async def test_every_example_can_be_run(own_week: Service, tmp_path: Path, example: graphiql.Example) -> None:
    async with open_services(Settings(store=f"sqlite:///{tmp_path}/week.db", demo=True), DOMAINS) as services:
        await data_files_demo.prepare(services)
    own_week.ask('mutation { writeLogs(input: {logs: [{service: "search", message: "Ready"}]}) { accepted } }')

    report = "input: {category: SHAKING, lat: 37.1305, lon: -121.6544}"
    reported = own_week.ask(f"mutation {{ reportSighting({report}) {{ sighting {{ sightingId }} }} }}")
    variables = (example.variables or "null").replace("example.com", "1.1.1.1")  # else the name is looked up
    variables = variables.replace(A_SIGHTING, reported["reportSighting"]["sighting"]["sightingId"])

    answer, *_ = own_week.ask(example.query, json.loads(variables)).values()

    rows = answer if isinstance(answer, list) else answer.get("nodes") or answer.get("edges") or [answer]
    assert len(rows) > 0


@in_browser
async def test_graphiql_contacts_no_other_host_and_keeps_the_policy(visit: Visit, origin: str) -> None:
    """Also when every part of GraphiQL that a click opens is opened."""
    page = visit.page
    await page.emulate_media(reduced_motion="reduce")  # without a graphics card, a dialog that fades takes minutes
    await page.goto(f"{origin}/graphql")
    await page.locator(".graphiql-execute-button").click()
    await expect(page.locator(".result-window")).to_contain_text("nc73919986")
    await page.get_by_label("Show Documentation Explorer").click()
    await expect(page.locator(".graphiql-doc-explorer")).to_contain_text("query: Query")
    await page.get_by_label("Show History").click()
    await expect(page.locator(".graphiql-history-items")).to_contain_text("LatestEarthquakes")
    for dialog in ("Open settings dialog", "Open short keys dialog"):
        await page.get_by_label(dialog).click()
        await expect(page.get_by_role("dialog")).to_be_visible()
        await page.keyboard.press("Escape")
        await expect(page.get_by_role("dialog")).to_have_count(0)

    assert {urlsplit(url).netloc for url in visit.requested} == {urlsplit(origin).netloc}
    assert visit.complaints == []


@in_browser
async def test_every_example_has_its_tab(visit: Visit, origin: str) -> None:
    await visit.page.goto(f"{origin}/graphql")
    tabs = visit.page.locator(".graphiql-tab-button")

    await expect(tabs).to_have_text(TABS)
    for number, example in enumerate(EXAMPLES):
        await tabs.nth(number).click()
        await expect(visit.page.locator(".graphiql-tab-active")).to_contain_text(TABS[number])
        query, variables, _ = await visit.page.evaluate(EDITORS)
        assert (query, variables) == (example.query, example.variables or "")


@in_browser
async def test_every_tab_can_be_seen_at_once(visit: Visit, origin: str) -> None:
    await visit.page.goto(f"{origin}/graphql")
    tabs = visit.page.locator(".graphiql-tab-button")

    await expect(tabs).to_have_text(TABS)
    for tab in await tabs.all():
        await expect(tab).to_be_in_viewport(ratio=1)
    await expect(visit.page.get_by_label("Add tab")).to_be_in_viewport(ratio=1)


@in_browser
async def test_the_explorer_shows_the_query_as_a_tree(visit: Visit, origin: str) -> None:
    await visit.page.goto(f"{origin}/graphql")
    await visit.page.get_by_label("Show GraphiQL Explorer").click()

    await expect(visit.page.locator(".docExplorerWrap")).to_contain_text("eventId")
    assert visit.complaints == []


@in_browser
async def test_from_the_cdn_the_page_works_under_subresource_integrity(visit: Visit, origin: str) -> None:
    await visit.page.route(f"{packages.CDN}/**", answer_as_cdn)
    await visit.page.goto(f"{origin}/from-cdn")

    await expect(visit.page.locator(".graphiql-tab-button")).to_have_text(TABS)
    assert {url for url in visit.requested if not url.startswith(origin)} == {
        file.origin for file in graphiql.THIRD_PARTY
    }
    assert visit.complaints == []


@in_browser
async def test_a_file_that_the_cdn_altered_is_not_run(visit: Visit, origin: str) -> None:
    async def answer_altered(route: BrowserRoute) -> None:
        await answer_as_cdn(route, appended=b"\n")

    await visit.page.route(f"{packages.CDN}/**", answer_as_cdn)
    await visit.page.route(f"{packages.CDN}/graphiql@*/*.js", answer_altered)
    await visit.page.goto(f"{origin}/from-cdn", wait_until="load")

    assert await visit.page.evaluate("[typeof React, typeof GraphiQL]") == ["object", "undefined"]
    assert sum("'integrity' attribute" in complaint for complaint in visit.complaints) == 1


async def answer_as_cdn(route: BrowserRoute, *, appended: bytes = b"") -> None:
    """Answer with the file itself, which no loopback test can ask the CDN for."""
    path = {file.origin: file.path for file in graphiql.THIRD_PARTY}[route.request.url]
    await route.fulfill(
        body=path.read_bytes() + appended,
        content_type="text/css" if path.suffix == ".css" else "text/javascript",
        headers={"Access-Control-Allow-Origin": "*"},
    )


def test_the_policy_allows_this_origin_and_no_inline_script(client: httpx.Client) -> None:
    answer = client.get("/from-package")

    assert answer.headers["content-security-policy"].split("; ") == [
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self' 'sha256-Y/huXlwoYkVyQlxwSVcCi1RCDGDCSVBzDt0hYP9qlTc='",
        "connect-src 'self'",
        "img-src 'self' data:",
        "font-src 'self' data:",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
    ]
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["referrer-policy"] == "no-referrer"
    assert answer.headers["vary"] == "Accept, Accept-Encoding"


def test_from_the_cdn_the_policy_allows_the_pinned_files_and_no_others(client: httpx.Client) -> None:
    policy = client.get("/from-cdn").headers["content-security-policy"].split("; ")

    assert policy[1] == (
        "script-src 'self' https://cdn.jsdelivr.net/npm/react@18.3.1/umd/react.production.min.js"
        " https://cdn.jsdelivr.net/npm/react-dom@18.3.1/umd/react-dom.production.min.js"
        " https://cdn.jsdelivr.net/npm/graphiql@3.8.3/graphiql.min.js"
        " https://cdn.jsdelivr.net/npm/@graphiql/plugin-explorer@3.2.5/dist/index.umd.js"
    )


@pytest.mark.parametrize("file", graphiql.OWN, ids=lambda file: file.path.name)
def test_a_file_may_be_cached_for_ever(client: httpx.Client, file: graphiql.OwnFile) -> None:
    answer = client.get(f"/graphiql/{file.name}")

    assert answer.status_code == 200
    assert answer.content == file.path.read_bytes()
    assert answer.headers["cache-control"] == "public, max-age=31536000, immutable"
    assert answer.headers["x-content-type-options"] == "nosniff"


@pytest.mark.parametrize(
    "name", ["README.md", "graphiql.js", "graphiql.py", "..%2Fgraphiql.py", "..%2f..%2fpyproject.toml", "static", ""]
)
def test_only_the_files_of_the_page_are_served(client: httpx.Client, name: str) -> None:
    assert client.get(f"/graphiql/{name}").status_code == 404
