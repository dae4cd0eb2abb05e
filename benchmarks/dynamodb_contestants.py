"""The two services on DynamoDB that are compared, and the measurement of their work."""

import os
import secrets
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from time import sleep
from typing import Any

from benchmarks.contenders import Contender
from benchmarks.dynamodb_traffic import Reads, Traffic, counting
from benchmarks.servers import Connection, Server, running
from graph.domains.earthquake_events import EARTHQUAKE_EVENTS

CONNECTIONS = 4
CPU_SECONDS = 0.7  # of a service for one question in one round: seventy clock ticks
BATCH = 20  # requests between two looks at the processor time
SETTLE_SECONDS = 1.2  # in which our service writes its last request logs, which are part of its work
COUNTED = 10  # requests whose calls and units are counted


@dataclass(frozen=True, slots=True)
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

    def cpu_ms(self, body: bytes) -> float:
        """Processor time that the service uses for one request, milliseconds."""
        connections = [self.connection() for _ in range(CONNECTIONS)]
        began, requests = self.server.cpu_seconds(), 0

        def some(connection: Connection) -> None:
            for _ in range(BATCH // CONNECTIONS):
                connection.post(body)

        with ThreadPoolExecutor(CONNECTIONS) as threads:
            while self.server.cpu_seconds() - began < CPU_SECONDS:
                list(threads.map(some, connections))
                requests += BATCH
        sleep(SETTLE_SECONDS)
        return (self.server.cpu_seconds() - began) / requests * 1000

    def reads(self, body: bytes) -> Reads:
        """The reads of the service for one request. Writes are not counted, since only our service has request logs."""
        before = self.traffic.reads
        for _ in range(COUNTED):
            self.ask(body)
        after = self.traffic.reads
        return Reads((after.calls - before.calls) / COUNTED, (after.units - before.units) / COUNTED)


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
