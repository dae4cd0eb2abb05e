"""Operations over a WebSocket and by server-sent events: what holds for them over either."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

import pytest

from tests.bearers import bearer
from tests.domains.earthquakes.usgs.usgs_server import Pending, UsgsServer
from tests.observability.scraping import scraped
from tests.subscribers import EVENTS, LiveService, eventually, initialised
from tests.transport.subscribed import OVER_BOTH, Operation, Transport, as_events, over_a_socket

TOTAL = "{ events { totalCount } }"


async def event(operation: Operation) -> Any:
    """The id of the event in the next result."""
    return (await operation.next_data())["events"]["node"]["eventId"]


REFUSED: list[tuple[str, dict[str, Any], str]] = [
    ("{", {}, "GRAPHQL_PARSE_FAILED"),
    ("{ nothing }", {}, "GRAPHQL_VALIDATION_FAILED"),
    ("subscription { a: events { dropped } b: events { dropped } }", {}, "GRAPHQL_VALIDATION_FAILED"),
    ("query A { __typename } query B { __typename }", {}, "OPERATION_RESOLUTION_FAILURE"),
    (EVENTS, {"after": 7}, "BAD_USER_INPUT"),
    ("subscription { events(filter: {minMagnitude: 9, maxMagnitude: 1}) { dropped } }", {}, "BAD_USER_INPUT"),
    (EVENTS, {"after": "x"}, "INVALID_CURSOR"),
    ("{ events(first: 1000) { nodes { nearby(first: 1000) { nodes { mag } } } } }", {}, "QUERY_TOO_COMPLEX"),
]


@OVER_BOTH
async def test_a_document_that_cannot_be_executed_ends_with_its_error(service: LiveService, begun: Transport) -> None:
    """In the stream too: an `EventSource` learns nothing of any other answer."""
    for query, variables, code in REFUSED:
        async with begun(service, query, **variables) as operation:
            assert await operation.codes() == [code], query
    await service.has_subscriptions(0)


@OVER_BOTH
async def test_many_subscribers_receive_an_event_once_each(service: LiveService, begun: Transport) -> None:
    async with AsyncExitStack() as stack:
        operations = [await stack.enter_async_context(begun(service, EVENTS)) for _ in range(20)]
        await service.has_subscriptions(20)
        service.store("us1")
        service.store("us2")

        assert [[await event(each), await event(each)] for each in operations] == [["us1", "us2"]] * 20
    await service.has_subscriptions(0)


@OVER_BOTH
async def test_a_client_that_leaves_ends_its_own_subscription_and_no_other(
    service: LiveService, begun: Transport
) -> None:
    async with begun(service, EVENTS) as staying:
        async with begun(service, EVENTS):
            await service.has_subscriptions(2)
        await service.has_subscriptions(1)
        service.store("us1")
        assert await event(staying) == "us1"
    await service.has_subscriptions(0)
    await service.has_no_socket()
    service.store("us2")

    scrape = scraped(service.url)
    counted = {labels: number for labels, number in scrape.all("quakegraph_requests_total").items() if number}
    assert counted == {("OK", "subscription"): 2, ("OK", "mutation"): 2}
    assert scrape.value("quakegraph_subscriptions") == 0
    assert scrape.value("quakegraph_subscription_events_total") == 1


@asynccontextmanager
async def completed(service: LiveService, query: str, **variables: Any) -> AsyncIterator[None]:
    """An operation that its client completes, over a WebSocket."""
    async with initialised(service.url, bearer()) as client:
        await client.ask("1", query, variables=variables)
        try:
            yield
        finally:
            await client.send_message("complete", id="1")
            await client.quiet()


@pytest.mark.parametrize("begun", [over_a_socket, as_events, completed])
async def test_an_ingest_is_finished_after_its_client_has_left(
    service: LiveService, usgs: UsgsServer, begun: Any
) -> None:
    answer = Pending()
    usgs.answer_next(answer)

    async def wait_for_the_answer() -> None:
        async with begun(service, "mutation { ingestRecent { upserted } }"):
            await asyncio.Event().wait()

    leaving = asyncio.create_task(wait_for_the_answer())
    await eventually(answer.asked.is_set)
    leaving.cancel()
    await asyncio.wait((leaving,))
    answer.released.set()
    total = {"data": {"events": {"totalCount": 5}}}
    await eventually(lambda: service.http.post("/graphql", json={"query": TOTAL}).json() == total)
    await service.has_no_socket()
