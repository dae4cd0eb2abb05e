"""Reports and confirmations a second, by many users over some connections."""

import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from queue import Empty, SimpleQueue
from random import Random
from typing import Any

import orjson

from benchmarks.markdown import table
from benchmarks.servers import Connection, Server
from benchmarks.sightings.users import tokens

CONNECTIONS = 16
USERS = 1000
REPORT = """mutation ($input: ReportSightingInput!) {
  reportSighting(input: $input) { created confirmed sighting { sightingId confirmations } }
}"""
CONFIRM = """mutation ($id: ID!) {
  confirmSighting(input: {id: $id}) { confirmed sighting { confirmations expiresAt } }
}"""


@dataclass(frozen=True, slots=True)
class Taken:
    """What many requests took."""

    requests: int
    seconds: float
    cpu_seconds: float  # of the server

    @property
    def cells(self) -> list[str]:
        """Requests per second, and per second of a processor."""
        return [f"{self.requests / self.seconds:,.0f}", f"{self.requests / self.cpu_seconds:,.0f}"]


def measured(server: Server, reports: int) -> str:
    """So many reports, and all users' confirmations of one sighting. Returns a table."""
    users = tokens(server.contender, USERS)
    given = {"input": {"category": "FIRE", "area": "The hot place"}}
    hot = _asked(Connection(server), users[0], REPORT, given)["reportSighting"]
    rng = Random(6)  # noqa: S311 - reproducible on purpose

    def report(number: int) -> None:
        place = {"lat": rng.uniform(-80, 80), "lon": rng.uniform(-180, 180)}
        given = {"category": "SHAKING", **place, "text": "The lamps swung."}
        if not _ask(server, users[number % USERS], REPORT, {"input": given})["reportSighting"]["created"]:
            raise RuntimeError("a report was none")

    def confirm(number: int) -> None:
        _ask(server, users[number], CONFIRM, {"id": hot["sighting"]["sightingId"]})

    rows = [["reports, each somewhere else", *_all(server, report, range(reports)).cells, f"{server.memory_mb():.0f}"]]
    taken = _all(server, confirm, range(1, USERS))
    rows.append([f"confirmations of one sighting by {USERS - 1} users", *taken.cells, f"{server.memory_mb():.0f}"])
    # The service has closed the first connection by now, since it was idle.
    again = _asked(Connection(server), users[1], CONFIRM, {"id": hot["sighting"]["sightingId"]})["confirmSighting"]
    if again["confirmed"] or again["sighting"]["confirmations"] != USERS - 1:
        raise RuntimeError(f"the confirmations were miscounted: {again}")
    return table([f"{CONNECTIONS} connections", "a second", "per CPU second", "MB"], rows)


_connections = threading.local()


def _ask(server: Server, token: str, query: str, variables: dict[str, Any]) -> Any:
    """The data of the answer to a user, over a connection of this thread."""
    if getattr(_connections, "server", None) is not server:
        _connections.server, _connections.of_thread = server, Connection(server)
    connection: Connection = _connections.of_thread
    return _asked(connection, token, query, variables)


def _asked(connection: Connection, token: str, query: str, variables: dict[str, Any]) -> Any:
    body = orjson.dumps({"query": query, "variables": variables})
    return connection.ask(body, {"Authorization": f"Bearer {token}"})


def _all(server: Server, send: Callable[[int], None], numbers: Sequence[int]) -> Taken:
    """Send all requests, over some connections."""
    waiting: SimpleQueue[int] = SimpleQueue()
    for number in numbers:
        waiting.put(number)
    failures: list[Exception] = []

    def some() -> None:
        try:
            while not failures:
                send(waiting.get_nowait())
        except Empty:
            pass
        except Exception as error:
            failures.append(error)

    threads = [threading.Thread(target=some) for _ in range(CONNECTIONS)]
    cpu, began = server.cpu_seconds(), time.perf_counter()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failures:
        raise failures[0]
    return Taken(len(numbers), time.perf_counter() - began, server.cpu_seconds() - cpu)
