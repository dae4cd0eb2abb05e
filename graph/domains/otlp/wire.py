"""Walks the wire format of a request down to its records. It makes no message of what it passes over.

A parsed message takes some 100 bytes, and a record may have two. So records are counted first, and parsed one by one.

    ExportLogsServiceRequest   1 ResourceLogs*
    ResourceLogs               1 Resource   2 ScopeLogs*
    ScopeLogs                  1 Scope      2 LogRecord*

Source: https://protobuf.dev/programming-guides/encoding/
"""

from collections.abc import AsyncIterator

from graph.domains.otlp.formats import MOST_RECORDS, RecordGroup, TooManyRecords
from graph.domains.otlp.values import Unreadable
from graph.work.account import give_way

FIELDS_AT_ONCE = 1000  # some 0.5 ms, before giving way to other work
MOST_FIELDS = 10 * MOST_RECORDS  # around records; a record that has a resource and a scope of its own takes seven

Span = tuple[int, int, int, int]
"""A field that holds a message or text: its number, where its tag, its content and the next field begin."""


async def groups(data: bytes) -> list[RecordGroup]:
    """The groups of a request. Resource, scope and records are bytes.

    Raises:
        Unreadable: The bytes are no such request.
        TooManyRecords: It has too many records.
    """
    try:
        return [group async for group in _WireWalk(data).groups() if group.records]
    except IndexError:  # only the end of all data is not compared
        raise Unreadable("The body ends within a field.") from None


def cut(data: bytes, most: int) -> tuple[bytes, dict[int, bytes]]:
    """A message without its longest fields, so that so many bytes are left, and the last of these by their numbers.

    Raises:
        Unreadable: It has too many fields, or is broken.
    """
    fields = list[Span]()
    try:
        if _WireWalk(data).walk(0, len(data), fields) != len(data):
            raise Unreadable(f"It has more than {FIELDS_AT_ONCE:,} fields, or one that ends after it.")
    except IndexError:
        raise Unreadable("It ends within a field.") from None
    fields.sort(key=lambda field: field[1] - field[3])
    rest, longest = len(data), list[Span]()
    for each in fields:
        if rest > most:
            longest.append(each)
            rest -= each[3] - each[1]
    kept, at = [], 0
    for _, start, _, end in sorted(longest, key=lambda field: field[1]):
        kept.append(data[at:start])
        at = end
    return b"".join([*kept, data[at:]]), {number: data[begin:end] for number, _, begin, end in longest}


class _WireWalk:
    """One walk."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._fields = 0
        self._rest_at = FIELDS_AT_ONCE  # fields

    async def groups(self) -> AsyncIterator[RecordGroup]:
        data = self._data
        for number, _, at, end in await self._messages(0, len(data)):
            if number == 1:
                inside = await self._messages(at, end)
                resource = _merged(data, inside)  # it may come after its scopes
                for nested, _, begin, stop in inside:
                    if nested == 2:
                        yield await self._group(resource, begin, stop)

    async def _group(self, resource: bytes, at: int, end: int) -> RecordGroup:
        inside = await self._messages(at, end)
        return RecordGroup(
            resource, _merged(self._data, inside), [self._data[at:end] for number, _, at, end in inside if number == 2]
        )

    async def _messages(self, at: int, end: int) -> list[Span]:
        """The fields of a part of the data that hold a message or text."""
        found: list[Span] = []
        while at < end:
            at = self.walk(at, end, found)
            if self._fields >= self._rest_at:
                await give_way()
                self._rest_at = self._fields + FIELDS_AT_ONCE
        if at > end:
            raise Unreadable("A field ends after its message.")
        return found

    def walk(self, at: int, end: int, found: list[Span]) -> int:
        """Pass over fields until it is time to give way, and add those that hold a message or text to the found ones.

        Returns:
            Where it ended.
        """
        data, fields, rest_at = self._data, self._fields, self._rest_at
        while at < end and fields < rest_at:
            fields += 1
            start = at
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
                        found.append((tag >> 3, start, begin, at))
                case 0:
                    _, at = self._varint(at)
                case 1:
                    at += 8
                case 5:
                    at += 4
                case _:
                    raise Unreadable("A field has an unknown type.")
        self._fields = fields
        if fields > MOST_FIELDS:
            raise TooManyRecords
        return at

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


def _merged(data: bytes, fields: list[Span]) -> bytes:
    """Field 1. Parts of a message that is given in several are merged by joining them."""
    return b"".join([data[at:end] for number, _, at, end in fields if number == 1])
