"""Reads files of logs: one JSON object a line (NDJSON), or one in the whole file. It is a log, or what a reader knows.

Memory does not grow with the file: at most one line is held, or a file that is one object.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from io import BytesIO
from typing import IO, Any, NamedTuple

import orjson

from graph.domains.service_logs.json_log import log_of
from graph.domains.service_logs.model import LogProblem, NewLog, RejectedLog

LONGEST_LINE = 64 * 1024 * 1024  # bytes; also of a file that is one object

_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


class LogReaders(dict[str, Callable[[Mapping[str, Any]], Iterable[NewLog | RejectedLog]]]):
    """Readers of objects that hold several logs, by the attribute that such an object has. A domain may add one."""


class LineLog(NamedTuple):
    """What a line holds: a log, or the reason why it is none."""

    line: int  # from 1
    log: NewLog | RejectedLog


def read_logs(stream: IO[bytes], readers: LogReaders, *, longest: int = LONGEST_LINE) -> Iterator[LineLog]:
    """Read a file to its end. A line that holds no log is a rejection, and does not harm the others."""
    for line, text in enumerate(_values(stream, longest), 1):
        if len(text) > longest:
            yield LineLog(line, _unreadable(f"The line has more than {longest:,} bytes."))
        elif text.strip():
            for log in _logs_of(text, readers):
                yield LineLog(line, log)


def _values(stream: IO[bytes], longest: int) -> Iterator[bytes]:
    """The lines, of one that is too long only the beginning. A file that is one object over several lines is a line."""
    head = stream.readline(longest + 1).removeprefix(_BYTE_ORDER_MARK)
    if head.endswith(b"\n") and head.strip() and not _is_json(head):
        head += stream.read(longest)
        if _is_json(head):
            yield head
            return
    begun = BytesIO(head)

    def read_line() -> bytes:
        """The next line, which may begin in the head and end behind it."""
        line = begun.readline(longest + 1)
        return line if len(line) > longest or line.endswith(b"\n") else line + stream.readline(longest + 1 - len(line))

    while line := read_line():
        yield line
        while len(line) > longest and not line.endswith(b"\n"):
            line = read_line()


def _is_json(text: bytes) -> bool:
    try:
        _parsed(text)
    except orjson.JSONDecodeError:
        return False
    return True


def _logs_of(text: bytes, readers: LogReaders) -> Iterable[NewLog | RejectedLog]:
    """The logs of a line. A rejection stands for one that cannot be read."""
    try:
        value = _parsed(text)
    except orjson.JSONDecodeError as error:
        return [_unreadable(f"The line is no JSON: {error.msg} at character {error.pos + 1}.")]
    if not isinstance(value, dict):
        return [_unreadable("The line must be a JSON object.")]
    for name, read in readers.items():
        if name in value:
            return read(value)
    return [log_of(value)]


def _parsed(text: bytes) -> Any:
    """A value of JSON, in which a text may have half a surrogate pair: JavaScript cuts texts inside of emojis."""
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError:
        try:
            return json.loads(text.decode())
        except (ValueError, RecursionError):
            pass
        raise


def _unreadable(message: str) -> RejectedLog:
    return RejectedLog(0, LogProblem.LOG_INVALID, message)
