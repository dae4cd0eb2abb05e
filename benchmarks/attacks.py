"""Attacks on our own service on this machine, as one client could make.

    ATTACK_TOKEN=TOKEN python -m benchmarks.attacks NAME HOST PORT SECONDS

repeats one attack for this number of seconds and prints the number of answers by code, as JSON.
`benchmarks.hostile` runs it beside a normal client.
"""

import asyncio
import os
import random
import re
import string
import sys
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from time import monotonic
from typing import Any

import orjson
import websockets

from benchmarks import log_requests
from benchmarks.data_files import attacks as files
from benchmarks.log_requests import stream
from benchmarks.sightings import attacks as sightings
from benchmarks.triggers import attacks as triggers

CONNECTIONS = 50  # kept busy by an attack
UPLOADS = 8  # large bodies that are sent at the same time
TOKEN = os.environ.get("ATTACK_TOKEN", "")
JSON, PROTOBUF = "application/json", "application/x-protobuf"
NICENESS = 10  # so that the attacker does not take processor time from the normal client
ANSWER_BYTES = 64 * 1024
LENGTH = re.compile(rb"(?i)\r\ncontent-length: *(\d+)")
ANSWER_TIMEOUT_S = 30.0  # the longest wait for an answer


def ten(field: str) -> str:
    """A query with the field ten times, under aliases; `%d` becomes the number of the alias."""
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
    """One attacker: its target, the end of its time, and the answers by code."""

    host: str
    port: int
    until: float
    answers: Counter[str] = field(default_factory=Counter)
    rng: random.Random = field(default_factory=lambda: random.Random(1))  # noqa: S311
    uploads: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(UPLOADS))
    prepared: dict[str, asyncio.Future[Any]] = field(default_factory=dict)

    @property
    def has_time(self) -> bool:
        """Whether time is left."""
        return monotonic() < self.until

    async def post(self, query: str, *, times: int = 1) -> None:
        """Send a query one or more times over a new connection, and wait for the answers."""
        async with self.connection() as (reader, writer):
            for _ in range(times):
                writer.write(request(query))
                self.answers[await _answer(reader)] += 1

    async def post_variables(self, query: str, variables: Mapping[str, Any], token: str = TOKEN) -> None:
        """Send a query with variables over a new connection, and wait for the answer."""
        await self.send_raw(request_of(orjson.dumps({"query": query, "variables": variables}), JSON, token=token))

    async def once(self, name: str, prepare: Callable[[], Awaitable[Any]]) -> Any:
        """Prepare what an attack needs, the first time. Returns what came of it."""
        if name not in self.prepared:
            self.prepared[name] = asyncio.ensure_future(prepare())
        return await asyncio.shield(self.prepared[name])

    async def upload(
        self, body: Callable[[], bytes], media_type: str, path: str = "/v1/logs", encoding: str = "identity"
    ) -> None:
        """Send a large body over a new connection, and wait for the answer."""
        async with self.uploads:
            if self.has_time:
                await self.send_raw(request_of(body(), media_type, path, encoding))

    async def post_and_disconnect(self, query: str) -> None:
        """Send a query, and close the connection at once."""
        async with self.connection() as (_, writer):
            writer.write(request(query))
            await writer.drain()
        self.answers["left"] += 1

    async def send_raw(self, raw: bytes) -> None:
        """Send bytes, and wait for the answer or the end."""
        async with self.connection() as (reader, writer):
            writer.write(raw)
            with suppress(ConnectionError):
                await writer.drain()
            self.answers[await _answer(reader)] += 1

    async def operations(self, query: str, number: int) -> None:
        """Send `number` operations over one WebSocket, and wait until they end."""
        async with self.socket() as socket:
            for each in range(number):
                payload = {"type": "subscribe", "id": str(each), "payload": {"query": query}}
                await socket.send(orjson.dumps(payload).decode())
            ended = 0
            while ended < number:
                message = orjson.loads(await asyncio.wait_for(socket.recv(), ANSWER_TIMEOUT_S))
                if message["type"] == "error":
                    self.answers[message["payload"][0]["extensions"]["code"]] += 1
                if message["type"] == "next":
                    errors = message["payload"].get("errors")
                    self.answers[errors[0]["extensions"]["code"] if errors else "OK"] += 1
                ended += message["type"] in ("complete", "error")

    async def messages(self, message: str, number: int) -> None:
        """Send a message `number` times over one WebSocket, faster than the service reads it."""
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
        """A WebSocket after `connection_init`."""
        url = f"ws://{self.host}:{self.port}/graphql"
        protocol = websockets.Subprotocol("graphql-transport-ws")
        async with websockets.connect(url, subprotocols=[protocol], max_size=None, ping_interval=None) as socket:
            await socket.send('{"type": "connection_init"}')
            await socket.recv()
            yield socket

    def distinct_query(self) -> str:
        """A query that was never sent before."""
        name = "".join(self.rng.choices(string.ascii_lowercase, k=12))
        first, least = self.rng.randrange(50), self.rng.random() * 5
        return f"query {name} {{ events(first: {first}, filter: {{minMagnitude: {least}}}) {{ nodes {{ id mag }} }} }}"


def request(query: str) -> bytes:
    """An HTTP request of a query."""
    return request_of(orjson.dumps({"query": query}), JSON)


def request_of(
    body: bytes, media_type: str, path: str = "/graphql", encoding: str = "identity", token: str = TOKEN
) -> bytes:
    """An HTTP request."""
    head = {
        "Host": "x",
        "Content-Type": media_type,
        "Content-Encoding": encoding,
        "Accept": "*/*",
        "Content-Length": len(body),
        **({"Authorization": f"Bearer {token}"} if token else {}),
    }
    lines = "".join(f"{name}: {value}\r\n" for name, value in head.items())
    return f"POST {path} HTTP/1.1\r\n{lines}\r\n".encode() + body


def many_headers(number: int) -> bytes:
    """A request with this number of headers."""
    headers = b"".join(b"a%d: b\r\n" % each for each in range(number))
    return b"GET /graphql HTTP/1.1\r\nHost: x\r\n" + headers + b"\r\n"


async def _answer(reader: asyncio.StreamReader) -> str:
    """The status of an answer, or the code of its first error."""
    try:
        async with asyncio.timeout(ANSWER_TIMEOUT_S):
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
    "filters that match nothing, left at once": lambda a: a.post_and_disconnect(NO_MATCH),
    "filters that match nothing": lambda a: a.post(NO_MATCH),
    "fifty operations of ten totals on a socket": lambda a: a.operations(TEN_TOTALS, 50),
    "ten totals of an area in a year": lambda a: a.post(TEN_AREAS),
    "390 operations in a document": lambda a: a.post(OPERATIONS, times=10),
    "480 equal names in a selection": lambda a: a.post(EQUAL_NAMES, times=10),
    "200,000 headers": lambda a: a.send_raw(many_headers(200_000)),
    "distinct documents": lambda a: a.post(a.distinct_query(), times=1),
    "ten logs a request": lambda a: a.post(TEN_LOGS, times=50),
    "series by day, ten magnitudes": lambda a: a.post(SERIES, times=5),
    "pings": lambda a: a.messages('{"type":"ping"}', 5000),
    "pongs": lambda a: a.messages('{"type":"pong"}', 5000),
    "completes": lambda a: a.messages('{"type":"complete","id":"x"}', 5000),
    "pages that are not selected": lambda a: a.post(UNREAD_PAGES, times=5),
    "neighbours in ten years": lambda a: a.post(NEIGHBOURS),
    "pages of a thousand": lambda a: a.post(LARGE_PAGE),
    "logs: a rare text": lambda a: a.post(ten(log_requests.RARE_TEXT)),
    "logs: metadata that none has": lambda a: a.post(ten(log_requests.NO_METADATA)),
    "logs: traces that do not exist": lambda a: a.post(ten(log_requests.NO_TRACE)),
    "logs: ten volumes by service and minute": lambda a: a.post(ten(log_requests.volume())),
    "logs: pages of a thousand of a hundred services": lambda a: a.post(log_requests.PAGE_OF_SERVICES),
    "logs: pages of the newest thousand": lambda a: a.post(log_requests.RECENT_PAGE),
    "logs: a thousand of different minutes in a mutation": lambda a: a.upload(
        lambda: next(stream(log_requests.mutations)), JSON, "/graphql"
    ),
    "logs: ten thousand in protobuf": lambda a: a.upload(
        lambda: next(stream(log_requests.protobuf_requests)), PROTOBUF
    ),
    "logs: four megabytes of JSON": lambda a: a.upload(lambda: next(stream(log_requests.json_requests)), JSON),
    "logs: four megabytes of empty objects": lambda a: a.upload(log_requests.tiny_objects, JSON),
    "logs: a scope for each record": lambda a: a.upload(log_requests.many_scopes, PROTOBUF),
    "logs: gzip bombs": lambda a: a.upload(log_requests.bomb, PROTOBUF, encoding="gzip"),
    "logs: records of two bytes": lambda a: a.upload(log_requests.two_byte_records, PROTOBUF),
    "logs: records of two bytes in gzip": lambda a: a.upload(log_requests.zipped_records, PROTOBUF, encoding="gzip"),
    "triggers: endpoints that hang": triggers.events_to("hang"),
    "triggers: endpoints that answer drop by drop": triggers.events_to("drip"),
    "triggers: endpoints that answer 100 MB": triggers.events_to("large"),
    "triggers: endpoints that redirect": triggers.events_to("redirect"),
    "triggers: payloads of 256 KB": triggers.large_payloads,
    "triggers: three hundred watches that want everything": triggers.watches_that_match,
    "triggers: an inbox filter that matches nothing": lambda a: a.post(ten(triggers.NOTHING)),
    "triggers: replays of everything": triggers.replays,
    "triggers: idempotency keys": triggers.idempotency_keys,
    "sightings: reports at one place": sightings.reports_at_one_place,
    "sightings: reports in one area": sightings.reports_in_one_area,
    "sightings: confirmations of one sighting": sightings.confirmations,
    "sightings: near a point, the whole earth": lambda a: a.post(ten(sightings.LARGEST)),
    "sightings: near a point, few of a crowd": lambda a: a.post(ten(sightings.DENSEST)),
    "sightings: near a point beside a crowd": lambda a: a.post(ten(sightings.BESIDE)),
    "sightings: candidates and event of a hundred": lambda a: a.post(sightings.CANDIDATES),
    "sightings: trending with all rankings": lambda a: a.post(sightings.RANKINGS),
    "sightings: a crowd paged backwards": sightings.backwards,
    "sightings: a thousand of a hundred areas": lambda a: a.post(sightings.OF_MANY_AREAS),
    "sightings: subscribers while others report": sightings.subscribers,
    "sightings: odd inputs": sightings.odd_inputs,
    "data_files: plans of ten thousand files": files.plans,
    "data_files: the largest lineages of hubs": files.hubs,
    "data_files: ten lineages of hubs in a request": files.ten_hubs,
    "data_files: lineages without bounds": files.unbounded,
    "data_files: random lists of the latest files": files.lists,
    "data_files: ten lists that match nothing": lambda a: a.post(ten(files.NO_TYPE)),
    "data_files: a thousand new files with metadata": files.registrations,
    "data_files: runs that used a thousand files": files.runs,
    "data_files: cycles": files.cycles,
    "data_files: OpenLineage events with 400 outputs": files.open_lineage,
    "data_files: a thousand OpenLineage events": files.small_events,
    "data_files: OpenLineage byte by byte": files.slow_clients,
    "data_files: broken OpenLineage": files.broken_events,
}


async def _mixture(attack: Attack) -> None:
    """Run a random one of the attacks."""
    await attack.rng.choice(list(ATTACKS.values()))(attack)


MIXTURE = "a random mixture"


async def run(name: str, attack: Attack) -> None:
    """Repeat the attack on `CONNECTIONS` connections until the time is over."""
    action = _mixture if name == MIXTURE else ATTACKS[name]

    async def repeat() -> None:
        while attack.has_time:
            try:
                await action(attack)
            except (OSError, TimeoutError, asyncio.IncompleteReadError, websockets.WebSocketException) as error:
                attack.answers[type(error).__name__] += 1
                await asyncio.sleep(0.01)

    await asyncio.gather(*(repeat() for _ in range(CONNECTIONS)))


def main() -> None:
    """Attack, and print the number of answers by code."""
    name, host, port, seconds = sys.argv[1:]
    os.nice(NICENESS)
    attack = Attack(host, int(port), monotonic() + float(seconds))
    asyncio.run(run(name, attack))
    print(orjson.dumps(attack.answers).decode())


if __name__ == "__main__":
    main()
