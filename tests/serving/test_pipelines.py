"""Very many requests in one chunk of data are parsed as fast as they are answered, and delay no other client."""

import asyncio
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest
from starlette.types import Receive, Scope, Send

from graph.serving.connections import ClientConnection
from graph.serving.pieces import PIECE_BYTES, PIECES_PER_ITERATION
from tests.processes import TIMEOUT_S
from tests.serving.test_connections import SHORT_S, Client, Served, _answer, _eventually, served

NUMBER = 5_000
SHORTEST = b"GET / HTTP/1.1\r\n\r\n"
AS_MANY_AS_A_PIECE = PIECE_BYTES // len(SHORTEST) + 1


@dataclass
class Watched:
    """An application that answers with what it is asked, and looks at its connections at each turn of the loop."""

    asked: list[str] = field(default_factory=list)
    bodies: int = 0  # bytes
    most_waiting: int = 0  # requests of a connection that were parsed and not begun
    most_body: int = 0  # bytes of one turn
    held: threading.Event = field(default_factory=threading.Event)
    server: Served | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        self.asked.append(scope["path"])
        if scope["path"] == "/look":
            self.looking = asyncio.create_task(self._look())
        if scope["path"] == "/hold":
            self.held.wait(TIMEOUT_S)  # and with it all that the server does
        while (message := await receive())["type"] == "http.request":
            self.bodies += len(message["body"])
            if not message["more_body"]:
                await _answer(send, scope["path"].encode())
                return

    async def _look(self) -> None:
        assert self.server is not None
        bodies = 0
        while True:
            for connection in list(self.server.server.server_state.connections):
                assert isinstance(connection, ClientConnection)
                self.most_waiting = max(self.most_waiting, len(connection.pipeline))
            self.most_body, bodies = max(self.most_body, self.bodies - bodies), self.bodies
            await asyncio.sleep(0)


@pytest.fixture(params=["auto", "asyncio"])
def app(request: pytest.FixtureRequest) -> Iterator[Watched]:
    loop: Any = request.param
    app = Watched()
    with served(app, loop=loop, request_timeout=600) as app.server:
        yield app
        app.held.set()
        if hasattr(app, "looking"):
            app.looking.cancel()


def get(path: str) -> bytes:
    return f"GET {path} HTTP/1.1\r\n\r\n".encode()


def connect(app: Watched, *, looking: bool = True) -> Client:
    assert app.server is not None
    client = app.server.connect()
    if looking:
        client.send(get("/look"))
        assert client.answer()[2] == b"/look"
    return client


def test_requests_of_a_pipeline_are_parsed_as_they_are_answered(app: Watched) -> None:
    client = connect(app)
    flood = b"".join(get(f"/{number}") for number in range(NUMBER))
    sender = threading.Thread(target=client.send, args=(flood,))
    sender.start()
    for number in range(NUMBER):
        assert client.answer()[2] == b"/%d" % number
    sender.join()
    assert 0 < app.most_waiting <= AS_MANY_AS_A_PIECE


def test_another_client_is_answered_in_between(app: Watched) -> None:
    flooding, other = connect(app, looking=False), connect(app)
    flooding.send(get("/hold"))
    _eventually(lambda: "/hold" in app.asked)
    flooding.send(SHORTEST * 10_000)  # while the loop is held, so that both are there when it goes on
    other.send(get("/other"))
    app.held.set()
    assert other.answer()[2] == b"/other"

    assert app.asked.index("/other") <= 2 * AS_MANY_AS_A_PIECE


def test_a_body_in_many_chunks_is_parsed_a_few_pieces_per_iteration(app: Watched) -> None:
    client = connect(app)
    client.send(b"POST /body HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n" + b"1\r\nx\r\n" * 200_000 + b"0\r\n\r\n")
    assert client.answer()[2] == b"/body"
    assert app.bodies == 200_000
    assert 0 < app.most_body <= 3 * PIECES_PER_ITERATION * PIECE_BYTES // 6  # a look may miss the begin of a turn


def test_a_large_body_comes_whole(app: Watched) -> None:
    client = connect(app)
    for size in (1, PIECE_BYTES - 1, PIECE_BYTES, 65_536, 3_000_000):
        app.bodies = 0
        client.send(b"POST /%d HTTP/1.1\r\nContent-Length: %d\r\n\r\n" % (size, size) + bytes(size))
        assert client.answer()[2] == b"/%d" % size
        assert app.bodies == size


def test_bytes_after_the_last_request_of_a_connection_are_not_executed(app: Watched) -> None:
    """Its answer could not be sent."""
    client = connect(app)
    last = b"GET /last HTTP/1.1\r\nConnection: close\r\na: " + b"x" * PIECE_BYTES + b"\r\n\r\n"
    client.send(last + b"POST /behind HTTP/1.1\r\nContent-Length: 0\r\n\r\n" * 1000)
    assert client.answer()[2] == b"/last"
    connect(app, looking=False).send(get("/after"))
    _eventually(lambda: "/after" in app.asked)
    assert "/behind" not in app.asked


def test_a_client_that_disconnects_after_a_pipeline_leaves_no_state(app: Watched) -> None:
    client = connect(app, looking=False)
    client.send(SHORTEST * 10_000)
    client.socket.close()
    assert app.server is not None
    app.server.holds_nothing()


def test_an_incomplete_head_after_a_pipeline_is_not_waited_for() -> None:
    app = Watched()
    with served(app, request_timeout=SHORT_S) as app.server:
        client = connect(app, looking=False)
        client.send(SHORTEST * 1000 + b"GET / HTTP/1.1\r\na: " + b"x" * 2 * PIECE_BYTES)
        for _ in range(1000):
            assert client.answer()[0] == 200
        assert client.until_end() == b""
        app.server.holds_nothing()
