"""The dialogue that watches an area, in Chromium, put by itself on a page that is not the dashboard."""

from typing import Any

import pytest
from playwright.async_api import Page, expect

from graph.access.callers import Scope
from graph.domains.earthquakes.scopes import EVENTS_READ
from tests.acceptance.pages.axe import violations
from tests.acceptance.pages.dashboard.conftest import Opener
from tests.acceptance.pages.dashboard.reports import TESTER, People, address

JAVA = "/events/us6000kxp7"
TRIGGERS = (Scope("triggers:read"), Scope("triggers:write"))
CALIFORNIA = {
    "minMagnitude": 3.5,
    "maxDepth": 70.0,
    "box": {"minLat": 32.0, "maxLat": 42.0, "minLon": -125.0, "maxLon": -114.0},
    "startTime": "2023-08-01T00:00:00.000Z",
    "endTime": "2023-08-02T23:59:59.999Z",
}

pytestmark = pytest.mark.needs("chromium")


async def watching(page: Page, url: str, filter_: dict[str, Any]) -> None:
    await page.goto(url)
    await expect(page.locator("#connection")).to_contain_text("Live")
    await page.evaluate(
        """async filter => {
          const from = document.querySelector("script[type=module]").src.replace("event/event_page", "watch_area");
          const { watchArea } = await import(from);
          globalThis.watch = watchArea(document.body);
          await watch.open(filter);
        }""",
        filter_,
    )


def watches(url: str) -> list[dict[str, Any]]:
    data = People(url).ask(TESTER, "{ watches { nodes { name filter kinds endpointId } } }")
    nodes: list[dict[str, Any]] = data["watches"]["nodes"]
    return nodes


async def test_it_creates_a_watch_of_what_the_filters_select_from_now_on(page: Page, opened: Opener) -> None:
    url = opened(webhook_http=True, webhook_networks="127.0.0.0/8").url
    people = People(url)
    create = """mutation($url: String!) { createEndpoint(input: {url: $url, description: "siren"})
        { endpoint { endpointId } } }"""
    endpoint = people.ask(TESTER, create, url="http://127.0.0.1:9/")["createEndpoint"]["endpoint"]["endpointId"]
    await watching(page, address(url, *TRIGGERS, EVENTS_READ, path=JAVA), CALIFORNIA)

    dialog = page.get_by_role("dialog", name="Watch this area")
    await expect(dialog).to_contain_text(
        "From now on, events of magnitude 3.5 or more at a depth of 70 km or less from 32° N to 42° N "
        "and from 125° W to 114° W."
    )
    name = dialog.get_by_label("Name")
    await expect(name).to_be_focused()
    await expect(name).to_have_value("Magnitude 3.5 or more, 32° N 125° W")
    await expect(dialog.get_by_label("Send webhooks to").locator("option")).to_have_text(
        ["siren (http://127.0.0.1:9/)", "my inbox only"]
    )
    await name.fill("California")
    await dialog.get_by_role("button", name="Watch").click()
    await expect(dialog.get_by_role("status")).to_have_text(
        "“California” is watched: each such event becomes a webhook."
    )

    area = {"minMagnitude": 3.5, "maxDepth": 70.0, "box": CALIFORNIA["box"]}
    assert watches(url) == [
        {"name": "California", "filter": area, "kinds": ["CREATED", "REVISED", "DELETED"], "endpointId": endpoint}
    ]
    await page.keyboard.press("Escape")
    await expect(dialog).to_be_hidden()


@pytest.mark.needs("npm")
async def test_without_an_endpoint_it_says_how_to_create_one_and_offers_the_inbox(page: Page, opened: Opener) -> None:
    """And axe finds nothing in the dialogue, before and after."""
    url = opened().url
    await watching(page, address(url, *TRIGGERS, EVENTS_READ, path=JAVA), {"types": ["quarry blast"]})

    dialog = page.get_by_role("dialog", name="Watch this area")
    await expect(dialog).to_contain_text("From now on, all events of the type quarry blast, since no filter is set.")
    await expect(dialog.get_by_role("link", name="GraphiQL")).to_have_attribute("href", f"{url}/graphql")
    await expect(dialog).to_contain_text("mutation { createEndpoint(")
    await expect(dialog.get_by_label("Name")).to_be_focused()
    assert await violations(page) == []
    await dialog.get_by_role("button", name="Watch").click()
    await expect(dialog.get_by_role("status")).to_have_text(
        "“Events” is watched: each such event becomes an event in your inbox."
    )
    assert await violations(page) == []
    (watch,) = watches(url)
    assert (watch["filter"], watch["endpointId"]) == ({"types": ["quarry blast"]}, None)


async def test_without_a_token_or_its_scopes_it_says_what_is_needed(page: Page, opened: Opener) -> None:
    """A caller who may only read is told when the watch is refused."""
    url = opened().url
    dialog = page.get_by_role("dialog", name="Watch this area")
    for where in (f"{url}{JAVA}", address(url, EVENTS_READ, path=JAVA)):
        await page.goto("about:blank")
        await watching(page, where, {"minMagnitude": 5.0})
        await expect(dialog).to_contain_text(
            "scopes triggers:read and triggers:write: open this page with #token=TOKEN"
        )
        await expect(dialog.get_by_role("button")).to_have_text(["Close"])
        await dialog.get_by_role("button", name="Close").click()
        await expect(dialog).to_be_hidden()

    await page.goto("about:blank")
    await watching(page, address(url, TRIGGERS[0], EVENTS_READ, path=JAVA), {"minMagnitude": 5.0})
    await dialog.get_by_role("button", name="Watch").click()
    await expect(dialog.get_by_role("status")).to_contain_text("scopes triggers:read and triggers:write")
    await expect(dialog.get_by_role("button", name="Watch")).to_be_enabled()
    assert watches(url) == []
