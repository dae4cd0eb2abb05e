"""The walk over the wire format agrees with protobuf, and ends for any bytes."""

import asyncio

import pytest
from hypothesis import given
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest

from graph.domains.otlp import wire
from graph.domains.otlp.formats import RecordGroup, TooManyRecords
from graph.domains.otlp.values import Unreadable
from tests.domains.otlp.messages import record, request
from tests.domains.otlp.strategies import requests


def groups(body: bytes) -> list[RecordGroup]:
    """What a walk finds."""
    return asyncio.run(wire.groups(body))


def field(number: int, content: bytes) -> bytes:
    """A field that holds a message of at most 127 bytes."""
    return bytes([number << 3 | 2, len(content)]) + content


@given(requests())
def test_the_walk_finds_what_protobuf_finds(request: ExportLogsServiceRequest) -> None:
    assert groups(request.SerializeToString()) == [
        RecordGroup(
            resource.resource.SerializeToString(),
            scope.scope.SerializeToString(),
            [each.SerializeToString() for each in scope.log_records],
        )
        for resource in request.resource_logs
        for scope in resource.scope_logs
        if scope.log_records
    ]


def test_unknown_fields_are_passed_over() -> None:
    for unknown in (
        *(b"\x78\x96\x01", b"\x79" + bytes(8), b"\x7d" + bytes(4), field(15, b"anything")),  # field 15: numbers, text
        b"\x92\x7d\x01\x00",  # field 2002: one byte
        *(b"\x10\x01", b"\x08\x01"),  # fields 2 and 1 are numbers here
    ):
        scope = field(2, b"") + unknown + field(1, b"\x0a\x01a") + field(2, b"")
        resource = field(2, scope) + unknown + field(1, b"\x10\x01") + unknown

        assert groups(unknown + field(1, resource)) == [RecordGroup(b"\x10\x01", b"\x0a\x01a", [b"", b""])]


def test_a_resource_in_parts_is_merged_as_protobuf_does() -> None:
    resource = field(1, b"\x0a\x00") + field(2, field(2, b"")) + field(1, b"\x10\x01")

    assert groups(field(1, resource)) == [RecordGroup(b"\x0a\x00\x10\x01", b"", [b""])]


BROKEN = [
    b"\x0a",  # no length
    b"\x0a\x01",  # ends early
    b"\x0a\x02\x12\x01",  # a scope that ends behind its resource
    b"\x0a\x03\x12\x02\x00" + field(1, b""),  # likewise, with more data behind
    b"\x02\x00",  # field 0
    b"\x0b\x0c",  # a group
    b"\x0f",  # an unknown type
    b"\x79\x00",  # a number of eight bytes
    b"\x08" + b"\xff" * 11,  # a number without end
    b"\x0a" + b"\xff" * 9 + b"\x01",  # a length of 64 bits
]


def test_broken_bytes_are_refused() -> None:
    for body in BROKEN:
        with pytest.raises(Unreadable):
            groups(body)


def test_fields_without_records_are_counted_too() -> None:
    with pytest.raises(TooManyRecords):
        groups(field(1, b"") * 100_001)
    assert groups(field(1, b"") * 100_000) == []
    body = request(record(), name="cart", version="1").SerializeToString()

    assert len(groups(body * 10_000)) == 10_000
