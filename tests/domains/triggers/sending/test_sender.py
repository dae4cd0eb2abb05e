"""What a receiver gets, and what is kept of its answer.

Nothing connects to an address that is not public: neither by itself, nor in any spelling, nor by a name.
"""

import asyncio
import json
from base64 import b64encode
from collections.abc import AsyncIterator
from dataclasses import replace
from itertools import chain, repeat
from typing import Any

import pytest
from standardwebhooks import Webhook, WebhookVerificationError

from graph import __version__
from graph.domains.triggers.sending.answers import Failure
from graph.domains.triggers.sending.destinations import Destinations
from graph.domains.triggers.sending.resolver import LookUp, Resolver
from graph.domains.triggers.sending.sender import MOST_BYTES
from tests.domains.triggers.sending.receivers import (
    BODY,
    FIRST,
    LOOPBACK,
    LOOPBACK_HOSTS,
    OK,
    SECOND,
    Receiver,
    answer,
    names,
    outbound,
    receiving,
    saying,
    status,
    then_close,
)
from tests.ports import reserved_port

NOW = 1_691_031_133_999  # 2023-08-03T02:52:13.999Z
DATE = "Thu, 03 Aug 2023 02:53:13 GMT"  # 59.001 s later


async def test_a_receiver_verifies_the_message_with_each_secret() -> None:
    async with receiving() as receiver, outbound() as ours:
        for secrets in ((FIRST,), (FIRST, SECOND)):
            answer = await ours.send(receiver.url(), secrets=secrets)

            assert (answer.status, answer.error, answer.excerpt, answer.retry_after_s) == (200, None, "ok", None)
            request = receiver.requests[-1]
            assert request.body == BODY.encode()
            for secret in secrets:
                assert Webhook(secret).verify(request.body, dict(request.headers)) == json.loads(BODY)
            with pytest.raises(WebhookVerificationError):
                Webhook("whsec_" + b64encode(b"of someone else").decode()).verify(request.body, dict(request.headers))


async def test_each_attempt_has_these_headers_and_no_others_and_a_timestamp_of_its_own_on_the_same_connection() -> None:
    times = iter([NOW, NOW + 5000])
    cookies = ("set-cookie: session=1; Path=/", 'set-cookie: x="\\001"; Domain=127.0.0.1')  # none comes back
    async with receiving(status(200, *cookies)) as receiver, outbound(clock=lambda: next(times)) as ours:
        for _ in range(2):
            await ours.send(receiver.url())

    signatures = set()
    for request, second in zip(receiver.requests, (NOW // 1000, NOW // 1000 + 5), strict=True):
        assert request.line == "POST /hook?x=1 HTTP/1.1"
        headers = dict(request.headers)
        signatures.add(headers.pop("webhook-signature"))
        assert headers == {
            "host": f"127.0.0.1:{receiver.port}",
            "accept": "*/*",
            "accept-encoding": "identity",
            "content-length": str(len(BODY.encode())),
            "content-type": "application/json",
            "user-agent": f"quakegraph/{__version__}",
            "webhook-id": "msg_1",
            "webhook-timestamp": str(second),
        }
    assert [signature.startswith("v1,") for signature in signatures] == [True, True]
    assert receiver.connections == 1


async def test_a_connection_that_the_receiver_ends_is_not_used_again_and_none_to_nobody_is_made() -> None:
    async with outbound() as ours:
        async with receiving(then_close(status(200, "connection: close"))) as receiver:
            statuses = [(await ours.send(receiver.url())).status for _ in range(3)]
        with reserved_port() as port:
            nobody_listens = await ours.send(f"http://127.0.0.1:{port}/hook")

    assert (statuses, receiver.connections) == ([200] * 3, 3)
    assert (nobody_listens.status, nobody_listens.error) == (None, Failure.CONNECTION_FAILED)


async def test_many_messages_are_sent_at_once() -> None:
    """The first answer comes only when all have arrived, so none waits for another."""
    arrived = asyncio.Barrier(100)

    async def reply(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await arrived.wait()
        await OK(reader, writer)

    async with receiving(reply) as receiver, outbound(look_up=names(hook_example="127.0.0.1")) as ours:
        url = receiver.url("hook.example")
        answers = await asyncio.gather(*[ours.send(url, webhook_id=f"msg_{at}") for at in range(100)])

    assert [answer.status for answer in answers] == [200] * 100
    assert {request.headers["webhook-id"] for request in receiver.requests} == {f"msg_{at}" for at in range(100)}


INTERIM = b"HTTP/1.1 102 Processing\r\n\r\nHTTP/1.1 103 Early Hints\r\nlink: <x>\r\n\r\n"
ANSWERS = [
    *[(status(code), code, None) for code in (204, 299, 400, 404, 410, 500, 999)],
    (status(429, "retry-after: 120"), 429, 120),
    (status(429, f"Retry-After: {DATE}"), 429, 59.001),
    (status(429, "retry-after: -1"), 429, 0),
    (status(503, "retry-after: soon"), 503, None),
    (saying(INTERIM + b"HTTP/1.1 201 Created\r\ncontent-length: 0\r\n\r\n"), 201, None),
]


async def test_the_status_and_the_wait_of_an_answer_are_kept() -> None:
    for reply, code, retry_after_s in ANSWERS:
        async with receiving(reply) as receiver, outbound(clock=lambda: NOW) as ours:
            answer = await ours.send(receiver.url())

        assert (answer.status, answer.error) == (code, None)
        assert answer.retry_after_s == (None if retry_after_s is None else pytest.approx(retry_after_s))
        assert answer.latency_ms >= 0


EXCERPTS = [
    (b"", ""),
    ("Überhitzt\r\n\tsehr\u00a0heiß".encode(), "Überhitzt\r\n\tsehr\u00a0heiß"),
    (b"a\x00b\x1b[31mc\x7f", "a\ufffdb\ufffd[31mc\ufffd"),
    ("\u202egpj.exe\u2028".encode(), "\ufffdgpj.exe\ufffd"),  # would be shown from right to left
    (b"\xed\xa0\x80", "\ufffd" * 3),  # a lone surrogate
    (b"\xff\xfe", "\ufffd\ufffd"),
    (b"a" * 1001, "a" * 1000),
    (b"a" * 999 + "é".encode(), "a" * 999 + "\ufffd"),
    (b"a" * MOST_BYTES, "a" * 1000),
]


async def test_an_excerpt_of_the_body_is_kept_as_harmless_text() -> None:
    for body, excerpt in EXCERPTS:
        async with receiving(status(200, body=body)) as receiver, outbound() as ours:
            answer = await ours.send(receiver.url())
            await ours.send(receiver.url())

        assert (answer.status, answer.excerpt) == (200, excerpt)
        json.dumps(answer.excerpt).encode()
        assert receiver.connections == 1  # each was read to its end


async def test_no_proxy_of_the_environment_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    async with receiving() as proxy, receiving() as receiver, outbound() as ours:
        for name in ("http_proxy", "https_proxy", "all_proxy"):
            monkeypatch.setenv(name, proxy.url())
        answer = await ours.send(receiver.url())

    assert (answer.status, len(receiver.requests), proxy.connections) == (200, 1, 0)


async def test_a_cancelled_attempt_ends() -> None:
    arrived = asyncio.Event()

    async def reply(reader: asyncio.StreamReader, _: asyncio.StreamWriter) -> None:
        arrived.set()
        await reader.read()  # until the sender goes away

    async with receiving(reply) as receiver, outbound() as ours:
        task = asyncio.create_task(ours.send(receiver.url()))
        await arrived.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task


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


PUBLIC_HTTP = Destinations(http=True)
LOCAL = Destinations(LOOPBACK, http=True)


async def test_a_host_that_is_not_public_is_refused_and_never_connected(inside: Receiver) -> None:
    async with outbound(PUBLIC_HTTP) as ours:
        for host in HOSTS:
            assert await ours.refusal(inside.url(host)), host
            assert (await ours.send(inside.url(host))).error is Failure.REFUSED_ADDRESS, host
    assert inside.connections == 0


async def test_a_name_of_an_address_that_is_not_public_is_refused_and_never_connected(inside: Receiver) -> None:
    some = [[each] for each in (*ADDRESSES, "fe80::1%eth0", "::1%lo", "0177.0.0.1", "127.1", "nonsense")]
    some += [["8.8.8.8", "127.0.0.1"], ["127.0.0.1", "8.8.8.8"], ["2606:4700::1111", "::1"]]  # one is enough
    look_up = names(**{f"hook{number}_example": addresses for number, addresses in enumerate(some)})
    async with outbound(PUBLIC_HTTP, look_up=look_up) as ours:
        for number, addresses in enumerate(some):
            url = inside.url(f"hook{number}.example")
            message = "`url` has a host without a public address: give one that can be reached over the internet."
            assert await ours.refusal(url) == message, addresses
            assert (await ours.send(url)).error is Failure.REFUSED_ADDRESS, addresses
    assert inside.connections == 0


def first(address: str, *, then: str) -> LookUp:
    """A name server that answers with one address, and from then on with another one."""
    addresses = chain([address], repeat(then))
    return lambda *_, **__: [answer(next(addresses))]


async def test_a_name_that_turns_inward_is_connected_once_at_the_address_that_was_checked() -> None:
    """A look-up serves for one connection, of which it is the only one."""
    look_up = first("127.0.0.1", then="10.0.0.1")
    async with receiving(status(200, "connection: close")) as receiver, outbound(LOCAL, look_up=look_up) as ours:
        one, two = [await ours.send(receiver.url("hook.example")) for _ in range(2)]

    assert (one.status, two.error, receiver.connections) == (200, Failure.REFUSED_ADDRESS, 1)


async def test_the_same_server_is_reached_once_its_network_is_allowed(inside: Receiver) -> None:
    """So the tests above would see a connection."""
    async with outbound(LOCAL) as ours:
        for host in (*map(bracketed, LOOPBACK_HOSTS), "[::ffff:127.0.0.1]", "localhost"):
            assert await ours.refusal(inside.url(host)) == ""
            assert (await ours.send(inside.url(host))).status == 200


async def test_a_redirect_is_not_followed(inside: Receiver) -> None:
    async with outbound(LOCAL) as ours:
        for code in (301, 302, 303, 307, 308):
            async with receiving(status(code, f"location: {inside.url()}")) as receiver:
                assert (await ours.send(receiver.url())).status == code
            assert len(receiver.requests) == 1
    assert inside.connections == 0


class Careless(Resolver):
    """Returns an address that it has not checked."""

    async def resolve(self, host: str, port: int = 0, family: Any = 0) -> Any:
        return [{"hostname": host, "host": "127.0.0.1", "port": port, "family": family, "proto": 0, "flags": 0}]


async def test_what_was_allowed_at_a_check_or_by_a_look_up_is_refused_at_the_connection(inside: Receiver) -> None:
    turning = Resolver(PUBLIC_HTTP, look_up=first("8.8.8.8", then="127.0.0.1"))
    stricter = [Resolver(replace(LOCAL, networks=())), Resolver(replace(LOCAL, http=False))]
    for resolver, host in (
        *((turning, "hook.example"), (Careless(PUBLIC_HTTP), "hook.example")),
        *((each, "127.0.0.1") for each in stricter),
    ):
        async with outbound(resolver=resolver) as ours:
            assert resolver is not turning or await ours.refusal(inside.url(host)) == ""
            assert (await ours.send(inside.url(host))).error is Failure.REFUSED_ADDRESS
    assert inside.connections == 0
