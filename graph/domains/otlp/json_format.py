"""OTLP in JSON: that of protobuf, but with ids in hexadecimal digits, and enums as numbers.

Source: https://opentelemetry.io/docs/specs/otlp/#json-protobuf-encoding
"""

import asyncio
import json
import re
from base64 import b64decode, b64encode
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import orjson

from graph.core.numbers import whole
from graph.domains.otlp.formats import MOST_RECORDS, RecordGroup, RequestFormat, TooManyRecords
from graph.domains.otlp.mapping import Origin, log_of
from graph.domains.otlp.values import (
    Nesting,
    Plain,
    UnknownNames,
    Unreadable,
    WrongType,
    check_attributes,
    storable_number,
)
from graph.domains.service_logs.model import NewLog
from graph.transport.bodies import memory_of_json

_INTEGER = re.compile(r"-?[0-9]{1,20}")
_DROPPED = "droppedAttributesCount"
_REQUEST = frozenset({"resourceLogs"})
_RESOURCE_LOGS = frozenset({"resource", "scopeLogs", "schemaUrl"})
_RESOURCE = frozenset({"attributes", "entityRefs", _DROPPED})
_SCOPE_LOGS = frozenset({"scope", "logRecords", "schemaUrl"})
_SCOPE = frozenset({"name", "version", "attributes", _DROPPED})
_RECORD = frozenset(
    {
        *("timeUnixNano", "observedTimeUnixNano", "severityNumber", "severityText", "body", "attributes", _DROPPED),
        *("flags", "traceId", "spanId", "eventName"),
    }
)
_PAIR = frozenset({"key", "value"})
_STANDARD_BASE64 = str.maketrans("-_", "+/")

_KINDS = {dict: "an object", list: "a list", str: "a text"}

Object = Mapping[str, Any]
T = TypeVar("T", dict[str, Any], list[Any], str)


class Json(RequestFormat):
    """The format `application/json`."""

    media_type = "application/json"
    most_bytes = 4 * 1024 * 1024  # parsing it holds the interpreter

    def __init__(self) -> None:
        self._unknown = UnknownNames()

    @property
    def warning(self) -> str:
        return self._unknown.warning

    def memory_of(self, body: bytes) -> int:
        return memory_of_json(body)

    async def groups(self, body: bytes) -> list[RecordGroup]:
        """The groups, in which a record is any value of JSON."""
        return self.groups_of(await _parsed(body) if body else {})

    def groups_of(self, request: Any) -> list[RecordGroup]:
        """The groups of a request that was parsed.

        Raises:
            Unreadable: It is no request.
            TooManyRecords: It has too many resources or scopes.
        """
        if not isinstance(request, dict):
            raise Unreadable("The body must be an object with `resourceLogs`.")
        if request and "resourceLogs" not in request:
            raise Unreadable("The body has no `resourceLogs`: it is no request of OTLP.")
        given = _objects(request, "resourceLogs")
        resources = [(_member(each, "resource", dict), _objects(each, "scopeLogs")) for each in given]
        if sum(len(scopes) for _, scopes in resources) > MOST_RECORDS:
            raise TooManyRecords
        check = self._unknown.check
        check(request, _REQUEST, "the request")
        for each, (resource, scopes) in zip(given, resources, strict=True):
            check(each, _RESOURCE_LOGS, "`resourceLogs`")
            check(resource, _RESOURCE, "a resource")
            for scope in scopes:
                check(scope, _SCOPE_LOGS, "`scopeLogs`")
                check(_member(scope, "scope", dict), _SCOPE, "a scope")
        groups = [
            RecordGroup(resource, _member(scope, "scope", dict), _member(scope, "logRecords", list))
            for resource, scopes in resources
            for scope in scopes
        ]
        return [group for group in groups if group.records]

    def attributes(self, resource: Object) -> dict[str, Plain]:
        """Attributes by name. Of two with a name the last one counts; those without a name are dropped."""
        given = _objects(resource, "attributes")
        check_attributes(given)
        return _mapping(given, Nesting(self._unknown))

    def origin(self, attributes: Mapping[str, Plain], scope: Object) -> Origin:
        return Origin.of(
            attributes, self.attributes(scope), _member(scope, "name", str), _member(scope, "version", str)
        )

    def reader(self, origin: Origin, now_ns: int) -> Callable[[Any], NewLog]:
        def read(record: Any) -> NewLog:
            if not isinstance(record, dict):
                raise WrongType("A log record must be an object.")
            self._unknown.check(record, _RECORD, "a log record")
            return log_of(
                origin,
                self.attributes(record),
                _plain(record.get("body"), Nesting(self._unknown)),
                _member(record, "eventName", str),
                _time(record, "timeUnixNano") or _time(record, "observedTimeUnixNano") or now_ns,
                _severity(record),
                _member(record, "severityText", str),
                _member(record, "traceId", str).lower(),
                _member(record, "spanId", str).lower(),
            )

        return read

    def success(self, rejected: int, message: str) -> bytes:
        partial = {"rejectedLogRecords": str(rejected), "errorMessage": message}
        return orjson.dumps({"partialSuccess": partial} if rejected or message else {})

    def refusal(self, code: int, message: str) -> bytes:
        return orjson.dumps({"code": code, "message": message})


async def _parsed(body: bytes) -> Any:
    try:
        return orjson.loads(body)
    except orjson.JSONDecodeError:
        return await asyncio.to_thread(_parsed_leniently, body)


def _parsed_leniently(body: bytes) -> Any:
    """JSON in which a text has half a surrogate pair, or a number is NaN. JavaScript writes the former.

    Such a half is replaced later. The parser takes five times as long as the other. It leaves the
    interpreter to other threads only when it calls a function, so it calls one for each object.
    """
    try:
        return json.loads(body.decode(), object_hook=lambda parsed: parsed)
    except (ValueError, RecursionError) as error:
        raise Unreadable("The body is not JSON in UTF-8.") from error


def _member(parent: Object, name: str, kind: type[T]) -> T:
    """A member of a type; an empty one if it is absent."""
    given = parent.get(name)
    if given is None:
        return kind()
    if not isinstance(given, kind):
        raise WrongType(f"`{name}` must be {_KINDS[kind]}.")
    return given


def _objects(parent: Object, name: str) -> list[Object]:
    """A member that is a list of objects."""
    given = _member(parent, name, list)
    if not all(isinstance(each, dict) for each in given):
        raise WrongType(f"`{name}` must be a list of objects.")
    return given


def _time(record: Object, name: str) -> int:
    """Epoch nanoseconds; 0 if they are absent."""
    return _integer(record.get(name, 0), name, 0, 2**64 - 1)


def _severity(record: Object) -> int:
    """A severity number; 0 if it is absent."""
    given = record.get("severityNumber", 0)
    if isinstance(given, str):
        raise WrongType("`severityNumber` must be a number.")
    return _integer(given, "severityNumber", -(2**31), 2**31 - 1)


def _integer(given: Any, name: str, least: int, greatest: int) -> int:
    """A whole number, which may be a text; 0 for null."""
    number = _number(given)
    if number is None or not least <= number <= greatest:
        raise WrongType(f"`{name}` must be a whole number between {least} and {greatest}.")
    return number


def _number(given: Any) -> int | None:
    if given is None:
        return 0
    if isinstance(given, str):
        return int(given) if _INTEGER.fullmatch(given) else None
    return whole(given)


def _mapping(pairs: list[Object], nesting: Nesting) -> dict[str, Plain]:
    for each in pairs:
        nesting.unknown.check(each, _PAIR, "an attribute")
    return {name: _plain(each.get("value"), nesting) for each in pairs if (name := _member(each, "key", str))}


def _plain(value: Any, nesting: Nesting) -> Plain:
    """A value as JSON has it, from one that names its type."""
    if value is None:
        return None
    if not isinstance(value, dict):
        raise WrongType('A value must be an object such as `{"stringValue": …}`.')
    nesting.unknown.check(value, _VALUES.keys(), "a value")
    given = [(name, each) for name, each in value.items() if name in _VALUES and each is not None]
    if not given:
        return None
    if len(given) > 1:
        raise WrongType("A value has more than one type.")
    name, each = given[0]
    return _VALUES[name](each, nesting)


def _string(given: Any, nesting: Nesting) -> str:
    if not isinstance(given, str):
        raise WrongType("`stringValue` must be a text.")
    return given


def _boolean(given: Any, nesting: Nesting) -> bool:
    if not isinstance(given, bool):
        raise WrongType("`boolValue` must be true or false.")
    return given


def _whole(given: Any, nesting: Nesting) -> int:
    return _integer(given, "intValue", -(2**63), 2**63 - 1)


def _real(given: Any, nesting: Nesting) -> float | str:
    if isinstance(given, str | int | float) and not isinstance(given, bool):
        try:
            return storable_number(float(given))
        except (ValueError, OverflowError):
            pass
    raise WrongType("`doubleValue` must be a number, or `NaN`, `Infinity` or `-Infinity`.")


def _bytes(given: Any, nesting: Nesting) -> str:
    if isinstance(given, str):
        digits = given.translate(_STANDARD_BASE64).rstrip("=")
        try:
            return b64encode(b64decode(digits + "=" * (-len(digits) % 4), validate=True)).decode()
        except ValueError:
            pass
    raise WrongType("`bytesValue` must be base64.")


def _array(given: Any, nesting: Nesting) -> list[Plain]:
    elements = _member(_member({"arrayValue": given}, "arrayValue", dict), "values", list)
    nesting.enter(len(elements))
    items = [_plain(each, nesting) for each in elements]
    nesting.leave()
    return items


def _key_values(given: Any, nesting: Nesting) -> dict[str, Plain]:
    pairs = _objects(_member({"kvlistValue": given}, "kvlistValue", dict), "values")
    nesting.enter(len(pairs))
    mapping = _mapping(pairs, nesting)
    nesting.leave()
    return mapping


_VALUES: Mapping[str, Callable[[Any, Nesting], Plain]] = {
    "stringValue": _string,
    "boolValue": _boolean,
    "intValue": _whole,
    "doubleValue": _real,
    "bytesValue": _bytes,
    "arrayValue": _array,
    "kvlistValue": _key_values,
}
