"""Hostile requests: each is answered 200, 400 or 413, never 500.

The walk over the wire format agrees with protobuf, and ends for any bytes.
"""

import asyncio
from typing import Any

import orjson
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.common.v1.common_pb2 import KeyValue
from opentelemetry.proto.logs.v1.logs_pb2 import LogRecord

from graph.domains.otlp import wire
from graph.domains.otlp.bodies import FORMATS
from graph.domains.otlp.formats import RecordGroup, TooManyRecords
from graph.domains.otlp.values import Unreadable
from tests.domains.otlp.messages import JSON, NOON_NS, PROTOBUF, as_json, record, request
from tests.domains.otlp.senders import Answered, Sender, answered
from tests.domains.otlp.strategies import requests
from tests.turns import turns_counted

SOME = settings(max_examples=50, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)


def field(number: int, content: bytes) -> bytes:
    """A field that holds a message, as protobuf writes it."""
    return varint(number << 3 | 2) + varint(len(content)) + content


def varint(number: int) -> bytes:
    """A number as protobuf writes it."""
    written = b""
    while number > 127:
        written += bytes([number & 127 | 128])
        number >>= 7
    return written + bytes([number])


TINY_RECORDS = field(1, field(2, b"\x12\x00" * 8_000_000))
TINY_SCOPES = field(1, b"\x12\x00" * 200_000)
TINY_VALUES = [
    b'{"resourceLogs":[{"scopeLogs":[{"logRecords":[{"body":[%s]}]}]}]}'
    % b",".join([value] * (4_100_000 // (len(value) + 1)))
    for value in (b"{}", b'{"a":0}', b"[0]", b"[]")
]
"""Bodies of few bytes a record or value."""


JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**64 - 1) | st.floats() | st.text(max_size=5),
    lambda inside: st.lists(inside, max_size=3) | st.dictionaries(st.text(max_size=5), inside, max_size=3),
    max_leaves=5,
)
USUAL = as_json(
    request(
        record(
            {"a": ["b", 1, 0.5, True, b"x", None]},
            attributes={"log.type": "audit", "log.record.uid": "1"},
            severity_number=9,
            severity_text="INFO",
            observed_time_unix_nano=NOON_NS,
            trace_id=b"\1" * 16,
            span_id=b"\1" * 8,
            event_name="e",
        ),
        scope={"s": "t"},
        name="cart",
        version="1",
    )
)


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The path of each value inside of a value of JSON."""
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [path, *(place for name, each in inside for place in places(each, (*path, name)))]


def replaced(value: Any, path: tuple[Any, ...], other: Any) -> Any:
    """A value of JSON in which the value at a path is another one."""
    if not path:
        return other
    name, *rest = path
    if isinstance(value, dict):
        return {**value, name: replaced(value[name], tuple(rest), other)}
    return [replaced(each, tuple(rest), other) if at == name else each for at, each in enumerate(value)]


@given(place=st.sampled_from(places(USUAL)), other=JSON_VALUES)
@SOME
def test_any_value_of_json_in_any_place_is_answered(hostile: Sender, place: tuple[Any, ...], other: Any) -> None:
    body = orjson.dumps(replaced(USUAL, place, other))

    assert answered(hostile.post(body, JSON)).status in (200, 400)


@given(body=st.binary(max_size=200))
@SOME
def test_any_bytes_are_answered(hostile: Sender, media_type: str, body: bytes) -> None:
    assert answered(hostile.post(body, media_type)).status in (200, 400)


@given(sent=requests(), data=st.data())
@SOME
def test_a_request_with_changed_bytes_is_answered(
    hostile: Sender, sent: ExportLogsServiceRequest, data: st.DataObject
) -> None:
    body = bytearray(sent.SerializeToString() or b"\0")
    for _ in range(3):
        body[data.draw(st.integers(0, len(body) - 1))] = data.draw(st.integers(0, 255))

    assert answered(hostile.post(bytes(body), PROTOBUF)).status in (200, 400)


@given(sent=requests())
@SOME
def test_any_request_is_answered_alike_in_both_formats(hostile: Sender, sent: ExportLogsServiceRequest) -> None:
    protobuf, json = (hostile.send(sent, media_type) for media_type in (PROTOBUF, JSON))

    assert protobuf.status == 200
    assert protobuf == json


def test_millions_of_tiny_records_or_values_are_refused_before_they_are_read(hostile: Sender) -> None:
    for body in TINY_RECORDS, TINY_SCOPES:
        with pytest.raises(TooManyRecords):
            asyncio.run(wire.groups(body))
        assert answered(hostile.post(body, PROTOBUF)).status == 413
    for body in (*TINY_VALUES, b'{"resourceLogs":[{"scopeLogs":[{}%s]}]}' % (b",{}" * 10_000)):
        assert answered(hostile.post(body, JSON)).status == 413


async def test_to_pass_over_fields_never_holds_the_loop_for_long() -> None:
    body = field(1, b"\x12\x00" * 90_000)

    async with turns_counted() as turns:
        assert await wire.groups(body) == []

    assert turns.number >= 90_000 // wire.FIELDS_AT_ONCE


async def test_json_that_takes_long_to_parse_leaves_the_loop_to_others() -> None:
    async with turns_counted() as turns:
        assert len(await FORMATS[JSON]().groups(orjson.dumps(USUAL).replace(b'"cart"', b'"\\ud800"'))) == 1

    assert turns.number


def test_a_million_attributes_reject_their_records_alone(hostile: Sender) -> None:
    many = [KeyValue()] * 1_000_000
    answer = hostile.send(request(LogRecord(attributes=many), record("kept", time_unix_nano=1)))
    assert (answer.status, answer.rejected) == (200, 2)
    assert answer.message.startswith(
        "record 0: LOG_INVALID: It has more than 1,000 fields, or one that ends after it.; record 1: EXPIRED"
    )

    sent = request(record("lost"))
    sent.resource_logs[0].resource.attributes.extend(many)
    assert hostile.send(sent).message.startswith("record 0: LOG_INVALID: Its resource or scope: ")

    for media_type in (PROTOBUF, JSON):
        answer = hostile.send(request(LogRecord(attributes=many[:100_000])), media_type)
        assert answer == Answered(200, 1, "record 0: METADATA_INVALID: There must be at most 128 attributes.")


def nested(media_type: str, levels: int) -> bytes:
    """A request with a record of so many lists inside of each other, and one with a wrong severity number."""
    if media_type == JSON:
        deep = b'{"arrayValue":{"values":[' * levels + b"{}" + b"]}}" * levels
        return b'{"resourceLogs":[{"scopeLogs":[{"logRecords":[{"body":%s},{"severityNumber":25}]}]}]}' % deep
    deep = b""
    for _ in range(levels):
        deep = field(5, field(1, deep))
    return field(1, field(2, field(2, field(5, deep)) + field(2, b"\x10\x19")))


def test_deep_nesting_rejects_its_record_alone(hostile: Sender, media_type: str) -> None:
    for levels in (17, 90, 300):
        answer = answered(hostile.post(nested(media_type, levels), media_type))

        first, second = answer.message.split("; ")
        assert (answer.status, answer.rejected) == (200, 2)
        assert first.startswith("record 0: LOG_INVALID: ")
        assert second == "record 1: LOG_INVALID: The severity number must lie between 0 and 24."


def test_lone_surrogates_are_replaced_and_only_a_service_cannot_have_one(hostile: Sender) -> None:
    attribute = r'"attributes":[{"key":"%s","value":{"stringValue":"%s"}}]'
    every = (
        *(r'"body":{"stringValue":"\ud800"}', r'"eventName":"\udfff"'),
        r'"body":{"arrayValue":{"values":[{"stringValue":"\ud83d"}]}}',
        *(attribute % pair for pair in ((r"\ud800", "a"), ("a", r"\ud800"), ("log.record.uid", r"\ud800"))),
    )
    records = ",".join(f'{{"timeUnixNano":"{NOON_NS}",{each}}}' for each in every)
    body = f'{{"resourceLogs":[{{"scopeLogs":[{{"logRecords":[{records}]}}]}}]}}'

    def rejected(service: str) -> int:
        resource = f'"resource":{{"attributes":[{{"key":"service.name","value":{{"stringValue":"{service}"}}}}]}}'
        return answered(hostile.post(body.replace('"scopeLogs"', f'{resource},"scopeLogs"').encode(), JSON)).rejected

    assert (rejected("halves"), rejected(r"\udc00")) == (0, len(every))
    logs = hostile.stored(services=["halves"])
    assert [log["message"] for log in logs] == ["\ufffd", "\ufffd", '["\ufffd"]', "", "", ""]
    assert {log["metadata"]["quakegraph.changed"] for log in logs} == {"half a surrogate pair replaced"}


def groups(body: bytes) -> list[RecordGroup]:
    """What a walk finds."""
    return asyncio.run(wire.groups(body))


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
