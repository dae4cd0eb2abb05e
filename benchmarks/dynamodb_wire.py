"""A proxy before DynamoDB that counts, by operation, the calls and the capacity units in their answers.

So both services are counted alike, whatever they say of themselves. DynamoDB reports units where a caller asks
for them (`ReturnConsumedCapacity`).
"""

import asyncio
import json
from collections import Counter, defaultdict, deque
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from threading import Event, Thread
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from httptools import HttpRequestParser, HttpResponseParser

READS = ("GetItem", "BatchGetItem", "Query", "Scan")
CHUNK = 2**16


class Reads(NamedTuple):
    """What was read of DynamoDB."""

    calls: float
    units: float  # of read capacity


class Wire:
    """What has passed."""

    def __init__(self) -> None:
        self.url = ""
        self._calls: Counter[str] = Counter()
        self._units: dict[str, float] = defaultdict(float)

    @property
    def reads(self) -> Reads:
        """Of the calls that read."""
        return Reads(sum(self._calls[each] for each in READS), sum(self._units[each] for each in READS))

    def passed(self, operation: str, answer: bytes) -> None:
        """Count one call."""
        consumed: Any = json.loads(answer or b"{}").get("ConsumedCapacity", [])
        each = consumed if isinstance(consumed, list) else [consumed]  # a list where tables could be several
        self._calls[operation] += 1
        self._units[operation] += sum(table["CapacityUnits"] for table in each)


class Passage:
    """One connection: its requests and their answers, which come in the same order."""

    def __init__(self, wire: Wire) -> None:
        self._wire = wire
        self._asked: deque[str] = deque()
        self._answer = b""
        self.requests = HttpRequestParser(_Requests(self._asked))
        self.answers = HttpResponseParser(self)

    def on_body(self, body: bytes) -> None:
        """A part of an answer."""
        self._answer += body

    def on_message_complete(self) -> None:
        """The end of an answer."""
        self._wire.passed(self._asked.popleft(), self._answer)
        self._answer = b""


class _Requests:
    def __init__(self, asked: deque[str]) -> None:
        self._asked = asked

    def on_header(self, name: bytes, value: bytes) -> None:
        """One header; that of the target names the operation after the version."""
        if name.lower() == b"x-amz-target":
            self._asked.append(value.decode().rpartition(".")[2])


@contextmanager
def counting(endpoint: str) -> Iterator[Wire]:
    """Pass on what comes to another port of this machine, for the time of the `with`."""
    wire = Wire()
    ready = Event()
    loop = asyncio.new_event_loop()
    thread = Thread(target=loop.run_until_complete, args=(_pass_on(wire, endpoint, ready),))
    thread.start()
    ready.wait()
    try:
        yield wire
    finally:
        loop.call_soon_threadsafe(lambda: [task.cancel() for task in asyncio.all_tasks(loop)])
        thread.join()
        loop.close()


async def _pass_on(wire: Wire, endpoint: str, ready: Event) -> None:
    target = urlsplit(endpoint)

    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        passage = Passage(wire)
        far_reader, far_writer = await asyncio.open_connection(target.hostname, target.port)
        with suppress(ConnectionError, asyncio.CancelledError):
            await asyncio.gather(
                _pump(reader, far_writer, passage.requests), _pump(far_reader, writer, passage.answers)
            )

    server = await asyncio.start_server(connected, "127.0.0.1", 0)
    host, port = server.sockets[0].getsockname()
    wire.url = f"http://{host}:{port}"
    ready.set()
    with suppress(asyncio.CancelledError):
        await server.serve_forever()


async def _pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, parser: Any) -> None:
    while chunk := await reader.read(CHUNK):
        parser.feed_data(chunk)
        writer.write(chunk)
        await writer.drain()
    writer.close()
