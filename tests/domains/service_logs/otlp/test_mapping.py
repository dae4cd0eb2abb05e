"""What becomes of each part of a record, in both formats."""

import asyncio
from collections.abc import Callable
from typing import Any

import orjson
import pytest
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest

from graph.domains.service_logs.model import NewLog, Problem, ServiceLogType
from graph.domains.service_logs.otlp.bodies import FORMATS
from graph.domains.service_logs.otlp.values import Unreadable
from tests.domains.service_logs.otlp.messages import (
    NOON_NS,
    PROTOBUF,
    SPAN,
    TRACE,
    as_json,
    joined,
    record,
    request,
)

NOW_NS = NOON_NS + 5
Read = Callable[[ExportLogsServiceRequest], list[NewLog]]


@pytest.fixture
def read(media_type: str) -> Read:
    """Reads all records of a request."""

    def read(request: ExportLogsServiceRequest) -> list[NewLog]:
        format_ = FORMATS[media_type]
        body = request.SerializeToString() if media_type == PROTOBUF else orjson.dumps(as_json(request))
        return [
            format_.reader(format_.origin(format_.attributes(group.resource), group.scope), NOW_NS)(each)
            for group in asyncio.run(format_.groups(body))
            for each in group.records
        ]

    return read


def test_a_record_becomes_a_log(read: Read) -> None:
    sent = record(
        "paid", attributes={"amount": 12.5}, severity_number=13, trace_id=TRACE, span_id=SPAN, event_name="payment"
    )

    assert read(request(sent, resource={"host.name": "h1"})) == [
        NewLog(
            service="checkout",
            message="paid",
            time_ns=NOON_NS,
            log_type=ServiceLogType.APPLICATION,
            severity=13,
            metadata={"host.name": "h1", "amount": 12.5},
            trace_id="0102030405060708090a0b0c0d0e0f10",
            span_id="0102030405060708",
            event_name="payment",
        )
    ]


def test_each_record_has_the_service_of_its_resource(read: Read) -> None:
    sent = joined(
        request(record(), service="a"), request(record(), service=None), request(record(), record(), service="")
    )

    assert [log.service for log in read(sent)] == ["a", "unknown_service", "unknown_service", "unknown_service"]


def test_attributes_of_a_record_win_over_those_of_its_scope_and_resource(read: Read) -> None:
    (log,) = read(
        request(
            record(attributes={"c": 3}),
            resource={"a": 1, "b": 1, "c": 1},
            scope={"b": 2, "c": 2},
            name="cart",
            version="1.2",
        )
    )

    assert log.metadata == {"a": 1, "b": 2, "c": 3, "otel.scope.name": "cart", "otel.scope.version": "1.2"}


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        (True, True),
        (False, False),
        (0, 0),
        (-(2**63), -(2**63)),
        (0.0, 0.0),
        (0.5, 0.5),
        ("", ""),
        ("\0\x07\n", "\0\x07\n"),
        (None, None),
        (b"\xff\x00", "/wA="),
        (float("nan"), "NaN"),
        (float("inf"), "Infinity"),
        (float("-inf"), "-Infinity"),
        (1e300, "1e+300"),
        (1e-300, "1e-300"),
        ([1, ["x", None]], [1, ["x", None]]),
        ({"a": {"b": 1e300}, "": 1}, {"a": {"b": "1e+300"}}),
    ],
)
def test_a_value_is_kept_and_a_number_that_cannot_be_stored_becomes_text(read: Read, given: Any, kept: Any) -> None:
    (log,) = read(request(record(attributes={"it": given})))

    assert log.metadata == {"it": kept}
    assert type((log.metadata or {})["it"]) is type(kept)


def test_an_attribute_without_a_name_is_dropped(read: Read) -> None:
    (log,) = read(request(record(attributes={"": 1, "a": 2}), resource={"": 1}, scope={"": 1}))

    assert log.metadata == {"a": 2}


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("", ""),
        ("\0 \x1b[1m", "\0 \x1b[1m"),
        (..., "payment"),
        (None, "payment"),
        (False, "false"),
        (7, "7"),
        (float("nan"), "NaN"),
        (b"\x00", "AA=="),
        ({"a": [1, None]}, '{"a":[1,null]}'),
    ],
)
def test_the_message_is_the_body_as_text_or_the_name_of_the_event(read: Read, body: Any, message: str) -> None:
    (log,) = read(request(record(body, event_name="payment")))

    assert log.message == message


def test_without_body_and_event_the_message_is_empty(read: Read) -> None:
    (log,) = read(request(record(...)))

    assert (log.message, log.event_name) == ("", None)


@pytest.mark.parametrize(
    ("time", "observed", "taken"), [(3, 4, 3), (0, 4, 4), (0, 0, NOW_NS), (2**64 - 1, 0, 2**64 - 1)]
)
def test_the_time_is_that_of_the_event_or_of_its_observation_or_now(
    read: Read, time: int, observed: int, taken: int
) -> None:
    (log,) = read(request(record(time_unix_nano=time, observed_time_unix_nano=observed)))

    assert log.time_ns == taken


@pytest.mark.parametrize(
    ("number", "text", "severity"),
    [
        (1, "FATAL", 1),
        (24, "", 24),
        (0, "", 9),
        (0, "my own", 9),
        (0, "trace", 1),
        (0, "Debug", 5),
        (0, "INFO", 9),
        (0, "INFO2", 10),
        (0, "Notice", 10),
        (0, "warn", 13),
        (0, "WARNING", 13),
        (0, "err", 17),
        (0, "error3", 19),
        (0, "CRITICAL", 18),
        (0, "fatal", 21),
    ],
)
def test_the_severity_is_the_number_or_else_the_name(read: Read, number: int, text: str, severity: int) -> None:
    (log,) = read(request(record(severity_number=number, severity_text=text)))

    assert log.severity == severity


@pytest.mark.parametrize("number", [-1, 25, 2**31 - 1])
def test_a_severity_number_that_does_not_exist_is_refused(read: Read, number: int) -> None:
    with pytest.raises(Unreadable, match="severity number must lie between 0 and 24"):
        read(request(record(severity_number=number)))


@pytest.mark.parametrize(
    ("own", "scope", "resource", "name", "log_type"),
    [
        ("AUDIT", "system", "system", "", ServiceLogType.AUDIT),
        (None, "System", "audit", "", ServiceLogType.SYSTEM),
        (None, None, "audit", "system", ServiceLogType.AUDIT),
        ("billing", None, "audit", "", ServiceLogType.AUDIT),
        (7, None, None, "audit", ServiceLogType.AUDIT),
        (None, None, None, "shop.cart.Audit", ServiceLogType.AUDIT),
        (None, None, None, "system", ServiceLogType.SYSTEM),
        (None, None, None, "auditing", ServiceLogType.APPLICATION),
        (None, None, None, "system.cart", ServiceLogType.APPLICATION),
    ],
)
def test_the_type_is_that_of_the_nearest_attribute_or_else_of_the_scopes_name(
    read: Read, own: Any, scope: Any, resource: Any, name: str, log_type: ServiceLogType
) -> None:
    def attributes(given: Any) -> dict[str, Any]:
        return {} if given is None else {"log.type": given}

    (log,) = read(
        request(record(attributes=attributes(own)), scope=attributes(scope), resource=attributes(resource), name=name)
    )

    assert log.log_type is log_type


def test_a_declared_id_that_is_a_uuid_is_the_logs_id(read: Read) -> None:
    (log,) = read(request(record(attributes={"log.record.uid": "0B7D8A1E-6F0E-4B0B-9A66-0B3A6D1C2F10"})))

    assert log.log_id == "0b7d8a1e-6f0e-4b0b-9a66-0b3a6d1c2f10"


def test_any_other_declared_id_becomes_a_uuid_and_stays_in_the_metadata(read: Read) -> None:
    ulid = "01ARZ3NDEKTSV4RRFFQ69G5FAV"
    log, same, other, none = read(
        request(*(record(attributes={"log.record.uid": each}) for each in (ulid, ulid, ulid[:-1], "")))
    )

    assert log.log_id == same.log_id == "7245123a-cfbb-8816-ad64-51937aaf6d99"
    assert other.log_id not in (None, log.log_id)
    assert none.log_id is None
    assert log.metadata == {"log.record.uid": ulid}


def test_an_id_of_the_resource_is_not_that_of_each_record(read: Read) -> None:
    (log,) = read(request(record(), resource={"log.record.uid": "1"}))

    assert log.log_id is None


def test_ids_of_zeros_are_none(read: Read) -> None:
    (log,) = read(request(record(trace_id=bytes(16), span_id=bytes(8))))

    assert (log.trace_id, log.span_id) == (None, None)


def nested(levels: int) -> Any:
    """A text inside of so many lists and mappings."""
    inside: Any = "x"
    for level in range(levels):
        inside = [inside] if level % 2 else {"a": inside}
    return inside


def test_values_may_be_sixteen_levels_deep(read: Read) -> None:
    deepest = nested(16)

    assert read(request(record(attributes={"a": deepest})))[0].metadata == {"a": deepest}
    for body, attributes in ((nested(17), {}), ("", {"a": nested(17)})):
        with pytest.raises(Unreadable, match="more than 16 levels"):
            read(request(record(body, attributes=attributes)))


def test_siblings_are_not_levels(read: Read) -> None:
    many = [nested(15)] * 20

    assert read(request(record(many)))[0].message == orjson.dumps(many).decode()


def test_a_record_has_at_most_ten_thousand_elements(read: Read) -> None:
    assert read(request(record([0] * 10_000)))[0].message == orjson.dumps([0] * 10_000).decode()
    with pytest.raises(Unreadable, match="more than 10,000 elements"):
        read(request(record([[0] * 5_000, [0] * 5_000])))


def test_more_attributes_than_a_log_may_have_are_not_read(read: Read) -> None:
    attributes = {str(number): number for number in range(129)}

    with pytest.raises(Unreadable, match="at most 128 attributes") as caught:
        read(request(record(attributes=attributes)))
    assert caught.value.code is Problem.METADATA_INVALID
