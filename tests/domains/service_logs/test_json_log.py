"""A log as a JSON object: the names of the graph and of the table, exact times, and what is no log."""

from datetime import UTC, datetime
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from graph.domains.service_logs.json_log import FIELDS, NAMES, log_of
from graph.domains.service_logs.model import NewLog, RejectedLog, ServiceLogType
from tests.domains.service_logs.lines import a_line

UUID = "0b3ccd6e-0000-4000-8000-0123456789ab"
WHOLE = NewLog(
    service="checkout",
    message="Paid",
    time_ns=1_700_000_000_123_456_789,
    log_type=ServiceLogType.AUDIT,
    severity=21,
    log_id=UUID,
    metadata={"ms": 5},
    trace_id="a" * 32,
    span_id="b" * 16,
    event_name="paid",
)


def read(**values: Any) -> NewLog:
    log = log_of(values)
    assert isinstance(log, NewLog), log
    return log


def test_a_log_has_the_names_of_the_graph_or_of_the_table() -> None:
    same: dict[str, Any] = {"message": "Paid", "metadata": {"ms": 5}}
    in_the_graph = read(
        **same,
        service="checkout",
        timeUnixNano="1700000000123456789",
        type="AUDIT",
        severityNumber=21,
        logId=UUID,
        traceId="a" * 32,
        spanId="b" * 16,
        eventName="paid",
    )
    in_the_table = read(
        **same,
        service_name="checkout",
        timestamp=1_700_000_000.123456,
        time_unix_nano="1700000000123456789",
        log_type="audit",
        level="ERROR",
        severity_number=21,
        log_id=UUID,
        trace_id="a" * 32,
        span_id="b" * 16,
        event_name="paid",
    )

    assert in_the_graph == in_the_table == WHOLE


def test_the_case_of_level_and_type_does_not_matter_and_other_fields_become_metadata() -> None:
    levels: dict[Any, int] = {"debug": 5, "Info": 9, "WARN": 13, "eRRor": 17, "Warning": 13, "FATAL": 21, None: 9}
    levels |= {"SEVERE": 17, "WARN ": 13, "E": 17, 50: 17, 20.0: 5, "panic": 21, "LOUD": 9}
    for level, severity in levels.items():
        for log_type in ("system", "System", "SYSTEM"):
            log = read(**a_line(level=level, type=log_type))
            assert (log.severity, log.log_type) == (severity, ServiceLogType.SYSTEM)
            assert log.severity_text == (None if level is None else str(level))
    assert read(**a_line(level="ERROR", severityNumber=18, severityText="DPANIC")).severity_text == "DPANIC"
    for none in (0, None):
        log = read(**a_line(level="WARN", severityNumber=none))
        assert (log.severity, log.severity_text) == (13, "WARN")
    assert read(**a_line(severityNumber=18.0)).severity == 18
    assert read(**a_line(user="ann", ms=5, metadata={"ms": 6})).metadata == {"user": "ann", "ms": 6}
    assert read(**a_line(metadata=None)).metadata is None


TIMES: list[tuple[dict[str, Any], int]] = [
    ({"time": "2023-11-14T22:13:20Z"}, 1_700_000_000_000_000_000),
    ({"time": "2023-11-14T23:13:20.5+01:00"}, 1_700_000_000_500_000_000),
    ({"time": "2023-11-14 22:13:20.123456789Z"}, 1_700_000_000_123_456_789),
    ({"time": "2023-11-14T22:13:20.1234567891234Z"}, 1_700_000_000_123_456_789),
    ({"timeUnixNano": 1_700_000_000_123_456_789}, 1_700_000_000_123_456_789),
    ({"timeUnixNano": 1.7e18}, 1_700_000_000_000_000_000),
    ({"timestamp": 1_700_000_000}, 1_700_000_000_000_000_000),
    ({"timestamp": 1_700_000_000.123456}, 1_700_000_000_123_456_000),
    ({"timestamp": 1, "time": "2023-11-14T22:13:20Z"}, 1_700_000_000_000_000_000),
    ({"time": 1_700_000_000_000}, 1_700_000_000_000_000_000),
    ({"timestamp": 1_700_000_000_123}, 1_700_000_000_123_000_000),
    ({"timestamp": "1700000000.123456789"}, 1_700_000_000_123_456_789),
    ({"time": 1_700_000_000_123.5}, 1_700_000_000_123_500_000),
    ({"time": 1_700_000_000_123_456}, 1_700_000_000_123_456_000),
    ({"time": "1700000000123456789"}, 1_700_000_000_123_456_789),
    ({"ts": 1_700_000_000.1}, 1_700_000_000_100_000_000),
    ({"time": "2023-11-14T22:13:20"}, 1_700_000_000_000_000_000),
    ({"time": "2023-11-14 22:13:20,123Z"}, 1_700_000_000_123_000_000),
    ({"timestamp": "2023-11-14T23:13:20.123+0100"}, 1_700_000_000_123_000_000),
    ({"time": "1970-01-01T00:00:00Z", "timeUnixNano": "7"}, 7),
]


def test_names_of_common_libraries_are_known_and_a_message_may_be_an_object() -> None:
    log = read(service="api", msg="zap", severity="SEVERE", ts=1.5, level=None)
    assert (log.message, log.severity, log.time_ns, log.metadata) == ("zap", 17, 1_500_000_000, None)
    log = read(**a_line(msg="other"))
    assert (log.message, log.metadata) == ("Paid", {"msg": "other"})
    assert read(service="api", message={"a": [1]}, ts=1).message == '{"a":[1]}'


def test_the_most_exact_time_is_taken() -> None:
    for times, time_ns in TIMES:
        assert read(service="checkout", message="Paid", **times).time_ns == time_ns


@given(time_ns=st.integers(0, 2**63 - 1))
def test_a_time_of_rfc_3339_is_exact_to_the_nanosecond(time_ns: int) -> None:
    second, nanosecond = divmod(time_ns, 10**9)
    time = datetime.fromtimestamp(second, UTC).strftime("%Y-%m-%dT%H:%M:%S")

    assert read(service="checkout", message="Paid", time=f"{time}.{nanosecond:09}Z").time_ns == time_ns


def test_what_is_no_log_is_rejected_with_a_reason() -> None:
    named = {"service": "checkout", "message": "Paid"}
    cases: dict[str, list[dict[str, Any]]] = {
        "SERVICE_INVALID": [{"message": "Paid", "timestamp": 1}, {"service": 5, "message": "Paid", "timestamp": 1}],
        "TIME_INVALID": [
            named,
            *({**named, "time": time} for time in (None, "14/Nov/2023:22:13:20", "", [1], -1)),
            *({**named, "timestamp": time} for time in (True, 1e308, -1.5, "soon", "1" * 20)),
            *({**named, "timeUnixNano": time} for time in ("-5", 5.5)),
        ],
        "LOG_INVALID": [
            {"service": "checkout", "timestamp": 1},
            {"service": "checkout", "message": 5, "timestamp": 1},
            *(a_line(level=level) for level in (["WARN"], True)),
            *(a_line(severityNumber=number) for number in (25, -1, True)),
            *(a_line(type="debug"), a_line(logId=5)),
        ],
        "METADATA_INVALID": [a_line(metadata=[1])],
    }
    for code, every in cases.items():
        for values in every:
            rejection = log_of(values)
            assert isinstance(rejection, RejectedLog), values
            assert rejection.code.value == code, values


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda values: st.lists(values) | st.dictionaries(st.text(), values),
    max_leaves=3,
)


@given(values=st.dictionaries(st.sampled_from(sorted({*FIELDS, *NAMES})) | st.text(), JSON, max_size=4))
def test_any_object_is_a_log_or_a_rejection(values: dict[str, Any]) -> None:
    assert isinstance(log_of(values), NewLog | RejectedLog)
    assert isinstance(log_of(a_line(**values)), NewLog | RejectedLog)
