"""SIGTERM under load: who asks while the service ends is answered, and what was acknowledged is in the store.

Real processes. A drain is so long that a test ends it when it has seen enough, or else so short that a
test waits for its end; none asserts how long anything took.
"""

import asyncio
import http.client
import os
import signal
import socket
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx
import orjson
import pytest
from starlette.types import Receive, Scope, Send

from graph.serving.drain import DrainingServer
from graph.serving.listener import refuse_newcomers
from graph.serving.server import configuration
from tests import forking
from tests.bearers import bearer
from tests.processes import TIMEOUT_S, Server, serving
from tests.settings import Settings

TOTAL = "{ events { totalCount } }"
INGEST = "mutation ($event: EventInput!) { ingestEvents(input: {events: [$event]}) { upserted } }"
ENDLESS = {"GRAPH_DRAIN": "60"}  # unless it is hurried


def address(server: Server) -> tuple[str, int]:
    url = urlsplit(server.url)
    assert url.hostname
    assert url.port
    return url.hostname, url.port


def started(server: Server, workers: str) -> list[int]:
    """The processes that serve, once all of them do."""
    server.wait_for_output("Application startup complete", times=int(workers))
    mark = "Started server process ["
    return [int(line.rpartition("[")[2].rstrip("]")) for line in server.output if mark in line]


# Under load


@dataclass
class Load:
    """Clients that ask one thing after another until nobody listens any more."""

    address: tuple[str, int]
    keeping_alive: bool
    answers: int = 0
    last_answers: int = 0  # those that ended their connection
    acknowledged: list[str] = field(default_factory=list)  # ids of events
    failures: list[str] = field(default_factory=list)
    warm: threading.Event = field(default_factory=threading.Event)

    def run(self, numbers: Iterator[int]) -> None:
        """Ask on, and stop where no connection can be made."""
        connection = None
        while True:
            if connection is None:
                connection = http.client.HTTPConnection(*self.address, timeout=TIMEOUT_S)
                try:
                    connection.connect()
                except OSError:
                    break
            try:
                is_last = self._ask(connection, next(numbers))
            except Exception as error:  # whatever it is, an accepted request has no answer
                self.failures.append(repr(error))
                break
            self.last_answers += is_last
            if is_last or not self.keeping_alive:
                connection.close()
                connection = None
        self.warm.set()

    def _ask(self, connection: http.client.HTTPConnection, number: int) -> bool:
        event = {"eventId": f"load{number}", "eventTsMs": 1_700_000_000_000 + number, "mag": 1, "lat": 1, "lon": 1}
        body: dict[str, Any] = {"query": INGEST, "variables": {"event": event}} if number % 2 else {"query": TOTAL}
        headers = {"Content-Type": "application/json", **bearer()}
        connection.request("POST", "/graphql", orjson.dumps(body), headers)
        answer = connection.getresponse()
        data = orjson.loads(answer.read())
        if answer.status != 200 or data.keys() != {"data"}:
            raise AssertionError(f"{answer.status} {data}")
        if number % 2:
            assert data["data"]["ingestEvents"]["upserted"] == 1
            self.acknowledged.append(str(event["eventId"]))
        self.answers += 1
        if self.answers == 10:
            self.warm.set()
        return answer.getheader("Connection") == "close"


def events_in(store: Path) -> set[str]:
    db = sqlite3.connect(store)
    try:
        return {event_id for (event_id,) in db.execute('SELECT eventId FROM "earthquake-events.EVENT"')}
    finally:
        db.close()


def test_under_load_no_accepted_request_is_lost(tmp_path: Path) -> None:
    with serving("--workers", "2", folder=tmp_path, settings={"GRAPH_DRAIN": "2"}) as server:
        started(server, "2")
        numbers = count()
        loads = [Load(address(server), keeping_alive) for keeping_alive in (True, True, True, False, False, False)]
        threads = [threading.Thread(target=load.run, args=[numbers]) for load in loads]
        for thread in threads:
            thread.start()
        assert all(load.warm.wait(TIMEOUT_S) for load in loads)

        assert server.end() == 0

        for thread in threads:
            thread.join()
    assert [load.failures for load in loads] == [[]] * len(loads)
    assert all(load.last_answers for load in loads)  # each has asked during the drain
    assert events_in(tmp_path / "quakegraph.db") == {event for load in loads for event in load.acknowledged}


# While it drains


def test_a_draining_service_reports_it_and_still_answers(tmp_path: Path) -> None:
    with forking.serving(folder=tmp_path, settings=ENDLESS) as server:
        started(server, "1")
        body, headers = orjson.dumps({"query": TOTAL}), {"Content-Type": "application/json"}
        old = http.client.HTTPConnection(*address(server), timeout=TIMEOUT_S)
        old.request("POST", "/graphql", body, headers)
        before = old.getresponse()
        before.read()
        ready = server.url.replace("/graphql", "/readyz")
        assert (before.status, before.getheader("Connection")) == (200, None)
        assert httpx.get(ready, timeout=TIMEOUT_S, trust_env=False).status_code == 200

        server.process.send_signal(signal.SIGTERM)
        server.wait_for_output("Draining")

        not_ready = httpx.get(ready, timeout=TIMEOUT_S, trust_env=False)
        assert (not_ready.status_code, not_ready.json()) == (503, {"status": "draining"})
        answer = server.ask(TOTAL)
        assert (answer.status_code, answer.headers["Connection"]) == (200, "close")
        old.request("POST", "/graphql", body, headers)
        after = old.getresponse()
        assert (after.status, after.getheader("Connection")) == (200, "close")
        old.close()
        assert server.end(signal.SIGTERM) == 0  # a second one ends the drain


def test_ctrl_c_ends_the_drain_of_all_workers(tmp_path: Path) -> None:
    with serving("--workers", "2", folder=tmp_path, settings=ENDLESS) as server:
        started(server, "2")
        server.process.send_signal(signal.SIGTERM)
        server.wait_for_output("Draining", times=2)
        assert server.end(signal.SIGINT) == 0


def test_open_connections_are_served_after_the_listener_closes(tmp_path: Path) -> None:
    with forking.serving(folder=tmp_path, settings={"GRAPH_DRAIN": "3"}) as server:
        started(server, "1")
        connection = http.client.HTTPConnection(*address(server), timeout=TIMEOUT_S)
        connection.connect()
        server.process.send_signal(signal.SIGTERM)
        server.wait_for_output("No new connection is accepted")
        with pytest.raises(ConnectionRefusedError):
            socket.create_connection(address(server), timeout=TIMEOUT_S)

        connection.request("GET", "/healthz")
        answer = connection.getresponse()

        assert (answer.status, answer.getheader("Connection")) == (200, "close")
        connection.close()
        assert server.process.wait(TIMEOUT_S) == 0


# The listener's queue


async def test_queued_connections_are_accepted_after_new_ones_are_refused() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        queued = [socket.create_connection(listener.getsockname()) for _ in range(20)]

        refuse_newcomers(listener)
        with pytest.raises(TimeoutError):
            socket.create_connection(listener.getsockname(), timeout=0.1)

        accepted = 0

        async def greet(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            nonlocal accepted
            accepted += 1
            writer.write(await reader.readexactly(5))
            writer.close()
            await writer.wait_closed()

        async with await asyncio.start_server(greet, sock=listener):
            for client in queued:
                with client:
                    client.sendall(b"hello")
                    client.setblocking(False)
                    assert await asyncio.get_running_loop().sock_recv(client, 10) == b"hello"
    assert accepted == len(queued)


@pytest.mark.parametrize("all_end", [True, False])
def test_new_connections_are_refused_if_no_other_worker_continues(all_end: bool) -> None:
    async def silent(scope: Scope, receive: Receive, send: Send) -> None:
        """An application that is never asked."""

    with socket.create_server(("127.0.0.1", 0)) as listener, listener.dup() as of_another_worker:
        config = configuration(silent, Settings())
        server = DrainingServer(config, 0.1, all_end=lambda: all_end)
        thread = threading.Thread(target=server.run, args=[[listener]])
        thread.start()
        while not server.started:
            thread.join(0.01)
        server.handle_exit(signal.SIGTERM, None)
        thread.join()

        with ExitStack() as clients:
            if all_end:
                clients.enter_context(pytest.raises(TimeoutError))
            clients.enter_context(socket.create_connection(of_another_worker.getsockname(), timeout=0.1))


# Several processes


def test_a_worker_that_ends_is_replaced_and_all_end_with_their_supervisor(tmp_path: Path) -> None:
    with serving("--workers", "2", folder=tmp_path, settings={"GRAPH_DRAIN": "0.1"}) as server:
        one, _ = started(server, "2")

        os.kill(one, signal.SIGTERM)
        server.wait_for_output("A worker ended and is replaced")

        for _ in range(20):
            assert server.ask(TOTAL).status_code == 200
        server.wait_for_output("Application startup complete", times=3)

        assert server.end(signal.SIGKILL) == -signal.SIGKILL
        server.read_to_end()  # until none of them can say anything

        assert sum("Finished server process" in line for line in server.output) == 3
        with pytest.raises(ConnectionRefusedError):
            socket.create_connection(address(server), timeout=TIMEOUT_S)
