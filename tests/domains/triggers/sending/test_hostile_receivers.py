"""A receiver that does its worst costs one attempt: a bounded time, and a few bytes."""

import asyncio
import gzip
import socket
from contextlib import suppress
from time import sleep

import pytest

from graph.domains.triggers.sending.answers import EXCERPT_BYTES, Answer, Failure
from graph.domains.triggers.sending.sender import TIMEOUT_S
from tests.domains.triggers.sending.receivers import (
    Receiver,
    Reply,
    outbound,
    receiving,
    saying,
    status,
    then_close,
)

SHORT_S = 0.1
LONGER_S = 1.0  # in which a busy machine reads what has arrived
HEAD = b"HTTP/1.1 200 OK\r\n"
MEGABYTE = 1024 * 1024


async def attempt(reply: Reply, timeout_s: float = TIMEOUT_S) -> Answer:
    async with receiving(reply) as receiver, outbound(timeout_s=timeout_s) as ours:
        return await ours.send(receiver.url())


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


ENDLESS_HEADS = [
    *(then_silence(b""), then_silence(b"HTTP/1.1 2"), then_silence(HEAD + b"content-length: 2\r\n")),
    *(dripping(b"", b"H"), dripping(HEAD, b"a: b\r\n"), dripping(HEAD + b"a: ", b"b")),
    dripping(b"", b"HTTP/1.1 100 Continue\r\n\r\n"),
]
ENDLESS_BODIES = [
    then_silence(HEAD + b"content-length: 9\r\n\r\nfirst"),
    dripping(HEAD + b"transfer-encoding: chunked\r\n\r\n5\r\nfirst\r\n", b"1\r\n\x00\r\n"),
    dripping(HEAD + b"content-type: text/event-stream\r\n\r\nfirst", b"\x00"),
    then_close(saying(HEAD + b"content-length: 9\r\n\r\nfirst")),
    then_close(saying(HEAD + b"transfer-encoding: chunked\r\n\r\n5\r\nfirst\r\n")),
]


async def test_a_head_that_does_not_end_has_no_answer() -> None:
    for answer in await asyncio.gather(*[attempt(reply, SHORT_S) for reply in ENDLESS_HEADS]):
        assert (answer.status, answer.excerpt) == (None, "")
        assert answer.error in (Failure.TIMED_OUT, Failure.INVALID_ANSWER)  # too many headers may come first


async def test_a_body_that_does_not_end_leaves_the_status_and_what_arrived() -> None:
    for answer in await asyncio.gather(*[attempt(reply, LONGER_S) for reply in ENDLESS_BODIES]):
        assert (answer.status, answer.error) == (200, None)
        assert answer.excerpt.rstrip("\ufffd") == "first"


NO_ANSWERS = [
    *(saying(b"SSH-2.0-OpenSSH_9.6\r\n"), saying(b"\x00\xff" * 500), saying(b"HTTP/1.1 abc OK\r\n\r\n")),
    *(saying(b"HTTP/1.1 99999 OK\r\n\r\n"), saying(HEAD + b"content-length: -1\r\n\r\n")),
    saying(HEAD + b"content-length: 2\r\ncontent-length: 3\r\n\r\n"),
    saying(HEAD + b"transfer-encoding: chunked\r\n\r\nnonsense\r\n"),
    status(200, f"a: {64 * 1024 * 'x'}"),
    status(200, *(f"a{at}: {1000 * 'x'}" for at in range(65))),
    saying(b"HTTP/1.1 200 " + 64 * 1024 * b"x"),
]


async def test_what_is_no_answer_of_http_says_why() -> None:
    for reply in (then_close(saying(b"")), then_close(saying(HEAD + b"content-le"))):
        answer = await attempt(reply)
        assert (answer.status, answer.error) == (None, Failure.CONNECTION_FAILED)
    for reply in NO_ANSWERS:
        answer = await attempt(reply)
        assert (answer.status, answer.error) == (None, Failure.INVALID_ANSWER)


async def test_only_the_beginning_of_a_large_body_is_read_and_its_connection_dropped() -> None:
    written = 0

    async def reply(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal written
        writer.write(HEAD + b"content-length: %d\r\n\r\n" % (100 * MEGABYTE))
        for _part in range(1600):
            writer.write(65536 * b"x")
            await writer.drain()
            written += 65536

    async with receiving(reply) as receiver, outbound() as ours:
        answers = [await ours.send(receiver.url()) for _ in range(2)]

    assert [(answer.status, answer.excerpt) for answer in answers] == [(200, EXCERPT_BYTES * "x")] * 2
    assert written < 40 * MEGABYTE  # the rest of what was written stayed in buffers of the system
    assert receiver.connections == 2


async def test_a_compressed_body_is_not_decompressed() -> None:
    bomb = gzip.compress(bytes(10 * MEGABYTE))
    for encoding in ("gzip", "deflate", "br", "zstd"):
        answer = await attempt(status(200, f"content-encoding: {encoding}", body=bomb))

        assert answer.status == 200
        assert answer.excerpt.startswith("\ufffd\ufffd")  # the first two bytes of gzip, as they are


@pytest.mark.filterwarnings("ignore:Sending a large body")  # larger than any buffer of the system
async def test_a_receiver_that_reads_nothing_keeps_nothing_here() -> None:
    """The system ends a connection on which bytes wait for longer than an attempt may take."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        receiver = Receiver(server.getsockname()[1])
        async with outbound(timeout_s=SHORT_S) as ours:
            answer = await ours.send(receiver.url(), body=20 * MEGABYTE * "x")
            await asyncio.to_thread(_accept_and_write_until_reset, server)

    assert answer.error is Failure.TIMED_OUT


def _accept_and_write_until_reset(server: socket.socket) -> None:
    connection, _ = server.accept()
    with connection, suppress(ConnectionError):
        for _ in range(1000):  # ten seconds
            connection.send(b"x")
            sleep(0.01)
        pytest.fail("the connection is still open")
