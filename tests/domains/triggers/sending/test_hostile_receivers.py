"""A receiver that does its worst costs one attempt: a bounded time, and a few bytes."""

import asyncio
import gzip
import socket
from contextlib import suppress
from time import sleep

import pytest

from graph.domains.triggers.sending.answers import EXCERPT_BYTES, Failure, SendResult
from graph.domains.triggers.sending.connections import RECEIVE_BUFFER_BYTES, open_socket
from graph.domains.triggers.sending.sender import TIMEOUT_S
from tests.domains.triggers.sending.receivers import Receiver, Reply, outbound, receiving, saying, status, then_close
from tests.domains.triggers.sending.receivers import answer as found

SHORT_S = 0.1
LONGER_S = 1.0  # in which a busy machine reads what has arrived
HEAD = b"HTTP/1.1 200 OK\r\n"
MEGABYTE = 1024 * 1024


async def attempt(reply: Reply, timeout_s: float = TIMEOUT_S) -> SendResult:
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


async def test_an_answer_comes_after_five_interim_responses_at_most() -> None:
    interim, final = b"HTTP/1.1 102 Processing\r\n\r\n", b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n"

    assert (await attempt(saying(5 * interim + final))).status == 200
    for heads in (6 * interim + final, 100_000 * interim):
        assert (await attempt(saying(heads))).error is Failure.INVALID_ANSWER


@pytest.mark.parametrize("junk", [b"HTTP/1.1 102 \r\n\r\n", b"HTTP/1.1 200 \r\ncontent-length: 0\r\n\r\n"])
async def test_a_receiver_that_answers_without_a_request_is_cut_off(junk: bytes) -> None:
    written: asyncio.Future[int] = asyncio.get_running_loop().create_future()  # bytes of it, until the end
    answered = asyncio.Event()

    async def reply(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4096)
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n")
        size = 0
        await answered.wait()
        with suppress(ConnectionError):
            while size < MEGABYTE:
                writer.write(50 * junk)
                await writer.drain()
                size += 50 * len(junk)
        written.set_result(size)

    async with receiving(reply) as receiver, outbound() as ours:
        assert (await ours.send(receiver.url())).status == 200
        answered.set()
        assert await written < MEGABYTE


def test_the_system_keeps_little_of_what_a_receiver_sends() -> None:
    """So little is parsed in one turn of the event loop, even of chunks of one byte."""
    with open_socket(found("127.0.0.1"), longest_wait_s=1) as opened:
        assert opened.getsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF) <= 2 * RECEIVE_BUFFER_BYTES


async def test_only_the_beginning_of_a_large_body_is_read_and_its_connection_dropped() -> None:
    written = 0

    async def reply(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal written
        writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4096)
        writer.write(HEAD + b"content-length: %d\r\n\r\n" % (100 * MEGABYTE))
        for _part in range(1600):
            writer.write(65536 * b"x")
            await writer.drain()
            written += 65536

    async with receiving(reply) as receiver, outbound() as ours:
        answers = [await ours.send(receiver.url()) for _ in range(2)]

    assert [(answer.status, answer.excerpt) for answer in answers] == [(200, EXCERPT_BYTES * "x")] * 2
    assert written < MEGABYTE  # the rest of what was written stayed in buffers of the system
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
