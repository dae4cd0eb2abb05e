"""Walks the wire format of a request down to its records. It makes no message of what it passes over.

A parsed message takes some 100 bytes, and a record may have two. So records are counted first, and parsed one by one.

    ExportLogsServiceRequest   1 ResourceLogs*
    ResourceLogs               1 Resource   2 ScopeLogs*
    ScopeLogs                  1 Scope      2 LogRecord*

Source: https://protobuf.dev/programming-guides/encoding/
"""

from collections.abc import Iterator

from graph.domains.service_logs.otlp.formats import MOST_RECORDS, Group, TooManyRecords
from graph.domains.service_logs.otlp.values import Unreadable

MOST_FIELDS = 10 * MOST_RECORDS  # around records; a record that has a resource and a scope of its own takes seven


def groups(data: bytes) -> list[Group]:
    """The groups of a request. Resource, scope and records are bytes.

    Raises:
        Unreadable: The bytes are no such request.
        TooManyRecords: It has too many records.
    """
    try:
        return list(_Walk(data).groups())
    except IndexError:  # only the end of all data is not compared
        raise Unreadable("The body ends within a field.") from None


class _Walk:
    """One walk."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._fields = 0
        self._records = 0

    def groups(self) -> Iterator[Group]:
        data = self._data
        for number, at, end in self._messages(0, len(data)):
            if number == 1:
                inside = list(self._messages(at, end))
                resource = _merged(data, inside)  # it may come after its scopes
                for nested, begin, stop in inside:
                    if nested == 2:
                        yield self._group(resource, begin, stop)

    def _group(self, resource: bytes, at: int, end: int) -> Group:
        inside = list(self._messages(at, end))
        return Group(
            resource, _merged(self._data, inside), [self._data[at:end] for number, at, end in inside if number == 2]
        )

    def _messages(self, at: int, end: int) -> Iterator[tuple[int, int, int]]:
        """The fields that hold a message or text, each as its number and span."""
        data = self._data
        while at < end:
            self._fields += 1
            if self._fields > MOST_FIELDS:
                raise TooManyRecords
            tag = data[at]
            at += 1
            if tag > 127:
                tag, at = self._varint(at - 1)
            if tag < 8:
                raise Unreadable("A field has the number 0.")
            match tag & 7:
                case 2:
                    size = data[at]
                    at += 1
                    if size > 127:
                        size, at = self._varint(at - 1)
                    begin, at = at, at + size
                    if at <= end:
                        yield tag >> 3, begin, at
                case 0:
                    _, at = self._varint(at)
                case 1:
                    at += 8
                case 5:
                    at += 4
                case _:
                    raise Unreadable("A field has an unknown type.")
        if at > end:
            raise Unreadable("A field ends after its message.")

    def _varint(self, at: int) -> tuple[int, int]:
        """A number and where it ends."""
        number = 0
        for shift in range(0, 70, 7):
            byte = self._data[at]
            at += 1
            number |= (byte & 127) << shift
            if byte < 128:
                return number, at
        raise Unreadable("A number has more than ten bytes.")


def _merged(data: bytes, fields: list[tuple[int, int, int]]) -> bytes:
    """Field 1. Parts of a message that is given in several are merged by joining them."""
    return b"".join([data[at:end] for number, at, end in fields if number == 1])
