"""GraphiQL in a real browser, and what its page and files say to any client."""

import asyncio
import socket
from collections.abc import AsyncIterator
from urllib.parse import urlsplit

import httpx
import pytest
import strawberry
import uvicorn
from playwright.async_api import Route as BrowserRoute
from playwright.async_api import expect
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp
from strawberry.asgi import GraphQL

from graph import graphiql
from tests.browser import Visit

TABS = ["LatestEarthquakes", "ByMagnitudeAndBox", "NextPageByCursor", "Ingest", "RequestLogs"]
EDITORS = "[...document.querySelectorAll('.graphiql-editors .CodeMirror')].map(editor => editor.CodeMirror.getValue())"

in_browser = pytest.mark.needs("chromium", "GraphiQL's files")


@strawberry.type
class Event:
    event_id: str
    time: str = "2023-08-03T12:00:00Z"
    mag: float = 4.5
    place: str = "somewhere"


@strawberry.type
class PageInfo:
    has_next_page: bool = False
    end_cursor: str | None = None


@strawberry.type
class EventConnection:
    nodes: list[Event]
    page_info: PageInfo = strawberry.field(default_factory=PageInfo)


@strawberry.type
class Query:
    @strawberry.field
    def events(self, first: int) -> EventConnection:
        return EventConnection(nodes=[Event(event_id=f"us{number}") for number in range(first)])


async def from_package(_: Request) -> Response:
    return graphiql.page(from_package=True)


async def from_cdn(_: Request) -> Response:
    return graphiql.page(from_package=False)


@pytest.fixture
def app() -> ASGIApp:
    return Starlette(
        routes=[
            Route("/graphql", from_package, methods=["GET"]),
            Route("/from-cdn", from_cdn, methods=["GET"]),
            Route("/graphql", GraphQL(strawberry.Schema(Query), graphql_ide=None)),
            *graphiql.static_routes(),
        ]
    )


@pytest.fixture
async def origin(app: ASGIApp) -> AsyncIterator[str]:
    """Where the service is served over HTTP."""
    with socket.create_server(("127.0.0.1", 0)) as listening:  # so a client may connect before the server accepts
        server = uvicorn.Server(uvicorn.Config(app, log_level="warning", ws="none", lifespan="off"))
        serving = asyncio.create_task(server.serve([listening]))
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"
        server.should_exit = True
        await serving


@pytest.fixture
async def client(app: ASGIApp) -> AsyncIterator[httpx.AsyncClient]:
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://quakegraph") as client:
        yield client


@in_browser
async def test_the_execute_button_fills_the_result_pane(visit: Visit, origin: str) -> None:
    await visit.page.goto(f"{origin}/graphql")
    await visit.page.locator(".graphiql-execute-button").click()

    result = visit.page.locator(".result-window")
    await expect(result).to_contain_text('"eventId": "us0"')
    await expect(result).to_contain_text('"place": "somewhere"')


@in_browser
async def test_no_other_host_is_asked_and_the_policy_is_kept(visit: Visit, origin: str) -> None:
    """Also when every part of GraphiQL that a click opens is opened."""
    page = visit.page
    await page.goto(f"{origin}/graphql")
    await page.locator(".graphiql-execute-button").click()
    await expect(page.locator(".result-window")).to_contain_text("us0")
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
    for number, example in enumerate(graphiql.EXAMPLES):
        await tabs.nth(number).click()
        await expect(visit.page.locator(".graphiql-tab-active")).to_contain_text(TABS[number])
        query, variables, _ = await visit.page.evaluate(EDITORS)
        assert (query, variables) == (example.query, example.variables or "")


@in_browser
async def test_the_explorer_shows_the_query_as_a_tree(visit: Visit, origin: str) -> None:
    await visit.page.goto(f"{origin}/graphql")
    await visit.page.get_by_label("Show GraphiQL Explorer").click()

    await expect(visit.page.locator(".docExplorerWrap")).to_contain_text("eventId")
    assert visit.complaints == []


@in_browser
async def test_from_the_cdn_the_page_works_under_subresource_integrity(visit: Visit, origin: str) -> None:
    await visit.page.route(f"{graphiql.CDN}/**", answer_as_cdn)
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

    await visit.page.route(f"{graphiql.CDN}/**", answer_as_cdn)
    await visit.page.route(f"{graphiql.CDN}/graphiql@*/*.js", answer_altered)
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


async def test_the_policy_allows_this_origin_and_no_inline_script(client: httpx.AsyncClient) -> None:
    answer = await client.get("/graphql")

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
    assert answer.headers["vary"] == "Accept"


async def test_from_the_cdn_the_policy_allows_the_pinned_files_and_no_others(client: httpx.AsyncClient) -> None:
    policy = (await client.get("/from-cdn")).headers["content-security-policy"].split("; ")

    assert policy[1] == (
        "script-src 'self' https://cdn.jsdelivr.net/npm/react@18.3.1/umd/react.production.min.js"
        " https://cdn.jsdelivr.net/npm/react-dom@18.3.1/umd/react-dom.production.min.js"
        " https://cdn.jsdelivr.net/npm/graphiql@3.8.3/graphiql.min.js"
        " https://cdn.jsdelivr.net/npm/@graphiql/plugin-explorer@3.2.5/dist/index.umd.js"
    )


@pytest.mark.parametrize("file", graphiql.OWN, ids=lambda file: file.path.name)
async def test_a_file_may_be_cached_for_ever(client: httpx.AsyncClient, file: graphiql.File) -> None:
    answer = await client.get(f"/graphiql/{file.name}")

    assert answer.status_code == 200
    assert answer.content == file.path.read_bytes()
    assert answer.headers["cache-control"] == "public, max-age=31536000, immutable"
    assert answer.headers["x-content-type-options"] == "nosniff"


@pytest.mark.parametrize(
    "name", ["README.md", "graphiql.js", "graphiql.py", "..%2Fgraphiql.py", "..%2f..%2fpyproject.toml", "static", ""]
)
async def test_only_the_files_of_the_page_are_served(client: httpx.AsyncClient, name: str) -> None:
    assert (await client.get(f"/graphiql/{name}")).status_code == 404
