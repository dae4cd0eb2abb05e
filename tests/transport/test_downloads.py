"""Downloads over real connections: whole or broken, and bounded where clients are slow or many."""

import asyncio
import socket
from collections.abc import AsyncGenerator, Callable, Iterator, Mapping, MutableMapping, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from threading import Event
from typing import Any

import httpx
import pytest
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import BaseRoute

from graph.access.rate import Rates
from graph.core.errors import BadUserInput, DatabaseUnavailable, Overloaded, RateLimited, TooManySubscriptions
from graph.domain import Domain
from graph.domains import DOMAINS
from graph.settings import Settings as CoreSettings
from graph.transport.downloads import Download, Sending, download_route
from graph.transport.exchange import ExecutionLimits
from graph.transport.reads import MOST_TRIES, Reads
from graph.work.account import Work, WorkLimits, charge_rows
from graph.work.length import Length
from graph.work.slots import Slots
from tests.processes import TIMEOUT_S
from tests.service import Service, running
from tests.settings import Settings
from tests.transport.processes import a_process, an_exchange

PIECE = b"x" * 65_536


class Made:
    """What the routes have made."""

    def __init__(self) -> None:
        self.pieces = 0
        self.is_closed = Event()


def numbers(made: Made) -> Domain:
    """A domain whose routes answer with many pieces."""

    async def pieces(reads: Reads, most: int, error: Exception | None) -> AsyncGenerator[bytes, None]:
        async def read() -> bytes:
            await charge_rows(read=10)
            return PIECE

        try:
            for _ in range(most):
                made.pieces += 1
                yield await reads.run(read)
            if error:
                raise error
        finally:
            made.is_closed.set()

    async def answer(most: int, error: Exception | None, request: Request, reads: Reads) -> Download:
        return Download("text/plain", pieces(reads, most, error))

    async def refuse(request: Request, reads: Reads) -> Response:
        raise BadUserInput("no")

    async def fail(request: Request, reads: Reads) -> Response:
        raise ValueError("a secret")

    async def short(request: Request, reads: Reads) -> Response:
        return PlainTextResponse("short", 202)

    def routes(settings: CoreSettings) -> Sequence[BaseRoute]:
        answers: Mapping[str, Callable[..., Any]] = {
            "ten": partial(answer, 10, None),
            "endless": partial(answer, 10**9, None),
            "broken": partial(answer, 3, DatabaseUnavailable("the disk")),
            "defect": partial(answer, 3, ValueError("a defect")),
            "refuse": refuse,
            "fail": fail,
            "short": short,
        }
        return [download_route(f"/{name}", each) for name, each in answers.items()]

    return Domain(name="numbers", routes=routes)


@pytest.fixture
def made() -> Made:
    return Made()


@pytest.fixture
def service(tmp_path: Path, made: Made) -> Iterator[Service]:
    with serving_numbers(tmp_path, made) as service:
        yield service


@contextmanager
def serving_numbers(tmp_path: Path, made: Made, **others: Any) -> Iterator[Service]:
    settings = Settings(store=f"sqlite:///{tmp_path}/numbers.db", **others)
    with running(settings, domains=(*DOMAINS, numbers(made))) as service:
        yield service


def test_a_download_arrives_whole(service: Service) -> None:
    answer = service.http.get("/ten")

    assert (answer.status_code, answer.content) == (200, PIECE * 10)
    assert answer.headers["cache-control"] == "no-store"
    assert service.http.get("/short").status_code == 202


def test_a_failure_breaks_the_connection_so_that_no_part_passes_for_the_whole(service: Service) -> None:
    for path in ("/broken", "/defect"):
        with pytest.raises(httpx.RemoteProtocolError, match="incomplete chunked read"):
            service.http.get(path)

        assert service.http.get("/short").status_code == 202


def test_a_refusal_before_the_first_piece_is_an_answer(service: Service) -> None:
    assert service.http.get("/refuse").json()["errors"][0]["extensions"]["code"] == "BAD_USER_INPUT"
    failed = service.http.get("/fail")
    assert failed.status_code == 500
    assert failed.json()["errors"][0]["extensions"]["code"] == "INTERNAL_SERVER_ERROR"
    assert "secret" not in failed.text
    assert service.http.post("/ten").status_code == 405


def test_head_makes_no_piece(service: Service, made: Made) -> None:
    assert service.http.head("/ten").status_code == 200
    assert made.pieces == 0


def test_a_client_that_does_not_read_stops_the_making(service: Service, made: Made) -> None:
    """Beyond the buffers of the two sockets and of the server, nothing is made."""
    with connected(service, "/endless", buffer=16_384):
        before = -1
        while made.pieces != before:  # every other answer gives it time to go on
            before = made.pieces
            for _ in range(50):
                service.http.get("/short")
        assert 0 < made.pieces < 200
    assert made.is_closed.wait(TIMEOUT_S)


def test_a_caller_has_a_bounded_number_of_downloads(tmp_path: Path, made: Made) -> None:
    with serving_numbers(tmp_path, made, max_heavy_operations=2) as service:
        with connected(service, "/endless"), connected(service, "/endless"):
            refused = service.http.get("/endless")
            assert (refused.status_code, refused.json()["errors"][0]["extensions"]["code"]) == (
                429,
                "TOO_MANY_SUBSCRIPTIONS",
            )
            assert service.http.post("/graphql", json={"query": "{ __typename }"}).status_code == 200
        assert made.is_closed.wait(TIMEOUT_S)  # by clients that have left
        while service.http.get("/ten").status_code == 429:  # one that is closed counts no more
            pass


@contextmanager
def connected(service: Service, path: str, *, buffer: int = 65_536) -> Iterator[socket.socket]:
    """A connection on which the head of an answer has come, and nothing more is read."""
    with socket.socket() as connection:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, buffer)
        connection.connect(("127.0.0.1", int(service.url.rpartition(":")[2])))
        token = service.http.headers["authorization"]
        connection.sendall(f"GET {path} HTTP/1.1\r\nHost: x\r\nAuthorization: {token}\r\n\r\n".encode())
        assert connection.recv(12) == b"HTTP/1.1 200"
        yield connection


async def test_no_read_of_a_download_is_refused_from_its_beginning_on() -> None:
    """Neither for lack of room or points, nor for what it costs, nor for its time."""
    work = Work(WorkLimits.of(1))
    slept: list[float] = []

    async def a_minute_later(seconds: float) -> None:
        slept.append(seconds)

    rates = Rates(200, clock=lambda: 120.0 * len(slept), sleep=a_minute_later)
    reads = reads_of_ada(rates, work, limits=ExecutionLimits(10, 0, 0))
    tries = 0

    async def read() -> None:
        nonlocal tries
        tries += 1
        await charge_rows(read=1505)
        await asyncio.sleep(0)
        if tries == 1:
            raise Overloaded

    reads.begin_download()
    await reads.run(read)
    await reads.run(read)

    assert slept
    assert tries == 3
    assert reads.spent == 451, "parts of points are charged with the next read"


async def test_a_download_waits_while_its_caller_has_too_much_heavy_work() -> None:
    work = Work(WorkLimits.of(1))
    reads = reads_of_ada(Rates(), work)
    reads.begin_download()
    assert work.heavy.take("subject:ada")
    done = asyncio.Event()

    async def read() -> None:
        done.set()

    reading = asyncio.ensure_future(reads.run(read))
    for _ in range(2 * MOST_TRIES):  # each time it tries once, since its pause is none
        await asyncio.sleep(0)
        assert not done.is_set()
    work.heavy.release("subject:ada")
    await reading
    assert done.is_set()
    assert not work.heavy.busy


async def test_a_later_read_waits_for_points_and_for_room_where_the_first_is_refused() -> None:
    slept: list[float] = []
    tries = 0

    async def a_minute_later(seconds: float) -> None:
        assert not work.operations[Length.LONG].busy  # others can use it while this caller waits
        slept.append(seconds)

    work = Work(WorkLimits.of(1))
    reads = reads_of_ada(Rates(200, clock=lambda: 120.0 * len(slept), sleep=a_minute_later), work)

    async def read() -> None:
        await charge_rows(read=1500)

    async def crowded() -> None:
        nonlocal tries
        tries += 1
        await asyncio.sleep(0)
        if tries < 3:
            raise Overloaded

    await reads.run(read)
    with pytest.raises(RateLimited):
        await reads.run(read)
    reads.exchange.is_sending = True
    await reads.run(read)
    assert slept
    assert reads.spent == 450

    reads = reads_of_ada(Rates(), work)
    with pytest.raises(Overloaded):
        await reads.run(crowded)
    reads.exchange.is_sending = True
    await reads.run(crowded)
    assert tries == 3


def reads_of_ada(rates: Rates, work: Work, **given: Any) -> Reads:
    return Reads(an_exchange(a_process(rates=rates, work=work, **given)), pause_s=0)


async def test_an_answer_counts_as_a_download_as_soon_as_its_client_is_slow() -> None:
    """Also a short one. Beyond the limit of downloads, slow clients are cut off: each holds a page in memory."""
    slots, reading = Slots(of_caller=1), asyncio.Event()
    sent: list[bytes] = []

    async def send(message: MutableMapping[str, Any]) -> None:
        if message["body"] == b"slow":
            await reading.wait()
        sent.append(message["body"])

    def count() -> None:
        counted.enter_context(slots.counted("anna", "downloads"))

    with ExitStack() as counted:
        first = Sending(send, count, slow_s=0)
        waiting = asyncio.create_task(first(b"slow", more=True))
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        with pytest.raises(TooManySubscriptions):
            await Sending(send, count, slow_s=0)(b"slow", more=True)
        reading.set()
        await waiting
        await first(b"", more=False)
    assert sent == [b"slow", b""]
