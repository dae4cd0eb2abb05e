"""A WebSocket that sends very many frames at once is served a few a turn of the loop, in order."""

import asyncio
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import orjson
import pytest
from starlette.types import Receive, Scope, Send

from graph.serving.frame_budget import FRAMES_PER_ITERATION
from graph.serving.sockets import ClientSocket
from tests.processes import TIMEOUT_S
from tests.serving.test_connections import GET, HANDSHAKE, Served, _answer, _eventually, served

NUMBER = 20_000
MASK = bytes(4)
PING, PONG, EMPTY = b"\x89\x80" + MASK, b"\x8a\x80" + MASK, b"\x81\x80" + MASK
FIRST_PIECE, PIECE, LAST_PIECE = b"\x01\x80" + MASK, b"\x00\x80" + MASK, b"\x80\x80" + MASK
CLOSE = b"\x88\x82" + MASK + b"\x03\xe8"


def text(words: str) -> bytes:
    return b"\x81" + bytes([0x80 | len(words)]) + MASK + words.encode()


@dataclass
class Watched:
    """An application with one WebSocket, which notes what it is sent, and looks at each turn of the loop.

    Its WebSocket is accepted, and takes messages, only when it is released. A request is answered at once.
    """

    released: threading.Event = field(default_factory=threading.Event)
    entered: threading.Event = field(default_factory=threading.Event)
    blocks: bool = False  # the loop itself, until it is released
    messages: list[str] = field(default_factory=list)
    most_a_turn: int = 0  # frames, of all WebSockets
    most_queued: int = 0
    most_unread: int = 0
    handled_at_request: int | None = None
    ended: threading.Event = field(default_factory=threading.Event)
    server: Served | None = None

    @property
    def sockets(self) -> list[ClientSocket]:
        assert self.server is not None
        state = self.server.server.server_state
        return [one for one in list(state.connections) if isinstance(one, ClientSocket)]

    @property
    def socket(self) -> ClientSocket | None:
        return next(iter(self.sockets), None)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            self.handled_at_request = self.socket.frames_handled if self.socket else None
            await _answer(send, b"hello")
        elif scope["type"] == "websocket":
            looking = asyncio.create_task(self._look())
            await receive()
            await send({"type": "websocket.accept"})
            self.entered.set()
            if self.blocks:
                self.released.wait(TIMEOUT_S)
            else:
                await asyncio.to_thread(self.released.wait, TIMEOUT_S)
            while (message := await receive())["type"] == "websocket.receive":
                self.messages.append(message["text"])
            looking.cancel()
            self.ended.set()

    async def _look(self) -> None:
        before = None
        while True:
            if socket := self.socket:
                handled = sum(one.frames_handled for one in self.sockets)
                if before is not None:
                    self.most_a_turn = max(self.most_a_turn, handled - before)
                before = handled
                self.most_queued = max(self.most_queued, socket.queue.qsize())
                self.most_unread = max(self.most_unread, len(socket._unread))
            await asyncio.sleep(0)


@pytest.fixture(params=["auto", "asyncio"])
def loop(request: pytest.FixtureRequest) -> Any:
    return request.param


@pytest.fixture
def app() -> Iterator[Watched]:
    watched = Watched()
    yield watched
    watched.released.set()


FLOODS = {
    "pings": PING * NUMBER,
    "pongs": PONG * NUMBER,
    "messages": EMPTY * NUMBER,
    "pieces of a message": FIRST_PIECE + PIECE * (NUMBER - 2) + LAST_PIECE,
    "all of them": (PING + PONG + EMPTY + text("x")) * (NUMBER // 4),
}


@pytest.mark.parametrize("flood", FLOODS)
def test_each_iteration_of_the_loop_handles_only_a_few_frames(app: Watched, loop: Any, flood: str) -> None:
    app.released.set()
    with served(app, loop=loop) as app.server:
        client = app.server.shaken_hands()
        client.send(FLOODS[flood] + text("last") + CLOSE)
        assert app.ended.wait(TIMEOUT_S)

    assert 0 < app.most_a_turn <= FRAMES_PER_ITERATION
    assert app.messages[-1] == "last"
    expected = {"pings": 0, "pongs": 0, "messages": NUMBER, "pieces of a message": 1, "all of them": NUMBER // 2}
    assert len(app.messages) == expected[flood] + 1
    if flood == "all of them":
        assert app.messages[:-1] == ["", "x"] * (NUMBER // 4)


def test_all_sockets_share_the_frames_of_one_iteration(app: Watched, loop: Any) -> None:
    app.released.set()
    with served(app, loop=loop) as app.server:
        clients = [app.server.shaken_hands() for _ in range(4)]
        for client in clients:
            client.send(FLOODS["messages"] + CLOSE)
        _eventually(lambda: not app.sockets)

    assert 0 < app.most_a_turn <= FRAMES_PER_ITERATION
    assert len(app.messages) == 4 * NUMBER


def test_another_client_is_answered_in_between(app: Watched) -> None:
    app.blocks = True
    with served(app) as app.server:
        flooding, other = app.server.connect(), app.server.connect()
        flooding.send(HANDSHAKE)
        assert app.entered.wait(TIMEOUT_S)
        flooding.send(PING * NUMBER)  # while the loop is held, so that both are there when it goes on
        other.send(GET)
        app.released.set()

        assert other.answer()[2] == b"hello"
        flooding.send(CLOSE)
        assert app.ended.wait(TIMEOUT_S)
    assert app.handled_at_request is not None
    assert app.handled_at_request <= 10 * FRAMES_PER_ITERATION


def test_messages_that_the_application_does_not_take_wait_with_the_client(app: Watched, loop: Any) -> None:
    with served(app, loop=loop, request_timeout=600) as app.server:
        client = app.server.shaken_hands()
        client.send(b"".join(text(str(number)) for number in range(NUMBER)))
        client.send(CLOSE)
        socket = app.socket
        assert socket is not None
        _eventually(lambda: socket.queue.qsize() > 0)
        app.released.set()
        assert app.ended.wait(TIMEOUT_S)

    assert app.messages == [str(number) for number in range(NUMBER)]
    assert app.most_queued <= FRAMES_PER_ITERATION
    assert app.most_unread <= 256 * 1024  # which is as much as a loop reads at once


def test_a_message_in_very_many_pieces_takes_no_more_than_its_bytes(app: Watched) -> None:
    app.released.set()
    with served(app) as app.server:
        client = app.server.shaken_hands()
        client.send(FIRST_PIECE + PIECE * NUMBER + PING)
        while not client.received:  # of the pong
            client.received += client.socket.recv(65536)
        assert app.socket is not None
        assert len(app.socket.frames) == 1
        client.send(LAST_PIECE + CLOSE)
        assert app.ended.wait(TIMEOUT_S)
    assert app.messages == [""]


def test_a_large_message_comes_whole(app: Watched, loop: Any) -> None:
    app.released.set()
    words = orjson.dumps(list(range(100_000)))
    head = b"\x81\xff" + len(words).to_bytes(8) + MASK
    with served(app, loop=loop) as app.server:
        client = app.server.shaken_hands()
        client.send(PING * 150 + head + words + PING * 150 + CLOSE)
        assert app.ended.wait(TIMEOUT_S)
    assert app.messages == [words.decode()]


@pytest.mark.parametrize("way", ["closes", "half-closes", "resets", "breaks the protocol"])
def test_no_message_follows_the_end(app: Watched, loop: Any, way: str) -> None:
    """However the client ends what it sends, what was before it comes first, or is dropped with it."""
    with served(app, loop=loop) as app.server:
        client = app.server.shaken_hands()
        data = b"".join(text(str(number)) for number in range(NUMBER))
        client.send(data + {"closes": CLOSE + text("late"), "breaks the protocol": b"\xff" * 9}.get(way, b""))
        if way == "half-closes":
            client.socket.shutdown(1)
        elif way == "resets":
            client.socket.setsockopt(1, 13, b"\1\0\0\0\0\0\0\0")  # SO_LINGER of no time
            client.socket.close()
        app.released.set()
        assert app.ended.wait(TIMEOUT_S)
        app.server.holds_nothing()

    assert app.messages == [str(number) for number in range(len(app.messages))]
    if way in ("closes", "half-closes"):
        assert len(app.messages) == NUMBER


def test_the_service_may_end_while_frames_wait(app: Watched, loop: Any) -> None:
    with served(app, loop=loop, shutdown_timeout=600) as app.server:
        client = app.server.shaken_hands()
        client.send(EMPTY * NUMBER)
        socket = app.socket
        assert socket is not None
        app.server.server.should_exit = True
        _eventually(socket.transport.is_closing)
        app.released.set()
    assert app.ended.is_set()
    assert len(app.messages) <= FRAMES_PER_ITERATION


def test_frames_are_read_up_to_the_closing_frame_after_the_application_ends(loop: Any) -> None:
    async def ends(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "websocket":
            await receive()
            await send({"type": "websocket.accept"})
            await receive()
            await send({"type": "websocket.close", "code": 4400})

    with served(ends, loop=loop, request_timeout=600) as server:
        client = server.shaken_hands()
        client.send(EMPTY * NUMBER + CLOSE)
        assert client.until_end() == b"\x88\x02" + (4400).to_bytes(2)
        server.holds_nothing()
