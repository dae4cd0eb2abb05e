"""Reads a log from a JSON object with the graph's names of its fields, or with those of the table.

Fields that a log does not have become metadata, so no part of a line is lost.
"""

import re
from collections.abc import Mapping
from typing import Any

import orjson

from graph.core.days import EPOCH_TIME
from graph.core.numbers import whole
from graph.core.times import InvalidTime, as_rfc3339, parse_time
from graph.domains.service_logs.model import (
    INFO,
    MOST_SEVERE,
    InvalidLog,
    LogProblem,
    NewLog,
    RejectedLog,
    ServiceLogType,
)
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
    "severity_text": "severityText",
}
"""The names in the graph of attributes that the table calls otherwise."""

SYNONYMS = {"msg": "message", "ts": "timestamp", "severity": "level"}
"""Names that common libraries have for fields. They count where a log has no field of that name."""

_TIME = "a time such as 2026-08-03T02:52:13.180Z, or a number since 1970: of seconds, or of ms, µs or ns by its size"
TIMES = {"timeUnixNano": "whole epoch nanoseconds, also as text", "time": _TIME, "timestamp": _TIME}
"""The fields of the time, the most exact first: the first of them that a log has counts."""
FIELDS = frozenset({*NAMES.values(), *TIMES, "level", "message", "metadata"})
TYPES = {each.value.upper(): each for each in ServiceLogType}

_FRACTION = re.compile(r"\.(\d+)", re.ASCII)
_NANOSECONDS = re.compile(r"\d{1,19}", re.ASCII)
_NUMBER = re.compile(r"\d{1,19}(\.\d{1,9})?", re.ASCII)
_LAST_SECOND = 10_000_000_000  # beyond any time that can be stored; epoch milliseconds lie behind it
_SECOND_NS = 1_000_000_000


def log_of(values: Mapping[str, Any]) -> NewLog | RejectedLog:
    """The log that an object holds; a rejection has the index 0.

    Args:
        values: `service`, `message`, and `time` (RFC 3339), `timeUnixNano` or `timestamp` (epoch seconds) are needed.
            A field that is null counts as missing.
    """
    given = {NAMES.get(name, name): value for name, value in values.items() if value is not None}
    for synonym in SYNONYMS.keys() & given.keys():
        if SYNONYMS[synonym] not in given:
            given[SYNONYMS[synonym]] = given.pop(synonym)
    try:
        return NewLog(
            service=_text(given, "service", LogProblem.SERVICE_INVALID),
            message=_message(given),
            time_ns=_time_ns(given),
            log_type=_type(given),
            severity=_severity(given),
            log_id=_optional_text(given, "logId"),
            metadata=_metadata(given),
            trace_id=_optional_text(given, "traceId"),
            span_id=_optional_text(given, "spanId"),
            event_name=_optional_text(given, "eventName"),
            severity_text=_severity_text(given),
        )
    except InvalidLog as error:
        return error.at(0)


def _text(given: Mapping[str, Any], name: str, code: LogProblem = LogProblem.LOG_INVALID) -> str:
    value = given.get(name)
    if not isinstance(value, str):
        raise InvalidLog(f"The log needs a text `{name}`.", code)
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
        case (("time" | "timestamp"), float() as number) if 0 <= number < 10**19:
            return _since_1970(f"{number:.6f}")  # a double has hardly more digits
        case ("time" | "timestamp") as name, (str() | int()) as time if not isinstance(time, bool):
            return _nanoseconds_of(name, str(time))
        case None:
            message = "The log needs a `time`, a `timeUnixNano` or a `timestamp`."
        case name, _:
            message = f"`{name}` must be {TIMES[name]}."
    raise InvalidLog(message, LogProblem.TIME_INVALID)


def _nanoseconds_of(name: str, given: str) -> int:
    """A time as a program writes it, exact to the nanosecond; without an offset it is UTC."""
    if _NUMBER.fullmatch(given):
        return _since_1970(given)
    text = as_rfc3339(given)
    fraction = _FRACTION.search(text)
    try:
        parse_time(text)  # the whole text is a time
        second = parse_time(_FRACTION.sub("", text))
    except InvalidTime as error:
        raise InvalidLog(f"`{name}` must be {TIMES[name]}.", LogProblem.TIME_INVALID) from error
    nanoseconds = int(fraction[1][:9].ljust(9, "0")) if fraction else 0
    return round((second - EPOCH_TIME).total_seconds()) * _SECOND_NS + nanoseconds


def _since_1970(number: str) -> int:
    """Nanoseconds. The number is of seconds, or if it is too great for that, of milliseconds, and so on."""
    whole, _, fraction = number.partition(".")
    unit, limit = _SECOND_NS, _LAST_SECOND
    while int(whole) >= limit and unit > 1:
        unit, limit = unit // 1000, limit * 1000
    return int(whole) * unit + int(fraction[:9].ljust(9, "0")) * unit // _SECOND_NS


def _type(given: Mapping[str, Any]) -> ServiceLogType:
    if "type" not in given:
        return ServiceLogType.APPLICATION
    if (log_type := TYPES.get(str(given["type"]).upper())) is None:
        raise InvalidLog(f"`type` must be one of {', '.join(each.name for each in ServiceLogType)}.")
    return log_type


def _severity(given: Mapping[str, Any]) -> int:
    """The severity number: that of the log, or the usual one of its level."""
    if number := _severity_number(given):
        return number
    level = given.get("level", "")
    name = level if isinstance(level, str) else whole(level)
    if name is None:
        raise InvalidLog("`level` must be a word such as WARN, or a number of a logging library.")
    return severity_of(name) or INFO


def _severity_number(given: Mapping[str, Any]) -> int:
    """The severity number that is given; 0 if none is, as OpenTelemetry has it."""
    number = whole(given.get("severityNumber") or 0)
    if number is None or not 0 <= number <= MOST_SEVERE:
        raise InvalidLog(f"`severityNumber` must be a whole number from 0 to {MOST_SEVERE}.")
    return number


def _severity_text(given: Mapping[str, Any]) -> str | None:
    """The severity as the log names it. Beside a number, `level` is the name that this service has for that."""
    if "severityText" in given or _severity_number(given):
        return _optional_text(given, "severityText")
    level = given.get("level")
    return None if level is None else str(level)


def _message(given: Mapping[str, Any]) -> str:
    """The message: a text, or an object or a list as JSON."""
    message = given.get("message")
    return orjson.dumps(message).decode() if isinstance(message, dict | list) else _text(given, "message")


def _metadata(given: Mapping[str, Any]) -> Mapping[str, Any] | None:
    metadata = given.get("metadata", {})
    if not isinstance(metadata, dict):
        raise InvalidLog("`metadata` must be an object.", LogProblem.METADATA_INVALID)
    return {**{name: value for name, value in given.items() if name not in FIELDS}, **metadata} or None
