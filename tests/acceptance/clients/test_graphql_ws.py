"""The client of the npm package graphql-ws, which most pages and servers subscribe by."""

import os
import queue
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from threading import Thread
from typing import Any

import orjson
import pytest

from scripts.npm_package import NpmPackage
from tests.bearers import bearer
from tests.children import Child
from tests.forking import serving
from tests.ports import reserved_port
from tests.processes import TIMEOUT_S
from tests.subscribers import LiveService, has_subscriptions, ingested_elsewhere

pytestmark = pytest.mark.needs("npm", "node")

PACKAGES = (
    NpmPackage(
        "graphql-ws",
        "6.4.2",
        sha512="wxhPhhOGJo8PbGDkBYVE76sZLDrS+GkyrR4bZECSLVbo0pZZNKs0HtBh2Ip/uaUuiVUxwO9ssI9R92buQfNSqQ==",
    ),
    NpmPackage(
        "ws",
        "8.18.3",
        sha512="PEIGCY5tSlUt50cqyMXfCzX+oOPqN0vuGqWzbcJ2xvnkzkq46oOpz7dQaTDBdfICb4N14+GARUDw2XV2N4tvzg==",
    ),
)
RUNNER = Path(__file__).with_name("graphql_ws.cjs")


@dataclass
class NodeClient:
    """The client, in a process of Node."""

    process: Child[str]
    _words: queue.SimpleQueue[Any] = field(default_factory=queue.SimpleQueue)

    def do(self, line: str) -> None:
        """Have it subscribe, dispose, or execute a query or mutation."""
        assert self.process.stdin is not None
        self.process.stdin.write(f"{line}\n")
        self.process.stdin.flush()

    def next(self) -> Any:
        """What it says next."""
        return self._words.get(timeout=TIMEOUT_S)

    def answer(self) -> Any:
        """What it says next, once it is connected again: it closes the connection when nothing is under way."""
        word = self.next()
        return self.next() if word == "connected" else word

    def read(self) -> None:
        """Take in what it says, for as long as it runs."""
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self._words.put(orjson.loads(line))


@contextmanager
def node_client(url: str, token: str) -> Iterator[NodeClient]:
    """A client of the graph at a URL."""
    with tempfile.TemporaryDirectory() as modules:
        for package in PACKAGES:
            Path(modules, package.name).symlink_to(package.fetched())
        command = ["node", "--preserve-symlinks", str(RUNNER), url.replace("http:", "ws:"), token]
        environment = {**os.environ, "NODE_PATH": modules}
        pipe = subprocess.PIPE
        with Child(command, env=environment, stdin=pipe, stdout=pipe, text=True) as process:
            client = NodeClient(process)
            reader = Thread(target=client.read)
            reader.start()
            try:
                yield client
            finally:
                process.kill()
                reader.join()


def ingest(*event_ids: str) -> str:
    """A mutation that stores events."""
    events = ", ".join(f'{{eventId: "{event_id}", eventTsMs: 0, mag: 5, lat: 1, lon: 1}}' for event_id in event_ids)
    return f"mutation {{ ingestEvents(input: {{events: [{events}]}}) {{ upserted }} }}"


async def test_graphql_ws_resumes_after_a_restart_from_its_cursor(tmp_path: Path) -> None:
    with ExitStack() as stack:
        options = ("--port", str(stack.enter_context(reserved_port())))
        first = stack.enter_context(serving(*options, folder=tmp_path))
        client = stack.enter_context(node_client(first.url, bearer()["Authorization"]))
        client.do("subscribe")
        assert client.next() == "connected"
        await has_subscriptions(first, 1)
        first.ask(ingest("us1", "us2"))
        assert [client.next(), client.next()] == ["us1", "us2"]

        assert first.end() == 0
        assert client.next() == "completed"
        await ingested_elsewhere(tmp_path, "us3")
        second = stack.enter_context(serving(*options, folder=tmp_path))
        assert [client.next(), client.next()] == ["connected", "us3"]
        await has_subscriptions(second, 1)
        second.ask(ingest("us4"))
        assert client.next() == "us4"

        client.do("dispose")

        assert client.next() == "completed"
        await has_subscriptions(second, 0)


async def test_graphql_ws_queries_and_mutates_with_the_token_of_its_connection_init(live: LiveService) -> None:
    """And receives the codes of errors."""
    with node_client(f"{live.url}/graphql", bearer()["Authorization"]) as client:
        client.do("mutation { ingestEvents(input: {events: []}) { fetched } }")
        assert [client.next(), client.next()] == ["connected", {"data": {"ingestEvents": {"fetched": 0}}}]
        client.do("{ events { totalCount } }")
        assert client.answer() == {"data": {"events": {"totalCount": 0}}}
        client.do("{ nothing }")
        (error,) = client.answer()["errors"]

    assert error["extensions"] == {"code": "GRAPHQL_VALIDATION_FAILED"}
