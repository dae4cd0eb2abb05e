"""Reads the records of a request one by one, whatever its format."""

from collections.abc import Callable, Iterable, Iterator
from itertools import groupby
from typing import TypeVar

from graph.domains.otlp.formats import RecordGroup, RequestFormat
from graph.domains.otlp.mapping import Origin
from graph.domains.otlp.values import Unreadable, WrongType
from graph.domains.service_logs.model import NewLog, RejectedLog

RECORD_BYTES = 1024  # of memory for a log without metadata, on its way to the store
ATTRIBUTE_BYTES = 100  # for each attribute of resource and scope, which each log has

T = TypeVar("T")


def logs_of(
    format_: RequestFormat,
    groups: Iterable[RecordGroup],
    now_ns: int,
    hold: Callable[[int], None] = lambda size: None,
    *,
    is_strict: bool = False,
) -> Iterator[NewLog | RejectedLog]:
    """The logs of all groups, in order. A rejection stands for one that cannot be read.

    Args:
        format_: of the groups.
        groups: of one request.
        now_ns: the time of records without a time, epoch nanoseconds.
        hold: called with the bytes of memory that the logs of a group take, before they are read.
        is_strict: whether a resource or scope of a wrong type is an error. Otherwise, its records are rejected.

    Raises:
        WrongType: A resource or scope has a wrong type.
    """
    place = 0
    for group, origin in _with_origins(format_, groups):
        if isinstance(origin, Unreadable):
            if is_strict and isinstance(origin, WrongType):
                raise origin
            message = f"Its resource or scope: {origin}"
            yield from (RejectedLog(each, origin.code, message) for each in range(place, place + len(group.records)))
            place += len(group.records)
            continue
        hold(len(group.records) * (RECORD_BYTES + ATTRIBUTE_BYTES * len(origin.metadata)))
        read = format_.reader(origin, now_ns)
        for record in group.records:
            try:
                yield read(record)
            except Unreadable as error:
                yield error.at(place)
            place += 1


def _with_origins(
    format_: RequestFormat, groups: Iterable[RecordGroup]
) -> Iterator[tuple[RecordGroup, Origin | Unreadable]]:
    """The groups with their origins, or why these cannot be read. A resource is read once, however many its scopes."""
    for _, alike in groupby(groups, key=lambda group: id(group.resource)):
        attributes = None
        for group in alike:
            if attributes is None:
                attributes = _tried(format_.attributes, group.resource)
            if isinstance(attributes, Unreadable):
                yield group, attributes
            else:
                yield group, _tried(format_.origin, attributes, group.scope)


def _tried(read: Callable[..., T], *parts: object) -> T | Unreadable:
    """What a function reads, or why it cannot read it."""
    try:
        return read(*parts)
    except Unreadable as error:
        return error
