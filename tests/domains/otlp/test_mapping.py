"""What becomes of each part of a record, in both formats."""

from typing import Any

import orjson
import pytest

from graph.domains.otlp.values import Unreadable
from graph.domains.service_logs.model import LogProblem, ServiceLogType
from tests.domains.otlp.messages import joined, record, request
from tests.domains.otlp.reading import NOW_NS, read, read_one

APPLICATION, SYSTEM, AUDIT = ServiceLogType.APPLICATION, ServiceLogType.SYSTEM, ServiceLogType.AUDIT


def test_ids_of_zeros_and_an_empty_name_of_the_event_are_none() -> None:
    zeros = read_one(record(trace_id=bytes(16), span_id=bytes(8)))
    assert (zeros.trace_id, zeros.span_id, zeros.event_name) == (None, None, None)


def test_each_record_has_the_service_of_its_resource() -> None:
    sent = joined(
        request(record(), service="a"), request(record(), service=None), request(record(), record(), service="")
    )

    assert [log.service for log in read(sent)] == ["a", "unknown_service", "unknown_service", "unknown_service"]


def test_attributes_of_a_record_win_over_those_of_its_scope_and_resource_and_have_a_name() -> None:
    log = read_one(
        record(attributes={"c": 3, "": 1}),
        resource={"a": 1, "b": 1, "c": 1, "": 1},
        scope={"b": 2, "c": 2, "": 1},
        name="cart",
        version="1.2",
    )

    assert log.metadata == {"a": 1, "b": 2, "c": 3, "otel.scope.name": "cart", "otel.scope.version": "1.2"}


def test_a_value_is_kept_and_a_number_that_cannot_be_stored_becomes_text() -> None:
    values: list[tuple[Any, Any]] = [
        *((each, each) for each in (True, False, 0, -(2**63), 0.0, 0.5, "", "\0\x07\n", None, [1, ["x", None]])),
        *((float(text), text) for text in ("1e+300", "1e-300")),
        *((float("nan"), "NaN"), (float("inf"), "Infinity"), (float("-inf"), "-Infinity")),
        *((b"\xff\x00", "/wA="), ({"a": {"b": 1e300}, "": 1}, {"a": {"b": "1e+300"}})),
    ]
    for given, kept in values:
        metadata = read_one(record(attributes={"it": given})).metadata
        assert metadata == {"it": kept}
        assert type((metadata or {})["it"]) is type(kept)


def test_the_message_is_the_body_as_text_or_the_name_of_the_event() -> None:
    bodies: list[tuple[Any, str]] = [
        *(("", ""), ("\0 \x1b[1m", "\0 \x1b[1m"), (..., "payment"), (None, "payment"), (False, "false"), (7, "7")),
        *((float("nan"), "NaN"), (b"\x00", "AA=="), ({"a": [1, None]}, '{"a":[1,null]}')),
    ]
    for body, message in bodies:
        assert read_one(record(body, event_name="payment")).message == message
    assert read_one(record(...)).message == ""


def test_the_time_is_that_of_the_event_or_of_its_observation_or_now() -> None:
    for time, observed, taken in ((3, 4, 3), (0, 4, 4), (0, 0, NOW_NS), (2**64 - 1, 0, 2**64 - 1)):
        assert read_one(record(time_unix_nano=time, observed_time_unix_nano=observed)).time_ns == taken


def test_the_severity_is_the_number_or_else_the_name() -> None:
    texts = {
        "": 9,
        "my own": 9,
        "trace": 1,
        "Debug": 5,
        "INFO": 9,
        "INFO2": 10,
        "Notice": 10,
        "warn": 13,
        "WARNING": 13,
        "err": 17,
        "error3": 19,
        "CRITICAL": 18,
        "fatal": 21,
        "FINEST": 1,
        "FINER": 5,
        "FINE": 6,
        "CONFIG": 7,
        "SEVERE": 17,  # of java.util.logging
        "DPANIC": 18,
        "panic": 21,  # of Zap
        "WARN ": 13,
        "[INFO ]": 9,
        "E": 17,
        "W": 13,
        "I": 9,
        "F": 21,
        "DBG": 5,
        "ftl": 21,
        "50": 17,
        "35": 9,
        "3": 17,
        "100": 9,
        "٣": 9,
    }
    for text, severity in texts.items():
        log = read_one(record(severity_text=text))
        assert (log.severity, log.severity_text) == (severity, text or None), text
    for number in (1, 24):
        assert read_one(record(severity_number=number, severity_text="FATAL")).severity == number
    for number in (-1, 25, 2**31 - 1):
        with pytest.raises(Unreadable, match="severity number must lie between 0 and 24"):
            read_one(record(severity_number=number))


def test_the_type_is_that_of_the_nearest_attribute_or_else_of_the_scopes_name() -> None:
    def attributes(given: Any) -> dict[str, Any]:
        return {} if given is None else {"log.type": given}

    for own, scope, resource, name, log_type in (
        ("AUDIT", "system", "system", "", AUDIT),
        (None, "System", "audit", "", SYSTEM),
        (None, None, "audit", "system", AUDIT),
        ("billing", None, "audit", "", AUDIT),
        (7, None, None, "audit", AUDIT),
        (None, None, None, "shop.cart.Audit", AUDIT),
        (None, None, None, "system", SYSTEM),
        (None, None, None, "auditing", APPLICATION),
        (None, None, None, "system.cart", APPLICATION),
    ):
        told = {"scope": attributes(scope), "resource": attributes(resource), "name": name}
        assert read_one(record(attributes=attributes(own)), **told).log_type is log_type, (own, told)


def test_a_declared_id_is_the_logs_id_if_it_is_a_uuid_and_otherwise_becomes_one() -> None:
    ulid, uuid = "01ARZ3NDEKTSV4RRFFQ69G5FAV", "0B7D8A1E-6F0E-4B0B-9A66-0B3A6D1C2F10"
    same, log, again, other, none = read(
        request(*(record(attributes={"log.record.uid": each}) for each in (uuid, ulid, ulid, ulid[:-1], "")))
    )

    assert same.log_id == uuid.lower()
    assert log.log_id == again.log_id == "7245123a-cfbb-8816-ad64-51937aaf6d99"
    assert other.log_id not in (None, log.log_id)
    assert none.log_id is None
    assert log.metadata == {"log.record.uid": ulid}
    assert read_one(record(), resource={"log.record.uid": "1"}).log_id is None  # which is not that of each record


def nested(levels: int) -> Any:
    """A text inside of so many lists and mappings."""
    inside: Any = "x"
    for level in range(levels):
        inside = [inside] if level % 2 else {"a": inside}
    return inside


def test_a_value_has_at_most_sixteen_levels_and_a_record_ten_thousand_elements_and_128_attributes() -> None:
    deepest, siblings, many = nested(16), [nested(15)] * 20, [0] * 10_000

    assert read_one(record(attributes={"a": deepest})).metadata == {"a": deepest}
    assert read_one(record(siblings)).message == orjson.dumps(siblings).decode()
    assert read_one(record(many)).message == orjson.dumps(many).decode()
    for sent, reason, code in (
        (record(nested(17)), "more than 16 levels", LogProblem.LOG_INVALID),
        (record(attributes={"a": nested(17)}), "more than 16 levels", LogProblem.LOG_INVALID),
        (record([[0] * 5_000, [0] * 5_000]), "more than 10,000 elements", LogProblem.LOG_INVALID),
        (record(attributes={str(n): n for n in range(129)}), "at most 128 attributes", LogProblem.METADATA_INVALID),
    ):
        with pytest.raises(Unreadable, match=reason) as caught:
            read_one(sent)
        assert caught.value.code is code
