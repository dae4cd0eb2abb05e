"""Requests of OTLP, made of protobuf's messages, and the same in JSON."""

from base64 import b64decode
from typing import Any

from google.protobuf.json_format import MessageToDict
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.common.v1.common_pb2 import AnyValue, ArrayValue, InstrumentationScope, KeyValue, KeyValueList
from opentelemetry.proto.logs.v1.logs_pb2 import LogRecord, ResourceLogs, ScopeLogs
from opentelemetry.proto.resource.v1.resource_pb2 import Resource

from tests.store.samples import NOON

PROTOBUF, JSON = "application/x-protobuf", "application/json"
NOON_NS = NOON * 1_000_000
TRACE, SPAN = bytes(range(1, 17)), bytes(range(1, 9))


def value(given: Any) -> AnyValue:
    """An AnyValue; None for one without a value."""
    match given:
        case None:
            return AnyValue()
        case bool():
            return AnyValue(bool_value=given)
        case int():
            return AnyValue(int_value=given)
        case float():
            return AnyValue(double_value=given)
        case str():
            return AnyValue(string_value=given)
        case bytes():
            return AnyValue(bytes_value=given)
        case list():
            return AnyValue(array_value=ArrayValue(values=[value(each) for each in given]))
        case _:
            return AnyValue(kvlist_value=KeyValueList(values=pairs(given)))


def pairs(given: dict[str, Any]) -> list[KeyValue]:
    """Attributes."""
    return [KeyValue(key=name, value=value(each)) for name, each in given.items()]


def record(body: Any = "started", /, *, attributes: dict[str, Any] | None = None, **others: Any) -> LogRecord:
    """A log record, at noon unless it says otherwise. A body of `...` is absent."""
    given = {"time_unix_nano": NOON_NS, **others}
    if body is not ...:
        given["body"] = value(body)
    return LogRecord(attributes=pairs(attributes or {}), **given)


def request(
    *records: LogRecord,
    service: str | None = "checkout",
    resource: dict[str, Any] | None = None,
    scope: dict[str, Any] | None = None,
    name: str = "",
    version: str = "",
) -> ExportLogsServiceRequest:
    """A request with one resource and one scope."""
    named = {} if service is None else {"service.name": service}
    return ExportLogsServiceRequest(
        resource_logs=[
            ResourceLogs(
                resource=Resource(attributes=pairs({**named, **(resource or {})})),
                scope_logs=[
                    ScopeLogs(
                        scope=InstrumentationScope(name=name, version=version, attributes=pairs(scope or {})),
                        log_records=records,
                    )
                ],
            )
        ]
    )


def joined(*requests: ExportLogsServiceRequest) -> ExportLogsServiceRequest:
    """One request with the resources of several."""
    return ExportLogsServiceRequest(resource_logs=[each for one in requests for each in one.resource_logs])


def as_json(request: ExportLogsServiceRequest) -> Any:
    """The same request in JSON of OTLP, whose ids are hexadecimal, and whose enums are numbers."""
    converted = MessageToDict(request, use_integers_for_enums=True)
    for resource in converted.get("resourceLogs", ()):
        for scope in resource.get("scopeLogs", ()):
            for each in scope.get("logRecords", ()):
                for name in {"traceId", "spanId"} & each.keys():
                    each[name] = b64decode(each[name]).hex()
    return converted
