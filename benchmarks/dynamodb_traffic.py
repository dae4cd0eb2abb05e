"""A proxy before DynamoDB that counts calls and capacity units, by operation.

Both services are counted in the same way, independent of their own metrics. DynamoDB reports units in its answers
to requests with `ReturnConsumedCapacity`.
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
    """Calls of DynamoDB, most of which read."""

    calls: float
    units: float  # of capacity


class Traffic:
    """The calls that passed the proxy."""

    def __init__(self) -> None:
        self.url = ""
        self._calls: Counter[str] = Counter()
        self._units: dict[str, float] = defaultdict(float)
        self._of_table: dict[str, list[Reads]] = defaultdict(list)

    @property
    def reads(self) -> Reads:
        """The sum over all operations that read."""
        return Reads(sum(self._calls[each] for each in READS), sum(self._units[each] for each in READS))

    def of_table(self, name: str) -> Reads:
        """The calls that read or changed a table, and their units of either capacity."""
        return Reads(len(self._of_table[name]), sum(each.units for each in self._of_table[name]))

    def count(self, operation: str, answer: bytes) -> None:
        """Count one call."""
        consumed: Any = json.loads(answer or b"{}").get("ConsumedCapacity", [])
        each = (
            consumed if isinstance(consumed, list) else [consumed]
        )  # a list for operations that may use several tables
        self._calls[operation] += 1
        self._units[operation] += sum(table["CapacityUnits"] for table in each)
        for table in each:
            self._of_table[table["TableName"]].append(Reads(1, table["CapacityUnits"]))


class ProxiedConnection:
    """One connection. Answers come in the order of their requests."""

    def __init__(self, traffic: Traffic) -> None:
        self._traffic = traffic
        self._operations: deque[str] = deque()
        self._answer = b""
        self.requests = HttpRequestParser(_Requests(self._operations))
        self.answers = HttpResponseParser(self)

    def on_body(self, body: bytes) -> None:
        """Take a part of an answer."""
        self._answer += body

    def on_message_complete(self) -> None:
        """Take the end of an answer."""
        self._traffic.count(self._operations.popleft(), self._answer)
        self._answer = b""


class _Requests:
    def __init__(self, operations: deque[str]) -> None:
        self._operations = operations

    def on_header(self, name: bytes, value: bytes) -> None:
        """Take one header. `X-Amz-Target` names the operation, after the version."""
        if name.lower() == b"x-amz-target":
            self._operations.append(value.decode().rpartition(".")[2])


@contextmanager
def counting(endpoint: str) -> Iterator[Traffic]:
    """Run the proxy on another port of this machine, for the time of the `with`."""
    traffic = Traffic()
    ready = Event()
    loop = asyncio.new_event_loop()
    thread = Thread(target=loop.run_until_complete, args=(_pass_on(traffic, endpoint, ready),))
    thread.start()
    ready.wait()
    try:
        yield traffic
    finally:
        loop.call_soon_threadsafe(lambda: [task.cancel() for task in asyncio.all_tasks(loop)])
        thread.join()
        loop.close()


async def _pass_on(traffic: Traffic, endpoint: str, ready: Event) -> None:
    target = urlsplit(endpoint)

    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        connection = ProxiedConnection(traffic)
        far_reader, far_writer = await asyncio.open_connection(target.hostname, target.port)
        with suppress(ConnectionError, asyncio.CancelledError):
            await asyncio.gather(
                _pump(reader, far_writer, connection.requests), _pump(far_reader, writer, connection.answers)
            )

    server = await asyncio.start_server(connected, "127.0.0.1", 0)
    host, port = server.sockets[0].getsockname()
    traffic.url = f"http://{host}:{port}"
    ready.set()
    with suppress(asyncio.CancelledError):
        await server.serve_forever()


async def _pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, parser: Any) -> None:
    while chunk := await reader.read(CHUNK):
        parser.feed_data(chunk)
        writer.write(chunk)
        await writer.drain()
    writer.close()
