"""Exports to files. A file appears under its name only when it is whole.

Until then it is `NAME.part`, and `NAME.part.json` beside it says what it is. An export of lines can be resumed: the
last whole line names the event to go on behind.
"""

import csv
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

import orjson

from graph.core.errors import BadUserInput
from graph.domains.export.encoders import Encoder
from graph.domains.export.formats import ExportFormat
from graph.domains.export.text import NAMES, Csv, Ndjson

LINES_PER_PART = 10_000  # read at a time


@dataclass(frozen=True, slots=True)
class Written:
    """What an interrupted export has written."""

    size: int = 0  # bytes of whole lines
    count: int = 0  # events
    last_id: str | None = None  # of the last event
    as_of_ms: int | None = None  # epoch milliseconds


@dataclass(frozen=True, slots=True)
class ExportFile:
    """A file that is exported to."""

    path: Path
    format: ExportFormat
    parameters: Sequence[tuple[str, str]]  # of the export

    @property
    def part(self) -> Path:
        """The file while it is not whole."""
        return self.path.with_name(f"{self.path.name}.part")

    @property
    def note(self) -> Path:
        """The file that says what the part is."""
        return self.path.with_name(f"{self.path.name}.part.json")

    def written(self, encoder: Encoder) -> Written:
        """What an interrupted export has written. The encoder goes on behind it.

        Raises:
            BadUserInput: The format cannot be resumed, or the part is of another export.
        """
        if not isinstance(encoder, Ndjson | Csv):
            raise BadUserInput(f"An export as {self.format.value} cannot be resumed: run it again.")
        if not (self.part.exists() and self.note.exists()):
            return Written()
        note = orjson.loads(self.note.read_bytes())
        if self.note_of(note["asOf"]) != orjson.dumps(note):
            raise BadUserInput(f"{self.part} is of another export: give the same options, or leave out --resume.")
        size, count, last = 0, 0, None
        with self.part.open("rb") as part:
            lines = _whole_lines(part) if isinstance(encoder, Ndjson) else _whole_records(part)
            some: list[bytes] = []
            for line in lines:
                size += len(line)
                some.append(line)
                if size > len(line) or isinstance(encoder, Ndjson):  # CSV begins with its header
                    count, last = count + 1, line
                if len(some) == LINES_PER_PART:
                    encoder.resume(b"".join(some))
                    some.clear()
            encoder.resume(b"".join(some))
        if last is None:
            return Written(size, as_of_ms=note["asOf"])
        return Written(size, count, _event_id(last, encoder), note["asOf"])

    @contextmanager
    def writing(self, written: Written, as_of_ms: int) -> Iterator[BinaryIO]:
        """Open the part behind what is written. At the end it becomes the file; after a failure, lines are kept."""
        self.note.write_bytes(self.note_of(as_of_ms))
        try:
            with self.part.open("r+b" if written.size else "wb") as part:
                part.truncate(written.size)
                part.seek(written.size)
                yield part
                part.flush()
                os.fsync(part.fileno())
        except BaseException:
            if self.format not in (ExportFormat.NDJSON, ExportFormat.CSV):
                self.part.unlink(missing_ok=True)
                self.note.unlink(missing_ok=True)
            raise
        self.part.replace(self.path)
        self.note.unlink()

    def note_of(self, as_of_ms: int) -> bytes:
        """What the note says of an export as of this moment, in epoch milliseconds."""
        parameters = sorted(map(list, self.parameters))
        note = {"format": self.format.value, "parameters": parameters, "columns": NAMES, "asOf": as_of_ms}
        return orjson.dumps(note)


def _whole_lines(part: BinaryIO) -> Iterator[bytes]:
    for line in part:
        if line.endswith(b"\n"):
            yield line


def _whole_records(part: BinaryIO) -> Iterator[bytes]:
    """The records of CSV: a line feed between quotation marks ends none."""
    record = b""
    for line in part:
        record += line
        if line.endswith(b"\n") and record.count(b'"') % 2 == 0:
            yield record
            record = b""


def _event_id(line: bytes, encoder: Encoder) -> str:
    if isinstance(encoder, Ndjson):
        return str(orjson.loads(line)["eventId"])
    (row,) = csv.reader([line.decode()])
    event_id = row[NAMES.index("eventId")]
    return encoder.read_text(event_id) if isinstance(encoder, Csv) else event_id
