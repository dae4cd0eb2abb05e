"""Reads a log from a JSON object with the graph's names of its fields, or with those of the table.

Fields that a log does not have become metadata, so no part of a line is lost.
"""

import re
from collections.abc import Mapping
from typing import Any

from graph.core.days import EPOCH_TIME
from graph.core.numbers import whole
from graph.core.times import InvalidTime, parse_time
from graph.domains.service_logs.model import INFO, MOST_SEVERE, LogLevel, NewLog, Problem, Rejection, ServiceLogType
from graph.domains.service_logs.severities import severity_of

NAMES = {
    "service_name": "service",
    "log_type": "type",
    "log_id": "logId",
    "time_unix_nano": "timeUnixNano",
    "severity_number": "severityNumber",
    "trace_id": "traceId",
    "span_id": "spanId",
    "event_name": "eventName",
}
"""The names in the graph of attributes that the table calls otherwise."""

TIMES = {
    "timeUnixNano": "whole epoch nanoseconds, also as text",
    "time": "a time of RFC 3339 with an offset, such as 2026-08-03T02:52:13.180Z",
    "timestamp": "a number of epoch seconds",
}
"""The fields of the time, the most exact first: the first of them that a log has counts."""
FIELDS = frozenset({*NAMES.values(), *TIMES, "level", "message", "metadata"})
TYPES = {each.value.upper(): each for each in ServiceLogType}

_FRACTION = re.compile(r"\.(\d+)", re.ASCII)
_NANOSECONDS = re.compile(r"\d{1,19}", re.ASCII)
_LAST_SECOND = 10_000_000_000  # beyond any time that can be stored; epoch milliseconds lie behind it
_SECOND_NS = 1_000_000_000
_MICROSECOND_NS = 1000


class _Unreadable(Exception):
    """Why an object is no log."""

    def __init__(self, message: str, code: Problem = Problem.LOG_INVALID) -> None:
        super().__init__(message)
        self.code = code


def log_of(values: Mapping[str, Any]) -> NewLog | Rejection:
    """The log that an object holds; a rejection has the index 0.

    Args:
        values: `service`, `message`, and `time` (RFC 3339), `timeUnixNano` or `timestamp` (epoch seconds) are needed.
            A field that is null counts as missing.
    """
    given = {NAMES.get(name, name): value for name, value in values.items() if value is not None}
    try:
        return NewLog(
            service=_text(given, "service", Problem.SERVICE_INVALID),
            message=_text(given, "message"),
            time_ns=_time_ns(given),
            log_type=_type(given),
            severity=_severity(given),
            log_id=_optional_text(given, "logId"),
            metadata=_metadata(given),
            trace_id=_optional_text(given, "traceId"),
            span_id=_optional_text(given, "spanId"),
            event_name=_optional_text(given, "eventName"),
        )
    except _Unreadable as error:
        return Rejection(0, error.code, str(error))


def _text(given: Mapping[str, Any], name: str, code: Problem = Problem.LOG_INVALID) -> str:
    value = given.get(name)
    if not isinstance(value, str):
        raise _Unreadable(f"The log needs a text `{name}`.", code)
    return value


def _optional_text(given: Mapping[str, Any], name: str) -> str | None:
    return _text(given, name) if name in given else None


def _time_ns(given: Mapping[str, Any]) -> int:
    """The time in epoch nanoseconds. A log without a time is refused: it would be another log each time."""
    match next(((name, given[name]) for name in TIMES if name in given), None):
        case "timeUnixNano", str() as text if _NANOSECONDS.fullmatch(text):
            return int(text)
        case "timeUnixNano", value if (number := whole(value)) is not None:
            return number
        case "time", str() as text:
            return _nanoseconds_of(text)
        case "timestamp", int() | float() as seconds if not isinstance(seconds, bool) and 0 <= seconds < _LAST_SECOND:
            return round(seconds * 1_000_000) * _MICROSECOND_NS
        case None:
            message = "The log needs a `time`, a `timeUnixNano` or a `timestamp`."
        case name, _:
            message = f"`{name}` must be {TIMES[name]}."
    raise _Unreadable(message, Problem.TIME_INVALID)


def _nanoseconds_of(text: str) -> int:
    """A time of RFC 3339, exact to the nanosecond."""
    fraction = _FRACTION.search(text)
    try:
        parse_time(text)  # the whole text is a time
        second = parse_time(_FRACTION.sub("", text))
    except InvalidTime as error:
        raise _Unreadable(f"`time` must be {TIMES['time']}.", Problem.TIME_INVALID) from error
    nanoseconds = int(fraction[1][:9].ljust(9, "0")) if fraction else 0
    return round((second - EPOCH_TIME).total_seconds()) * _SECOND_NS + nanoseconds


def _type(given: Mapping[str, Any]) -> ServiceLogType:
    if "type" not in given:
        return ServiceLogType.APPLICATION
    if (log_type := TYPES.get(str(given["type"]).upper())) is None:
        raise _Unreadable(f"`type` must be one of {', '.join(each.name for each in ServiceLogType)}.")
    return log_type


def _severity(given: Mapping[str, Any]) -> int:
    """The severity number: that of the log, or the usual one of its level."""
    if "severityNumber" in given:
        number = whole(given["severityNumber"])
        if number is None or not 1 <= number <= MOST_SEVERE:
            raise _Unreadable(f"`severityNumber` must be a whole number from 1 to {MOST_SEVERE}.")
        return number
    if "level" not in given:
        return INFO
    if (severity := severity_of(str(given["level"]))) is None:
        raise _Unreadable(f"`level` must be one of {', '.join(LogLevel.__members__)}.")
    return severity


def _metadata(given: Mapping[str, Any]) -> Mapping[str, Any] | None:
    metadata = given.get("metadata", {})
    if not isinstance(metadata, dict):
        raise _Unreadable("`metadata` must be an object.", Problem.METADATA_INVALID)
    return {**{name: value for name, value in given.items() if name not in FIELDS}, **metadata} or None
