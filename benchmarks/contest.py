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

SLOW_S = 0.04  # of an answer alone, from which on a few seconds hold too few, so that requests are counted instead
LEAST_REQUESTS = 2 * CONNECTIONS
WARM_UP_S = 1.0


class Contest:
    """What is asked of one server."""

    def __init__(self, server: Server) -> None:
        self.row = Row(server.contender.key, server.contender.name)
        self._server = server
        self._requests: dict[str, Verified] = {}  # by the query's name

    def verify(self, queries: Iterable[Query], reference: Reference) -> None:
        """Find out which queries it answers right; no other is measured."""
        with self._server.turn():
            for query in queries:
                try:
                    self._requests[query.name] = verified(self._server, query.question, reference)
                except Wrong as wrong:
                    self._fault(query.name, str(wrong))

    def load(self, query: Query, generator: Generator, seconds: float) -> None:
        """One round of a query; before the first, a while that is not counted."""
        if query.name in self.row.wrong:
            return
        request, requests = self._requests[query.name], None
        if request.alone_s >= SLOW_S:
            requests = ceil(max(LEAST_REQUESTS, seconds / request.alone_s) / CONNECTIONS) * CONNECTIONS
        rounds = self.row.rounds.setdefault(query.name, [])
        with self._server.turn():
            if not rounds and requests is None:
                generator.load(self._server.url, request, WARM_UP_S, None)
            measured = generator.load(self._server.url, request, seconds, requests)
        rounds.append(measured)
        if measured.wrong:
            self._fault(query.name, f"{measured.wrong} wrong answers under load")

    def ingest(self, run: int) -> None:
        """Mutations one after another on one connection, and the number of events that is there afterwards."""
        contender = self._server.contender
        bodies = contender.dialect.ingest_bodies(run)
        connection = Connection(self._server, contender.headers)
        try:
            with self._server.turn():
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

    def weigh(self) -> None:
        """Note the memory it takes by now."""
        self.row.memory_mb = self._server.memory_mb()

    def _fault(self, column: str, reason: str) -> None:
        self.row.wrong.add(column)
        click.echo(f"WRONG: {self.row.name}, {column}: {reason}", err=True)
