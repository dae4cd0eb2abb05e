"""The HTTP client of direct calls keeps its connections, and trusts an endpoint with no more than one answer each."""

import asyncio
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import pytest
from yarl import URL

from graph.store.dynamodb.http_client import HEAD_BYTES, HttpClient
from tests.domains.triggers.sending.certificates import authority
from tests.processes import TIMEOUT_S
from tests.tasks import tasks_ended

Reply = Callable[[bytes], Awaitable[bytes]]
"""The body of a request → the bytes that are sent back; none to hang up."""


def answer(body: bytes, status: str = "200 OK", *headers: str) -> bytes:
    lines = [f"HTTP/1.1 {status}", f"Content-Length: {len(body)}", *headers]
    return "\r\n".join([*lines, "", ""]).encode() + body


async def echo(body: bytes) -> bytes:
    return answer(body)


class Endpoint:
    """Counts connections, and replies to each request."""

    def __init__(self) -> None:
        self.reply: Reply = echo
        self.connections: list[asyncio.StreamWriter] = []
        self.url = URL()
        self.ended = asyncio.Event()  # the client has closed its end of a connection too

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections.append(writer)
        while head := await reader.read(2**20):
            *_, length = (line for line in head.split(b"\r\n") if line.startswith(b"content-length"))
            body = head.partition(b"\r\n\r\n")[2]
            assert len(body) == int(length.partition(b":")[2])
            reply = await self.reply(body)
            if not reply:
                writer.write_eof()
                with suppress(ConnectionError):
                    await reader.read()
                self.ended.set()
                break
            writer.write(reply)
        writer.close()


@asynccontextmanager
async def endpoint(tls: ssl.SSLContext | None = None) -> AsyncIterator[Endpoint]:
    it = Endpoint()
    async with tasks_ended():
        server = await asyncio.start_server(it.serve, "127.0.0.1", 0, ssl=tls)
        it.url = URL.build(scheme="https" if tls else "http", host="127.0.0.1", port=server.sockets[0].getsockname()[1])
        yield it
        server.close()
        for writer in it.connections:
            writer.close()


def client_of(it: Endpoint, *, limit: int = 9, tls: ssl.SSLContext | None = None) -> HttpClient:
    return HttpClient(it.url, tls, limit=asyncio.Semaphore(limit), seconds=TIMEOUT_S)


@pytest.fixture
async def served() -> AsyncIterator[Endpoint]:
    async with endpoint() as it:
        yield it


@pytest.fixture
async def client(served: Endpoint) -> AsyncIterator[HttpClient]:
    client = client_of(served)
    yield client
    client.close()


async def body_of(client: HttpClient, body: bytes) -> bytes:
    return (await client.post({"host": "endpoint"}, body)).body


async def test_a_connection_carries_one_request_after_the_other(served: Endpoint, client: HttpClient) -> None:
    assert [await body_of(client, body) for body in (b"one", b"", b"three")] == [b"one", b"", b"three"]
    assert len(served.connections) == 1


async def test_requests_at_once_have_connections_of_their_own_up_to_the_limit(served: Endpoint) -> None:
    client = client_of(served, limit=3)
    bodies = [b"%d" % n for n in range(10)]

    assert await asyncio.gather(*(body_of(client, body) for body in bodies)) == bodies
    assert len(served.connections) == 3
    assert client.in_progress == 0
    client.close()


async def test_the_connection_of_a_cancelled_caller_is_used_again_after_its_answer(
    served: Endpoint, client: HttpClient
) -> None:
    arrived, going_on = asyncio.Event(), asyncio.Event()

    async def hold(body: bytes) -> bytes:
        arrived.set()
        await going_on.wait()
        return answer(body)

    served.reply = hold
    abandoned = asyncio.create_task(body_of(client, b"abandoned"))
    await arrived.wait()
    abandoned.cancel()
    await asyncio.wait([abandoned])
    assert client.in_progress == 1

    beside = asyncio.create_task(body_of(client, b"beside"))
    going_on.set()
    assert await beside == b"beside"
    assert [await body_of(client, b"%d" % n) for n in range(5)] == [b"%d" % n for n in range(5)]
    assert len(served.connections) == 2
    assert client.in_progress == 0


NO_ANSWERS = {
    "it hangs up": b"",
    "it hangs up within an answer": answer(b"whole")[:-1],
    "another protocol": b"SSH-2.0-OpenSSH\r\n",
    "headers without end": b"HTTP/1.1 200 OK\r\n" + b"X: y\r\n" * HEAD_BYTES,
}


@pytest.mark.parametrize("reply", NO_ANSWERS)
async def test_no_answer_is_an_error(served: Endpoint, client: HttpClient, reply: str) -> None:
    async def once(body: bytes) -> bytes:
        served.reply = echo
        served.connections[-1].write(NO_ANSWERS[reply])
        return b""

    served.reply = once

    with pytest.raises(ConnectionError):
        await body_of(client, b"lost")

    assert await body_of(client, b"next") == b"next"
    assert client.in_progress == 0


CHUNKED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nsome \r\n5\r\nparts\r\n0\r\n\r\n"
ANSWERS: dict[str, tuple[bytes, bytes | None, int]] = {
    "a refusal": (answer(b"refused", "400 Bad Request"), b"refused", 2),
    "the last answer": (answer(b"last", "200 OK", "Connection: close"), b"last", 2),
    "one to no request besides": (answer(b"one") + answer(b"to no request"), None, 2),
    "a body in parts": (CHUNKED, b"some parts", 1),
}
"""What the endpoint sends → the body of that answer, None for an error, and the connections of two requests."""


@pytest.mark.parametrize("sent", ANSWERS)
async def test_a_connection_is_used_again_only_after_an_ordinary_answer(
    served: Endpoint, client: HttpClient, sent: str
) -> None:
    reply, body, connections = ANSWERS[sent]

    async def given(asked: bytes) -> bytes:
        return reply

    served.reply = given
    if body is None:
        with pytest.raises(ConnectionError):
            await body_of(client, b"asked")
    else:
        assert await body_of(client, b"asked") == body
    served.reply = echo
    assert await body_of(client, b"next") == b"next"
    assert len(served.connections) == connections


async def test_an_idle_connection_that_the_endpoint_closes_is_not_used_again(
    served: Endpoint, client: HttpClient
) -> None:
    async def last(body: bytes) -> bytes:
        served.connections[-1].write(answer(body))
        return b""

    served.reply = last
    assert await body_of(client, b"one") == b"one"
    served.reply = echo
    await served.ended.wait()

    assert await body_of(client, b"two") == b"two"
    assert len(served.connections) == 2
    client.close()
    with pytest.raises(ConnectionError, match="the client is closed"):
        await body_of(client, b"three")
    assert client.in_progress == 0


async def test_an_endpoint_with_tls_needs_a_trusted_certificate(tmp_path: Path) -> None:
    async with endpoint(authority("trusted").server(tmp_path, "127.0.0.1")) as served:
        client, other = (client_of(served, tls=authority(name).client()) for name in ("trusted", "another"))
        assert await body_of(client, b"secret") == b"secret"
        with pytest.raises(ssl.SSLCertVerificationError):
            await body_of(other, b"secret")
        client.close()
        other.close()
