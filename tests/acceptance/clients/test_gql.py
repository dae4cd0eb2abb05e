"""The client of the package gql, which Python programs subscribe by."""

import asyncio
from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from typing import Any

import pytest
from gql import Client, gql
from gql.transport.exceptions import TransportConnectionFailed, TransportQueryError
from gql.transport.websockets import WebsocketsTransport
from websockets.exceptions import ConnectionClosed

from tests.bearers import bearer
from tests.processes import TIMEOUT_S
from tests.subscribers import EVENTS, LiveService


def client(service: LiveService, token: Mapping[str, str] | None = None) -> Client:
    """One that knows the schema, since it asks for it."""
    url = f"{service.url.replace('http:', 'ws:')}/graphql"
    transport = WebsocketsTransport(
        url,
        init_payload=dict(token or {}),
        connect_timeout=TIMEOUT_S,
        ack_timeout=TIMEOUT_S,
        connect_args={"proxy": None},
    )
    return Client(transport=transport, fetch_schema_from_transport=True, execute_timeout=TIMEOUT_S)


async def test_gql_leaves_a_subscription_keeps_its_connection_and_receives_events_until_the_service_ends(
    live: LiveService,
) -> None:
    heard: asyncio.Queue[str] = asyncio.Queue()

    async def listen(notices: AsyncGenerator[dict[str, Any], None]) -> None:
        async with aclosing(notices):
            async for notice in notices:
                heard.put_nowait(notice["events"]["event"]["eventId"])

    async with client(live) as session:
        notices = session.subscribe(gql(EVENTS))
        first = asyncio.ensure_future(anext(notices))
        await live.has_subscriptions(1)
        live.store("us1")
        assert (await first)["events"]["event"]["eventId"] == "us1"
        await notices.aclose()
        await live.has_subscriptions(0)
        assert await session.execute(gql("{ events { totalCount } }")) == {"events": {"totalCount": 1}}

        listening = asyncio.create_task(listen(session.subscribe(gql(EVENTS))))
        await live.has_subscriptions(1)
        live.store("us2", "us3")
        assert [await heard.get(), await heard.get()] == ["us2", "us3"]
        live.server.should_exit = True
        await listening
    assert heard.empty()


async def test_gql_needs_the_token_of_its_connection_init_for_mutations(live: LiveService) -> None:
    """With a wrong token it is not connected."""
    mutation = gql("mutation { ingestEvents(input: {events: []}) { fetched } }")
    async with client(live, bearer()) as session:
        assert await session.execute(mutation) == {"ingestEvents": {"fetched": 0}}
    async with client(live) as session:
        with pytest.raises(TransportQueryError) as refused:
            await session.execute(mutation)
        assert refused.value.errors is not None
        assert refused.value.errors[0]["extensions"] == {"code": "UNAUTHENTICATED"}

    with pytest.raises(TransportConnectionFailed) as unconnected:
        await client(live, {"Authorization": "Bearer x"}).__aenter__()
    cause = unconnected.value.__cause__
    assert isinstance(cause, ConnectionClosed)
    assert cause.rcvd is not None
    assert cause.rcvd.code == 4403
