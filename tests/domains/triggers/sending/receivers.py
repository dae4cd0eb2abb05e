"""Receivers for tests: real sockets on loopback, which record what arrives and answer as a test says."""

import asyncio
import socket
from base64 import b64encode
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from ipaddress import ip_network
from ssl import SSLContext
from typing import Any

from graph.domains.triggers.sending.addresses import Network
from graph.domains.triggers.sending.answers import SendResult
from graph.domains.triggers.sending.destinations import Destinations, EndpointRefused
from graph.domains.triggers.sending.messages import Message
from graph.domains.triggers.sending.resolver import LookUp, Resolver
from graph.domains.triggers.sending.sender import MessageSender

Reply = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]
"""Writes an answer to a request. May close the connection."""

LOOPBACK: tuple[Network, ...] = (ip_network("127.0.0.0/8"), ip_network("::1/128"))
OWN_NETWORK = Destinations(LOOPBACK, http=True)  # where the receivers are
FIRST, SECOND = ("whsec_" + b64encode(bytes(range(start, start + 24))).decode() for start in (0, 24))  # secrets
BODY = '{"type":"quake.felt","data":{"place":"Nīdre","mag":4.5}}'


def _can_listen(address: str) -> bool:
    with suppress(OSError), socket.create_server((address, 0), family=socket.AF_INET6):
        return True
    return False


LOOPBACK_HOSTS = ["127.0.0.1", *(["::1"] if _can_listen("::1") else [])]


@dataclass(frozen=True)
class Request:
    """A request that arrived."""

    line: str
    headers: Mapping[str, str]  # names in lower case
    body: bytes


@dataclass
class Receiver:
    """A running receiver."""

    port: int
    connections: int = 0
    requests: list[Request] = field(default_factory=list)

    def url(self, host: str = "127.0.0.1", scheme: str = "http") -> str:
        return f"{scheme}://{host}:{self.port}/hook?x=1"


def saying(answer: bytes) -> Reply:
    """A reply of these bytes."""

    async def reply(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(answer)

    return reply


def status(code: int, *headers: str, body: bytes = b"") -> Reply:
    """A complete answer."""
    head = [f"HTTP/1.1 {code} Whatever", f"content-length: {len(body)}", *headers]
    return saying("\r\n".join([*head, "", ""]).encode() + body)


def then_close(reply: Reply) -> Reply:
    """The reply, and the end of the connection."""

    async def closing(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reply(reader, writer)
        writer.close()

    return closing


OK = status(200, body=b"ok")


@asynccontextmanager
async def receiving(
    reply: Reply = OK, *, tls: SSLContext | None = None, addresses: Sequence[str] = ("127.0.0.1",)
) -> AsyncIterator[Receiver]:
    """Run a receiver at these addresses and one port. At the end, its connections are cut."""
    tasks: set[asyncio.Task[Any]] = set()
    receiver = Receiver(0)

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if task := asyncio.current_task():
            tasks.add(task)
        receiver.connections += 1
        try:
            with suppress(ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
                while not writer.is_closing():
                    receiver.requests.append(await _read(reader))
                    await reply(reader, writer)
                    await writer.drain()
        finally:
            writer.transport.abort()

    servers = []
    try:
        for address in addresses:
            server = await asyncio.start_server(serve, address, receiver.port, ssl=tls, backlog=1000)
            servers.append(server)
            receiver.port = server.sockets[0].getsockname()[1]
        yield receiver
    finally:
        for server in servers:
            server.close()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks)


async def _read(reader: asyncio.StreamReader) -> Request:
    line, *fields = (await reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")[:-2]
    headers = {name.lower(): value for name, value in (each.split(": ", 1) for each in fields)}
    assert len(headers) == len(fields)  # no header twice
    return Request(line, headers, await reader.readexactly(int(headers["content-length"])))


@dataclass(frozen=True)
class Outbound:
    """A sender, and the resolver that it asks."""

    sender: MessageSender
    resolver: Resolver

    async def send(self, url: str, **changes: Any) -> SendResult:
        """Send a message to a URL."""
        given = {"url": url, "webhook_id": "msg_1", "body": BODY, "secrets": (FIRST,), **changes}
        return await self.sender.send(Message(**given))

    async def refusal(self, url: str) -> str:
        """What the check of a URL says; empty if it allows the URL."""
        try:
            await self.resolver.check(url)
        except EndpointRefused as refused:
            return str(refused)
        return ""


@asynccontextmanager
async def outbound(
    destinations: Destinations = OWN_NETWORK, *, resolver: Resolver | None = None, **options: Any
) -> AsyncIterator[Outbound]:
    """A sender, by default to receivers of this machine. `look_up` is an option of its resolver."""
    look_up = {"look_up": options.pop("look_up")} if "look_up" in options else {}
    resolver = resolver or Resolver(destinations, **look_up)
    try:
        async with MessageSender(resolver, **options) as sender:
            yield Outbound(sender, resolver)
    finally:
        await resolver.close()


def names(**addresses: str | Sequence[str]) -> LookUp:
    """A name server that knows these names, with `_` for a full stop, and no others."""
    known = {name.replace("_", "."): [each] if isinstance(each, str) else each for name, each in addresses.items()}

    def look_up(host: str, port: int | str | None, **_: Any) -> list[tuple[Any, ...]]:
        if host not in known:
            raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")
        return [answer(address) for address in known[host]]

    return look_up


def answer(address: str) -> tuple[Any, ...]:
    """A row of the answer of `getaddrinfo`."""
    if ":" in address:
        return socket.AF_INET6, socket.SOCK_STREAM, socket.IPPROTO_TCP, "", (address, 0, 0, 0)
    return socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP, "", (address, 0)
