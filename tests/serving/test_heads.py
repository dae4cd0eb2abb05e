"""A request whose head is too large is refused at the first header or byte that is too much, however it comes."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from starlette.types import Receive, Scope, Send

from graph.serving.connections import ClientConnection
from graph.serving.heads import MOST_HEAD_BYTES, MOST_HEADERS
from graph.serving.pieces import PIECE_BYTES
from tests.processes import TIMEOUT_S
from tests.serving.test_connections import GET, HANDSHAKE, SHORT_S, Client, Held, Served, _answer, hello, served

LINE = b"GET / HTTP/1.1\r\n"
TOO_MUCH = MOST_HEAD_BYTES + 2 * PIECE_BYTES  # for a head that does not end
CHUNKED = b"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n"
MESSAGE = "The head of a request may have 65,536 bytes and 100 headers: send less."
PIECES = pytest.mark.parametrize("piece", [1024, 10 * 1024 * 1024], ids=["in pieces", "at once"])


def headers(number: int, size: int = 1) -> bytes:
    return b"".join(b"a%d: %s\r\n" % (at, b"x" * size) for at in range(number))


def send(client: Client, data: bytes, piece: int) -> None:
    for at in range(0, len(data), piece):
        client.send(data[at : at + piece])


def is_refused(client: Client) -> None:
    """Assert that the next answer says that the head is too large, and is the last."""
    status, head, body = client.answer()
    assert (status, head["connection"], head["content-type"]) == (431, "close", "application/json")
    assert head["x-content-type-options"] == "nosniff"
    assert json.loads(body) == {"errors": [{"message": MESSAGE, "extensions": {"code": "BAD_REQUEST"}}]}
    assert client.until_end() == b""


async def reader(scope: Scope, receive: Receive, send: Send) -> None:
    """An application that reads the whole body, and answers with the names of the headers that it finds then."""
    if scope["type"] == "http":
        while (await receive()).get("more_body"):
            pass
        await _answer(send, b",".join(name for name, _ in scope["headers"]))


@pytest.fixture(params=["uvloop", "asyncio"])
def server(request: pytest.FixtureRequest) -> Iterator[Served]:
    loop: Any = request.param
    with served(hello, loop=loop) as server:
        yield server


TOO_LARGE = {
    "one header too many": LINE + headers(MOST_HEADERS + 1) + b"\r\n",
    "many headers": LINE + headers(50_000) + b"\r\n",
    "large headers": LINE + headers(20, 10_000) + b"\r\n",
    "very large headers": LINE + headers(20, 1_000_000) + b"\r\n",
    "an endless url": b"GET /" + b"x" * TOO_MUCH,
    "an endless name": LINE + b"x" * TOO_MUCH,
    "an endless value": LINE + b"a: " + b"x" * TOO_MUCH,
    "endless tabs": LINE + b"a: " + b"\t" * TOO_MUCH,  # of which the parser reports nothing
    "empty lines before an endless name": b"\r\n" * 9 + LINE + b"x" * TOO_MUCH,
    "endless empty lines": b"\r\n" * TOO_MUCH,
    "a url too long": b"GET /" + b"x" * MOST_HEAD_BYTES + b" HTTP/1.1\r\nHost: x\r\n\r\n",
    "a handshake of many headers": HANDSHAKE.removesuffix(b"\r\n") + headers(MOST_HEADERS) + b"\r\n",
    "a handshake of large headers": HANDSHAKE.removesuffix(b"\r\n") + headers(20, 10_000) + b"\r\n",
    "an endless handshake": HANDSHAKE.removesuffix(b"\r\n") + b"a: " + b"x" * TOO_MUCH + b"\r\n",
}


@PIECES
@pytest.mark.parametrize("name", TOO_LARGE)
def test_a_head_is_refused_at_the_first_header_or_byte_that_is_too_much(server: Served, name: str, piece: int) -> None:
    client = server.connect()
    send(client, TOO_LARGE[name], piece)
    is_refused(client)
    (connection,) = server.server.server_state.connections
    assert isinstance(connection, ClientConnection)
    kept = connection.headers or []
    assert len(kept) == MOST_HEADERS if name in ("one header too many", "many headers") else len(kept) <= MOST_HEADERS
    assert sum(len(value) for _, value in kept) <= MOST_HEAD_BYTES


def test_a_head_as_large_as_one_may_be_passes(server: Served) -> None:
    client = server.connect()
    for head in (
        LINE + headers(MOST_HEADERS),
        LINE + headers(MOST_HEADERS, 600),
        LINE + headers(1, MOST_HEAD_BYTES - 100),
        b"GET /%s HTTP/1.1\r\n" % (b"x" * (MOST_HEAD_BYTES - 100)),
    ):
        for _ in range(3):  # each is counted for itself
            client.send(head + b"\r\n")
            assert client.answer()[0] == 200
    client.send((LINE + headers(MOST_HEADERS, 300) + b"\r\n") * 5)  # in a pipeline too
    for _ in range(5):
        assert client.answer()[0] == 200


BEHIND = {
    "many headers": LINE + headers(50_000),
    "an endless value": LINE + b"a: " + b"x" * TOO_MUCH,
    "an endless url": b"GET /" + b"x" * TOO_MUCH,
    "many trailers": CHUNKED + headers(MOST_HEADERS),
}


@PIECES
@pytest.mark.parametrize("name", BEHIND)
def test_in_a_pipeline_the_requests_before_it_are_answered_first(name: str, piece: int) -> None:
    held = Held()
    with served(held) as server:
        client = server.connect()
        client.send(GET)
        assert held.asked.acquire(timeout=TIMEOUT_S)
        send(client, GET + BEHIND[name], piece)
        held.released.set()

        assert [client.answer()[2] for _ in range(2)] == [b"hello"] * 2
        assert held.asked.acquire(timeout=TIMEOUT_S)
        is_refused(client)
        assert not held.asked.acquire(blocking=False)  # the application is not asked for what is refused
        client.socket.close()
        server.holds_nothing()


@PIECES
def test_trailers_count_as_headers(piece: int) -> None:
    with served(reader) as server:
        for trailers in (headers(MOST_HEADERS), headers(50_000), b"a: " + b"x" * TOO_MUCH):
            client = server.connect()
            send(client, CHUNKED + trailers, piece)
            is_refused(client)
            client.socket.close()
            server.holds_nothing()


def test_too_many_trailers_end_a_connection_whose_request_is_answered(server: Served) -> None:
    client = server.connect()
    client.send(CHUNKED)
    assert client.answer()[0] == 200
    client.send(headers(MOST_HEADERS))
    assert client.until_end() == b""


def test_a_trailer_is_no_header() -> None:
    with served(reader) as server:
        client = server.connect()
        client.send(CHUNKED + b"Authorization: Bearer x\r\n\r\n" + GET)
        assert client.answer()[2] == b"host,transfer-encoding"
        assert client.answer()[2] == b"host"


def test_many_small_chunks_of_a_body_are_no_head() -> None:
    with served(reader) as server:
        client = server.connect()
        client.send(CHUNKED.removesuffix(b"0\r\n") + b"1\r\nx\r\n" * 50_000 + b"0\r\n\r\n")
        assert client.answer()[0] == 200


def test_a_handshake_that_websockets_does_not_read_is_answered(server: Served) -> None:
    """It limits a line to 8 kB, and would leave the connection open and without an answer."""
    for value in (b"x" * 8192, b"\xc3\xa9" + b"x" * 9000):
        client = server.connect()
        client.send(HANDSHAKE.removesuffix(b"\r\n") + b"a: " + value + b"\r\n\r\n")
        status, head, body = client.answer()
        assert (status, head["connection"]) == (431, "close")
        assert json.loads(body)["errors"][0]["extensions"] == {"code": "BAD_REQUEST"}
        assert client.until_end() == b""
    server.holds_nothing()


def test_a_client_that_keeps_sending_can_read_the_refusal(server: Served) -> None:
    """A connection that is closed while data comes in is reset, and what was said is lost."""
    client = server.connect()
    client.send(LINE + headers(1_000_000))
    is_refused(client)
    client.send(GET)
    client.socket.close()
    server.holds_nothing()


def test_a_client_that_stays_after_a_refusal_is_disconnected() -> None:
    with served(hello, request_timeout=SHORT_S) as server:
        client = server.connect()
        client.send(LINE + headers(1000))
        is_refused(client)
        server.holds_nothing()


def test_a_client_that_was_refused_does_not_hinder_the_end_of_the_service() -> None:
    with served(reader, request_timeout=600, shutdown_timeout=600) as server:
        for data in (LINE + headers(1000), CHUNKED + headers(1000)):
            client = server.connect()
            client.send(data)
            is_refused(client)


def test_bytes_after_an_upgrade_request_are_not_parsed_from_the_middle() -> None:
    asked: list[str] = []

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            asked.append(scope["path"])
            await hello(scope, receive, send)

    with served(app) as server:
        client = server.connect()
        padding = b"x" * (PIECE_BYTES - 100)
        upgrade = b"GET /a HTTP/1.1\r\nConnection: Upgrade\r\nUpgrade: h2c\r\na: " + padding + b"\r\n\r\n"
        rest = b"GET /%s HTTP/1.1\r\n\r\n" % (b"b" * 2 * PIECE_BYTES)
        client.send(upgrade + rest)
        assert client.answer()[0] == 200
        client.send(b"GET /c HTTP/1.1\r\n\r\n")
        assert client.answer()[0] == 200
        assert asked == ["/a", "/c"]
