"""A real service, and clients that subscribe to it: over a WebSocket, or with server-sent events.

The service runs in a thread, and otherwise like `quakegraph serve`, with uvloop and limits of connections.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import aclosing, asynccontextmanager, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import httpx
import orjson
import pytest
from pydantic import SecretStr
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed
from websockets.typing import Origin, Subprotocol

from graph.app import create_app
from graph.domains.earthquakes.revisions.live import EventBroadcast
from graph.serving.drain import DrainingServer
from graph.serving.server import configuration
from graph.serving.sockets import ClientSocket
from graph.transport.exchange import Process
from graph.transport.sse import HEART_BEAT_S
from graph.transport.websocket import SUBPROTOCOL, SocketLimits
from tests.bearers import SECRET, bearer
from tests.domains.earthquakes.builders import NOON
from tests.domains.earthquakes.ingest.ingests import a_feature
from tests.forking import ended
from tests.observability.scraping import parsed
from tests.processes import TIMEOUT_S, Server
from tests.server_thread import in_thread
from tests.settings import Settings

EVENTS = "subscription ($after: String) { events(after: $after) { node { eventId } cursor dropped } }"
INGEST = "mutation ($events: [EventInput!]!) { ingestEvents(input: {events: $events}) { upserted } }"


# The service


@dataclass(frozen=True)
class LiveService:
    """A running service, and a client with every scope."""

    url: str
    server: DrainingServer
    http: httpx.Client

    @property
    def process(self) -> Process:
        """What the process holds."""
        process: Process = self.server.lifespan.state["process"]
        return process

    def change(self, **fields: Any) -> None:
        """Let later requests and connections find something else there."""
        self.server.lifespan.state["process"] = replace(self.process, **fields)

    def store(self, *event_ids: str, **others: Any) -> None:
        """Ingest events with one mutation."""
        events = [event_input(event_id, **others) for event_id in event_ids]
        answer = self.http.post("/graphql", json={"query": INGEST, "variables": {"events": events}})
        assert answer.json() == {"data": {"ingestEvents": {"upserted": len(events)}}}

    async def has_subscriptions(self, number: int) -> None:
        """Wait until this number of subscriptions is open. They will receive whatever is stored from now on."""
        live: EventBroadcast = self.process.services.of(EventBroadcast)
        await eventually(lambda: live.subscriptions == number)

    async def has_no_socket(self) -> None:
        """Wait until no WebSocket is left."""
        state = self.server.server_state
        await eventually(
            lambda: not state.tasks and not any(isinstance(one, ClientSocket) for one in state.connections)
        )


def event_input(event_id: str, **others: Any) -> dict[str, Any]:
    """An event as an input of `ingestEvents`."""
    return {"eventId": event_id, "eventTsMs": NOON, "mag": 4.5, "lat": 35.6, "lon": -117.6, **others}


@contextmanager
def live_service(
    settings: Settings, limits: SocketLimits | None = None, *, heart_beat_s: float = HEART_BEAT_S
) -> Iterator[LiveService]:
    """The service, from its start to the end of its shutdown.

    Args:
        limits: limits of a WebSocket, in place of the service's own.
        heart_beat_s: interval of heart beats in a stream of events.
    """
    if settings.jwt_secret is None and settings.jwks_url is None:
        settings = settings.model_copy(update={"jwt_secret": SecretStr(SECRET)})
    app = create_app(settings, socket_limits=limits, heart_beat_s=heart_beat_s)
    server = DrainingServer(configuration(app, settings), 0)
    with in_thread(server) as url, httpx.Client(base_url=url, headers=bearer(), timeout=TIMEOUT_S) as http:
        yield LiveService(url, server, http)


async def ingested_elsewhere(folder: Path, *event_ids: str) -> None:
    """Ingest events into the catalogue of a folder with `quakegraph ingest`, in another process."""
    file = folder / "elsewhere.ndjson"
    file.write_bytes(b"".join(orjson.dumps(a_feature(event_id)) + b"\n" for event_id in event_ids))
    status, said = await asyncio.to_thread(ended, "ingest", file.name, folder=folder)
    assert status == 0, said


async def has_subscriptions(server: Server, number: int) -> None:
    """Wait until all processes of a service together have this number of subscriptions."""
    url = f"{server.url.removesuffix('/graphql')}/metrics"
    async with httpx.AsyncClient(trust_env=False, timeout=TIMEOUT_S) as http, asyncio.timeout(TIMEOUT_S):
        while parsed((await http.get(url)).text).value("quakegraph_subscriptions") != number:  # noqa: ASYNC110 - of another process
            await asyncio.sleep(0.05)


async def eventually(holds: Callable[[], bool]) -> None:
    """Wait until a condition holds."""
    async with asyncio.timeout(TIMEOUT_S):
        while not holds():  # noqa: ASYNC110 - of a service in another thread or process
            await asyncio.sleep(0.01)


# Over a WebSocket


@dataclass(frozen=True)
class Socket:
    """One end of a connection that speaks graphql-transport-ws, message by message."""

    connection: ClientConnection

    async def send_message(self, type_: str, **others: Any) -> None:
        """Send a message."""
        await self.connection.send(orjson.dumps({"type": type_, **others}).decode())

    async def next_message(self) -> Any:
        """The next message that is not a ping. Pings, which an idle service sends, are answered."""
        while (message := await self.receive()) == {"type": "ping"}:
            await self.send_message("pong")
        return message

    async def receive(self) -> Any:
        """The next message, even if it is a ping."""
        async with asyncio.timeout(TIMEOUT_S):
            text = await self.connection.recv()
        assert isinstance(text, str)
        return orjson.loads(text)

    async def initialise(self, token: Mapping[str, str] | None = None) -> None:
        """Send `connection_init`, and wait for its acknowledgement."""
        await self.send_message("connection_init", **({"payload": token} if token else {}))
        assert await self.next_message() == {"type": "connection_ack"}

    async def ask(self, id_: str, query: str, **others: Any) -> None:
        """Begin an operation."""
        await self.send_message("subscribe", id=id_, payload={"query": query, **others})

    async def next_data(self, id_: str) -> Any:
        """The data of an operation's next result, which is the next message and has no errors."""
        message = await self.next_message()
        assert (message["type"], message["id"], message["payload"].keys()) == ("next", id_, {"data"}), message
        return message["payload"]["data"]

    async def event(self, id_: str) -> str:
        """The id of the event in a subscription's next result."""
        event_id: str = (await self.next_data(id_))["events"]["node"]["eventId"]
        return event_id

    async def codes(self, id_: str) -> list[str]:
        """The codes of the errors that end an operation; they are the next message."""
        message = await self.next_message()
        assert (message["type"], message["id"]) == ("error", id_), message
        return [error["extensions"]["code"] for error in message["payload"]]

    async def quiet(self) -> None:
        """Assert that no further message arrives before the answer to a ping."""
        await self.send_message("ping", payload={"quiet": True})
        assert await self.next_message() == {"type": "pong", "payload": {"quiet": True}}

    async def end(self) -> tuple[int, str]:
        """The code and reason with which the server ends the connection; no message may come before."""
        async with asyncio.timeout(TIMEOUT_S):
            with pytest.raises(ConnectionClosed) as closed:
                await self.connection.recv()
        assert closed.value.rcvd is not None
        return closed.value.rcvd.code, closed.value.rcvd.reason

    def abort(self) -> None:
        """Close the connection without a closing frame."""
        self.connection.transport.abort()


@asynccontextmanager
async def socket_to(
    url: str,
    *,
    path: str = "/graphql",
    subprotocols: tuple[str, ...] = (SUBPROTOCOL,),
    headers: Mapping[str, str] | None = None,
    origin: str | None = None,
    **options: Any,
) -> AsyncIterator[Socket]:
    """A connection before `connection_init`, to the service with this root URL."""
    async with connect(
        url.replace("http://", "ws://") + path,
        subprotocols=[Subprotocol(name) for name in subprotocols] or None,
        additional_headers=dict(headers or {}),
        origin=Origin(origin) if origin is not None else None,
        proxy=None,
        ping_interval=None,
        open_timeout=TIMEOUT_S,
        **options,
    ) as connection:
        yield Socket(connection)


@asynccontextmanager
async def initialised(url: str, token: Mapping[str, str] | None = None, **options: Any) -> AsyncIterator[Socket]:
    """A connection after its acknowledgement."""
    async with socket_to(url, **options) as client:
        await client.initialise(token)
        yield client


# By server-sent events


@dataclass
class EventStream:
    """An answer that comes as server-sent events."""

    answer: httpx.Response
    _chunks: AsyncIterator[bytes]
    _received: bytes = b""

    async def block(self) -> bytes:
        """The next block, without the empty line at its end."""
        async with asyncio.timeout(TIMEOUT_S):
            while b"\n\n" not in self._received:
                self._received += await anext(self._chunks)
        block, _, self._received = self._received.partition(b"\n\n")
        return block

    async def next_data(self) -> Any:
        """The data of the next result, which has no errors."""
        block = await self.block()
        assert block.startswith(b"event: next\ndata: "), block
        payload = orjson.loads(block.removeprefix(b"event: next\ndata: "))
        assert payload.keys() == {"data"}, payload
        return payload["data"]

    async def event(self) -> str:
        """The id of the event in the next result."""
        event_id: str = (await self.next_data())["events"]["node"]["eventId"]
        return event_id

    async def end(self) -> bytes:
        """The rest of the answer, once the server has ended it."""
        async with asyncio.timeout(TIMEOUT_S):
            async for chunk in self._chunks:
                self._received += chunk
        return self._received


@asynccontextmanager
async def event_stream(
    url: str,
    query: str = EVENTS,
    *,
    accept: str = "text/event-stream",
    headers: Mapping[str, str] | None = None,
    **others: Any,
) -> AsyncIterator[EventStream]:
    """Open a stream of the service with this root URL."""
    body = {"query": query, **others}
    async with (
        httpx.AsyncClient(base_url=url, timeout=TIMEOUT_S, trust_env=False) as http,
        http.stream("POST", "/graphql", json=body, headers={"Accept": accept, **(headers or {})}) as answer,
    ):
        assert answer.status_code == 200, await answer.aread()
        async with aclosing(answer.aiter_raw()) as chunks:  # type: ignore[type-var]
            yield EventStream(answer, chunks)
