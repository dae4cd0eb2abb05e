"""The notes below the table: how it was measured, and what the servers do differently."""

import platform
import sqlite3
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib.metadata import version

from benchmarks.contest import SLOW_S
from benchmarks.cpus import Cpus
from benchmarks.load import CONNECTIONS
from benchmarks.node import Node
from benchmarks.stores import PEERS_INDEX
from benchmarks.table import Row
from benchmarks.workload import INGEST_CALL, INGEST_CALLS

PYTHON_PACKAGES = ("strawberry-graphql", "graphql-core", "starlette", "uvicorn", "orjson")
NODE_PACKAGES = ("mercurius", "graphql-jit", "fastify", "better-sqlite3")


@dataclass(frozen=True, slots=True)
class Circumstances:
    """Under which the rows were measured."""

    rounds: int
    seconds: float
    cpus: Cpus
    generator: str
    node: Node | None
    lacking: str  # why Mercurius cannot run here, if it should
    import_rate: float | None  # events a second
    our_indexes: Sequence[str]


def notes(rows: Sequence[Row], here: Circumstances) -> Iterator[str]:
    """A sentence or two each."""
    busiest = max((each.busy for row in rows for rounds in row.rounds.values() for each in rounds), default=0)
    yield (
        f"{here.cpus}. {here.generator} asks on {CONNECTIONS} connections, on each as soon as it is answered, and took "
        f"{busiest:.0%} of its CPU at most. The servers take turns of {here.seconds:g} s a query; a cell is the median "
        f"of {here.rounds}. Where an answer takes {SLOW_S * 1000:.0f} ms or more alone, a turn is a number of requests."
    )
    if here.lacking:
        yield f"Mercurius is left out: {here.lacking}."
    if here.import_rate:
        yield (
            f"The command line, `quakegraph ingest`, took the catalogue in on one CPU at **{here.import_rate:,.0f} "
            "events/s**, its start included."
        )
        yield (
            "Ours runs in its default configuration: requests are checked for who asks and what they cost, and "
            "logged. It plans pages and counts by summaries of each day and year, which it keeps at every ingest. Its "
            f"indexes: {', '.join(here.our_indexes)}."
        )
        yield (
            "A query is asked again and again, so ours finds the rows of its answer among the 4,096 that it read "
            "last, and what it made of them. `python -m benchmarks.scaling` tells what a page costs that it never met."
        )
    yield f"The peers have the primary key and one index, {PEERS_INDEX}; none on magnitude, and no summaries."
    yield (
        f"An ingest is {INGEST_CALLS} mutations of {INGEST_CALL} new events, one after another on one connection. "
        "Ours checks each event by the rules of the catalogue and inserts it if it is new; the peers overwrite."
    )
    yield "Memory is the resident set of the server after all of this, ingests included; MB of a million bytes."
    yield ", ".join(_versions(here.node))


def _versions(node: Node | None) -> Iterator[str]:
    yield f"{platform.python_implementation()} {platform.python_version()}"
    yield f"its SQLite {sqlite3.sqlite_version}"
    for package in PYTHON_PACKAGES:
        yield f"{package} {version(package)}"
    if node:
        yield f"Node {node.release()}"
        for package in NODE_PACKAGES:
            yield f"{package} {node.version(package)}"
