"""A receiver that does its worst costs one attempt: a bounded time, and a few bytes."""

import asyncio
import gzip
import socket
import tracemalloc
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from time import sleep

import pytest

from graph.domains.triggers.sending.answers import EXCERPT_BYTES, Answer, Failure
from graph.domains.triggers.sending.resolver import Resolver
from graph.domains.triggers.sending.sender import TIMEOUT_S, Sender
from tests.domains.triggers.sending.receivers import (
    OWN_NETWORK,
    Receiver,
    Reply,
    a_message,
    receiving,
    saying,
    status,
    then_close,
)

SHORT_S = 0.1
HEAD = b"HTTP/1.1 200 OK\r\n"
MEGABYTE = 1024 * 1024


@asynccontextmanager
async def a_sender(timeout_s: float = TIMEOUT_S) -> AsyncIterator[Sender]:
    resolver = Resolver(OWN_NETWORK)
    async with Sender(resolver, timeout_s=timeout_s) as sender:
        yield sender
    await resolver.close()


async def attempt(reply: Reply, timeout_s: float = TIMEOUT_S) -> Answer:
    async with receiving(reply) as receiver, a_sender(timeout_s) as sender:
        return await sender.send(a_message(receiver.url()))


def dripping(head: bytes, drop: bytes) -> Reply:
    """The head, and then drops without an end."""

    async def reply(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(head)
        while True:
            writer.write(drop)
            await writer.drain()
            await asyncio.sleep(0.005)

    return reply


def then_silence(head: bytes) -> Reply:
    """The head, and nothing more."""

    async def reply(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(head)
        await reader.read()  # until the sender goes away

    return reply


@pytest.mark.parametrize(
    "reply",
    [
        then_silence(b""),
        then_silence(b"HTTP/1.1 2"),
        then_silence(HEAD + b"content-length: 2\r\n"),
        dripping(b"", b"H"),
        dripping(HEAD, b"a: b\r\n"),
        dripping(HEAD + b"a: ", b"b"),
        dripping(b"", b"HTTP/1.1 100 Continue\r\n\r\n"),
    ],
)
async def test_a_head_that_does_not_end_has_no_answer(reply: Reply) -> None:
    answer = await attempt(reply, SHORT_S)

    assert (answer.status, answer.excerpt) == (None, "")
    assert answer.error in (Failure.TIMED_OUT, Failure.INVALID_ANSWER)  # too many headers may come first


@pytest.mark.parametrize(
    "reply",
    [
        then_silence(HEAD + b"content-length: 9\r\n\r\nfirst"),
        dripping(HEAD + b"transfer-encoding: chunked\r\n\r\n5\r\nfirst\r\n", b"1\r\n\x00\r\n"),
        dripping(HEAD + b"content-type: text/event-stream\r\n\r\nfirst", b"\x00"),
        then_close(saying(HEAD + b"content-length: 9\r\n\r\nfirst")),
        then_close(saying(HEAD + b"transfer-encoding: chunked\r\n\r\n5\r\nfirst\r\n")),
    ],
)
async def test_a_body_that_does_not_end_leaves_the_status_and_what_arrived(reply: Reply) -> None:
    answer = await attempt(reply, SHORT_S)

    assert (answer.status, answer.error) == (200, None)
    assert answer.excerpt.rstrip("\ufffd") == "first"


@pytest.mark.parametrize(
    ("reply", "failure"),
    [
        (then_close(saying(b"")), Failure.CONNECTION_FAILED),
        (then_close(saying(HEAD + b"content-le")), Failure.CONNECTION_FAILED),
        (saying(b"SSH-2.0-OpenSSH_9.6\r\n"), Failure.INVALID_ANSWER),
        (saying(b"\x00\xff" * 500), Failure.INVALID_ANSWER),
        (saying(b"HTTP/1.1 abc OK\r\n\r\n"), Failure.INVALID_ANSWER),
        (saying(b"HTTP/1.1 99999 OK\r\n\r\n"), Failure.INVALID_ANSWER),
        (saying(HEAD + b"content-length: -1\r\n\r\n"), Failure.INVALID_ANSWER),
        (saying(HEAD + b"content-length: 2\r\ncontent-length: 3\r\n\r\n"), Failure.INVALID_ANSWER),
        (saying(HEAD + b"transfer-encoding: chunked\r\n\r\nnonsense\r\n"), Failure.INVALID_ANSWER),
        (status(200, f"a: {64 * 1024 * 'x'}"), Failure.INVALID_ANSWER),
        (status(200, *(f"a{at}: {1000 * 'x'}" for at in range(65))), Failure.INVALID_ANSWER),
        (saying(b"HTTP/1.1 200 " + 64 * 1024 * b"x"), Failure.INVALID_ANSWER),
    ],
)
async def test_what_is_no_answer_of_http_says_why(reply: Reply, failure: Failure) -> None:
    answer = await attempt(reply)

    assert (answer.status, answer.error) == (None, failure)


async def large_parts(writer: asyncio.StreamWriter) -> AsyncIterator[int]:
    """Write an answer of 100 MB, and yield the size of each part."""
    writer.write(HEAD + b"content-length: %d\r\n\r\n" % (100 * MEGABYTE))
    part = 65536 * b"x"
    for _ in range(1600):
        writer.write(part)
        await writer.drain()
        yield len(part)


async def large_answer(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """An answer of 100 MB."""
    async for _size in large_parts(writer):
        pass


async def test_only_the_beginning_of_a_large_body_is_read() -> None:
    written = 0

    async def reply(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal written
        async for size in large_parts(writer):
            written += size

    answer = await attempt(reply)

    assert (answer.status, answer.excerpt) == (200, EXCERPT_BYTES * "x")
    assert written < 20 * MEGABYTE  # the rest of what was written stayed in buffers of the system


async def test_a_connection_with_the_rest_of_a_body_is_dropped() -> None:
    async with receiving(status(200, body=MEGABYTE * b"x")) as receiver, a_sender() as sender:
        answers = [await sender.send(a_message(receiver.url())) for _ in range(2)]

    assert [answer.status for answer in answers] == [200, 200]
    assert receiver.connections == 2


@pytest.mark.parametrize("encoding", ["gzip", "deflate", "br", "zstd"])
async def test_a_compressed_body_is_not_decompressed(encoding: str) -> None:
    bomb = gzip.compress(bytes(10 * MEGABYTE))

    answer = await attempt(status(200, f"content-encoding: {encoding}", body=bomb))

    assert answer.status == 200
    assert answer.excerpt.startswith("\ufffd\ufffd")  # the first two bytes of gzip, as they are


async def test_many_large_answers_at_once_take_little_memory() -> None:
    async with receiving(large_answer) as receiver, a_sender() as sender:
        await sender.send(a_message(receiver.url()))
        tracemalloc.start()
        try:
            answers = await asyncio.gather(*(sender.send(a_message(receiver.url())) for _ in range(50)))
            _, peak = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()

    assert [answer.status for answer in answers] == [200] * 50
    assert peak < 50 * MEGABYTE  # with the receiver's own buffers


@pytest.mark.filterwarnings("ignore:Sending a large body")  # larger than any buffer of the system
async def test_a_receiver_that_reads_nothing_keeps_nothing_here() -> None:
    """The system ends a connection on which bytes wait for longer than an attempt may take."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        receiver = Receiver(server.getsockname()[1])
        async with a_sender(SHORT_S) as sender:
            answer = await sender.send(a_message(receiver.url(), body=20 * MEGABYTE * "x"))
            await asyncio.to_thread(_accept_and_write_until_reset, server)

    assert answer.error is Failure.TIMED_OUT


def _accept_and_write_until_reset(server: socket.socket) -> None:
    connection, _ = server.accept()
    with connection, suppress(ConnectionError):
        for _ in range(1000):  # ten seconds
            connection.send(b"x")
            sleep(0.01)
        pytest.fail("the connection is still open")
