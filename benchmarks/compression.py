"""Measures what compression saves and costs: bytes and processor time of an answer in each encoding.

    python -m benchmarks.compression

asks the application itself, without a server or client, for the same answers in each encoding in turn. It prints the
median of many rounds. It takes half a minute.
"""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import thread_time
from typing import Any, NamedTuple
from urllib.parse import quote

from starlette.types import ASGIApp, Message

from benchmarks.markdown import table
from graph.app import GRAPH_PATH, create_app
from graph.core import garbage
from graph.domains import DOMAINS
from graph.domains.earthquakes.operations.background import load_sample
from graph.opening import read_settings
from graph.pages import dashboard

ROUNDS = 60
ENCODINGS = (None, "zstd", "br", "gzip")
FIELDS = "eventId time mag place lat lon depth magType type status url"
LOOKUP = '{ event(eventId: "nc73919986") { eventId mag place time lat lon depth } }'


class Asked(NamedTuple):
    """Some answers that are measured together."""

    name: str
    paths: Sequence[str]


def graph(query: str) -> str:
    """The path of a query."""
    return f"{GRAPH_PATH}?query={quote(query)}"


def page(size: int) -> Asked:
    """A page of events."""
    query = f"{{ events(first: {size}) {{ edges {{ cursor node {{ {FIELDS} }} }} pageInfo {{ hasNextPage }} }} }}"
    return Asked(f"a page of {size:,} events", [graph(query)])


ANSWERS = (
    Asked("an event by its id", [graph(LOOKUP)]),
    page(50),
    page(1000),
    Asked(
        "the dashboard's bundle", [f"{dashboard.PATH}/{dashboard.VERSION}/{name}" for name in ("main.js", "main.css")]
    ),
    Asked("an export as GeoJSON", ["/export/events.geojson"]),
)


@asynccontextmanager
async def started(app: ASGIApp) -> AsyncIterator[dict[str, Any]]:
    """Run an application from its start to its end. Yields its state."""
    state: dict[str, Any] = {}
    events: asyncio.Queue[dict[str, str]] = asyncio.Queue()
    answers: asyncio.Queue[Message] = asyncio.Queue()
    running = asyncio.create_task(_lifespan(app, state, events, answers))
    await events.put({"type": "lifespan.startup"})
    await answers.get()
    try:
        yield state
    finally:
        await events.put({"type": "lifespan.shutdown"})
        await running


async def _lifespan(
    app: ASGIApp, state: dict[str, Any], events: "asyncio.Queue[dict[str, str]]", answers: "asyncio.Queue[Message]"
) -> None:
    await app({"type": "lifespan", "state": state}, events.get, answers.put)


async def size_of(app: ASGIApp, state: dict[str, Any], path: str, encoding: str | None) -> int:
    """Ask for an answer. Returns the bytes of its body."""
    size = 0
    requests: list[Message] = [{"type": "http.request", "body": b""}]

    async def receive() -> Message:
        return requests.pop() if requests else await asyncio.get_running_loop().create_future()

    async def send(message: Message) -> None:
        nonlocal size
        assert message.get("status", 200) == 200
        size += len(message.get("body", b""))

    headers = [(b"content-type", b"application/json")]
    if encoding:
        headers.append((b"accept-encoding", encoding.encode()))
    path, _, query = path.partition("?")
    request = {"type": "http", "method": "GET", "path": path, "query_string": query.encode(), "headers": headers}
    await app({**request, "client": ("127.0.0.1", 1), "state": dict(state)}, receive, send)
    return size


async def measured(app: ASGIApp, state: dict[str, Any], asked: Asked) -> list[str]:
    """A row: bytes and processor time without compression, and in each encoding as a part of these."""
    sizes: dict[str | None, int] = {}
    times: dict[str | None, list[float]] = {encoding: [] for encoding in ENCODINGS}
    for _ in range(ROUNDS):
        for encoding in ENCODINGS:
            began = thread_time()
            sizes[encoding] = sum([await size_of(app, state, path, encoding) for path in asked.paths])
            times[encoding].append(thread_time() - began)
    plain_size, plain_ms = sizes[None], 1000 * median(times[None])
    row = [asked.name, f"{plain_size:,}", f"{plain_ms:,.2f}"]
    for encoding in ENCODINGS[1:]:
        added = 1000 * median(times[encoding]) - plain_ms
        row += [f"{sizes[encoding]:,}", f"{sizes[encoding] / plain_size:.2f} ×", f"{added:+,.2f}"]
    return row


async def main() -> None:
    """Measure and print."""
    with TemporaryDirectory() as folder:
        settings = read_settings(DOMAINS, store=f"sqlite:///{Path(folder) / 'week.db'}")
        app = create_app(settings)
        async with started(app) as state:
            await load_sample(state["process"].services)
            garbage.settle()
            rows = [await measured(app, state, asked) for asked in ANSWERS]
    head = ["", "bytes", "CPU ms"]
    for encoding in ENCODINGS[1:]:
        head += [f"{encoding}, bytes", "ratio", "CPU ms more"]
    print(table(head, rows))


if __name__ == "__main__":
    asyncio.run(main())
