"""The contract of the two formats of OTLP, which `protobuf` and `json_format` implement."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

from graph.core.errors import BadRequest
from graph.domains.otlp.mapping import Origin
from graph.domains.otlp.values import Plain
from graph.domains.service_logs.model import NewLog

MOST_RECORDS = 10_000  # of a request, as CloudWatch Logs takes


class RecordGroup(NamedTuple):
    """The records of one resource and scope, which nothing has read yet. There is at least one."""

    resource: Any  # the same object in all groups of the resource
    scope: Any
    records: Sequence[Any]


class RequestFormat(Protocol):
    """Reads one request, and writes its answer."""

    media_type: str
    most_bytes: int  # of a body, before and after decompression

    @property
    def warning(self) -> str:
        """What was ignored of a request that was read; empty for nothing."""

    def memory_of(self, body: bytes) -> int:
        """About the most bytes that a body takes while it is read."""

    async def groups(self, body: bytes) -> list[RecordGroup]:
        """The groups of a request, in its order. Scopes without records are left out.

        Raises:
            Unreadable: It is no request of OTLP.
            TooManyRecords: It has too many.
        """

    def attributes(self, resource: Any) -> Mapping[str, Plain]:
        """The attributes of a group's resource; Unreadable if it is broken, and with it each of its records."""

    def origin(self, attributes: Mapping[str, Plain], scope: Any) -> Origin:
        """The origin of a group, by the attributes of its resource; Unreadable if its scope is broken."""

    def reader(self, origin: Origin, now_ns: int) -> Callable[[Any], NewLog]:
        """A function that reads the records of an origin. It raises Unreadable for a broken one.

        Args:
            origin: of the records.
            now_ns: the time of records without a time, epoch nanoseconds.
        """

    def success(self, rejected: int, message: str) -> bytes:
        """The answer to a request of which so many records were rejected, perhaps with a warning."""

    def refusal(self, code: int, message: str) -> bytes:
        """The answer to a request that was refused, with a code of google.rpc."""


class TooManyRecords(BadRequest):
    """The request has more records than it may have."""

    def __init__(self) -> None:
        super().__init__(f"A request may have {MOST_RECORDS:,} log records: send smaller batches.", status=413)
