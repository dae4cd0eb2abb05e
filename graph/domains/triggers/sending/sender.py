"""Sends one HTTP request for each attempt. A receiver may be hostile, so all that it can make us do is bounded.

It cannot redirect us, set cookies, hold us longer than the time limit, or make us keep more than some hundreds of
kilobytes meanwhile: its headers and interim responses are bounded, its body is not decompressed, and only its beginning
is read.
"""

import asyncio
import socket
import ssl
from dataclasses import dataclass, field
from functools import cache
from ssl import SSLContext
from time import perf_counter
from typing import Any, Self

import aiohttp

from graph import __version__
from graph.core.clock import Clock, now_ms
from graph.core.retry_after import seconds_to_wait
from graph.domains.triggers.sending.answers import CAUSES, Failure, SendResult, excerpt_of
from graph.domains.triggers.sending.connections import Connector, open_socket
from graph.domains.triggers.sending.destinations import EndpointRefused
from graph.domains.triggers.sending.messages import Message
from graph.domains.triggers.sending.resolver import Resolver

TIMEOUT_S = 15.0
MOST_BYTES = 20_000  # of an answer's body; after so many, the connection is dropped
MOST_HEADERS, MOST_HEADER_BYTES = 64, 4096  # of an answer, and of each of its headers
KEEP_ALIVE_S = 4.0  # Node and uvicorn close a connection that was idle for 5 s, at which a request would be lost

_HEADERS = {
    "content-type": "application/json",
    "user-agent": f"quakegraph/{__version__}",
    "accept-encoding": "identity",
}


@cache  # the authorities of the system are read once
def checking_certificates(authorities: str | None = None) -> SSLContext:
    """What checks the certificates of receivers: with the authorities of the system, or else with these, as PEM.

    It accepts the same certificates on each Python. By default, Python 3.13 began to refuse those that leave out an
    extension of RFC 5280, as many private authorities do.
    """
    context = ssl.create_default_context(cadata=authorities)
    context.verify_flags = ssl.VERIFY_X509_TRUSTED_FIRST
    context.set_alpn_protocols(["http/1.1"])
    return context


@dataclass(eq=False)
class MessageSender:
    """Sends messages. There is one for each process; the caller bounds how many are sent at once."""

    resolver: Resolver
    timeout_s: float = TIMEOUT_S  # of an attempt, from looking up the name to the last byte that is read
    clock: Clock = now_ms
    tls: SSLContext = field(default_factory=checking_certificates)  # by default with the authorities of the system

    async def __aenter__(self) -> Self:
        connector = Connector(
            resolver=self.resolver,
            use_dns_cache=False,
            socket_factory=self._open_socket,
            ssl=self.tls,
            limit=0,  # else slow receivers could delay others
            keepalive_timeout=KEEP_ALIVE_S,
        )
        self._session = aiohttp.ClientSession(
            connector=connector,
            headers=_HEADERS,
            cookie_jar=aiohttp.DummyCookieJar(),
            timeout=aiohttp.ClientTimeout(),  # none: `send` has one for the whole attempt
            auto_decompress=False,
            max_headers=MOST_HEADERS,
            max_line_size=MOST_HEADER_BYTES,
            max_field_size=MOST_HEADER_BYTES,
        )
        return self

    async def __aexit__(self, *raised: object) -> None:
        await self._session.close()

    async def send(self, message: Message) -> SendResult:
        """Send a message once. Whatever the network and the receiver do comes back as an answer."""
        began = perf_counter()
        deadline = asyncio.get_running_loop().time() + self.timeout_s
        now = self.clock()
        try:
            async with asyncio.timeout_at(deadline):
                response = await self._session.post(
                    self.resolver.destinations.read(message.url),
                    data=message.body.encode(),
                    headers=message.headers(now),
                    allow_redirects=False,
                )
        except CAUSES as error:
            return SendResult(_ms_since(began), error=Failure.of(error))
        body = await _beginning_of_body(response, deadline)
        return SendResult(
            _ms_since(began),
            response.status,
            excerpt=excerpt_of(body),
            retry_after_s=seconds_to_wait(response.headers.get("Retry-After", ""), now=now),
        )

    def _open_socket(self, info: tuple[Any, ...]) -> socket.socket:
        """A socket for an address, which is checked again: the HTTP client resolves no host that looks like one."""
        if not self.resolver.destinations.allow(info[4][0]):
            raise EndpointRefused.not_public()
        return open_socket(info, longest_wait_s=self.timeout_s)


async def _beginning_of_body(response: aiohttp.ClientResponse, deadline: float) -> bytes:
    """The beginning of a body, or what arrives of it. The connection is kept only if the body has ended."""
    body = bytearray()
    try:
        async with asyncio.timeout_at(deadline):
            while len(body) <= MOST_BYTES and (chunk := await response.content.readany()):
                body += chunk
    except CAUSES:
        pass  # the status has arrived
    finally:
        response.close()
    return bytes(body)


def _ms_since(began: float) -> int:
    return round(1000 * (perf_counter() - began))
