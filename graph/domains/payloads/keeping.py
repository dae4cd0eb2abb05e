"""Keeps payloads while they are ingested: each body, and beside it a journal of the transactions that store it."""

import asyncio
import os
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractAsyncContextManager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from graph.core.geojson.reading import Fingerprinted, Readable
from graph.core.gzipped import compressor
from graph.domains.earthquakes.ingest.payload import Chunk, Received
from graph.domains.earthquakes.ingest.write import Write
from graph.domains.payloads.folder import PayloadNotKept, Place, sync_folder
from graph.domains.payloads.journal import JournalFile, described
from graph.domains.payloads.model import IngestEnding, Payload

T = TypeVar("T")


@dataclass(slots=True)
class PayloadFolder:
    """The folder in which a process keeps payloads."""

    path: Path
    revises: bool  # whether stored events are revised, as the journals say
    turns: asyncio.Lock = field(default_factory=asyncio.Lock)  # so that the journals tell the order of transactions
    turn: int = 0  # transactions that this process has sent
    stored: int = 0  # the number of the last change that this process has stored

    async def keep(self, payload: Payload, body: bytes | None) -> "KeptPayload":
        """Begin to keep a payload.

        Args:
            body: compressed; None if it is read bit by bit.

        Raises:
            PayloadNotKept: The folder cannot be written.
        """
        place = Place.of(self.path, payload)
        return KeptPayload(self, payload, *await in_thread(lambda: self._begin(place, payload, body)))

    def _begin(self, place: Place, payload: Payload, body: bytes | None) -> "tuple[JournalFile, _WrittenBody | None]":
        place.make()
        written = None
        if body is None:
            written = _WrittenBody(place)
        else:
            with place.part.open("xb") as file:
                file.write(body)
                file.flush()
                os.fsync(file.fileno())
            place.complete()
        journal = JournalFile(place.journal, payload, revises=self.revises)
        journal.sync()
        sync_folder(place.stem.parent)
        return journal, written


class KeptPayload(Received):
    """A payload that is kept while its records are stored."""

    def __init__(
        self, folder: PayloadFolder, payload: Payload, journal: JournalFile, body: "_WrittenBody | None"
    ) -> None:
        super().__init__(payload.payload_id, payload.received_at)
        self._folder = folder
        self._journal = journal
        self._body = body  # None if it is complete
        self._number: int | None = None  # of the transaction in progress

    def reading(self, stream: Readable) -> Fingerprinted:
        """Its bytes, which are kept as they are read."""
        return super().reading(_Copied(stream, self._body) if self._body else stream)

    def turn(self) -> AbstractAsyncContextManager[None]:
        """Wait until no other transaction of this process is in progress."""
        return self._folder.turns

    async def intend(self, number: int | None, now: int, writes: Sequence[Write], chunk: Chunk) -> None:
        """Keep what a transaction is about to store, with the bytes that it needs.

        Raises:
            PayloadNotKept: The transaction must not be sent.
        """
        self._number = number
        self._folder.turn += 1
        intent: dict[str, Any] = {"change": number, "turn": self._folder.turn, "at": now, "from": chunk.first}
        if number is None:
            arrivals = [item.get("arrival", 0) for write in writes for item in write.stored or ()]
            intent["after"] = max([self._folder.stored, *arrivals])
        intent["writes"] = [described(write, chunk.of(write.record)) for write in writes]
        with _as_not_kept():
            if self._body:
                self._body.flush()  # first, so that no journal names a record that its body lacks
            self._journal.write(intent)
        try:
            await in_thread(self._sync)
        except BaseException:
            self.learn(stored=False)  # since it is not sent
            raise

    def learn(self, *, stored: bool) -> None:
        """Keep whether the transaction was stored."""
        with _as_not_kept():
            self._journal.learn(stored=stored)
        if stored and self._number:
            self._folder.stored = max(self._folder.stored, self._number)

    async def end(self, payload: Payload, ending: IngestEnding) -> None:
        """Complete the body and the journal."""
        await in_thread(lambda: self._end(payload, ending))

    def _sync(self) -> None:
        if self._body:
            self._body.sync()
        self._journal.sync()

    def _end(self, payload: Payload, ending: IngestEnding) -> None:
        try:
            if self._body:
                self._body.complete()
            self._journal.end(payload, ending)
            self._journal.sync()
        finally:
            self._journal.close()


class _WrittenBody:
    """A body that is being written."""

    def __init__(self, place: Place) -> None:
        self._place = place
        self._file = place.part.open("xb", buffering=0)
        self._gzip = compressor()

    def add(self, piece: bytes) -> None:
        """Compress and write the next piece."""
        self._write(self._gzip.compress(piece))

    def flush(self) -> None:
        """Write everything until now, so that it can be read."""
        self._write(self._gzip.flush(zlib.Z_SYNC_FLUSH))

    def sync(self) -> None:
        """Return when what was written is on the disk. It blocks."""
        os.fsync(self._file.fileno())

    def complete(self) -> None:
        """End the body, and give it its name."""
        with self._file:
            self._write(self._gzip.flush())
            os.fsync(self._file.fileno())
        self._place.complete()

    def _write(self, compressed: bytes) -> None:
        while compressed:
            compressed = compressed[self._file.write(compressed) :]


class _Copied:
    """A stream whose bytes are written to a body as they are read."""

    def __init__(self, stream: Readable, body: _WrittenBody) -> None:
        self._stream = stream
        self._body = body

    def read(self, size: int, /) -> bytes:
        """Read the next bytes, at most `size`."""
        piece = self._stream.read(size)
        with _as_not_kept():
            self._body.add(piece)
        return piece


async def in_thread(work: Callable[[], T]) -> T:
    """Do work with files, which blocks, in a thread."""
    with _as_not_kept():
        return await asyncio.to_thread(work)


@contextmanager
def _as_not_kept() -> Iterator[None]:
    """Raise PayloadNotKept in place of the error of a file that cannot be written."""
    try:
        yield
    except OSError as error:
        raise PayloadNotKept(error) from error
