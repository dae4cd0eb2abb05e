"""The head and the body of an answer come in one packet, and a head that has no body yet comes alone."""

import asyncio
import select
import socket
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import pytest
from starlette.types import Receive, Scope, Send

from graph.serving.joined_writes import JoinedWrites
from tests.processes import TIMEOUT_S
from tests.serving.test_connections import Served, served

BODIES = {"/two": [b"one", b"two"], "/one": [b"all"], "/none": [b""]}


@dataclass
class Halting:
    """An application that stops the server after each message that it has sent."""

    sent: threading.Semaphore = field(default_factory=lambda: threading.Semaphore(0))
    may_go_on: threading.Semaphore = field(default_factory=lambda: threading.Semaphore(0))
    server: Served | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        pieces = BODIES[scope["path"]]
        headers = [(b"content-length", b"%d" % len(b"".join(pieces)))]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        self.halt()
        for number, piece in enumerate(pieces, 1):
            await send({"type": "http.response.body", "body": piece, "more_body": number < len(pieces)})
            self.halt()

    def halt(self) -> None:
        self.sent.release()
        assert self.may_go_on.acquire(timeout=TIMEOUT_S)


@pytest.fixture
def app() -> Iterator[Halting]:
    app = Halting()
    with served(app, request_timeout=600) as app.server:
        yield app


def arrivals(app: Halting, path: str) -> list[bytes]:
    """What has arrived after each message of the application."""
    assert app.server is not None
    client = app.server.connect()
    client.send(f"GET {path} HTTP/1.1\r\nHost: x\r\n\r\n".encode())
    found = []
    for _ in range(1 + len(BODIES[path])):
        assert app.sent.acquire(timeout=TIMEOUT_S)
        has_arrived = bool(select.select([client.socket], [], [], 0)[0])
        found.append(client.socket.recv(65536) if has_arrived else b"")
        app.may_go_on.release()
    return found


def test_a_head_comes_with_the_beginning_of_its_body(app: Halting) -> None:
    after_start, after_first, after_second = arrivals(app, "/two")

    assert after_start == b""
    head, _, body = after_first.partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 200 OK")
    assert (body, after_second) == (b"one", b"two")


def test_a_whole_answer_comes_in_one_packet(app: Halting) -> None:
    for path in ("/one", "/none"):
        after_start, after_body = arrivals(app, path)
        assert (after_start, after_body.partition(b"\r\n\r\n")[2]) == (b"", BODIES[path][0])


@asynccontextmanager
async def joined() -> AsyncIterator[tuple[JoinedWrites, socket.socket]]:
    """What joins writes to a connection, and the other end of it."""
    near, far = socket.socketpair()
    loop = asyncio.get_running_loop()
    transport, _ = await loop.create_connection(asyncio.Protocol, sock=near)
    with far:
        yield JoinedWrites(transport, loop), far


async def test_a_first_piece_waits_only_until_the_next_iteration_of_the_loop() -> None:
    async with joined() as (writes, far):
        far.setblocking(False)
        writes.write(b"head")
        with pytest.raises(BlockingIOError):
            far.recv(100)
        await asyncio.sleep(0)
        assert far.recv(100) == b"head"
        writes.write(b"body")
        assert far.recv(100) == b"body"
        writes.close()
        assert writes.is_closing()


async def test_what_waits_is_written_before_the_transport_is_closed() -> None:
    async with joined() as (writes, far):
        writes.write(b"head")
        writes.close()
        assert await asyncio.to_thread(far.recv, 100) == b"head"
