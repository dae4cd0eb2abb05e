"""The two services on DynamoDB that are compared, and the measurement of their work."""

import os
import secrets
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from itertools import cycle, islice
from pathlib import Path
from time import monotonic, sleep
from typing import Any, NamedTuple

from benchmarks.contenders import Contender
from benchmarks.dynamodb_traffic import Reads, Traffic, counting
from benchmarks.servers import Connection, Server, running
from graph.domains.earthquake_events import EARTHQUAKE_EVENTS

CONNECTIONS = 4
CPU_SECONDS = 0.3  # of a service for one kind in one round: thirty clock ticks
BATCH = 8  # requests between two looks at the processor time
SETTLE_SECONDS = 1.2  # in which our service writes its last request logs, which are part of its work
IDLE_SECONDS = 10
COUNTED = 10  # requests whose calls and units are counted


class Requests:
    """Different requests of one kind, again and again in the same order."""

    def __init__(self, bodies: Sequence[bytes]) -> None:
        self._bodies = bodies
        self._rest = cycle(bodies)

    def first(self, number: int) -> Sequence[bytes]:
        """The first ones."""
        return self._bodies[:number]

    def next(self, number: int) -> list[bytes]:
        """The next ones after those of the last call."""
        return list(islice(self._rest, number))


class Background(NamedTuple):
    """What a service does without requests, in a second."""

    cpu_ms: float
    reads: Reads


@dataclass(frozen=True)
class Contestant:
    """A service, and the proxy through which it reaches DynamoDB."""

    server: Server
    traffic: Traffic

    def connection(self) -> Connection:
        """A new connection to the service."""
        return Connection(self.server)

    def ask(self, body: bytes) -> Any:
        """The data of one answer."""
        return self.connection().ask(body)

    @cached_property
    def background(self) -> Background:
        """The work that needs no requests, measured at the first use."""
        sleep(SETTLE_SECONDS)
        reads, cpu, began = self.traffic.reads, self.server.cpu_seconds(), monotonic()
        sleep(IDLE_SECONDS)
        seconds = monotonic() - began
        return Background(
            (self.server.cpu_seconds() - cpu) / seconds * 1000, _less(self.traffic.reads, reads, 1 / seconds)
        )

    def cpu_ms(self, requests: Requests) -> float:
        """Processor time that the service uses for one request, milliseconds."""
        background = self.background.cpu_ms
        connections = [self.connection() for _ in range(CONNECTIONS)]
        cpu, began, sent = self.server.cpu_seconds(), monotonic(), 0

        def some(connection: Connection, bodies: Sequence[bytes]) -> None:
            for body in bodies:
                connection.post(body)

        with ThreadPoolExecutor(CONNECTIONS) as threads:
            while self.server.cpu_seconds() - cpu < CPU_SECONDS:
                bodies = requests.next(BATCH)
                list(threads.map(some, connections, [bodies[at::CONNECTIONS] for at in range(CONNECTIONS)]))
                sent += BATCH
        sleep(SETTLE_SECONDS)
        used_ms = (self.server.cpu_seconds() - cpu) * 1000 - background * (monotonic() - began)
        return used_ms / sent

    def reads(self, requests: Requests) -> Reads:
        """The reads of the service for one request. Writes are not counted, since only our service has request logs."""
        background = self.background.reads
        before, began = self.traffic.reads, monotonic()
        for body in requests.first(COUNTED):
            self.ask(body)
        seconds = monotonic() - began
        after = self.traffic.reads
        by_itself = Reads(background.calls * seconds, background.units * seconds)
        return _less(_less(after, before), by_itself, 1 / COUNTED)


def _less(one: Reads, other: Reads, factor: float = 1) -> Reads:
    return Reads((one.calls - other.calls) * factor, (one.units - other.units) * factor)


@contextmanager
def our_service(endpoint: str, table: str, cpu: int | None, folder: Path) -> Iterator[Contestant]:
    """`quakegraph serve` with its default settings."""

    def command(port: int) -> list[str]:
        return [
            "-m",
            "graph",
            "serve",
            "--port",
            str(port),
            "--store",
            f"dynamodb://{table.removesuffix(EARTHQUAKE_EVENTS.name)}",
        ]

    settings = {"GRAPH_JWT_SECRET": secrets.token_urlsafe(32)}
    with _contestant("ours", command, settings, endpoint, cpu, folder) as contestant:
        yield contestant


@contextmanager
def ordinary_service(endpoint: str, table: str, cpu: int | None, folder: Path) -> Iterator[Contestant]:
    """The ordinary service, in the same server with the same event loop and HTTP parser."""

    def command(port: int) -> list[str]:
        settings = ["--loop", "uvloop", "--http", "httptools", "--no-access-log", "--log-level", "warning"]
        return ["-m", "uvicorn", "benchmarks.ordinary_dynamodb:app", "--port", str(port), *settings]

    with _contestant("ordinary", command, {"TABLE": table}, endpoint, cpu, folder) as contestant:
        yield contestant


@contextmanager
def _contestant(
    key: str,
    arguments: Callable[[int], list[str]],
    settings: dict[str, str],
    endpoint: str,
    cpu: int | None,
    folder: Path,
) -> Iterator[Contestant]:
    clean_environment = {name: value for name, value in os.environ.items() if not name.startswith("GRAPH_")}
    with counting(endpoint) as traffic:
        environment = clean_environment | settings | {"AWS_ENDPOINT_URL": traffic.url}
        contender = Contender(key, lambda port: [sys.executable, *arguments(port)], environment)
        with running(contender, cpu, folder) as server:
            yield Contestant(server, traffic)
