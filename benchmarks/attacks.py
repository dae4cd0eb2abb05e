"""Attacks on our own service on this machine: what one client can cause with a few kilobytes.

    python -m benchmarks.attacks NAME HOST PORT SECONDS

repeats one attack for so many seconds and prints the answers as JSON. `benchmarks.hostile` runs it beside a
normal client.
"""

import asyncio
import os
import random
import re
import string
import sys
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from time import monotonic

import orjson
import websockets

CONNECTIONS = 50  # that an attack keeps busy
NICENESS = 10  # so that the normal client's processor time is not the attacker's
ANSWER_BYTES = 64 * 1024
LENGTH = re.compile(rb"(?i)\r\ncontent-length: *(\d+)")
LEFT_ALONE_S = 30.0  # after which an answer is not waited for any more


def ten(field: str) -> str:
    """A query with ten times the field, in which `%d` becomes the number of each."""
    return "{ " + " ".join(f"f{number}: {field.replace('%d', str(number))}" for number in range(10)) + " }"


EARTH = "circle: {lat: 1, lon: 0, radiusKm: 20000}"
TEN_TOTALS = ten(f"events(first: 1, filter: {{{EARTH}}}) {{ totalCount }}")
YEAR = 'startTime: "2020-01-01", endTime: "2020-12-30"'
AREA = "box: {minLat: -8%d, minLon: -180, maxLat: 90, maxLon: 179}"
TEN_AREAS = ten(f"events(first: 1, filter: {{{YEAR}, {AREA}}}) {{ totalCount }}")
NO_MATCH = '{ events(first: 1, filter: {types: ["zzz"]}) { nodes { id } } }'
OPERATIONS = " ".join(f"query Q{number} {{ __typename }}" for number in range(390))
EQUAL_NAMES = "{ events { " + "bucketsScanned " * 480 + "} }"
SERIES = ten("catalogueStatistics(filter: {minMagnitude: 0.%d}) { series(interval: DAY) { counts } }")
UNREAD_PAGES = ten("events(first: 1000) { pageInfo { hasNextPage } }")
NEIGHBOURS = "{ events(first: 190) { nodes { nearby(days: 3653, first: 1) { nodes { id } } } } }"
TEN_LOGS = ten('event(eventId: "x%d") { id }')
LARGE_PAGE = "{ events(first: 1000) { edges { cursor node { id eventId time mag place lat lon depth magType url } } } }"


@dataclass
class Attack:
    """One attacker: where it sends, for how long, and what came back."""

    host: str
    port: int
    until: float
    answers: Counter[str] = field(default_factory=Counter)
    chance: random.Random = field(default_factory=lambda: random.Random(1))  # noqa: S311

    @property
    def goes_on(self) -> bool:
        """Whether time is left."""
        return monotonic() < self.until

    async def posted(self, query: str, *, again: int = 1) -> None:
        """Send a query over a connection of its own, and wait for the answers."""
        async with self.connection() as (reader, writer):
            for _ in range(again):
                writer.write(request(query))
                self.answers[await _answer(reader)] += 1

    async def left(self, query: str) -> None:
        """Send a query, and close the connection at once."""
        async with self.connection() as (_, writer):
            writer.write(request(query))
            await writer.drain()
        self.answers["left"] += 1

    async def sent(self, raw: bytes) -> None:
        """Send bytes, and wait for the answer or the end."""
        async with self.connection() as (reader, writer):
            writer.write(raw)
            with suppress(ConnectionError):
                await writer.drain()
            self.answers[await _answer(reader)] += 1

    async def operations(self, query: str, number: int) -> None:
        """Send so many operations over one WebSocket, and wait for their ends."""
        async with self.socket() as socket:
            for each in range(number):
                payload = {"type": "subscribe", "id": str(each), "payload": {"query": query}}
                await socket.send(orjson.dumps(payload).decode())
            ended = 0
            while ended < number:
                message = orjson.loads(await asyncio.wait_for(socket.recv(), LEFT_ALONE_S))
                if message["type"] == "error":
                    self.answers[message["payload"][0]["extensions"]["code"]] += 1
                if message["type"] == "next":
                    errors = message["payload"].get("errors")
                    self.answers[errors[0]["extensions"]["code"] if errors else "OK"] += 1
                ended += message["type"] in ("complete", "error")

    async def messages(self, message: str, number: int) -> None:
        """Send a message over one WebSocket again and again, faster than it is taken."""
        async with self.socket() as socket:
            for _ in range(number):
                await socket.send(message)
            await socket.send('{"type": "ping", "payload": {"last": true}}')
            async for answer in socket:
                if '"last"' in str(answer):
                    break
        self.answers["messages"] += number

    @asynccontextmanager
    async def connection(self) -> AsyncIterator[tuple[asyncio.StreamReader, asyncio.StreamWriter]]:
        """A connection."""
        reader, writer = await asyncio.open_connection(self.host, self.port)
        try:
            yield reader, writer
        finally:
            writer.close()

    @asynccontextmanager
    async def socket(self) -> AsyncIterator[websockets.ClientConnection]:
        """A WebSocket that is greeted."""
        url = f"ws://{self.host}:{self.port}/graphql"
        protocol = websockets.Subprotocol("graphql-transport-ws")
        async with websockets.connect(url, subprotocols=[protocol], max_size=None, ping_interval=None) as socket:
            await socket.send('{"type": "connection_init"}')
            await socket.recv()
            yield socket

    def distinct_query(self) -> str:
        """A query that was never sent before."""
        name = "".join(self.chance.choices(string.ascii_lowercase, k=12))
        first, least = self.chance.randrange(50), self.chance.random() * 5
        return f"query {name} {{ events(first: {first}, filter: {{minMagnitude: {least}}}) {{ nodes {{ id mag }} }} }}"


def request(query: str) -> bytes:
    """A request of HTTP."""
    body = orjson.dumps({"query": query})
    head = "POST /graphql HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nAccept: */*\r\n"
    return f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body


def many_headers(number: int) -> bytes:
    """A request with so many headers."""
    headers = b"".join(b"a%d: b\r\n" % each for each in range(number))
    return b"GET /graphql HTTP/1.1\r\nHost: x\r\n" + headers + b"\r\n"


async def _answer(reader: asyncio.StreamReader) -> str:
    """The status of an answer, or the code of its first error."""
    try:
        async with asyncio.timeout(LEFT_ALONE_S):
            head = await reader.readuntil(b"\r\n\r\n")
            status = head.split(b" ", 2)[1].decode()
            length = next(
                (int(line[15:]) for line in head.lower().split(b"\r\n") if line[:15] == b"content-length:"), 0
            )
            body = await reader.readexactly(length)
    except (asyncio.IncompleteReadError, ConnectionError):
        return "closed"
    except TimeoutError:
        return "no answer"
    begin = body[:ANSWER_BYTES].find(b'"code":"')
    return body[begin + 8 :].split(b'"', 1)[0].decode() if begin >= 0 else status


Action = Callable[[Attack], Awaitable[None]]

ATTACKS: dict[str, Action] = {
    "filters that match nothing, left at once": lambda a: a.left(NO_MATCH),
    "filters that match nothing": lambda a: a.posted(NO_MATCH),
    "fifty operations of ten totals on a socket": lambda a: a.operations(TEN_TOTALS, 50),
    "ten totals of an area in a year": lambda a: a.posted(TEN_AREAS),
    "390 operations in a document": lambda a: a.posted(OPERATIONS, again=10),
    "480 equal names in a selection": lambda a: a.posted(EQUAL_NAMES, again=10),
    "200,000 headers": lambda a: a.sent(many_headers(200_000)),
    "distinct documents": lambda a: a.posted(a.distinct_query(), again=1),
    "ten logs a request": lambda a: a.posted(TEN_LOGS, again=50),
    "series by day, ten magnitudes": lambda a: a.posted(SERIES, again=5),
    "pings": lambda a: a.messages('{"type":"ping"}', 5000),
    "pongs": lambda a: a.messages('{"type":"pong"}', 5000),
    "completes": lambda a: a.messages('{"type":"complete","id":"x"}', 5000),
    "pages that are not selected": lambda a: a.posted(UNREAD_PAGES, again=5),
    "neighbours in ten years": lambda a: a.posted(NEIGHBOURS),
    "pages of a thousand": lambda a: a.posted(LARGE_PAGE),
}


async def _mixture(attack: Attack) -> None:
    """Any of the others."""
    await attack.chance.choice(list(ATTACKS.values()))(attack)


MIXTURE = "a random mixture"


async def run(name: str, attack: Attack) -> None:
    """Keep so many connections busy with it until the time is over."""
    action = _mixture if name == MIXTURE else ATTACKS[name]

    async def again_and_again() -> None:
        while attack.goes_on:
            try:
                await action(attack)
            except (OSError, TimeoutError, asyncio.IncompleteReadError, websockets.WebSocketException) as error:
                attack.answers[type(error).__name__] += 1
                await asyncio.sleep(0.01)

    await asyncio.gather(*(again_and_again() for _ in range(CONNECTIONS)))


def main() -> None:
    """Attack, and print the number of answers by code."""
    name, host, port, seconds = sys.argv[1:]
    os.nice(NICENESS)
    attack = Attack(host, int(port), monotonic() + float(seconds))
    asyncio.run(run(name, attack))
    print(orjson.dumps(attack.answers).decode())


if __name__ == "__main__":
    main()
