"""What tests look for on the dashboard with the week, whole or sparse."""

import asyncio
import re
from collections.abc import Collection
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import orjson
from playwright.async_api import Page, Request, Route, expect

from tests.processes import TIMEOUT_S

WEEK = 2124  # events of the whole week
EVENTS = 185  # of the sparse one
EARTHQUAKES = 181  # of the sparse one, without its blasts
STRONG = 81  # of either, of magnitude 4.5 and more


async def settled(page: Page, events: int = EVENTS) -> None:
    """Wait until everything that is asked for is shown."""
    await expect(page.locator("#summary")).to_contain_text(f"{events:,} event")
    await drawn(page, min(events, 3000))
    await expect(page.locator("#magnitude-frequency-caption")).not_to_be_empty()
    await expect(page.locator("#list .caption")).to_contain_text(f"of {events:,}")


async def loaded(page: Page, url: str, events: int = EVENTS) -> None:
    """Open a page, and wait until everything that is asked for is shown."""
    await page.goto(url)
    await settled(page, events)


async def live(page: Page, url: str, events: int = EVENTS) -> None:
    """Open a page, and wait until everything is shown and it is live."""
    await loaded(page, url, events)
    await expect(page.locator("#connection")).to_contain_text("Live")


async def drawn(page: Page, events: int) -> None:
    """Wait until so many events are drawn one by one."""
    await expect(page.locator("main")).to_have_attribute("data-drawn", str(events))


async def items(page: Page) -> list[str]:
    """The ids of the list's events, in order."""
    ids: list[str] = await page.locator("#list li").evaluate_all("items => items.map(item => item.dataset.eventId)")
    return ids


async def with_filters(page: Page) -> None:
    """Open the filters, if they are not."""
    if await page.locator("#more-filters").get_attribute("open") is None:
        await page.locator("#more-filters summary").click()


async def becomes(page: Page, expression: str, expected: Any) -> None:
    """Wait until an expression of JavaScript has this value."""
    await until(page, f"expected => JSON.stringify({expression}) === JSON.stringify(expected)", expected)


async def is_drawn(page: Page, event_id: str, *, drawn: bool = True) -> None:
    """Wait until an event is drawn, or is not."""
    await becomes(
        page,
        f"document.querySelector('main').shown?.events.some(({{ eventId }}) => eventId === '{event_id}') ?? false",
        drawn,
    )


async def colour_of(page: Page, event_id: str) -> str:
    """The class of colour that an event is drawn with."""
    found: str = await page.evaluate(
        """id => {
          const { events, colouring } = document.querySelector("main").shown;
          return colouring.of(events.find(({ eventId }) => eventId === id));
        }""",
        event_id,
    )
    return found


async def on_map(page: Page) -> dict[str, dict[str, Any]]:
    """The properties of the events that the map draws one by one, by their ids."""
    features = await page.evaluate("document.querySelector('#map').map.getSource('events').serialize().data.features")
    return {feature["properties"]["eventId"]: feature["properties"] for feature in features}


async def map_draws(page: Page, events: int) -> None:
    """Wait until the map draws so many events one by one."""
    await expect(page.locator("#map")).to_have_attribute("data-drawn", str(events))
    await drawn_somehow(page)


async def drawn_somehow(page: Page) -> None:
    """Wait until MapLibre draws the map."""
    await expect(page.locator("#map")).to_have_attribute("data-state", "drawn")


async def until(page: Page, condition: str, arg: object = None) -> None:
    """Wait until a function of JavaScript returns true. Playwright's own way evaluates text, which the page forbids."""
    looking = f"""async arg => {{
      const condition = {condition};
      while (!condition(arg)) {{
        await new Promise(done => setTimeout(done, 20));
      }}
    }}"""
    async with asyncio.timeout(TIMEOUT_S):
        await page.evaluate(looking, arg)


async def stop_clock(page: Page) -> None:
    """Stop a page's clock, which a test has installed, a second later than it is.

    An installed clock runs in real time. On a busy machine, a text that is shown for a second may be gone before a
    test sees it.
    """
    await page.clock.pause_at(await page.evaluate("Date.now() / 1000 + 1"))


async def fits(page: Page, width: float) -> None:
    """Wait until the page is no wider: its drawings follow a new width some frames later."""
    await until(page, "width => document.documentElement.scrollWidth <= width", width)


async def went(page: Page, search: str) -> None:
    """Lead the page to another address, as the browser's back and forward do, which loads nothing anew."""
    await page.evaluate(
        """search => {
          history.pushState(null, "", search || location.pathname);
          dispatchEvent(new PopStateEvent("popstate"));
        }""",
        search,
    )


def sent(page: Page, operation: str = "") -> list[dict[str, Any]]:
    """The variables of each time that the page sends an operation, or any, from now on."""
    found: list[dict[str, Any]] = []

    def note(request: Request) -> None:
        if f" {operation}" in document_of(request):
            found.append(variables_of(request))

    page.on("request", note)
    return found


GRAPH = "**/graphql*"
"""The requests of the page to the graph, by GET and by POST."""


def document_of(request: Request) -> str:
    """The document that the page sends with a request; empty if it sends none."""
    return str(_sent_with(request).get("query", ""))


def variables_of(request: Request) -> dict[str, Any]:
    """The variables that the page sends with a document."""
    found: dict[str, Any] = _sent_with(request)["variables"]
    return found


def _sent_with(request: Request) -> dict[str, Any]:
    if request.method == "POST":
        return request.post_data_json if isinstance(request.post_data_json, dict) else {}
    found: dict[str, Any] = dict(parse_qsl(urlsplit(request.url).query))
    return {**found, "variables": orjson.loads(found.get("variables", "{}"))}


async def refuse(page: Page, operations: Collection[str]) -> None:
    """Answer these operations of the page in the service's place: there is none of what they ask for."""

    async def answer(route: Route) -> None:
        name = re.findall(r"(?:query|mutation|subscription) (\w+)", document_of(route.request))[0]
        if name in operations:
            await route.fulfill(status=503, json={"errors": [{"message": f"No {name}."}]})
        else:
            await route.continue_()

    await page.route(GRAPH, answer)
