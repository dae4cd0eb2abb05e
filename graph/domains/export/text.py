"""NDJSON and CSV, one event on each line.

A reader that was cut off goes on behind the event of its last whole line.

orjson writes a list of a hundred rows in the time that it takes to be called for ten of them, and numbers ten
times as fast as `csv`. So both formats are made of its text: what stands between two rows is replaced. No text
of an event can be mistaken for it: `_lines` and `_csv_lines` say why.
"""

import hashlib
from collections.abc import Callable, Sequence
from operator import methodcaller
from typing import Any

import orjson

from graph.core.spreadsheets import INERT, inert
from graph.core.times import rfc3339_of_millis
from graph.domains.earthquake_events import TIME_ORDERED
from graph.domains.earthquakes.entities import EVENT
from graph.domains.earthquakes.model import Event, listed
from graph.domains.export.columns import COLUMNS, READ, TIME, ColumnType
from graph.domains.export.encoders import Encoder, ExportEnding

NAMES = tuple(column.name for column in COLUMNS)
"""The columns of a text format."""

NULL = orjson.Fragment(b"")
"""CSV's null."""

END = orjson.Fragment(b"\n")
"""Marks the end of a row of CSV. No text of orjson's has a line feed, which it escapes."""

TIME_ATTRIBUTE = next(column.attribute for column in COLUMNS if column.name == TIME)
NOT_WRITTEN = tuple(name for name in EVENT.position_names(TIME_ORDERED) if name not in NAMES)  # read all the same
INSTEAD = tuple((column.name, column.instead) for column in COLUMNS if column.instead)
TRUTHS, LISTS = (
    tuple(column.name for column in COLUMNS if column.kind is kind) for kind in (ColumnType.TRUTH, ColumnType.NAMES)
)


class _Rows:
    """Makes rows of events: their values by the columns' names, in order."""

    def __init__(self, null: Any, write_names: Callable[[str], Any], **others: Any) -> None:
        """Prepare the rows of a format.

        Args:
            null: its value for null.
            write_names: writes a list of names, which is stored as text.
            others: values that stand behind the columns of every row.
        """
        self._null = null
        self._write_names = write_names
        self.defaults = {column.name: column.default or null for column in COLUMNS} | others

    def of(self, events: Sequence[Event]) -> list[dict[str, Any]]:
        """The items of events, which were read with the defaults, as rows. The items change."""
        null, write_names = self._null, self._write_names
        rows = []
        for event in events:
            row: dict[str, Any] = event.item
            row[TIME] = rfc3339_of_millis(row[TIME_ATTRIBUTE])
            for name in NOT_WRITTEN:
                del row[name]
            for name, instead in INSTEAD:
                if row[name] is null:
                    row[name] = row[instead]
            for name in TRUTHS:
                if (value := row[name]) is not null:
                    row[name] = value == 1
            for name in LISTS:
                if (value := row[name]) is not null:
                    row[name] = write_names(value)
            rows.append(row)
        return rows


JSON_ROWS, CSV_ROWS = _Rows(None, listed), _Rows(NULL, methodcaller("strip", ","), end=END)


class Ndjson(Encoder):
    """A JSON object on each line. The last line is `{"_end": …}`; its hash is that of all bytes before it."""

    reads = READ
    defaults = JSON_ROWS.defaults

    def __init__(self) -> None:
        self._hash = hashlib.sha256()

    def begin(self) -> bytes:
        return b""

    async def rows(self, events: Sequence[Event]) -> bytes:
        lines = _lines(JSON_ROWS.of(events))
        self._hash.update(lines)
        return lines

    async def end(self, ending: ExportEnding) -> bytes:
        end = {"count": ending.count, "sha256": self._hash.hexdigest(), "asOf": ending.as_of}
        return orjson.dumps({"_end": end}, option=orjson.OPT_APPEND_NEWLINE)

    def resume(self, written: bytes) -> None:
        """Add bytes that an earlier, interrupted export has written."""
        self._hash.update(written)


class Csv(Encoder):
    """A header and one line for each event, by RFC 4180 with line feeds. Texts are quoted; null is nothing.

    With `comments`, the last line is `# end count=… sha256=… asOf=…`; its hash is that of all bytes before it.
    For a `spreadsheet`, which would compute a text such as `=1+1`, such a text has an apostrophe before it.
    """

    reads = READ
    defaults = CSV_ROWS.defaults

    def __init__(self, *, comments: bool = False, spreadsheet: bool = False) -> None:
        self._comments = comments
        self._spreadsheet = spreadsheet
        self._hash = hashlib.sha256()

    def begin(self) -> bytes:
        return self._hashed(f"{','.join(NAMES)}\n".encode())

    async def rows(self, events: Sequence[Event]) -> bytes:
        rows = [[*row.values()] for row in CSV_ROWS.of(events)]
        if self._spreadsheet:
            rows = [[inert(value) for value in row] for row in rows]
        return self._hashed(_csv_lines(rows))

    def read_text(self, written: str) -> str:
        """A text as it was before it was written."""
        return written[1:] if self._spreadsheet and written[:1] == INERT else written

    async def end(self, ending: ExportEnding) -> bytes:
        if not self._comments:
            return b""
        return f"# end count={ending.count} sha256={self._hash.hexdigest()} asOf={ending.as_of}\n".encode()

    def resume(self, written: bytes) -> None:
        """Add bytes that an earlier, interrupted export has written."""
        self._hash.update(written)

    def _hashed(self, written: bytes) -> bytes:
        self._hash.update(written)
        return written


def _lines(objects: list[dict[str, Any]]) -> bytes:
    """JSON objects as lines.

    What is replaced has a quotation mark behind a brace. Inside a text it would be that text's end, since any
    other one is escaped, and a name would not follow.
    """
    first = orjson.dumps(NAMES[0])
    return orjson.dumps(objects)[1:-1].replace(b"},{" + first + b":", b"}\n{" + first + b":") + b"\n"


def _csv_lines(rows: list[list[Any]]) -> bytes:
    """Rows, each with `END` behind its values, as lines of CSV.

    JSON's lists are such lines, but for the brackets and for escapes. If a text has an escape, the rows are written
    value by value.
    """
    text = orjson.dumps(rows)
    if b"\\" in text:
        return b"".join([b",".join(map(_csv_value, row[:-1])) + b"\n" for row in rows])
    return text[2:-4].replace(b",\n],[", b"\n") + b"\n"


def _csv_value(value: Any) -> bytes:
    if isinstance(value, str):
        return b'"' + value.replace('"', '""').encode() + b'"'
    return orjson.dumps(value)
