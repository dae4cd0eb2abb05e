"""A proxy of TCP that breaks connections as networks do, before whatever listens at a URL.

    async with proxy(url) as between:
        between.fault = Fault.RESET_BEFORE_ANSWER

It knows no HTTP: what it breaks are the bytes. A fault holds for connections, also those that are
open, until another one is chosen.
"""

import asyncio
import socket
import struct
from asyncio import StreamReader, StreamWriter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from enum import Enum, auto
from urllib.parse import urlsplit

from tests.tasks import tasks_ended

LATENCY_S = 0.02
PART_BYTES = 20  # of an answer, before it breaks off


class Fault(Enum):
    """What becomes of the bytes."""

    NONE = auto()
    LATENCY = auto()  # every chunk comes later
    RESET_AT_ONCE = auto()  # nobody hears the request
    RESET_BEFORE_ANSWER = auto()  # the request is heard, its answer is lost
    RESET_IN_ANSWER = auto()  # the answer breaks off
    HALF_OPEN = auto()  # the bytes are taken, and nothing ever comes back
    REFUSED = auto()  # nobody listens: the connection ends as soon as it is made


@dataclass
class Proxy:
    """The proxy, and what it does at the moment."""

    url: str = ""
    fault: Fault = Fault.NONE
    connections: int = 0  # so far
    open: dict[StreamWriter, asyncio.Event] = field(default_factory=dict)  # connection → its end
    arrived: asyncio.Event = field(default_factory=asyncio.Event)  # set whenever one is made

    def cut_all(self) -> None:
        """Reset every connection that is open."""
        for writer in list(self.open):
            _reset(writer)


def _reset(writer: StreamWriter) -> None:
    """End a connection with RST in place of FIN."""
    end = writer.get_extra_info("socket")
    with suppress(OSError):
        end.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    writer.transport.abort()


@asynccontextmanager
async def proxy(url: str) -> AsyncIterator[Proxy]:
    """A proxy on a free port of this machine."""
    target = urlsplit(url)
    between = Proxy()

    async def serve(reader: StreamReader, writer: StreamWriter) -> None:
        between.connections += 1
        between.open[writer] = asyncio.Event()
        between.arrived.set()
        onward: StreamWriter | None = None
        try:
            if between.fault is Fault.REFUSED:
                return
            back, onward = await asyncio.open_connection(target.hostname, target.port)
            await asyncio.gather(
                _pass_on(between, reader, onward, writer, Fault.RESET_AT_ONCE, Fault.REFUSED),
                _pass_on(between, back, writer, writer, Fault.RESET_BEFORE_ANSWER, Fault.RESET_IN_ANSWER),
            )
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            between.open.pop(writer).set()
            for end in (writer, onward):
                if end:
                    end.transport.abort()

    async with tasks_ended(), await asyncio.start_server(serve, "127.0.0.1", 0) as server:
        between.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        try:
            yield between
        finally:
            between.cut_all()


async def _pass_on(
    between: Proxy, reader: StreamReader, onward: StreamWriter, client: StreamWriter, *resets: Fault
) -> None:
    """Pass the bytes of one direction on, unless a fault resets the client's connection instead."""
    while chunk := await reader.read(65_536):
        if between.fault in resets:
            if between.fault is Fault.RESET_IN_ANSWER:
                onward.write(chunk[:PART_BYTES])
                await onward.drain()
            _reset(client)
            raise ConnectionResetError
        if between.fault is Fault.LATENCY:
            await asyncio.sleep(LATENCY_S)
        if between.fault is not Fault.HALF_OPEN:
            onward.write(chunk)
            await onward.drain()
    onward.write_eof()
