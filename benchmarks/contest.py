"""One server in the comparison: it is verified, loaded and measured, and fills its row of the table."""

from collections.abc import Iterable
from math import ceil
from time import perf_counter

import click

from benchmarks.answers import Reference, Verified, Wrong, verified
from benchmarks.load import CONNECTIONS, Generator
from benchmarks.servers import Connection, Refused, Server
from benchmarks.table import INGEST, Row
from benchmarks.workload import INGEST_CALL, INGEST_CALLS, SINCE_INGEST, Count, Query

SLOW_S = 0.04  # slower answers are measured by a number of requests, since few of them fit into some seconds
LEAST_REQUESTS = 2 * CONNECTIONS
WARM_UP_S = 1.0


class Contest:
    """The measurements of one server."""

    def __init__(self, server: Server) -> None:
        self.row = Row(server.contender.key, server.contender.name)
        self._server = server
        self._requests: dict[str, Verified] = {}  # by the query's name

    def verify(self, queries: Iterable[Query], reference: Reference) -> None:
        """Check the answer to each query. Queries with a wrong answer are not measured."""
        with self._server.awake():
            for query in queries:
                try:
                    self._requests[query.name] = verified(self._server, query.question, reference)
                except Wrong as wrong:
                    self._fault(query.name, str(wrong))

    def load(self, query: Query, generator: Generator, seconds: float) -> None:
        """Measure one round of a query. The first round begins with a warm-up that is not counted."""
        if query.name in self.row.wrong:
            return
        request, requests = self._requests[query.name], None
        if request.unloaded_s >= SLOW_S:
            requests = ceil(max(LEAST_REQUESTS, seconds / request.unloaded_s) / CONNECTIONS) * CONNECTIONS
        rounds = self.row.rounds.setdefault(query.name, [])
        with self._server.awake():
            if not rounds and requests is None:
                generator.load(self._server.url, request, WARM_UP_S, None)
            measured = generator.load(self._server.url, request, seconds, requests)
        rounds.append(measured)
        if measured.wrong:
            self._fault(query.name, f"{measured.wrong} wrong answers under load")

    def ingest(self, run: int) -> None:
        """Measure mutations, one after another on one connection, and check the number of events afterwards."""
        contender = self._server.contender
        bodies = contender.dialect.ingest_bodies(run)
        connection = Connection(self._server, contender.headers)
        try:
            with self._server.awake():
                began = perf_counter()
                for body in bodies:
                    connection.ask(body)
                self.row.ingests.append(INGEST_CALLS * INGEST_CALL / (perf_counter() - began))
                found = connection.ask(contender.dialect.body(Count(SINCE_INGEST)))["events"]["totalCount"]
        except Refused as refused:
            self._fault(INGEST, str(refused))
        else:
            if found != (expected := (run + 1) * INGEST_CALLS * INGEST_CALL):
                self._fault(INGEST, f"left {found} events, expected {expected}")

    def measure_memory(self) -> None:
        """Record its present memory."""
        self.row.memory_mb = self._server.memory_mb()

    def _fault(self, column: str, reason: str) -> None:
        self.row.wrong.add(column)
        click.echo(f"WRONG: {self.row.name}, {column}: {reason}", err=True)
