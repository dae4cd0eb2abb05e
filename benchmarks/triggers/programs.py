"""The programs that are measured: `quakegraph deliver` and `quakegraph serve`, and connections to the latter."""

import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import orjson

from benchmarks.cache import CHECKOUT
from benchmarks.contenders import Contender, our_service
from benchmarks.cpus import on_cpu
from benchmarks.servers import TIMEOUT_S, Connection, Server, running
from benchmarks.triggers.stores import ENVIRONMENT

USER = "benchmark"  # the subject of the token
SCOPES = "events:write,triggers:read,triggers:write"


def service(path: Path, **settings: str) -> Contender:
    """The service at a SQLite file, whose webhooks may come to this machine."""
    ours = our_service(path, scopes=SCOPES)
    others = {f"GRAPH_{name.upper()}": value for name, value in {"drain": "0", **settings}.items()}
    return replace(ours, environment={**ours.environment, **ENVIRONMENT, **others})


@contextmanager
def delivering(path: Path, cpu: int | None, folder: Path) -> Iterator[Server]:
    """Run `quakegraph deliver` for the time of the `with`. It has no port."""
    contender = service(path)
    command = [sys.executable, "-m", "graph", "deliver", "--store", f"sqlite:///{path}"]
    with (folder / "deliver.log").open("wb") as log, on_cpu(cpu):
        process = subprocess.Popen(command, cwd=CHECKOUT, env=contender.environment, stdout=log, stderr=log)
    try:
        yield Server(contender, process, 0)
    finally:
        process.terminate()
        process.wait(TIMEOUT_S)


class Client:
    """A connection to a service, with the token."""

    def __init__(self, server: Server) -> None:
        self._connection = Connection(server, server.contender.headers)

    def ask(self, query: str, variables: Mapping[str, Any] | None = None) -> Any:
        """The data of the answer."""
        return self._connection.ask(orjson.dumps({"query": query, "variables": variables}))


@contextmanager
def serving(path: Path, cpu: int | None, folder: Path, **settings: str) -> Iterator[tuple[Server, Client]]:
    """Run `quakegraph serve` for the time of the `with`."""
    with running(service(path, **settings), cpu, folder) as server:
        yield server, Client(server)
