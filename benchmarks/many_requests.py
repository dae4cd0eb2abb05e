"""Requests by many users over some connections at once, each waiting for its answer: how many a second."""

import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from queue import Empty, SimpleQueue
from typing import Any

import orjson

from benchmarks.servers import Connection, Server

CONNECTIONS = 16


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


def send_all(server: Server, send: Callable[[int], None], numbers: Sequence[int]) -> Taken:
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


_connections = threading.local()


def ask(server: Server, token: str, query: str, variables: dict[str, Any]) -> Any:
    """The data of the answer to a user, over a connection of this thread."""
    return asked(connection_to(server), token, query, variables)


def connection_to(server: Server) -> Connection:
    """The connection of this thread."""
    if getattr(_connections, "server", None) is not server:
        _connections.server, _connections.of_thread = server, Connection(server)
    connection: Connection = _connections.of_thread
    return connection


def asked(connection: Connection, token: str, query: str, variables: dict[str, Any]) -> Any:
    """The data of the answer to a user, over a connection."""
    body = orjson.dumps({"query": query, "variables": variables})
    return connection.ask(body, {"Authorization": f"Bearer {token}"})
