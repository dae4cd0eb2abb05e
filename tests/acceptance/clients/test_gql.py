"""The client of the package gql, which Python programs subscribe by."""

import asyncio
from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from pathlib import Path
from typing import Any

import pytest
from gql import Client, gql
from gql.transport.exceptions import TransportConnectionFailed, TransportQueryError
from gql.transport.websockets import WebsocketsTransport
from websockets.exceptions import ConnectionClosed

from tests.bearers import bearer
from tests.processes import TIMEOUT_S, Server, serving
from tests.subscribers import EVENTS, has_subscriptions, ingested_elsewhere


def client(server: Server, token: Mapping[str, str] | None = None) -> Client:
    """One that knows the schema, since it asks for it."""
    url = server.url.replace("http:", "ws:")
    transport = WebsocketsTransport(
        url,
        init_payload=dict(token or {}),
        connect_timeout=TIMEOUT_S,
        ack_timeout=TIMEOUT_S,
        connect_args={"proxy": None},
    )
    return Client(transport=transport, fetch_schema_from_transport=True, execute_timeout=TIMEOUT_S)


async def test_gql_receives_events_until_the_service_ends(tmp_path: Path) -> None:
    heard: asyncio.Queue[str] = asyncio.Queue()

    async def listen(notices: AsyncGenerator[dict[str, Any], None]) -> None:
        async with aclosing(notices):
            async for notice in notices:
                heard.put_nowait(notice["events"]["event"]["eventId"])

    with serving(folder=tmp_path) as server:
        async with client(server) as session:
            listening = asyncio.create_task(listen(session.subscribe(gql(EVENTS))))
            await has_subscriptions(server, 1)
            await ingested_elsewhere(tmp_path, "us1", "us2")
            assert [await heard.get(), await heard.get()] == ["us1", "us2"]

            assert await asyncio.to_thread(server.end) == 0

            await listening
    assert heard.empty()


async def test_it_leaves_a_subscription_and_keeps_its_connection(tmp_path: Path) -> None:
    with serving(folder=tmp_path) as server:
        async with client(server) as session:
            notices = session.subscribe(gql(EVENTS))
            first = asyncio.ensure_future(anext(notices))
            await has_subscriptions(server, 1)
            await ingested_elsewhere(tmp_path, "us1")
            assert (await first)["events"]["event"]["eventId"] == "us1"
            await notices.aclose()
            await has_subscriptions(server, 0)
            assert await session.execute(gql("{ events { totalCount } }")) == {"events": {"totalCount": 1}}


async def test_gql_needs_the_token_of_its_connection_init_for_mutations(tmp_path: Path) -> None:
    mutation = gql("mutation { ingestEvents(input: {events: []}) { fetched } }")
    with serving(folder=tmp_path) as server:
        async with client(server, bearer()) as session:
            assert await session.execute(mutation) == {"ingestEvents": {"fetched": 0}}
        async with client(server) as session:
            with pytest.raises(TransportQueryError) as refused:
                await session.execute(mutation)
            assert refused.value.errors is not None
            assert refused.value.errors[0]["extensions"] == {"code": "UNAUTHENTICATED"}


async def test_it_is_not_connected_with_a_wrong_token(tmp_path: Path) -> None:
    with serving(folder=tmp_path) as server:
        with pytest.raises(TransportConnectionFailed) as refused:
            await client(server, {"Authorization": "Bearer x"}).__aenter__()
        cause = refused.value.__cause__

    assert isinstance(cause, ConnectionClosed)
    assert cause.rcvd is not None
    assert cause.rcvd.code == 4403
