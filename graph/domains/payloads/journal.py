"""The journal of a payload: which of its records each transaction stored, when, and as which change.

    {"payload_id": …, "route": …, "received_at": …, "revises": true, …}        the header
    {"change": 12, "turn": 40, "at": …, "from": 0, "writes": [[0, "us1"], …]}  before a transaction is sent
    {"stored": true}                                                           after it; false: it was refused
    {"end": {"counts": …, "error": null, "at": …}, "size": …, "sha256": …}     when the ingest has ended

A write is the place of its record in the payload, counted from 0, the record's id, and, unless it inserts an event
that nothing was known of, the digest of each changed event's state by its id, the ids of other events that were looked
at, and those of aliases. So the same id twice in a payload is told apart, and a replay knows the same, also where
something else was stored at the same time. `from` is the place before which no later
transaction needs a record. `at`
is the time of the transaction, epoch milliseconds. `change` is its number in the sequence; null of updates in place,
which have no number. They have `after`: the greatest number that surely was stored before. `turn` counts the
transactions of the process.

Each line ends with the CRC-32 of it and all lines before. What follows the last whole line was never written.

**Which transactions were stored.** A refused one has the line `false`. After a kill or a failure of the store, the last
transaction of a journal may have no second line. Then:

- A change number belongs to one transaction. If another journal has its second line, this one was not stored. If
  several have none, the later one holds: whoever came later has read that the number was free.
- An update in place holds, unless another transaction that holds was based on the same state of one of its events:
  every update changes the state, so no two are based on the same.
- Otherwise it holds. If the store did not have it, it is what the same ingest would store.

**In which order.** Changes in order of their numbers, and a journal's in order of its lines. An update in place comes
behind the change `after`, and behind all changes whose time, and that of all before, is earlier than its own. Updates
in place of one millisecond are in order of `turn`. One process sends a transaction only when the one before has ended,
so this is the exact order. Of several processes it is exact but for updates in place at the same time as another
process's transaction, and only `changedAt` of a summary shows that.
"""

import errno
import os
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from hashlib import blake2b
from pathlib import Path
from typing import Any, BinaryIO

import orjson

from graph import __version__
from graph.domains.earthquakes.ingest.changed_events import STATE
from graph.domains.earthquakes.ingest.write import Write
from graph.domains.payloads.model import IngestEnding, Payload
from graph.store.entity import Item

ALWAYS_IN_A_DIGEST = 3
"""So many attributes of `STATE`. One behind them is left out where the item lacks it, as in earlier journals."""


class DamagedJournal(ValueError):
    """A line is not as it was written."""


class JournalFile:
    """A journal that is being written. Lines reach the system at once, and the disk with `sync`."""

    def __init__(self, path: Path, payload: Payload, *, revises: bool) -> None:
        self._file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND, 0o644)
        self._crc = self._size = 0
        self.write({**asdict(payload), "revises": revises, "version": __version__})

    def write(self, values: Mapping[str, Any]) -> None:
        """Write a line, such as what the next transaction is to store."""
        text = orjson.dumps(values)[:-1]
        crc = zlib.crc32(text, self._crc)
        line = b'%b,"crc32":"%08x"}\n' % (text, crc)
        try:
            if os.write(self._file, line) < len(line):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        except OSError:
            os.ftruncate(self._file, self._size)  # so that the next line does not follow half a line
            raise
        self._crc, self._size = crc, self._size + len(line)

    def learn(self, *, stored: bool) -> None:
        """Write whether it was stored."""
        self.write({"stored": stored})

    def end(self, payload: Payload, ending: IngestEnding) -> None:
        """Write the last line."""
        self.write({"end": asdict(ending), "size": payload.size, "sha256": payload.sha256})

    def sync(self) -> None:
        """Return when all lines are on the disk. It blocks."""
        os.fsync(self._file)

    def close(self) -> None:
        """Close the file."""
        os.close(self._file)


def state_of(item: Item) -> str:
    """A digest of the state of a stored event."""
    state = [item.get(name) for name in STATE]
    while state[-1] is None and len(state) > ALWAYS_IN_A_DIGEST:
        state.pop()
    return blake2b(repr(state).encode(), digest_size=6).hexdigest()


def described(write: Write, place: int) -> list[Any]:
    """A write for the line before its transaction."""
    if write.stored is None:
        return [place, write.record.event_id]
    changed = {item["eventId"]: state_of(item) for item in write.stored}
    looked_at = [sorted(write.looked_at.events - changed.keys()), sorted(write.looked_at.aliases)]
    return [place, write.record.event_id, changed, *(looked_at if any(looked_at) else [])]


@dataclass(frozen=True, slots=True)
class Line:
    """A line of a journal, and where it is."""

    offset: int  # bytes
    values: Mapping[str, Any]


def read_lines(file: BinaryIO) -> Iterator[Line]:
    """The lines of a journal.

    Raises:
        DamagedJournal: One is not as it was written.
    """
    crc = offset = 0
    for number, line in enumerate(file, 1):
        if not line.endswith(b"\n"):
            return  # it was never written to its end
        text, _, rest = line.rpartition(b',"crc32":"')
        crc = zlib.crc32(text, crc)
        if rest != b'%08x"}\n' % crc:
            raise DamagedJournal(f"line {number} is not as it was written")
        yield Line(offset, orjson.loads(line))
        offset += len(line)


def header_of(values: Mapping[str, Any]) -> Payload:
    """The payload in a journal's first line."""
    return Payload(**{name: values[name] for name in Payload.__dataclass_fields__})


def read_ends(file: BinaryIO) -> tuple[Payload, IngestEnding | None] | None:
    """The payload of a journal, as far as it is known, and how its ingest ended; None if that broke off.

    None at all if the process died before it began.

    Raises:
        DamagedJournal: A line is not as it was written.
    """
    payload, ending = None, None
    for line in read_lines(file):
        if payload is None:
            payload = header_of(line.values)
        elif "end" in line.values:
            ending = IngestEnding(**line.values["end"])
            payload = replace(payload, size=line.values["size"], sha256=line.values["sha256"])
    return (payload, ending) if payload else None
