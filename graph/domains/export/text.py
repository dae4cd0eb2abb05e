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
from graph.domains.earthquakes.model import Event, listed
from graph.domains.export.columns import COLUMNS, READ, TIME, ColumnType
from graph.domains.export.encoders import Encoder, ExportEnding
from graph.store.records import items_of
from graph.store.rows import values_of

NAMES = tuple(column.name for column in COLUMNS)
"""The columns of a text format."""

NULL = orjson.Fragment(b"")
"""CSV's null."""

END = orjson.Fragment(b"\n")
"""Marks the end of a row of CSV. No text of orjson's has a line feed, which it escapes."""

ATTRIBUTES = tuple(column.attribute for column in COLUMNS)
TIME_AT = NAMES.index(TIME)
INSTEAD = tuple((at, ATTRIBUTES.index(column.instead)) for at, column in enumerate(COLUMNS) if column.instead)
DEFAULTS = tuple((at, column.default) for at, column in enumerate(COLUMNS) if column.default is not None)
TRUTHS, LISTS = (
    tuple(at for at, column in enumerate(COLUMNS) if column.kind is kind)
    for kind in (ColumnType.TRUTH, ColumnType.NAMES)
)


def _rows(events: Sequence[Event], null: Any, write_names: Callable[[str], Any]) -> list[list[Any]]:
    """Events as rows: their values in the order of the columns.

    Args:
        null: the format's value for null.
        write_names: writes a list of names, which is stored as text.
    """
    rows = []
    for values in values_of(items_of(events), ATTRIBUTES):
        row = [*values] if null is None else [null if value is None else value for value in values]
        row[TIME_AT] = rfc3339_of_millis(values[TIME_AT])
        for at, instead in INSTEAD:
            if values[at] is None:
                row[at] = row[instead]
        for at, default in DEFAULTS:
            if values[at] is None:
                row[at] = default
        for at in TRUTHS:
            if values[at] is not None:
                row[at] = values[at] == 1
        for at in LISTS:
            if values[at] is not None:
                row[at] = write_names(values[at])
        rows.append(row)
    return rows


class Ndjson(Encoder):
    """A JSON object on each line. The last line is `{"_end": …}`; its hash is that of all bytes before it."""

    reads = READ

    def __init__(self) -> None:
        self._hash = hashlib.sha256()

    def begin(self) -> bytes:
        return b""

    async def rows(self, events: Sequence[Event]) -> bytes:
        lines = _lines([dict(zip(NAMES, row, strict=True)) for row in _rows(events, None, listed)])
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

    def __init__(self, *, comments: bool = False, spreadsheet: bool = False) -> None:
        self._comments = comments
        self._spreadsheet = spreadsheet
        self._hash = hashlib.sha256()

    def begin(self) -> bytes:
        return self._hashed(f"{','.join(NAMES)}\n".encode())

    async def rows(self, events: Sequence[Event]) -> bytes:
        rows = _rows(events, NULL, methodcaller("strip", ","))
        if self._spreadsheet:
            rows = [[inert(value) for value in row] for row in rows]
        return self._hashed(_csv_lines([[*row, END] for row in rows]))

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
