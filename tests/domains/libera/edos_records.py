"""Writes construction records byte by byte, so that tests can have any. All numbers are big-endian."""

import struct
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

EPOCH = datetime(1958, 1, 1, tzinfo=UTC)
START = datetime(2027, 3, 1, 22, 0, 0, 125, tzinfo=UTC)
END = datetime(2027, 3, 2, 0, 0, 0, 250, tzinfo=UTC)
NAME = "P1790011AAAAAAAAAAAAAT27061000000100.PDS"
DATA = "P1790011AAAAAAAAAAAAAT27061000000101.PDS"
SCID = 179


def cds(time: datetime) -> bytes:
    """A CCSDS day segmented time."""
    since = time - EPOCH
    milliseconds, microseconds = divmod(since.seconds * 1_000_000 + since.microseconds, 1000)
    return struct.pack(">HIH", since.days, milliseconds, microseconds)


@dataclass
class Gap:
    """Missing packets."""

    first_missing: int
    missing: int
    offset: int = 4096

    def packed(self) -> bytes:
        """Item 24-6."""
        times = cds(START + timedelta(minutes=1)) + cds(START + timedelta(minutes=2))
        return struct.pack(">IQI", self.first_missing, self.offset, self.missing) + times + bytes(range(16))


@dataclass
class Apid:
    """The packets of an APID."""

    apid: int = 11
    scid: int = SCID
    gaps: Sequence[Gap] = ()
    fill: Sequence[tuple[int, int, int]] = ()
    discrepancies: Sequence[int] = ()
    vcids: Sequence[int] = (6,)
    first: datetime = START
    last: datetime = END

    @property
    def key(self) -> bytes:
        """Spacecraft and APID, with a spare byte before them."""
        return struct.pack(">BBH", 0, self.scid, self.apid)

    def packed(self) -> bytes:
        """Item 24."""
        return b"".join(
            [
                self.key,
                struct.pack(">Q3xB", 0, len(self.vcids)),
                *(struct.pack(">2xH", self.scid << 6 | vcid) for vcid in self.vcids),
                struct.pack(">I", len(self.gaps)),
                *(gap.packed() for gap in self.gaps),
                struct.pack(">I", len(self.fill)),
                *(struct.pack(">IQI", *fill) for fill in self.fill),
                struct.pack(">Q", 18),
                struct.pack(">I", len(self.discrepancies)),
                *(struct.pack(">I", ssc) for ssc in self.discrepancies),
                cds(self.first),
                cds(self.last),
                b"\xaa" * 16,
                struct.pack(">IIQ8x", 3, 7200, 511_200),
            ]
        )


@dataclass
class Record:
    """A construction record."""

    id: str = NAME.removesuffix(".PDS")
    apids: Sequence[Apid] = field(default_factory=lambda: [Apid()])
    files: Sequence[tuple[str, Sequence[Apid]]] = field(default_factory=lambda: [(NAME, ()), (DATA, (Apid(),))])
    sessions: int = 1
    type: int = 1

    def packed(self) -> bytes:
        """The whole record."""
        first, last = cds(self.apids[0].first), cds(self.apids[0].last)
        return b"".join(
            [
                struct.pack(">BBBx", 5, 2, self.type),
                self.id.encode(),
                struct.pack(">B9xH", 1, self.sessions),
                *((first + last) for _ in range(self.sessions)),
                struct.pack(">QI", 18, 2),
                first + last + b"\xbb" * 16,
                struct.pack(">IIQI", 3, 7200, 511_200, 4),
                cds(END + timedelta(hours=1)),
                struct.pack(">7xB", len(self.apids)),
                *(apid.packed() for apid in self.apids),
                struct.pack(">3xB", len(self.files)),
                *(self._file(name, apids) for name, apids in self.files),
            ]
        )

    @staticmethod
    def _file(name: str, apids: Sequence[Apid]) -> bytes:
        """Item 25. A file without APIDs, which is the record itself, has one of zeros."""
        entries = [each.key + cds(each.first) + cds(each.last) + bytes(4) for each in apids]
        return name.encode() + struct.pack(">3xB", len(apids)) + b"".join(entries or [bytes(24)])
