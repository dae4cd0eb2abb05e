"""A slow, silent or greedy client holds nothing: its connection ends, and nobody else notices.

Each deadline is set so short that a test need not wait for it, and asserts what came of it, never when.
Where something must happen before the deadline, and the machine is too busy for that, another client tries.
"""

import asyncio
import json
import select
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, TypeVar

import pytest
import uvicorn
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from graph.app import create_app
from graph.serving.server import configuration
from tests.domains.earthquakes.usgs.usgs_server import UsgsServer
from tests.processes import TIMEOUT_S
from tests.server_thread import in_thread
from tests.service import settings
from tests.settings import Settings

SHORT_S = 0.2
GET = b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"
POST = b"POST /graphql HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n"
HANDSHAKE = (
    b"GET / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
    b"Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n"
)
MORE_THAN_A_KERNEL_HOLDS = 64 * 1024 * 1024
MOST_TRIALS = 100


T = TypeVar("T")


class Ended(AssertionError):
    """The server has ended the connection."""


@dataclass
class Served:
    """A server in a thread of its own, and the clients that it has."""

    address: tuple[str, int]
    server: uvicorn.Server
    clients: ExitStack

    def connect(self) -> "Client":
        return Client(self.clients.enter_context(socket.create_connection(self.address, timeout=TIMEOUT_S)))

    def answered(self, request: bytes = GET) -> tuple["Client", tuple[int, dict[str, str], bytes]]:
        """A client whose first request came in time, and its answer."""
        return self.in_time(request, Client.answer)

    def shaken_hands(self) -> "Client":
        """A WebSocket that is open."""
        return self.in_time(HANDSHAKE, Client.head)[0]

    def in_time(self, request: bytes, take: "Callable[[Client], T]") -> "tuple[Client, T]":
        """A client whose request came in time, and what was made of the connection before the server ended it."""
        for _ in range(MOST_TRIALS):
            client = self.connect()
            with suppress(Ended, ConnectionResetError, BrokenPipeError):
                client.send(request)
                return client, take(client)
        raise AssertionError("no client was in time")

    def has_unsent(self) -> bool:
        """Whether something waits for a client that does not read."""
        return any(one.transport.get_write_buffer_size() > 0 for one in list(self.server.server_state.connections))

    def holds_nothing(self) -> None:
        """Wait until no connection and no request is left."""
        state = self.server.server_state
        _eventually(lambda: not state.connections and not state.tasks)


@dataclass
class Client:
    """One end of a connection."""

    socket: socket.socket
    received: bytes = b""

    def send(self, data: bytes) -> None:
        self.socket.sendall(data)

    def until_end(self) -> bytes:
        """All that the server sends until it ends the connection."""
        while data := self.socket.recv(65536):
            self.received += data
        return self.received

    def trickle(self, piece: bytes) -> bytes:
        """Send a piece now and then until the server ends the connection, and give what it said."""
        for _ in range(1000):
            try:
                self.socket.sendall(piece)
                if select.select([self.socket], [], [], SHORT_S / 10)[0]:
                    if not (data := self.socket.recv(65536)):
                        return self.received
                    self.received += data
            except (ConnectionResetError, BrokenPipeError):
                return self.received
        raise AssertionError("the connection was not ended")

    def answer(self) -> tuple[int, dict[str, str], bytes]:
        """The next answer: status, headers and body."""
        first, *lines = self.head().decode().split("\r\n")
        headers = dict(line.lower().split(": ", 1) for line in lines)
        size = int(headers["content-length"])
        while len(self.received) < size:
            self._receive()
        body, self.received = self.received[:size], self.received[size:]
        return int(first.split()[1]), headers, body

    def head(self) -> bytes:
        """The next head of an answer."""
        while b"\r\n\r\n" not in self.received:
            self._receive()
        head, _, self.received = self.received.partition(b"\r\n\r\n")
        return head

    def _receive(self) -> None:
        data = self.socket.recv(65536)
        if not data:
            raise Ended(f"the connection ended after {self.received!r}")
        self.received += data


def _eventually(holds: Callable[[], bool], *, every_s: float = 0.01) -> None:
    for _ in range(int(TIMEOUT_S / every_s)):
        if holds():
            return
        threading.Event().wait(every_s)
    raise AssertionError("it did not come to that")


@contextmanager
def served(app: ASGIApp, *, loop: Literal["auto", "asyncio"] = "auto", **limits: Any) -> Iterator[Served]:
    """An application behind connections with these limits."""
    config = configuration(app, Settings(**limits))
    config.loop = loop
    server = uvicorn.Server(config)
    with in_thread(server) as url, ExitStack() as clients:
        yield Served(("127.0.0.1", int(url.rpartition(":")[2])), server, clients)


def answering(body: bytes) -> ASGIApp:
    """An application that answers everything with this body."""

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            await _answer(send, body)

    return app


async def _answer(send: Send, body: bytes) -> None:
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"%d" % len(body))]})
    await send({"type": "http.response.body", "body": body})


hello = answering(b"hello")  # at once, and it reads no body


@dataclass
class Held:
    """An application that answers when it is told to."""

    asked: threading.Semaphore = field(default_factory=lambda: threading.Semaphore(0))
    released: threading.Event = field(default_factory=threading.Event)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            self.asked.release()
            await asyncio.to_thread(self.released.wait, TIMEOUT_S)
            await _answer(send, b"hello")


@pytest.fixture
def graph(tmp_path: Path, usgs: UsgsServer) -> Iterator[Served]:
    """The service, whose clients have next to no time."""
    with served(create_app(settings(tmp_path / "empty.db", usgs)), request_timeout=SHORT_S) as server:
        yield server


# A request that does not come


def test_a_request_that_does_not_come_is_not_waited_for() -> None:
    """Its head, one after another request, and its body, which nobody reads."""
    begun = b"GET / HTTP/1.1\r\nHost: "
    with served(hello, request_timeout=SHORT_S) as server:
        assert server.connect().until_end() == b""
        for before, sent, piece in ((b"", begun, b"x"), (GET, begun, b"x"), (GET, b"", b"\r\n"), (POST, b"", b" ")):
            client = server.connect()
            if before:
                client, answer = server.answered(before)
                assert answer[0] == 200
            client.send(sent)
            assert client.trickle(piece) == b""
        server.holds_nothing()


@pytest.mark.parametrize("piece", [b"", b" "])
def test_a_body_that_does_not_end_in_time_is_refused_in_the_graphs_way(graph: Served, piece: bytes) -> None:
    def dawdle(client: Client) -> tuple[int, dict[str, str], bytes]:
        if piece:
            client.trickle(piece)
        return client.answer()

    _, (status, headers, body) = graph.in_time(POST, dawdle)

    assert (status, headers["connection"]) == (408, "close")
    assert headers["content-type"].startswith("application/json")
    assert headers.keys() >= {"x-request-id", "x-content-type-options"}
    assert json.loads(body) == {
        "errors": [{"message": "The body did not come within 0.2 s.", "extensions": {"code": "BAD_REQUEST"}}]
    }
    graph.holds_nothing()


def test_a_client_that_disconnects_within_its_body_leaves_no_state(graph: Served) -> None:
    client = graph.connect()
    client.send(POST + b"{")
    client.socket.close()

    graph.holds_nothing()


def test_bytes_that_are_not_http_get_a_graphql_error() -> None:
    with served(hello) as server:
        client = server.connect()
        client.send(b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03")
        status, headers, body = client.answer()

        assert (status, headers["content-type"], headers["connection"]) == (400, "application/json", "close")
        assert json.loads(body) == {
            "errors": [{"message": "This is not a request of HTTP/1.1.", "extensions": {"code": "BAD_REQUEST"}}]
        }
        assert client.until_end() == b""


# A request that does


def test_the_time_that_an_answer_takes_is_not_the_clients() -> None:
    held = Held()

    def until_asked(client: Client) -> None:
        while not held.asked.acquire(timeout=0.01):
            if select.select([client.socket], [], [], 0)[0]:
                raise Ended

    with served(held, request_timeout=SHORT_S) as server:
        client, _ = server.in_time(GET, until_asked)
        assert server.connect().until_end() == b""  # which came later, and whose time is over

        held.released.set()

        assert client.answer()[2] == b"hello"


def test_a_connection_that_was_of_use_may_idle_for_longer() -> None:
    with served(hello, request_timeout=SHORT_S) as server:
        client, answer = server.answered()
        assert answer[0] == 200
        assert server.connect().until_end() == b""

        client.send(GET)

        assert client.answer()[0] == 200


# An answer that is not taken


def test_an_answer_that_the_client_does_not_read_is_dropped() -> None:
    with served(answering(bytes(MORE_THAN_A_KERNEL_HOLDS)), request_timeout=SHORT_S) as server:
        for request in (GET, GET.replace(b"Host", b"Connection: close\r\nHost")):
            client, _ = server.in_time(request, Client.head)
            server.holds_nothing()
            client.socket.close()


def test_a_small_rest_of_an_unread_answer_is_dropped() -> None:
    """What is left of it is so little that no application would be told to wait."""
    with served(answering(bytes(32 * 1024)), request_timeout=SHORT_S) as server:
        client, _ = server.answered()
        state = server.server.server_state
        answers = 1
        while not server.has_unsent():
            client.send(GET)
            answers += 1
            _eventually(lambda: state.total_requests == answers)  # noqa: B023 - it has held before the next turn
        server.holds_nothing()


def test_an_unread_streamed_answer_ends_its_application() -> None:
    seen: list[Message] = []
    ended = threading.Event()

    async def endless(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        await receive()
        await send({"type": "http.response.start", "status": 200, "headers": []})
        gone = asyncio.ensure_future(receive())
        while not gone.done():
            await send({"type": "http.response.body", "body": bytes(65536), "more_body": True})
        seen.append(gone.result())
        ended.set()

    with served(endless, request_timeout=SHORT_S) as server:
        server.in_time(GET, Client.head)

        assert ended.wait(TIMEOUT_S)
        assert {message["type"] for message in seen} == {"http.disconnect"}
        server.holds_nothing()


# Many connections


def test_a_full_server_closes_the_longest_idle_connection() -> None:
    with served(hello, max_connections=2) as server:
        first, second = server.connect(), server.connect()
        for client in (first, second, first):
            client.send(GET)
            assert client.answer()[0] == 200

        third = server.connect()

        assert second.until_end() == b""
        for client in (first, third):
            client.send(GET)
            assert client.answer()[0] == 200
        assert len(server.server.server_state.connections) == 2


def test_many_simultaneous_connections_stay_within_the_limit() -> None:
    asked, released = threading.Event(), threading.Event()

    async def hold_up(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            asked.set()
            released.wait(TIMEOUT_S)  # and with it all that the server does
            await _answer(send, b"hello")

    with served(hold_up, loop="asyncio", max_connections=10) as server:  # uvloop takes in one after the other
        client = server.connect()
        client.send(GET)
        assert asked.wait(TIMEOUT_S)
        for _ in range(50):
            server.connect()
        released.set()
        assert client.answer()[0] == 200

        last = server.connect()
        last.send(GET)

        assert last.answer()[0] == 200
        assert len(server.server.server_state.connections) == 10


def test_a_server_without_idle_connections_refuses_the_next_with_a_graphql_error() -> None:
    held = Held()
    with served(held, max_connections=2) as server:
        busy = [server.connect(), server.connect()]
        for client in busy:
            client.send(GET)
            assert held.asked.acquire(timeout=TIMEOUT_S)

        refused = server.connect()
        status, headers, body = refused.answer()

        assert (status, headers["retry-after"], headers["connection"]) == (503, "1", "close")
        assert json.loads(body)["errors"][0]["extensions"] == {"code": "OVERLOADED"}
        assert refused.until_end() == b""
        held.released.set()
        assert [client.answer()[2] for client in busy] == [b"hello"] * 2


# A WebSocket

PING = b"\x89\xfd" + bytes(4) + bytes(125)  # as large as one may be


def test_an_incomplete_handshake_is_refused() -> None:
    with served(hello) as server:
        for lacking in (b"Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n", b"Sec-WebSocket-Version: 13\r\n"):
            client = server.connect()
            client.send(HANDSHAKE.replace(lacking, b""))
            assert client.until_end().startswith(b"HTTP/1.1 400 ")
        server.holds_nothing()


@dataclass
class Talker:
    """An application that accepts a WebSocket, and sends a message for each release of `wanted`, then ends it."""

    wanted: threading.Semaphore = field(default_factory=lambda: threading.Semaphore(0))
    sent: threading.Semaphore = field(default_factory=lambda: threading.Semaphore(0))
    ends: bool = False

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "websocket":
            return
        await receive()
        await send({"type": "websocket.accept"})
        while await asyncio.to_thread(self.wanted.acquire, timeout=TIMEOUT_S) and not self.ends:
            await send({"type": "websocket.send", "bytes": bytes(16 * 1024)})
            self.sent.release()

    def fill(self, server: Served) -> None:
        """Send messages until one waits for the client, which reads none."""
        while not server.has_unsent():
            self.wanted.release()
            assert self.sent.acquire(timeout=TIMEOUT_S)

    def end(self) -> None:
        """End the WebSocket."""
        self.ends = True
        self.wanted.release()


def test_a_socket_whose_messages_are_not_read_ends() -> None:
    ended = threading.Event()

    async def endless(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "websocket":
            return
        await receive()
        await send({"type": "websocket.accept"})
        try:
            while True:
                await send({"type": "websocket.send", "bytes": bytes(65536)})
        except OSError:
            ended.set()

    with served(endless, request_timeout=SHORT_S) as server:
        server.shaken_hands()

        assert ended.wait(TIMEOUT_S)
        server.holds_nothing()


def test_a_socket_whose_last_message_is_not_read_ends() -> None:
    """What is left of it is so little that no application would be told to wait."""
    talker = Talker()
    with served(talker, request_timeout=SHORT_S) as server:
        server.shaken_hands()
        talker.fill(server)
        talker.end()

        server.holds_nothing()


def test_a_socket_whose_client_has_just_said_that_it_leaves_does_not_hinder_the_end() -> None:
    """uvicorn would say so too, which a closing connection takes for an error that nobody expects."""
    talker = Talker()
    with served(talker, request_timeout=600, shutdown_timeout=1) as server:
        client = server.shaken_hands()
        state = server.server.server_state
        talker.fill(server)
        client.send(b"\x88\x80" + bytes(4))  # a close frame, whose answer waits behind the rest
        _eventually(lambda: all(connection.transport.is_closing() for connection in list(state.connections)))
        assert len(state.connections) == 1
        talker.end()
        server.server.should_exit = True


def test_a_client_that_pings_and_reads_no_pongs_is_disconnected() -> None:
    talker = Talker()
    with served(talker, request_timeout=600) as server:
        client = server.shaken_hands()
        with pytest.raises((ConnectionResetError, BrokenPipeError)):
            client.send(PING * (MORE_THAN_A_KERNEL_HOLDS // len(PING)))
        talker.end()
        server.holds_nothing()


def test_a_client_that_reads_its_pongs_is_never_disconnected() -> None:
    talker = Talker()
    size = 2 + 125  # of a pong, which has no mask
    with served(talker, request_timeout=SHORT_S) as server:
        client = server.shaken_hands()
        for _ in range(100):
            client.send(PING * 500)
            while len(client.received) < 500 * size:
                client.received += client.socket.recv(65536)
            assert client.received == (b"\x8a\x7d" + bytes(125)) * 500
            client.received = b""
        talker.end()


def test_sockets_that_are_open_make_no_room() -> None:
    talker = Talker()
    with served(talker, max_connections=2) as server:
        for _ in range(2):
            server.shaken_hands()

        refused = server.connect()

        assert refused.answer()[0] == 503
        assert refused.until_end() == b""
        assert len(server.server.server_state.connections) == 2
        talker.ends = True
        talker.wanted.release(2)
