"""Redirects of USGS: those within its origin are followed, and no other server sees so much as a connection."""

import socket
from collections.abc import AsyncIterator, Iterator

import httpx
import pytest

from graph.domains.earthquakes.usgs.client import UsgsClient, may_follow
from graph.domains.earthquakes.usgs.errors import InvalidUpstreamResponse
from graph.domains.earthquakes.usgs.requests import EventQuery
from tests.domains.earthquakes.ingest.ingests import plain_http
from tests.domains.earthquakes.usgs.test_client import failure
from tests.domains.earthquakes.usgs.usgs_server import ALL_WEEK, FDSN_COUNT, UsgsServer, redirect, running_usgs

ELSEWHERE = "USGS redirects to another server, which is not followed: ask the operator to check the address of USGS."


@pytest.fixture
async def client(usgs: UsgsServer) -> AsyncIterator[UsgsClient]:
    async with plain_http() as http:
        yield UsgsClient(http, usgs.url, timeout_s=60)


@pytest.fixture
def listener() -> Iterator[socket.socket]:
    """A socket that listens and accepts nothing by itself: a connection waits in its queue."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.setblocking(False)
        yield listener


def was_connected_to(listener: socket.socket) -> bool:
    try:
        connection, _ = listener.accept()
    except BlockingIOError:
        return False
    connection.close()
    return True


async def test_another_port_gets_no_connection_and_a_malformed_redirect_is_an_invalid_answer(
    client: UsgsClient, usgs: UsgsServer, listener: socket.socket
) -> None:
    """No answer says an address."""
    port, own = listener.getsockname()[1], httpx.URL(usgs.url).port
    elsewhere = (f"http://127.0.0.1:{port}/", f"//127.0.0.1:{port}/x", f"https://127.0.0.1:{port}/")
    malformed = ("http://[", "http://127.0.0.1:99999/", "x:y", "file:///etc/passwd", "https:///x")
    for location in (*elsewhere, *malformed, f"http://localhost:{own}/"):
        usgs.requests.clear()
        usgs.answer_next(redirect(location))

        failed: InvalidUpstreamResponse = await failure(client.fetch(EventQuery()))

        assert not was_connected_to(listener)
        assert (failed.retries, len(usgs.requests)) == (0, 1)
        assert str(failed) == ELSEWHERE or location not in elsewhere
        assert "127.0.0.1" not in str(failed)
        assert "http" not in str(failed)


async def test_another_server_gets_no_request_even_after_a_redirect_that_is_followed(
    client: UsgsClient, usgs: UsgsServer
) -> None:
    with running_usgs() as other:
        to = (usgs.url + ALL_WEEK, other.url + ALL_WEEK, other.url + FDSN_COUNT)
        usgs.answer_next(*map(redirect, to))

        for asking in (client.fetch(EventQuery()), client.count(EventQuery())):
            with pytest.raises(InvalidUpstreamResponse, match="redirects to another server"):
                await asking

        assert (len(usgs.requests), other.requests) == (3, [])


FOLLOWED = [
    ("http://usgs.test/a", "http://usgs.test/b"),
    ("http://usgs.test/a", "http://USGS.test:80/b"),
    ("https://usgs.test/a", "https://usgs.test:443/b"),
    ("http://usgs.test:8080/a", "http://usgs.test:8080/b"),
    ("http://usgs.test/a", "https://usgs.test/b"),
    ("http://usgs.test:80/a", "https://usgs.test:443/b"),
    ("http://[::1]/a", "http://[::1]:80/b"),
]
NOT_FOLLOWED = [
    ("https://usgs.test/a", "http://usgs.test/b"),
    ("http://usgs.test/a", "https://usgs.test:8443/b"),
    ("http://usgs.test:8080/a", "https://usgs.test/b"),
    ("http://usgs.test:443/a", "https://usgs.test/b"),
    ("http://usgs.test/a", "http://usgs.test:81/b"),
    ("http://usgs.test/a", "http://www.usgs.test/b"),
    ("http://usgs.test/a", "http://usgs.test@evil.test/b"),
    ("http://usgs.test/a", "ftp://usgs.test:80/b"),
    ("http://127.0.0.1/a", "http://127.1/b"),
]


def test_an_origin_is_scheme_host_and_port_and_an_upgrade_keeps_the_host() -> None:
    for cases, followed in ((FOLLOWED, True), (NOT_FOLLOWED, False)):
        for original, target in cases:
            assert may_follow(httpx.URL(target), httpx.URL(original)) is followed, (original, target)
