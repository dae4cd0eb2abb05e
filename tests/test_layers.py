"""The package is built in floors: a module imports only from below. Read from the source, without running it."""

import ast
from collections.abc import Iterator
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

import graph

ROOT = Path(graph.__file__).parent

# From the ground up. An entry is a module, or a package with all that it holds except what has an
# entry of its own. Entries of one floor do not import each other; within an entry, no circle.
FLOORS: tuple[tuple[str, ...], ...] = (
    (
        *("graph", "graph.access", "graph.operations", "graph.http", "graph.telemetry", "graph.serving"),
        "graph.execution",
    ),
    (
        *("graph.errors", "graph.clock", "graph.days", "graph.telemetry.logs", "graph.recent", "graph.garbage"),
        "graph.execution.nodes",
    ),
    ("graph.work", "graph.work.fair_queue", "graph.work.loop_watch"),
    ("graph.work.pace",),
    ("graph.work.account",),
    ("graph.work.slots",),
    ("graph.work.threads",),
    (
        *("graph.paging", "graph.scalars", "graph.access.callers"),
        *("graph.serving.listener", "graph.serving.workers", "graph.serving.pieces"),
    ),
    ("graph.pages",),
    ("graph.store", "graph.store.design", "graph.store.conditions"),
    ("graph.store.contract",),
    ("graph.store.limits", "graph.store.meter", "graph.records"),
    ("graph.store.sqlite", "graph.store.dynamodb"),
    ("graph.store.location", "graph.store.cloudformation", "graph.store.policy", "graph.telemetry.otel"),
    ("graph.settings", "graph.walk", "graph.access.tokens", "graph.telemetry.tracing"),
    ("graph.access.own_secret", "graph.access.key_set", "graph.access.rate", "graph.access.options"),
    ("graph.access.authentication",),
    ("graph.request_log",),
    ("graph.earthquakes",),
    (
        "graph.context",
        "graph.access.requires",
        "graph.operations.sizes",
        "graph.operations.shape",
        "graph.operations.deadline",
        "graph.telemetry.metrics",
        "graph.execution.compilation",
    ),
    (
        *("graph.relay", "graph.operations.cost", "graph.operations.parsing", "graph.operations.validation"),
        *("graph.execution.coercion", "graph.execution.completion"),
    ),
    ("graph.execution.arguments", "graph.execution.resolvers"),
    ("graph.execution.plan",),
    ("graph.execution.executor",),
    ("graph.logged", "graph.operations.documents"),
    ("graph.operations.persisted",),
    ("graph.earthquakes.schema", "graph.request_log.schema"),
    ("graph.schema",),
    (
        "graph.graphiql",
        "graph.dashboard",
        "graph.http.request",
        "graph.http.telling",
        "graph.http.request_ids",
        "graph.telemetry.scrape",
        "graph.telemetry.requests",
    ),
    (
        *("graph.http.streams", "graph.http.event_stream", "graph.serving.limits", "graph.serving.heads"),
        "graph.serving.frame_turns",
    ),
    ("graph.http.admission", "graph.serving.connections", "graph.serving.sockets"),
    ("graph.http.endpoint", "graph.http.socket_operations"),
    ("graph.http.websocket",),
    ("graph.app", "graph.serving.drain"),
    ("graph.serving.server", "graph.ingest_command"),
    ("graph.cli",),
    ("graph.__main__",),
)
FLOOR_OF = {entry: number for number, floor in enumerate(FLOORS) for entry in floor}

GRAPHQL = (
    "graph.scalars",
    "graph.relay",
    "graph.access.requires",
    "graph.operations.sizes",
    "graph.operations.cost",
    "graph.operations.shape",
    "graph.operations.parsing",
    "graph.operations.validation",
    "graph.logged",
    "graph.earthquakes.schema",
    "graph.request_log.schema",
    "graph.schema",
    "graph.operations.documents",
    "graph.http.telling",
    "graph.http.admission",
    "graph.http.endpoint",
    "graph.execution.nodes",
    "graph.execution.completion",
    "graph.execution.coercion",
    "graph.execution.arguments",
    "graph.execution.resolvers",
    "graph.execution.plan",
    "graph.execution.executor",
    "graph.ingest_command",  # for its spelling of names
)
COMMANDS = ("graph.access.options", "graph.serving.server", "graph.ingest_command", "graph.cli")

# Libraries that only these places know, so that an access pattern knows no GraphQL and a slice no engine.
KNOWN_TO: dict[str, tuple[str, ...]] = {
    "aioboto3": ("graph.store.dynamodb",),
    "botocore": ("graph.store.dynamodb",),
    "aiobotocore": ("graph.store.dynamodb",),
    "sqlite3": ("graph.store.sqlite",),
    "strawberry": GRAPHQL,
    "graphql": GRAPHQL,
    "starlette": (
        "graph.operations.deadline",
        "graph.pages",
        "graph.graphiql",
        "graph.dashboard",
        "graph.http.request",
        "graph.http.request_ids",
        "graph.telemetry.scrape",
        *("graph.http.event_stream", "graph.http.admission", "graph.http.endpoint", "graph.http.websocket"),
        "graph.serving.connections",
        "graph.app",
        "graph.serving.server",
    ),
    "uvicorn": (
        *("graph.serving.pieces", "graph.serving.heads", "graph.serving.connections", "graph.serving.sockets"),
        *("graph.serving.drain", "graph.serving.workers", "graph.serving.server"),
    ),
    "structlog": ("graph.telemetry.logs",),
    "prometheus_client": ("graph.telemetry.metrics", "graph.telemetry.scrape", "graph.telemetry"),
    "opentelemetry": ("graph.telemetry.otel",),
    "jwt": ("graph.access.tokens", "graph.access.key_set"),
    "limits": ("graph.access.rate",),
    "click": COMMANDS,
}


def sources() -> dict[str, Path]:
    """Every module of the package and its file."""
    found = {}
    for path in sorted(ROOT.rglob("*.py")):
        parts = ("graph", *path.relative_to(ROOT).with_suffix("").parts)
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


MODULES = sources()


@cache
def imports(module: str) -> frozenset[str]:
    """The modules that one imports anywhere, also inside a function or for its types alone."""
    return frozenset(_imports(module))


def _imports(module: str) -> Iterator[str]:
    is_package = MODULES[module].name == "__init__.py"
    for node in ast.walk(ast.parse(MODULES[module].read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            parents = module.split(".")[: -node.level + is_package or None] if node.level else []
            source = ".".join([*parents, *([node.module] if node.module else [])])
            for alias in node.names:
                submodule = f"{source}.{alias.name}"
                yield submodule if submodule in MODULES else source


def entry_of(module: str) -> str | None:
    """The entry that places a module: its own, or that of the nearest package below the root."""
    if module in FLOOR_OF:
        return module
    package = module.rpartition(".")[0]
    return None if package in ("", "graph") else entry_of(package)


def test_every_module_has_its_floor() -> None:
    assert [module for module in MODULES if entry_of(module) is None] == []


def test_every_floor_is_lived_on() -> None:
    assert [entry for entry in FLOOR_OF if entry not in MODULES] == []


@pytest.mark.parametrize("module", MODULES)
def test_a_module_imports_only_from_the_floors_below_it(module: str) -> None:
    entry = entry_of(module) or ""
    others = {other: entry_of(other) or "" for other in imports(module) & MODULES.keys()}
    too_high = [other for other in others if others[other] != entry and FLOOR_OF[others[other]] >= FLOOR_OF[entry]]
    assert too_high == [], f"{module} on floor {FLOOR_OF[entry]} imports {too_high}"


def test_no_imports_run_in_a_circle() -> None:
    TopologicalSorter({module: imports(module) & MODULES.keys() for module in MODULES}).prepare()


def test_a_foreign_library_is_known_only_where_it_belongs() -> None:
    wrong = [
        f"{module} imports {other}"
        for module in MODULES
        for other in imports(module)
        if (places := KNOWN_TO.get(other.partition(".")[0])) and entry_of(module) not in places
    ]
    assert wrong == []
