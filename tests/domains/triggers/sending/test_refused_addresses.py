"""Nothing connects to an address that is not public: neither by itself, nor in any spelling, nor by a name."""

from collections.abc import AsyncIterator
from dataclasses import replace
from itertools import chain, repeat
from typing import Any

import pytest

from graph.domains.triggers.sending.answers import Failure
from graph.domains.triggers.sending.destinations import Destinations, EndpointRefused
from graph.domains.triggers.sending.resolver import LookUp, Resolver
from graph.domains.triggers.sending.sender import Sender
from tests.domains.triggers.sending.receivers import (
    LOOPBACK,
    LOOPBACK_HOSTS,
    Receiver,
    a_message,
    answer,
    names,
    receiving,
    status,
)

# Loopback, private, link-local, and all else that the registries of IANA call special.
_ADDRESSES = """
    127.0.0.1 127.0.0.2 127.255.255.255 0.0.0.0 0.1.2.3 10.0.0.1 10.255.255.255 100.64.0.1 100.127.255.255
    100.100.100.200 168.63.129.16 169.254.0.1 169.254.169.254 169.254.170.2 172.16.0.1 172.31.255.255 192.0.0.1
    192.0.0.192 192.0.2.1 192.88.99.1 192.168.0.1 192.168.255.255 198.18.0.1 198.19.255.255 198.51.100.7 203.0.113.9
    224.0.0.1 239.255.255.250 240.0.0.1 255.255.255.254 255.255.255.255
    :: ::1 ::2 ::7f00:1 ::127.0.0.1 ::ffff:127.0.0.1 ::ffff:7f00:1 ::ffff:10.0.0.1 ::ffff:169.254.169.254
    ::ffff:0:127.0.0.1 64:ff9b::7f00:1 64:ff9b::8.8.8.8 64:ff9b:1::a00:1 100::1 100:0:0:1::1 2001::1
    2001:0:4136:e378:8000:63bf:3fff:fdd2 2001:2::1 2001:10::1 2001:20::1 2001:30::1 2001:db8::1 2002:7f00:1::1
    2002:808:808::1 3fff::1 4000::1 5f00::1 fc00::1 fd00:ec2::254 fd12:3456:789a::1 fe80::1 febf::1 fec0::1 ff02::1
    ff05::1:3
"""

# Other spellings of loopback, as inet_aton, IDNA and browsers know them.
_SPELLINGS = """
    127.1 127.0.1 2130706433 0x7f000001 0x7f.0.0.1 0x7f.1 0177.0.0.1 017700000001 0 0x0 127.0.0.1. 127.0.0.01
    127.0.0.0x1 00000127.0.0.1 １２７.０.０.１ ①②⑦.0.0.1 127。0。0。1 127．0．0．1 127｡1 127%2e0%2e0%2e1 %31%32%37.0.0.1
    [0:0:0:0:0:0:0:1] [0000::0001] [::1%lo] [::1%251] [fe80::1%eth0] [::FFFF:127.0.0.1] [::ffff:0x7f.1] [v1.127]
    [127.0.0.1] localhost LocalHost ⓛⓞⓒⓐⓛⓗⓞⓢⓣ
"""


def bracketed(address: str) -> str:
    """The address as the host of a URL."""
    return f"[{address}]" if ":" in address else address


ADDRESSES = _ADDRESSES.split()
HOSTS = [*map(bracketed, ADDRESSES), *_SPELLINGS.split()]


@pytest.fixture
async def inside() -> AsyncIterator[Receiver]:
    """A server on both kinds of loopback, to which nothing may connect."""
    async with receiving(addresses=LOOPBACK_HOSTS) as receiver:
        yield receiver


class Attempt:
    """A check of a URL, and an attempt to send to it."""

    def __init__(self, look_up: LookUp | None = None, destinations: Destinations | None = None) -> None:
        self._destinations = destinations or Destinations(http=True)
        self._changes: dict[str, Any] = {"look_up": look_up} if look_up else {}

    async def check(self, url: str) -> str:
        """What the check says; empty if it allows the URL."""
        resolver = Resolver(self._destinations, **self._changes)
        try:
            await resolver.check(url)
        except EndpointRefused as refused:
            return str(refused)
        finally:
            await resolver.close()
        return ""

    async def send(self, url: str) -> Failure | int | None:
        """The error of the attempt, or the status that it got."""
        resolver = Resolver(self._destinations, **self._changes)
        try:
            async with Sender(resolver) as sender:
                answer = await sender.send(a_message(url))
        finally:
            await resolver.close()
        assert (answer.status is None) != (answer.error is None)
        return answer.error or answer.status


@pytest.mark.parametrize("host", HOSTS)
async def test_a_host_that_is_not_public_is_refused_and_never_connected(inside: Receiver, host: str) -> None:
    attempt = Attempt()

    assert await attempt.check(inside.url(host))
    assert await attempt.send(inside.url(host)) is Failure.REFUSED_ADDRESS
    assert inside.connections == 0


@pytest.mark.parametrize("address", [*ADDRESSES, "fe80::1%eth0", "::1%lo", "0177.0.0.1", "127.1", "nonsense"])
async def test_a_name_of_an_address_that_is_not_public_is_refused_and_never_connected(
    inside: Receiver, address: str
) -> None:
    attempt = Attempt(names(hook_example=address))

    message = await attempt.check(inside.url("hook.example"))
    assert message == "`url` has a host without a public address: give one that can be reached over the internet."
    assert await attempt.send(inside.url("hook.example")) is Failure.REFUSED_ADDRESS
    assert inside.connections == 0


@pytest.mark.parametrize("addresses", [["8.8.8.8", "127.0.0.1"], ["127.0.0.1", "8.8.8.8"], ["2606:4700::1111", "::1"]])
async def test_one_refused_address_refuses_the_name(inside: Receiver, addresses: list[str]) -> None:
    attempt = Attempt(names(hook_example=addresses))

    assert await attempt.check(inside.url("hook.example"))
    assert await attempt.send(inside.url("hook.example")) is Failure.REFUSED_ADDRESS
    assert inside.connections == 0


async def test_a_name_that_turns_inward_after_its_check_is_never_connected(inside: Receiver) -> None:
    addresses = chain(["8.8.8.8"], repeat("127.0.0.1"))
    attempt = Attempt(lambda *_, **__: [answer(next(addresses))])

    assert await attempt.check(inside.url("hook.example")) == ""
    assert await attempt.send(inside.url("hook.example")) is Failure.REFUSED_ADDRESS
    assert inside.connections == 0


async def test_a_name_that_turns_inward_between_two_attempts_is_not_connected_again() -> None:
    """An address that was looked up for one connection does not serve for the next."""
    addresses = chain(["127.0.0.1"], repeat("10.0.0.1"))
    resolver = Resolver(Destinations(LOOPBACK, http=True), look_up=lambda *_, **__: [answer(next(addresses))])
    async with receiving(status(200, "connection: close")) as receiver, Sender(resolver) as sender:
        first, second = [await sender.send(a_message(receiver.url("hook.example"))) for _ in range(2)]
    await resolver.close()

    assert (first.status, second.error, receiver.connections) == (200, Failure.REFUSED_ADDRESS, 1)


async def test_a_name_is_connected_at_the_address_that_was_checked(inside: Receiver) -> None:
    """A second look-up for the connection would find an address where nobody listens, which is refused."""
    addresses = chain(["127.0.0.1"], repeat("10.0.0.1"))
    attempt = Attempt(lambda *_, **__: [answer(next(addresses))], Destinations(LOOPBACK, http=True))

    assert await attempt.send(inside.url("hook.example")) == 200
    assert inside.connections == 1


@pytest.mark.parametrize("host", [*map(bracketed, LOOPBACK_HOSTS), "[::ffff:127.0.0.1]", "localhost"])
async def test_the_same_server_is_reached_once_its_network_is_allowed(inside: Receiver, host: str) -> None:
    """So the tests above would see a connection."""
    attempt = Attempt(destinations=Destinations(LOOPBACK, http=True))

    assert await attempt.check(inside.url(host)) == ""
    assert await attempt.send(inside.url(host)) == 200


@pytest.mark.parametrize("code", [301, 302, 303, 307, 308])
async def test_a_redirect_is_not_followed(inside: Receiver, code: int) -> None:
    attempt = Attempt(destinations=Destinations(LOOPBACK, http=True))

    async with receiving(status(code, f"location: {inside.url()}")) as receiver:
        assert await attempt.send(receiver.url()) == code
    assert len(receiver.requests) == 1
    assert inside.connections == 0


async def test_a_name_and_an_address_that_no_longer_may_be_sent_to_are_refused(inside: Receiver) -> None:
    own = Destinations(LOOPBACK, http=True)
    assert await Attempt(destinations=own).check(inside.url()) == ""

    for stricter in (replace(own, networks=()), replace(own, http=False)):
        assert await Attempt(destinations=stricter).send(inside.url()) is Failure.REFUSED_ADDRESS
    assert inside.connections == 0


class Careless(Resolver):
    """Returns an address that it has not checked."""

    async def resolve(self, host: str, port: int = 0, family: Any = 0) -> Any:
        return [{"hostname": host, "host": "127.0.0.1", "port": port, "family": family, "proto": 0, "flags": 0}]


async def test_the_socket_itself_is_never_opened_to_an_unchecked_address(inside: Receiver) -> None:
    resolver = Careless(Destinations(http=True))

    async with Sender(resolver) as sender:
        answer = await sender.send(a_message(inside.url("hook.example")))
    await resolver.close()

    assert answer.error is Failure.REFUSED_ADDRESS
    assert inside.connections == 0
