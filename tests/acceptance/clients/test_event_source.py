"""`EventSource` and `WebSocket` in Chromium, on a page of the service itself, and on one that is not."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse
from starlette.routing import Route

from tests.acceptance.browser import Visit
from tests.processes import serving
from tests.service import serving as serving_app
from tests.subscribers import has_subscriptions, ingested_elsewhere

pytestmark = pytest.mark.needs("chromium")

LISTEN = """([url, query]) => {
  window.heard = [];
  const source = window.source = new EventSource(url + "?query=" + encodeURIComponent(query));
  source.addEventListener("next", event => heard.push(JSON.parse(event.data).data.events.event.eventId));
  source.addEventListener("complete", () => { heard.push("complete"); source.close(); });
  source.addEventListener("error", () => heard.push("error"));
}"""
CONNECT = """([url, query]) => {
  window.heard = [];
  const socket = new WebSocket(url.replace("http:", "ws:"), "graphql-transport-ws");
  const say = message => socket.send(JSON.stringify(message));
  socket.onopen = () => say({type: "connection_init"});
  socket.onmessage = ({data}) => {
    const message = JSON.parse(data);
    if (message.type === "connection_ack") say({type: "subscribe", id: "1", payload: {query}});
    if (message.type === "next") heard.push(message.payload.data.events.event.eventId);
    if (message.type === "complete") heard.push("complete");
  };
  socket.onclose = ({code}) => heard.push(code);
}"""
QUERY = "subscription { events { event { eventId } } }"


async def hears(visit: Visit, *words: str | int) -> None:
    """Wait until the page has heard so much, and check what."""
    await visit.page.wait_for_function("number => heard.length >= number", arg=len(words))
    assert await visit.page.evaluate("heard") == list(words)


@pytest.fixture(scope="module")
def elsewhere() -> Iterator[str]:
    """A page of another origin."""

    async def page(_: Request) -> HTMLResponse:
        return HTMLResponse("<!doctype html><title>elsewhere</title>")

    with serving_app(Starlette(routes=[Route("/", page)])) as url:
        yield url


@pytest.mark.parametrize(("subscribe", "last"), [(LISTEN, ["complete"]), (CONNECT, ["complete", 1012])])
async def test_a_page_of_the_service_receives_events_until_the_service_ends(
    visit: Visit, tmp_path: Path, subscribe: str, last: list[str | int]
) -> None:
    with serving(folder=tmp_path) as server:
        await visit.page.goto(server.url)
        await visit.page.evaluate(subscribe, [server.url, QUERY])
        await has_subscriptions(server, 1)
        await ingested_elsewhere(tmp_path, "us1", "us2")
        await hears(visit, "us1", "us2")

        server.process.terminate()

        await hears(visit, "us1", "us2", *last)


async def test_a_page_that_is_left_leaves_its_subscription(visit: Visit, tmp_path: Path) -> None:
    with serving(folder=tmp_path) as server:
        for subscribe in (LISTEN, CONNECT):
            await visit.page.goto(server.url)
            await visit.page.evaluate(subscribe, [server.url, QUERY])
            await has_subscriptions(server, 1)
            await visit.page.goto("about:blank")
            await has_subscriptions(server, 0)


@pytest.mark.parametrize(("subscribe", "word"), [(LISTEN, "error"), (CONNECT, 1006)])
async def test_a_page_of_another_origin_receives_nothing(
    visit: Visit, tmp_path: Path, elsewhere: str, subscribe: str, word: str | int
) -> None:
    with serving(folder=tmp_path) as server:
        await visit.page.goto(elsewhere)
        await visit.page.evaluate(subscribe, [server.url, QUERY])
        await hears(visit, word)
        await has_subscriptions(server, 0)


async def test_a_page_of_an_allowed_origin_receives_events_over_a_websocket(
    visit: Visit, tmp_path: Path, elsewhere: str
) -> None:
    """By an `EventSource` it does not: that asks before nothing, as if it came from any page."""
    with serving(folder=tmp_path, settings={"GRAPH_CORS_ORIGINS": elsewhere}) as server:
        await visit.page.goto(elsewhere)
        await visit.page.evaluate(CONNECT, [server.url, QUERY])
        await has_subscriptions(server, 1)
        await ingested_elsewhere(tmp_path, "us1")
        await hears(visit, "us1")
