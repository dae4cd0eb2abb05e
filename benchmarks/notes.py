"""The notes below the table: the circumstances of the measurement, and the differences between the servers."""

import platform
import sqlite3
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib.metadata import version

from benchmarks.cpus import Cpus
from benchmarks.load import CONNECTIONS, LEAST
from benchmarks.node import Node
from benchmarks.paces import SAMPLES
from benchmarks.stores import PEERS_INDEX
from benchmarks.table import Row
from benchmarks.workload import INGEST_CALL, INGEST_CALLS

PYTHON_PACKAGES = ("strawberry-graphql", "graphql-core", "starlette", "uvicorn", "orjson")
NODE_PACKAGES = ("mercurius", "graphql-jit", "fastify", "better-sqlite3")


@dataclass(frozen=True, slots=True)
class Circumstances:
    """The circumstances in which the rows were measured."""

    rounds: int
    seconds: float
    cpus: Cpus
    generator: str
    node: Node | None
    lacking: str  # why Mercurius cannot run here, if it should
    import_rate: float | None  # events a second
    our_indexes: Sequence[str]


def notes(rows: Sequence[Row], here: Circumstances) -> Iterator[str]:
    """The notes, each of a sentence or two."""
    busiest = max((each.busy for row in rows for rounds in row.rounds.values() for each in rounds), default=0)
    yield (
        f"{here.cpus}. {here.generator} sends requests on {CONNECTIONS} connections, each as soon as the last one was "
        f"answered, and used {busiest:.0%} of its CPU at most. The servers alternate, {here.seconds:g} s for each "
        f"query or for {LEAST} answers. A cell is the median of {here.rounds} rounds."
    )
    yield (
        "All requests of a kind are different, and every server is asked the same ones. What is asked again and again "
        f"is {SAMPLES} of them."
    )
    if here.lacking:
        yield f"Mercurius is left out: {here.lacking}."
    if here.import_rate:
        yield (
            f"`quakegraph ingest` imported the catalogue on one CPU at **{here.import_rate:,.0f} events/s**, its start "
            "included."
        )
        yield (
            "Ours runs with its default settings: it checks callers and costs, and writes request logs. It plans pages "
            "and counts with summaries of each day and year, which every ingest updates. Its indexes: "
            f"{', '.join(here.our_indexes)}."
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
