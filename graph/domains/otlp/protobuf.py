"""OTLP in protobuf. This module alone knows the classes of its messages."""

from base64 import b64encode
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from google.protobuf.message import DecodeError, Message
from google.rpc.status_pb2 import Status
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsPartialSuccess, ExportLogsServiceResponse
from opentelemetry.proto.common.v1.common_pb2 import AnyValue, InstrumentationScope
from opentelemetry.proto.logs.v1.logs_pb2 import LogRecord
from opentelemetry.proto.resource.v1.resource_pb2 import Resource

from graph.domains.otlp import wire
from graph.domains.otlp.formats import RecordGroup, RequestFormat
from graph.domains.otlp.mapping import Origin, log_of
from graph.domains.otlp.values import Nesting, Plain, Unreadable, check_attributes, storable_number
from graph.domains.service_logs.model import NewLog

LONGEST_PART = 256 * 1024  # bytes of a record, resource or scope; of two bytes, protobuf may make an object of 100
_FIELDS = LogRecord.DESCRIPTOR.fields_by_number

M = TypeVar("M", bound=Message)


class Protobuf(RequestFormat):
    """The format `application/x-protobuf`."""

    media_type = "application/x-protobuf"
    most_bytes = 16 * 1024 * 1024
    warning = ""  # its fields have numbers, and a later version may have more of them

    def memory_of(self, body: bytes) -> int:
        """The body, and its records cut out."""
        return 2 * len(body)

    async def groups(self, body: bytes) -> list[RecordGroup]:
        """The groups, in which a record is its bytes."""
        return await wire.groups(body)

    def attributes(self, resource: bytes) -> Mapping[str, Plain]:
        return _attributes(_parsed(Resource, resource).attributes)

    def origin(self, attributes: Mapping[str, Plain], scope: bytes) -> Origin:
        parsed = _parsed(InstrumentationScope, scope)
        return Origin.of(attributes, _attributes(parsed.attributes), parsed.name, parsed.version)

    def reader(self, origin: Origin, now_ns: int) -> Callable[[bytes], NewLog]:
        """Reads a record, which is the hot path: some 4 µs for a usual one."""

        def read(data: bytes) -> NewLog:
            if len(data) > LONGEST_PART:
                return _without_longest(read, data)
            record = _parsed(LogRecord, data)
            body = record.body
            return log_of(
                origin,
                _attributes(record.attributes),
                body.string_value or _plain(body, Nesting()),
                record.event_name,
                record.time_unix_nano or record.observed_time_unix_nano or now_ns,
                record.severity_number,
                record.severity_text,
                record.trace_id.hex(),
                record.span_id.hex(),
            )

        return read

    def success(self, rejected: int, message: str) -> bytes:
        if not rejected and not message:
            return b""
        partial = ExportLogsPartialSuccess(rejected_log_records=rejected, error_message=message)
        return bytes(ExportLogsServiceResponse(partial_success=partial).SerializeToString())

    def refusal(self, code: int, message: str) -> bytes:
        return bytes(Status(code=code, message=message).SerializeToString())


def _without_longest(read: Callable[[bytes], NewLog], data: bytes) -> NewLog:
    """The log of a record that is too long, without its longest fields; but a body that is a text is kept.

    Raises:
        Unreadable: It is broken, or has too many fields.
    """
    rest, left_out = wire.cut(data, LONGEST_PART)
    log = read(rest)
    body = wire.cut(left_out.get(LogRecord.BODY_FIELD_NUMBER, b""), 0)[1]
    if text := body.get(AnyValue.STRING_VALUE_FIELD_NUMBER):
        log.message = text.decode(errors="replace")
        del left_out[LogRecord.BODY_FIELD_NUMBER]
    names = [_FIELDS[number].name if number in _FIELDS else f"field {number}" for number in left_out]
    log.changed = tuple(f"{name} left out: the record has {len(data):,} bytes" for name in names)
    return log


def _parsed(kind: type[M], data: bytes) -> M:
    """A message.

    Raises:
        Unreadable: It is too long or too deep, or has a text that is not UTF-8.
    """
    if len(data) > LONGEST_PART:
        raise Unreadable(f"It has more than {LONGEST_PART:,} bytes.")
    try:
        message: M = kind.FromString(data)
    except DecodeError:
        raise Unreadable("It is not valid protobuf: a text is not UTF-8, or a value is too deep.") from None
    return message


def _attributes(given: Any) -> dict[str, Plain]:
    """Attributes by name. Of two with a name the last one counts; those without a name are dropped."""
    check_attributes(given)
    attributes: dict[str, Plain] = {}
    nesting: Nesting | None = None
    for each in given:
        value = each.value
        # To read these four takes less time than to ask which one it is.
        if usual := value.string_value or value.int_value or value.bool_value:
            attributes[each.key] = usual
        elif number := value.double_value:
            attributes[each.key] = storable_number(number)
        else:
            nesting = nesting or Nesting()
            attributes[each.key] = _plain(value, nesting)
    attributes.pop("", None)
    return attributes


def _plain(value: AnyValue, nesting: Nesting) -> Plain:
    """A value as JSON has it."""
    match value.WhichOneof("value"):
        case "string_value":
            return value.string_value
        case "bool_value":
            return value.bool_value
        case "int_value":
            return value.int_value
        case "double_value":
            return storable_number(value.double_value)
        case "bytes_value":
            return b64encode(value.bytes_value).decode()
        case "array_value":
            elements = value.array_value.values
            nesting.enter(len(elements))
            items = [_plain(each, nesting) for each in elements]
            nesting.leave()
            return items
        case "kvlist_value":
            pairs = value.kvlist_value.values
            nesting.enter(len(pairs))
            mapping = {each.key: _plain(each.value, nesting) for each in pairs if each.key}
            nesting.leave()
            return mapping
        case _:
            return None
