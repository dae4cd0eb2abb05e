"""The body of a request: its encoding, and its size before and after decompression."""

import asyncio
import zlib
from collections.abc import AsyncIterator

from graph.core.errors import BadRequest
from graph.work.room import Room, Share

MOST_MEMBERS = 1000  # of a gzip body; senders write one
PIECE_BYTES = 64 * 1024  # decompressed at once, since what is left of a piece is copied

# What a parsed value of JSON takes, bytes.
OBJECT_BYTES = 200  # with its texts
LIST_BYTES = 70
MEMBER_BYTES = 8

_GZIP = 31  # zlib's number for the greatest window and gzip's own head


def is_gzip(content_encoding: str) -> bool:
    """Whether a body is compressed; BadRequest for any other encoding than gzip."""
    encoding = content_encoding.strip().lower()
    if encoding not in ("", "identity", "gzip"):
        raise BadRequest("The body must be compressed by gzip or not at all.", status=415)
    return encoding == "gzip"


class BodyIntake:
    """Takes in bodies, within bounds of the memory that they take together. There is one of a kind for each process."""

    def __init__(self, *, arriving: int, working: int) -> None:
        """Prepare to receive; `arriving` is for bodies that arrive, `working` for requests that are worked with."""
        self._arriving = Room(arriving)  # separate, so that slow uploads do not block requests that have arrived
        self._working = Room(working)
        self._inflating = asyncio.Lock()  # one body at a time: what comes of it is not known before

    async def receive(self, chunks: AsyncIterator[bytes], most: int) -> bytes:
        """A body of at most so many bytes, as it arrives.

        Raises:
            BadRequest: It has more.
            Overloaded: The bodies that arrive at present are too large together.
        """
        body = bytearray()
        with self._arriving.share() as share:
            async for chunk in chunks:
                if len(body) + len(chunk) > most:
                    raise too_large(most)
                share.hold(len(chunk))
                body += chunk
            return bytes(body)

    async def _inflated(self, body: bytes, most: int, share: Share) -> bytes:
        share.hold(len(body))
        async with self._inflating:
            return await asyncio.to_thread(inflated, body, most)


def inflated(body: bytes, most: int) -> bytes:
    """A gzip body, decompressed. No more than `most` bytes and one are ever made of it.

    Raises:
        BadRequest: It is broken, or larger.
    """
    whole = bytearray()
    at = 0
    for _ in range(MOST_MEMBERS):
        member = zlib.decompressobj(_GZIP)
        while not member.eof:
            if at == len(body):
                raise _broken()
            piece = body[at : at + PIECE_BYTES]
            try:
                whole += member.decompress(piece, most + 1 - len(whole))
            except zlib.error as error:
                raise _broken() from error
            if len(whole) > most:
                raise too_large(most)
            at += len(piece) - len(member.unconsumed_tail) - len(member.unused_data)
        if at == len(body):
            return bytes(whole)
    raise _broken()


def memory_of_json(body: bytes) -> int:
    """About the most bytes that a body of JSON takes once it is parsed. Of three bytes, JSON may make an object."""
    objects, lists, members = (body.count(sign) for sign in (b"{", b"[", b","))
    return 3 * len(body) + OBJECT_BYTES * objects + LIST_BYTES * lists + MEMBER_BYTES * members


def too_large(most: int) -> BadRequest:
    """The error for a body with more bytes."""
    return BadRequest(f"The body must have at most {most:,} bytes, also when decompressed.", status=413)


def _broken() -> BadRequest:
    return BadRequest("The body is not valid gzip.")
