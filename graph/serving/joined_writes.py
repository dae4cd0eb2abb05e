"""Sends the head of an answer and the beginning of its body in one packet.

uvicorn writes them one after the other, and uvloop sends each at once: two calls of the system and two packets, which
take a fifth of the time of a lookup.
"""

import asyncio


class JoinedWrites:
    """The transport of one answer. Its first piece waits for the second, at most until the loop's next iteration."""

    __slots__ = ("_first", "_is_begun", "_loop", "_transport")

    def __init__(self, transport: asyncio.Transport, loop: asyncio.AbstractEventLoop) -> None:
        self._transport = transport
        self._loop = loop
        self._first: bytes | None = None
        self._is_begun = False  # whether the first piece is written

    def write(self, data: bytes) -> None:
        """Write a piece."""
        if self._is_begun:
            self._transport.write(data)
        elif self._first is None:
            self._first = data
            self._loop.call_soon(self.flush)
        else:
            self._is_begun = True
            self._transport.writelines((self._first, data))

    def flush(self) -> None:
        """Write the first piece, if it still waits."""
        if self._first is not None and not self._is_begun:
            self._is_begun = True
            self._transport.write(self._first)

    def is_closing(self) -> bool:
        """Whether the transport is closed or closing."""
        return self._transport.is_closing()

    def close(self) -> None:
        """Close the transport once all is written."""
        self.flush()
        self._transport.close()
