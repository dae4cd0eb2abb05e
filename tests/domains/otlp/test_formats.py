"""Both formats of OTLP say the same, and JSON may say it in several ways."""

import asyncio
from base64 import urlsafe_b64encode
from typing import Any

import orjson
import pytest
from hypothesis import given
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.common.v1.common_pb2 import KeyValue
from opentelemetry.proto.logs.v1.logs_pb2 import LogRecord

from graph.domains.otlp.bodies import FORMATS
from graph.domains.otlp.reading import logs_of
from graph.domains.otlp.values import Unreadable
from graph.domains.service_logs.model import NewLog
from tests.domains.otlp.messages import JSON, NOON_NS, PROTOBUF, TRACE, as_json, record, request
from tests.domains.otlp.reading import NOW_NS, logs_in, shown
from tests.domains.otlp.strategies import requests


def of_protobuf(body: bytes) -> list[Any]:
    return shown(logs_in(body, PROTOBUF))


def of_json(body: bytes) -> list[Any]:
    return shown(logs_in(body, JSON))


@given(requests())
def test_json_and_protobuf_of_a_request_are_the_same_logs(request: ExportLogsServiceRequest) -> None:
    body = request.SerializeToString()

    assert of_protobuf(body) == of_json(orjson.dumps(as_json(request)))
    assert len(of_protobuf(body)) == sum(
        len(scope.log_records) for resource in request.resource_logs for scope in resource.scope_logs
    )


@given(requests(), requests())
def test_requests_may_be_joined_byte_by_byte(one: ExportLogsServiceRequest, other: ExportLogsServiceRequest) -> None:
    first, second = one.SerializeToString(), other.SerializeToString()

    assert of_protobuf(first + second) == of_protobuf(first) + of_protobuf(second)


def json_of(**members: Any) -> bytes:
    """A request with one record."""
    return orjson.dumps({"resourceLogs": [{"scopeLogs": [{"logRecords": [members]}]}]})


WAYS: list[tuple[dict[str, Any], dict[str, Any]]] = [
    ({"timeUnixNano": 7}, {"timeUnixNano": "7"}),
    ({"timeUnixNano": 7.0}, {"timeUnixNano": "7"}),
    ({"timeUnixNano": None, "observedTimeUnixNano": "8"}, {"timeUnixNano": "8"}),
    ({"traceId": "0102030405060708090A0B0C0D0E0F10"}, {"traceId": "0102030405060708090a0b0c0d0e0f10"}),
    ({"traceId": None, "spanId": ""}, {}),
    ({"severityNumber": 9.0}, {"severityNumber": 9}),
    ({"body": {"intValue": 7}}, {"body": {"intValue": "7"}}),
    ({"body": {"doubleValue": "0.5"}}, {"body": {"doubleValue": 0.5}}),
    ({"body": {"doubleValue": 1}}, {"body": {"doubleValue": 1.0}}),
    ({"body": {"bytesValue": urlsafe_b64encode(b"\xff\xfe\xfd\xfc").decode()}}, {"body": {"bytesValue": "//79/A"}}),
    ({"body": {"stringValue": None, "intValue": "1"}}, {"body": {"intValue": "1"}}),
    ({"body": {}}, {"body": None}),
    ({"body": {"arrayValue": {}}}, {"body": {"arrayValue": {"values": []}}}),
    ({"attributes": None, "flags": {}, "new": [1]}, {"attributes": []}),
]


def test_json_may_be_written_in_several_ways() -> None:
    for way, as_usual in WAYS:
        read = of_json(json_of(**way))
        assert isinstance(read[0], NewLog), way
        assert read == of_json(json_of(**as_usual))


WRONG: list[tuple[dict[str, Any], str]] = [
    ({"timeUnixNano": "soon"}, "`timeUnixNano` must be a whole number"),
    ({"timeUnixNano": -1}, "`timeUnixNano` must be a whole number"),
    ({"timeUnixNano": str(2**64)}, "`timeUnixNano` must be a whole number"),
    ({"timeUnixNano": True}, "`timeUnixNano` must be a whole number"),
    ({"timeUnixNano": 0.5}, "`timeUnixNano` must be a whole number"),
    ({"severityNumber": "SEVERITY_NUMBER_INFO"}, "`severityNumber` must be a number"),
    ({"severityText": 5}, "`severityText` must be a text"),
    ({"eventName": []}, "`eventName` must be a text"),
    ({"traceId": 5}, "`traceId` must be a text"),
    ({"attributes": {}}, "`attributes` must be a list"),
    ({"attributes": [None]}, "`attributes` must be a list of objects"),
    ({"attributes": [{"key": 1}]}, "`key` must be a text"),
    ({"attributes": [{"key": "a", "value": "b"}]}, "A value must be an object"),
    ({"body": "text"}, "A value must be an object"),
    ({"body": {"stringValue": 1}}, "`stringValue` must be a text"),
    ({"body": {"boolValue": 1}}, "`boolValue` must be true or false"),
    ({"body": {"intValue": str(2**63)}}, "`intValue` must be a whole number"),
    ({"body": {"intValue": "1e3"}}, "`intValue` must be a whole number"),
    ({"body": {"doubleValue": "much"}}, "`doubleValue` must be a number"),
    ({"body": {"doubleValue": True}}, "`doubleValue` must be a number"),
    ({"body": {"bytesValue": "%"}}, "`bytesValue` must be base64"),
    ({"body": {"bytesValue": "A"}}, "`bytesValue` must be base64"),
    ({"body": {"arrayValue": []}}, "`arrayValue` must be an object"),
    ({"body": {"arrayValue": {"values": {}}}}, "`values` must be a list"),
    ({"body": {"kvlistValue": {"values": [1]}}}, "`values` must be a list of objects"),
    ({"body": {"stringValue": "a", "intValue": 1}}, "A value has more than one type"),
]


def test_a_record_of_a_wrong_type_is_refused_with_the_reason() -> None:
    for members, expected in WRONG:
        ((reason, _),) = of_json(json_of(**members))
        assert reason.startswith(expected), members


NO_OTLP = [
    *(b"[]", b"1", b"null", b'"resourceLogs"', b'{"a":1}', b'{"resource_logs":[]}', b"{", b"\xff", b"{}{}"),
    *(b'{"resourceLogs":{}}', b'{"resourceLogs":[null]}', b'{"resourceLogs":[{"resource":[]}]}'),
    *(b'{"resourceLogs":[{"scopeLogs":1}]}', b'{"resourceLogs":[{"scopeLogs":[[]]}]}'),
    b'{"resourceLogs":[{"scopeLogs":[{"logRecords":{}}]}]}',
    b'{"resourceLogs":[{"scopeLogs":[{"scope":""}]}]}',
    b'{"resourceLogs":' + b"[" * 100_000,
]


def test_json_that_is_no_otlp_is_refused_and_an_empty_request_has_no_logs() -> None:
    for body in NO_OTLP:
        with pytest.raises(Unreadable):
            of_json(body)
    for body in (b"", b"{}", b'{"resourceLogs":null}', b'{"resourceLogs":[],"a":1}'):
        assert of_json(body) == []


def test_half_a_surrogate_pair_is_read_so_that_its_record_alone_is_repaired() -> None:
    broken, whole = of_json(
        b'{"resourceLogs":[{"scopeLogs":[{"logRecords":['
        rb'{"body":{"stringValue":"\ud800"}},{"body":{"stringValue":"\ud83d\ude00"}}'
        b"]}]}]}"
    )

    assert (broken.message, whole.message) == ("\ud800", "😀")


LONG = 256 * 1024  # bytes, more than which a record of protobuf is not parsed


def test_a_record_of_protobuf_that_is_too_long_is_read_without_its_longest_fields() -> None:
    around = record("x" * 200_000).ByteSize() - 200_000
    fits, too_long = (record("x" * (length - around), trace_id=TRACE) for length in (LONG - 18, LONG))
    assert (fits.ByteSize(), too_long.ByteSize()) == (LONG, LONG + 18)
    attributes = {"short": 1, "long": "y" * LONG}
    others = [record("ü" * LONG), record(attributes=attributes), record(["y" * LONG], event_name="paid")]

    logs = logs_in(request(fits, too_long, *others).SerializeToString(), PROTOBUF)

    assert [isinstance(each, NewLog) for each in logs] == [True] * 5
    fitting, *read = [each for each in logs if isinstance(each, NewLog)]
    assert (fitting.changed, fitting.trace_id) == ((), TRACE.hex())
    assert [(len(each.message), each.metadata, each.changed) for each in read] == [
        (LONG - around, {}, ()),
        (LONG, {}, ()),
        (len("started"), {"short": 1}, (f"attributes left out: the record has {others[1].ByteSize():,} bytes",)),
        (len("paid"), {}, (f"body left out: the record has {others[2].ByteSize():,} bytes",)),
    ]
    assert {each.time_ns for each in read} == {NOON_NS}


def test_a_record_of_protobuf_that_is_no_utf8_or_far_too_long_breaks_alone() -> None:
    fields = LogRecord(attributes=[KeyValue()] * LONG)
    body = request(fields, record("aXb"), record("kept")).SerializeToString().replace(b"aXb", b"a\xffb")

    assert [isinstance(each, NewLog) for each in of_protobuf(body)] == [False, False, True]


def test_a_resource_is_read_once_however_many_its_scopes() -> None:
    sent = request(record(), resource={"list": ["of", "its", "own"]})
    sent.resource_logs[0].scope_logs.extend([sent.resource_logs[0].scope_logs[0]] * 2)
    for media_type, body in ((PROTOBUF, sent.SerializeToString()), (JSON, orjson.dumps(as_json(sent)))):
        format_ = FORMATS[media_type]()
        groups = asyncio.run(format_.groups(body))
        logs = [log for log in logs_of(format_, groups, NOW_NS) if isinstance(log, NewLog)]

        assert len(logs) == 3
        assert len({id((log.metadata or {})["list"]) for log in logs}) == 1
