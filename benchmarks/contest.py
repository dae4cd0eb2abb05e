"""One server in the comparison: it is verified, loaded and measured, and fills its row of the table."""

from collections.abc import Iterable
from time import perf_counter

import click

from benchmarks.answers import Asking, Reference, Wrong
from benchmarks.load import Generator
from benchmarks.paces import Kind
from benchmarks.servers import Connection, Refused, Server
from benchmarks.table import INGEST, Row
from benchmarks.workload import INGEST_CALL, INGEST_CALLS, SINCE_INGEST, Count, Query

WARM_UP_S = 1.0


class Contest:
    """The measurements of one server."""

    def __init__(self, server: Server) -> None:
        self.row = Row(server.contender.key, server.contender.name)
        self._server = server
        self._kinds: dict[str, Kind] = {}  # by the query's name

    def verify(self, queries: Iterable[Query], reference: Reference) -> None:
        """Check answers to each query. Queries with a wrong answer are not measured."""
        with self._server.awake():
            asking = Asking(self._server)
            for query in queries:
                try:
                    asking.verify(query.questions(), reference)
                    self._kinds[query.name] = Kind(self._server, map(asking.body, query.questions()))
                except Wrong as wrong:
                    self._fault(query.name, str(wrong))

    def load(self, query: Query, generator: Generator, seconds: float, *, again: bool = False) -> None:
        """Measure one round of a query: different requests, or a few again and again. The first one warms up before."""
        if query.name in self.row.wrong:
            return
        kind = self._kinds[query.name]
        rounds = (self.row.again if again else self.row.rounds).setdefault(query.name, [])
        with self._server.awake():
            if not rounds and not (few := kind.again()).are_slow(WARM_UP_S):
                generator.load(self._server.url, few, WARM_UP_S)
            measured = generator.load(self._server.url, kind.again() if again else kind.different(seconds), seconds)
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
