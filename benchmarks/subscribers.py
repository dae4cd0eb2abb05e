"""Measures how soon many subscribers receive an event, and how much memory of the server they take.

    python -m benchmarks.subscribers --subscribers 1000 --rounds 10

starts `quakegraph serve` on an empty store, once for each transport. All clients subscribe, then mutations store one
event at a time. A time counts from the mutation's answer, which comes after the commit, to the bytes at a subscriber.
It is 0 for a subscriber that received them before the answer. With `--elsewhere`, `quakegraph ingest` stores the event
instead; its end counts as the commit.

Clients read bytes and parse nothing, so that one CPU is enough for them.
"""

import asyncio
import resource
import secrets
import subprocess
import sys
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import perf_counter

import click
import orjson

from benchmarks.cache import CHECKOUT
from benchmarks.contenders import our_service
from benchmarks.cpus import Cpus
from benchmarks.markdown import table
from benchmarks.servers import Connection, Server, running

TIMEOUT_S = 60.0
SPARE = 200  # connections and files beyond those of the subscribers
CONNECTING = 50  # connections that are opened at the same time
QUERY = "subscription { events { node { eventId time mag place lat lon depth } cursor dropped } }"
INGEST = "mutation ($event: EventInput!) { ingestEvents(input: {events: [$event]}) { upserted } }"
HANDSHAKE = (
    b"GET /graphql HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
    b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n"
    b"Sec-WebSocket-Protocol: graphql-transport-ws\r\n\r\n"
)


@dataclass
class Deliveries:
    """The times at which subscribers received events, by the event's id."""

    times: dict[bytes, list[float]] = field(default_factory=dict)

    def record(self, data: bytes) -> None:
        """Record bytes, which may hold an event."""
        mark = data.find(b'"eventId":"')
        if mark >= 0:
            event_id = data[mark + 11 : data.index(b'"', mark + 11)]
            self.times.setdefault(event_id, []).append(perf_counter())

    async def times_of(self, event_id: str, subscribers: int) -> Sequence[float]:
        """Wait until all subscribers have received the event. Returns the times."""
        async with asyncio.timeout(TIMEOUT_S):
            while len(self.times.get(event_id.encode(), ())) < subscribers:  # noqa: ASYNC110 - it must cost nothing
                await asyncio.sleep(0.02)
        return self.times[event_id.encode()]


class Subscriber(asyncio.Protocol):
    """One client."""

    def __init__(self, deliveries: Deliveries) -> None:
        self._deliveries = deliveries
        self._received: asyncio.Event = asyncio.Event()
        self.transport: asyncio.Transport

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Keep the connection."""
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport

    def data_received(self, data: bytes) -> None:
        """Record the bytes. A notice is so small that it comes in one piece."""
        self._received.set()
        self._deliveries.record(data)

    async def ask(self, data: bytes, *, answered: bool = True) -> None:
        """Send data, and wait for the first bytes of the answer."""
        self._received.clear()
        self.transport.write(data)
        if answered:
            async with asyncio.timeout(TIMEOUT_S):
                await self._received.wait()


async def over_websocket(subscriber: Subscriber) -> None:
    """Subscribe with graphql-transport-ws."""
    await subscriber.ask(HANDSHAKE)
    await subscriber.ask(_frame({"type": "connection_init"}))
    await subscriber.ask(_frame({"type": "subscribe", "id": "1", "payload": {"query": QUERY}}), answered=False)


async def over_server_sent_events(subscriber: Subscriber) -> None:
    """Subscribe with server-sent events."""
    body = orjson.dumps({"query": QUERY})
    head = (
        "POST /graphql HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nAccept: text/event-stream\r\n"
    )
    await subscriber.ask(f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body)


TRANSPORTS: dict[str, Callable[[Subscriber], Awaitable[None]]] = {
    "WebSocket": over_websocket,
    "server-sent events": over_server_sent_events,
}


def _frame(message: object) -> bytes:
    """A text frame with a mask of 0."""
    data = orjson.dumps(message)
    size = bytes([0x80 | len(data)]) if len(data) < 126 else b"\xfe" + len(data).to_bytes(2, "big")
    return b"\x81" + size + bytes(4) + data


@dataclass(frozen=True)
class Result:
    """The result of one transport."""

    megabytes: float  # growth of the server
    medians: Sequence[float]  # seconds, one for each round
    lasts: Sequence[float]  # seconds of the last subscriber, one for each round
    cpu: float  # seconds of the server's processor time for each round


async def measure(
    server: Server, headers: dict[str, str], store: Path, transport: str, subscribers: int, rounds: int, elsewhere: bool
) -> Result:
    """Subscribe, and store one event in each round."""
    deliveries, loop = Deliveries(), asyncio.get_running_loop()
    connection = Connection(server, headers)
    await asyncio.to_thread(connection.ask, _ingest("warm"))
    before = server.memory_mb()
    clients: list[Subscriber] = []
    for first in range(0, subscribers, CONNECTING):
        number = min(CONNECTING, subscribers - first)
        some = [
            (await loop.create_connection(lambda: Subscriber(deliveries), "127.0.0.1", server.port))[1]
            for _ in range(number)
        ]
        await asyncio.gather(*map(TRANSPORTS[transport], some))
        clients += some
    await asyncio.to_thread(_wait_for_subscriptions, server, subscribers)
    grown = server.memory_mb() - before
    medians, lasts = [], []
    began_cpu = server.cpu_seconds()
    for number in range(rounds):
        event_id = f"round{number}"
        if elsewhere:
            await asyncio.to_thread(_ingest_elsewhere, store, event_id)
        else:
            await asyncio.to_thread(connection.ask, _ingest(event_id))
        committed = perf_counter()
        times = [max(time - committed, 0.0) for time in await deliveries.times_of(event_id, subscribers)]
        medians.append(median(times))
        lasts.append(max(times))
    cpu = (server.cpu_seconds() - began_cpu) / rounds
    assert all(len(times) == subscribers for times in deliveries.times.values()), "a subscriber received an event twice"
    for client in clients:
        client.transport.abort()
    return Result(grown, medians, lasts, cpu)


def _ingest(event_id: str) -> bytes:
    event = {"eventId": event_id, "eventTsMs": 1_700_000_000_000, "mag": 4, "lat": 1, "lon": 1, "place": "Somewhere"}
    return orjson.dumps({"query": INGEST, "variables": {"event": event}})


def _ingest_elsewhere(store: Path, event_id: str) -> None:
    feature = {
        "type": "Feature",
        "id": event_id,
        "properties": {"mag": 4, "place": "Somewhere", "time": 1_700_000_000_000},
        "geometry": {"type": "Point", "coordinates": [1, 1, 10]},
    }
    command = [sys.executable, "-m", "graph", "ingest", "-", "--store", f"sqlite:///{store}"]
    subprocess.run(command, cwd=CHECKOUT, input=orjson.dumps(feature), stdout=subprocess.DEVNULL, check=True)


def _wait_for_subscriptions(server: Server, number: int) -> None:
    """Wait until this number of subscriptions is open."""
    connection = Connection(server)
    deadline = perf_counter() + TIMEOUT_S
    while perf_counter() < deadline:
        if connection.metric("quakegraph_subscriptions") == number:
            return
    raise RuntimeError(f"there are not {number} subscriptions")


@click.command(help=__doc__)
@click.option("--subscribers", default=1000, show_default=True)
@click.option("--rounds", default=10, show_default=True)
@click.option("--elsewhere", is_flag=True, help="Store events with `quakegraph ingest`, in another process.")
def main(subscribers: int, rounds: int, elsewhere: bool) -> None:
    """Measure each transport."""
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(subscribers + SPARE, most), most))  # the server inherits it
    cpus, rows = Cpus.of_this_machine(), []
    for transport in TRANSPORTS:
        with TemporaryDirectory() as folder:
            store = Path(folder) / "subscribers.db"
            contender = our_service(store)
            environment = {
                **contender.environment,
                "GRAPH_JWT_SECRET": contender.environment.get("GRAPH_JWT_SECRET", secrets.token_urlsafe(32)),
                "GRAPH_MAX_CONNECTIONS": str(subscribers + SPARE),
                "GRAPH_MAX_SUBSCRIPTIONS": str(subscribers),
                "GRAPH_DRAIN": "0",
            }
            with running(replace(contender, environment=environment), cpus.server, Path(folder)) as server:
                headers = dict(contender.headers)
                found = asyncio.run(measure(server, headers, store, transport, subscribers, rounds, elsewhere))
        rows.append(
            [
                f"{subscribers:,} over {transport}",
                f"{found.megabytes:.0f}",
                f"{median(found.medians) * 1000:.0f}",
                f"{median(found.lasts) * 1000:.0f}",
                f"{max(found.lasts) * 1000:.0f}",
                f"{found.cpu * 1000:.0f}",
            ]
        )
    head = ["subscribers", "MB", "median ms", "last ms", "last of any round, ms", "server's CPU ms"]
    click.echo(table(head, rows))
    click.echo(f"\nMedians of {rounds} rounds. {cpus}.")


if __name__ == "__main__":
    main()
