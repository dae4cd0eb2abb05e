"""The servers that are compared, and the commands that start them: this service with its defaults, and its peers."""

import os
import secrets
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.cache import CHECKOUT
from benchmarks.node import Node
from benchmarks.workload import OURS, PEERS, Dialect

NAMES = {
    "ours": "ours",
    "strawberry": "Strawberry on sqlite3",
    "mercurius": "Mercurius with jit on better-sqlite3",
    "floor": "Starlette and orjson on sqlite3, no GraphQL",
}


@dataclass(frozen=True, slots=True)
class Contender:
    """A server that can be started on a store."""

    key: str  # one of NAMES, or another benchmark's name for it
    command: Callable[[int], list[str]]  # the command that serves on a port
    environment: Mapping[str, str]
    dialect: Dialect = PEERS
    headers: Mapping[str, str] = field(default_factory=dict)  # of an ingest

    @property
    def name(self) -> str:
        """Its name in the table."""
        return NAMES.get(self.key, self.key)


def our_service(store: Path, *, scopes: str = "events:write") -> Contender:
    """This service with its default settings, and a token with some scopes."""
    environment = clean_environment() | {"GRAPH_JWT_SECRET": secrets.token_urlsafe(32)}
    quakegraph = [sys.executable, "-m", "graph"]
    issue = [*quakegraph, "token", "--scope", scopes, "--subject", "benchmark", "--expires", "1d"]
    issued = subprocess.run(issue, cwd=CHECKOUT, env=environment, stdout=subprocess.PIPE, text=True, check=True)
    return Contender(
        "ours",
        lambda port: [*quakegraph, "serve", "--port", str(port), "--store", f"sqlite:///{store}"],
        environment,
        OURS,
        {"Authorization": f"Bearer {issued.stdout.strip()}"},
    )


def python_peer(key: str, store: Path) -> Contender:
    """A peer under uvicorn, with the same event loop and HTTP parser as ours."""
    settings = ["--loop", "uvloop", "--http", "httptools", "--no-access-log", "--log-level", "warning"]
    uvicorn = [sys.executable, "-m", "uvicorn", f"benchmarks.peers.{key}_app:app", *settings]
    return Contender(key, lambda port: [*uvicorn, "--port", str(port)], clean_environment() | {"EVENTS_DB": str(store)})


def node_peer(key: str, store: Path, node: Node) -> Contender:
    """A peer under Node."""
    environment = clean_environment() | {"EVENTS_DB": str(store), "NODE_ENV": "production"}
    return Contender(key, lambda port: [*node.command(f"{key}.mjs"), str(port)], environment)


def clean_environment() -> dict[str, str]:
    """The environment of this process, without variables that would change the service's defaults."""
    return {name: value for name, value in os.environ.items() if not name.startswith("GRAPH_")}
