"""Measures what the tags of answers cost and save: processor time of a POST, a GET, and a GET of a known answer.

    python -m benchmarks.known_answers

asks the application itself, without a server or client, in turn for each. It prints the median of many rounds. It takes
half a minute.
"""

import asyncio
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import thread_time
from typing import Any
from urllib.parse import quote

import orjson
from starlette.types import ASGIApp, Message

from benchmarks.compression import FIELDS, LOOKUP, started
from benchmarks.markdown import table
from graph.app import GRAPH_PATH, create_app
from graph.core import garbage
from graph.domains import DOMAINS
from graph.domains.earthquakes.operations.background import load_sample
from graph.opening import read_settings

ROUNDS = 300
DOCUMENTS = {
    "an event by its id": LOOKUP,
    "a page of 50 events": f"{{ events {{ nodes {{ {FIELDS} }} }} }}",
    "a page of 1,000 events": f"{{ events(first: 1000) {{ nodes {{ {FIELDS} }} }} }}",
    "statistics": "{ catalogueStatistics { count magnitudeFrequency { count } grid { cells { count } } } }",
}


async def head_of(app: ASGIApp, state: dict[str, Any], document: str, method: str, tag: bytes) -> dict[bytes, bytes]:
    """Ask for an answer. Returns its headers, and its status under the name `status`."""
    headers = [(b"content-type", b"application/json"), *([(b"if-none-match", tag)] if tag else [])]
    body = orjson.dumps({"query": document}) if method == "POST" else b""
    query = f"query={quote(document)}".encode() if method == "GET" else b""
    requests, found = [{"type": "http.request", "body": body}], dict[bytes, bytes]()

    async def receive() -> Message:
        return requests.pop() if requests else await asyncio.get_running_loop().create_future()

    async def send(message: Message) -> None:
        if "status" in message:
            found.update({**dict(message["headers"]), b"status": b"%d" % message["status"]})

    request = {"type": "http", "method": method, "path": GRAPH_PATH, "query_string": query, "headers": headers}
    await app({**request, "client": ("127.0.0.1", 1), "state": dict(state)}, receive, send)
    return found


async def measured(app: ASGIApp, state: dict[str, Any], document: str) -> list[str]:
    """The processor time of a POST, a GET, and a GET with a tag, in microseconds."""
    tag = (await head_of(app, state, document, "GET", b"")).get(b"etag", b"")
    kinds = [("POST", b"", b"200"), ("GET", b"", b"200"), *([("GET", tag, b"304")] if tag else [])]
    times: list[list[float]] = [[] for _ in kinds]
    for _ in range(ROUNDS):
        for kind, (method, known, status) in zip(times, kinds, strict=True):
            began = thread_time()
            head = await head_of(app, state, document, method, known)
            kind.append(thread_time() - began)
            assert head[b"status"] == status
    return [*(f"{1e6 * median(kind):,.0f}" for kind in times), *([] if tag else ["–"])]


async def main() -> None:
    """Measure and print."""
    with TemporaryDirectory() as folder:
        app = create_app(read_settings(DOMAINS, store=f"sqlite:///{Path(folder) / 'week.db'}"))
        async with started(app) as state:
            await load_sample(state["process"].services)
            garbage.settle()
            rows = [[name, *await measured(app, state, document)] for name, document in DOCUMENTS.items()]
    print(table(["CPU µs", "POST", "GET", "GET of a known answer"], rows))


if __name__ == "__main__":
    asyncio.run(main())
