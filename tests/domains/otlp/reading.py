"""Reads records as the intake does, without a service: `read_one(record("paid")).message`."""

import asyncio
from collections.abc import Sequence
from typing import Any

import orjson
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.logs.v1.logs_pb2 import LogRecord

from graph.domains.otlp.bodies import FORMATS
from graph.domains.otlp.values import Unreadable
from graph.domains.service_logs.model import NewLog
from tests.domains.otlp.messages import JSON, NOON_NS, PROTOBUF, as_json, request

NOW_NS = NOON_NS + 5


def logs_in(body: bytes, media_type: str) -> list[NewLog | Unreadable]:
    """The logs of a request, with the error in the place of each that cannot be read."""
    format_ = FORMATS[media_type]()
    read: list[NewLog | Unreadable] = []
    for group in asyncio.run(format_.groups(body)):
        reader = format_.reader(format_.origin(format_.attributes(group.resource), group.scope), NOW_NS)
        for each in group.records:
            try:
                read.append(reader(each))
            except Unreadable as error:
                read.append(error)
    return read


def shown(read: Sequence[NewLog | Unreadable]) -> list[Any]:
    """Logs and errors so that they can be compared."""
    return [(str(each), each.code) if isinstance(each, Unreadable) else each for each in read]


def read(sent: ExportLogsServiceRequest) -> list[NewLog]:
    """All logs of a request, which both formats say alike. Raises the first error."""
    of_protobuf = logs_in(sent.SerializeToString(), PROTOBUF)
    assert shown(of_protobuf) == shown(logs_in(orjson.dumps(as_json(sent)), JSON))
    for each in of_protobuf:
        if isinstance(each, Unreadable):
            raise each
    return [each for each in of_protobuf if isinstance(each, NewLog)]


def read_one(sent: LogRecord, **others: Any) -> NewLog:
    """The log of a request with one record."""
    (log,) = read(request(sent, **others))
    return log
