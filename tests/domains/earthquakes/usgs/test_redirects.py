"""Redirects of USGS: those within its origin are followed, and no other server sees so much as a connection."""

import socket
from collections.abc import AsyncIterator, Iterator

import httpx
import pytest

from graph.core.errors import InvalidUpstreamResponse
from graph.domains.earthquakes.usgs.client import UsgsClient
from graph.domains.earthquakes.usgs.redirects import may_follow
from graph.domains.earthquakes.usgs.requests import EventQuery
from tests.domains.earthquakes.usgs.usgs_server import ALL_WEEK, FDSN_COUNT, UsgsServer, redirect, running_usgs

ELSEWHERE = "USGS redirects to another server, which is not followed: ask the operator to check the address of USGS."


@pytest.fixture
async def client(usgs: UsgsServer) -> AsyncIterator[UsgsClient]:
    async with httpx.AsyncClient(trust_env=False) as http:
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


@pytest.mark.parametrize("location", ["http://127.0.0.1:{port}/", "//127.0.0.1:{port}/x", "https://127.0.0.1:{port}/"])
async def test_another_port_gets_no_connection(
    client: UsgsClient, usgs: UsgsServer, listener: socket.socket, location: str
) -> None:
    usgs.answer_next(redirect(location.format(port=listener.getsockname()[1])))

    with pytest.raises(InvalidUpstreamResponse) as caught:
        await client.fetch(EventQuery())

    assert not was_connected_to(listener)
    assert (str(caught.value), caught.value.retries, len(usgs.requests)) == (ELSEWHERE, 0, 1)


async def test_another_server_gets_no_request_even_after_a_redirect_that_is_followed(
    client: UsgsClient, usgs: UsgsServer
) -> None:
    with running_usgs() as other:
        usgs.answer_next(redirect(ALL_WEEK), redirect(other.url + ALL_WEEK))

        with pytest.raises(InvalidUpstreamResponse, match="redirects to another server"):
            await client.fetch(EventQuery())

        assert (len(usgs.requests), other.requests) == (2, [])


async def test_a_count_is_not_fetched_from_another_server_either(client: UsgsClient, usgs: UsgsServer) -> None:
    with running_usgs() as other:
        usgs.answer_next(redirect(other.url + FDSN_COUNT))

        with pytest.raises(InvalidUpstreamResponse, match="redirects to another server"):
            await client.count(EventQuery())

        assert other.requests == []


async def test_a_redirect_to_the_whole_address_of_the_same_server_is_followed(
    client: UsgsClient, usgs: UsgsServer
) -> None:
    usgs.answer_next(redirect(usgs.url + ALL_WEEK))

    assert len((await client.fetch(EventQuery())).features) == 2124


@pytest.mark.parametrize(
    "location",
    ["http://[", "http://127.0.0.1:99999/", "x:y", "file:///etc/passwd", "https:///x", "http://localhost:{port}/"],
)
async def test_a_malformed_or_foreign_redirect_is_an_invalid_answer(
    client: UsgsClient, usgs: UsgsServer, location: str
) -> None:
    usgs.answer_next(redirect(location.format(port=httpx.URL(usgs.url).port)))

    with pytest.raises(InvalidUpstreamResponse) as caught:
        await client.fetch(EventQuery())

    assert (caught.value.retries, len(usgs.requests)) == (0, 1)


@pytest.mark.parametrize(
    ("original", "target", "followed"),
    [
        ("http://usgs.test/a", "http://usgs.test/b", True),
        ("http://usgs.test/a", "http://USGS.test:80/b", True),
        ("https://usgs.test/a", "https://usgs.test:443/b", True),
        ("http://usgs.test:8080/a", "http://usgs.test:8080/b", True),
        ("http://usgs.test/a", "https://usgs.test/b", True),
        ("http://usgs.test:80/a", "https://usgs.test:443/b", True),
        ("https://usgs.test/a", "http://usgs.test/b", False),
        ("http://usgs.test/a", "https://usgs.test:8443/b", False),
        ("http://usgs.test:8080/a", "https://usgs.test/b", False),
        ("http://usgs.test:443/a", "https://usgs.test/b", False),
        ("http://usgs.test/a", "http://usgs.test:81/b", False),
        ("http://usgs.test/a", "http://www.usgs.test/b", False),
        ("http://usgs.test/a", "http://usgs.test@evil.test/b", False),
        ("http://usgs.test/a", "ftp://usgs.test:80/b", False),
        ("http://[::1]/a", "http://[::1]:80/b", True),
        ("http://127.0.0.1/a", "http://127.1/b", False),
    ],
)
def test_an_origin_is_scheme_host_and_port_and_an_upgrade_keeps_the_host(
    original: str, target: str, followed: bool
) -> None:
    assert may_follow(httpx.URL(target), httpx.URL(original)) is followed
