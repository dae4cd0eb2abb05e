"""GraphiQL in Chromium, on the real service."""

import json
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from playwright.async_api import Page, Route, expect
from starlette.types import Receive, Scope, Send

from graph.app import create_app
from graph.pages import graphiql, packages
from tests.acceptance.browser import Visit
from tests.bearers import bearer
from tests.domains.earthquakes.usgs.usgs_server import week_features
from tests.pages.examples import EXAMPLES, TABS
from tests.service import Service, serving
from tests.settings import Settings
from tests.subscribers import live_service

pytestmark = pytest.mark.needs("chromium", "the web pages' packages")

EDITORS = "[...document.querySelectorAll('.graphiql-editors .CodeMirror')].map(editor => editor.CodeMirror.getValue())"
RESULT = "document.querySelector('.result-window .CodeMirror').CodeMirror.getValue()"
WHEN_READ = """operationName => new Promise(done => {
  const editor = document.querySelector('.graphiql-query-editor .CodeMirror').CodeMirror;
  const look = () => editor.operationName === operationName ? done() : requestAnimationFrame(look);
  look();
})"""  # a moment after its tab was chosen, GraphiQL has read a query and knows its operation
SET_VARIABLES = "text => document.querySelectorAll('.graphiql-editors .CodeMirror')[1].CodeMirror.setValue(text)"


async def chosen(page: Page, operation: str) -> None:
    """Choose the tab of an operation, and wait until it can be executed."""
    await page.locator(".graphiql-tab-button").nth(TABS.index(operation)).click()
    await page.evaluate(WHEN_READ, operation)


async def execute(page: Page) -> None:
    await page.locator(".graphiql-execute-button").click()


@pytest.fixture(scope="module")
def from_cdn(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Where the page is that loads its files from the CDN, before a service of its own."""
    store = f"sqlite:///{tmp_path_factory.mktemp('graphiql')}/empty.db"
    service = create_app(Settings(store=store, usgs_url="http://127.0.0.1:9"))
    page = graphiql.page("/graphql", EXAMPLES, from_package=False)

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        await (page if scope.get("path") == "/from-cdn" else service)(scope, receive, send)

    with serving(app) as url:
        yield f"{url}/from-cdn"


async def test_every_example_has_its_tab_and_that_of_paging_leads_to_the_next_page(visit: Visit, week: Service) -> None:
    page = visit.page
    await page.goto(f"{week.url}/graphql")
    tabs = page.locator(".graphiql-tab-button")

    await expect(tabs).to_have_text(TABS)
    for element in (tabs.first, tabs.last, page.get_by_label("Add tab")):
        await expect(element).to_be_in_viewport(ratio=1)  # so are those between them
    for number, example in enumerate(EXAMPLES):
        await tabs.nth(number).click()
        await expect(page.locator(".graphiql-tab-active")).to_contain_text(TABS[number])
        query, variables, _ = await page.evaluate(EDITORS)
        assert (query, variables) == (example.query, example.variables or "")

    await chosen(page, "NextPageByCursor")
    for some in (week_features()[:5], week_features()[5:10]):
        await execute(page)
        await page.wait_for_function(f"eventId => {RESULT}.includes(eventId)", arg=some[-1]["id"])
        answer = json.loads(await page.evaluate(RESULT))
        assert [edge["node"]["eventId"] for edge in answer["data"]["events"]["edges"]] == [row["id"] for row in some]
        await page.evaluate(SET_VARIABLES, json.dumps({"after": answer["data"]["events"]["pageInfo"]["endCursor"]}))
    assert visit.complaints == []


async def test_graphiql_contacts_no_other_host_and_keeps_the_policy(visit: Visit, week: Service) -> None:
    """Also when every part of GraphiQL that a click opens is opened."""
    page = visit.page
    await page.emulate_media(reduced_motion="reduce")  # without a graphics card, a dialog that fades takes minutes
    await page.goto(f"{week.url}/graphql")
    await execute(page)
    await expect(page.locator(".result-window")).to_contain_text("nc73919986")
    await page.get_by_label("Show Documentation Explorer").click()
    await expect(page.locator(".graphiql-doc-explorer")).to_contain_text("query: Query")
    await page.get_by_label("Show History").click()
    await expect(page.locator(".graphiql-history-items")).to_contain_text("LatestEarthquakes")
    await page.get_by_label("Show GraphiQL Explorer").click()
    await expect(page.locator(".docExplorerWrap")).to_contain_text("eventId")
    for dialog in ("Open settings dialog", "Open short keys dialog"):
        await page.get_by_label(dialog).click()
        await expect(page.get_by_role("dialog")).to_be_visible()
        await page.keyboard.press("Escape")
        await expect(page.get_by_role("dialog")).to_have_count(0)

    assert {urlsplit(url).netloc for url in visit.requested} == {urlsplit(week.url).netloc}
    assert visit.complaints == []


async def test_the_token_of_the_address_is_sent_with_each_request_and_shown_nowhere_else(
    visit: Visit, tmp_path: Path
) -> None:
    """Also with a subscription, which shows what is stored while it runs."""
    token = bearer()["Authorization"].removeprefix("Bearer ")
    page, result = visit.page, visit.page.locator(".result-window")
    with live_service(Settings(store=f"sqlite:///{tmp_path}/empty.db", public_read=False)) as service:
        await page.goto(f"{service.url}/graphql")
        await chosen(page, "RequestLogs")
        await execute(page)
        await expect(result).to_contain_text('"code": "UNAUTHENTICATED"')

        await page.evaluate("localStorage.clear()")
        await page.goto("about:blank")
        await page.goto(f"{service.url}/graphql#token={token}")
        assert page.url == f"{service.url}/graphql"
        await chosen(page, "RequestLogs")
        assert json.loads((await page.evaluate(EDITORS))[2]) == {"Authorization": f"Bearer {token}"}
        for _ in range(2):
            await page.evaluate(WHEN_READ, "RequestLogs")
            await execute(page)
            await expect(result).to_contain_text('"requestLogs": {')
            await page.reload()  # which leaves the tab its token

        await chosen(page, "LiveEarthquakes")
        await execute(page)
        await service.has_subscriptions(1)
        service.store("us1")
        await expect(result).to_contain_text('"eventId": "us1"')
        await expect(result).to_contain_text('"dropped": 0')
        await page.get_by_label("Stop query").click()
        await service.has_subscriptions(0)

        assert token not in await page.evaluate("JSON.stringify(localStorage)")
        assert token not in "".join(visit.requested)


async def test_from_the_cdn_the_page_works_under_subresource_integrity(visit: Visit, from_cdn: str) -> None:
    await visit.page.route(f"{packages.CDN}/**", answer_as_cdn)
    await visit.page.goto(from_cdn)

    await expect(visit.page.locator(".graphiql-tab-button")).to_have_text(TABS)
    origin = from_cdn.removesuffix("/from-cdn")
    assert {url for url in visit.requested if not url.startswith(origin)} == {
        file.origin for file in graphiql.THIRD_PARTY
    }
    assert visit.complaints == []


async def test_a_file_that_the_cdn_altered_is_not_run(visit: Visit, from_cdn: str) -> None:
    async def answer_altered(route: Route) -> None:
        await answer_as_cdn(route, appended=b"\n")

    await visit.page.route(f"{packages.CDN}/**", answer_as_cdn)
    await visit.page.route(f"{packages.CDN}/graphiql@*/*.js", answer_altered)
    await visit.page.goto(from_cdn, wait_until="load")

    assert await visit.page.evaluate("[typeof React, typeof GraphiQL]") == ["object", "undefined"]
    assert sum("'integrity' attribute" in complaint for complaint in visit.complaints) == 1


async def answer_as_cdn(route: Route, *, appended: bytes = b"") -> None:
    """Answer with the file itself, which no loopback test can ask the CDN for."""
    path = {file.origin: file.path for file in graphiql.THIRD_PARTY}[route.request.url]
    await route.fulfill(
        body=path.read_bytes() + appended,
        content_type="text/css" if path.suffix == ".css" else "text/javascript",
        headers={"Access-Control-Allow-Origin": "*"},
    )
