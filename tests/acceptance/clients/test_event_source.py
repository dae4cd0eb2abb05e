"""`EventSource` and `WebSocket` in Chromium, on a page of the service itself, and on one that is not."""

from collections.abc import Iterator

import pytest
from starlette.applications import Starlette
from starlette.responses import HTMLResponse
from starlette.routing import Route

from tests.acceptance.browser import Visit
from tests.service import serving
from tests.subscribers import LiveService

pytestmark = pytest.mark.needs("chromium")

LISTEN = """([url, query]) => {
  const heard = window.listened = [];
  const source = new EventSource(url + "?query=" + encodeURIComponent(query));
  source.addEventListener("next", event => heard.push(JSON.parse(event.data).data.events.node.eventId));
  source.addEventListener("complete", () => { heard.push("complete"); source.close(); });
  source.addEventListener("error", () => heard.push("error"));
  addEventListener("pagehide", () => source.close());  // else Chromium keeps it for 90 s, in case the user returns
}"""
CONNECT = """([url, query]) => {
  const heard = window.connected = [];
  const socket = new WebSocket(url.replace("http:", "ws:"), "graphql-transport-ws");
  const say = message => socket.send(JSON.stringify(message));
  socket.onopen = () => say({type: "connection_init"});
  socket.onmessage = ({data}) => {
    const message = JSON.parse(data);
    if (message.type === "connection_ack") say({type: "subscribe", id: "1", payload: {query}});
    if (message.type === "next") heard.push(message.payload.data.events.node.eventId);
    if (message.type === "complete") heard.push("complete");
  };
  socket.onclose = ({code}) => heard.push(code);
  addEventListener("pagehide", () => socket.close());
}"""
QUERY = "subscription { events { node { eventId } } }"


async def hears(visit: Visit, name: str, *words: str | int) -> None:
    """Wait until the page has heard so much, and check what."""
    await visit.page.wait_for_function("([name, number]) => window[name].length >= number", arg=[name, len(words)])
    assert await visit.page.evaluate(name) == list(words)


@pytest.fixture
def elsewhere() -> Iterator[str]:
    """A page of another origin."""
    page = HTMLResponse("<!doctype html><title>elsewhere</title>")
    with serving(Starlette(routes=[Route("/", page)])) as url:
        yield url


async def test_a_page_of_the_service_receives_events_until_it_is_left_or_the_service_ends(
    visit: Visit, live: LiveService
) -> None:
    graph = f"{live.url}/graphql"
    for subscribe in (LISTEN, CONNECT):
        await visit.page.goto(graph)
        await visit.page.evaluate(subscribe, [graph, QUERY])
        await live.has_subscriptions(1)
        await visit.page.goto("about:blank")
        await live.has_subscriptions(0)

    await visit.page.goto(graph)
    for subscribe in (LISTEN, CONNECT):
        await visit.page.evaluate(subscribe, [graph, QUERY])
    await live.has_subscriptions(2)
    live.store("us1", "us2")
    await hears(visit, "listened", "us1", "us2")
    await hears(visit, "connected", "us1", "us2")

    live.server.should_exit = True

    await hears(visit, "listened", "us1", "us2", "complete")
    await hears(visit, "connected", "us1", "us2", "complete", 1012)


async def test_a_page_of_another_origin_receives_nothing(visit: Visit, live: LiveService, elsewhere: str) -> None:
    await visit.page.goto(elsewhere)
    for subscribe in (LISTEN, CONNECT):
        await visit.page.evaluate(subscribe, [f"{live.url}/graphql", QUERY])
    await hears(visit, "listened", "error")
    await hears(visit, "connected", 1006)
    await live.has_subscriptions(0)
