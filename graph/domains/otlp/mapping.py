"""Maps records of OTLP, which either format reads, to logs.

Attributes of the resource, then of the scope, then of the record itself become metadata; later ones win.

Source: https://opentelemetry.io/docs/specs/otel/logs/data-model/
"""

from collections.abc import Mapping
from dataclasses import dataclass

from graph.domains.otlp.values import Plain, Unreadable, message_of
from graph.domains.service_logs.ids import is_uuid, uuid_of
from graph.domains.service_logs.model import INFO, MOST_SEVERE, NewLog, ServiceLogType
from graph.domains.service_logs.repairs import whole_characters
from graph.domains.service_logs.severities import severity_of

SERVICE_NAME = "service.name"
SCOPE_NAME, SCOPE_VERSION = "otel.scope.name", "otel.scope.version"
LOG_TYPE = "log.type"
LOG_UID = "log.record.uid"
UNKNOWN_SERVICE = "unknown_service"  # as the semantic conventions name it

_NO_TRACE, _NO_SPAN = "0" * 32, "0" * 16
_TYPES = {log_type.value: log_type for log_type in ServiceLogType}
_TYPES_OF_SCOPES = (ServiceLogType.AUDIT, ServiceLogType.SYSTEM)


@dataclass(frozen=True, slots=True)
class Origin:
    """What all records of a resource and scope share."""

    service: str
    log_type: ServiceLogType
    metadata: Mapping[str, Plain]

    @classmethod
    def of(cls, resource: Mapping[str, Plain], scope: Mapping[str, Plain], name: str, version: str) -> "Origin":
        """The origin of a resource's and a scope's attributes, and the scope's name and version."""
        metadata = {**resource, **scope}
        log_type = _type_of(metadata.get(LOG_TYPE)) or _type_of_scope(name)
        service = resource.get(SERVICE_NAME)
        if SERVICE_NAME not in scope:
            metadata.pop(SERVICE_NAME, None)
        if name:
            metadata[SCOPE_NAME] = name
        if version:
            metadata[SCOPE_VERSION] = version
        return cls(service if service and isinstance(service, str) else UNKNOWN_SERVICE, log_type, metadata)


def log_of(
    origin: Origin,
    attributes: Mapping[str, Plain],
    body: Plain,
    event_name: str,
    time_ns: int,
    severity: int,
    severity_text: str,
    trace_id: str,
    span_id: str,
) -> NewLog:
    """The log of a record.

    Args:
        origin: of the record.
        attributes: of the record itself.
        body: None if it is absent.
        event_name: empty if it is absent.
        time_ns: epoch nanoseconds.
        severity: as in the record, 0 if it is absent.
        severity_text: kept, and tested if there is no number.
        trace_id: hexadecimal, in lower case; empty or all zero if there is none.
        span_id: likewise.

    Raises:
        Unreadable: The severity is no such number.
    """
    if not severity:
        severity = severity_of(severity_text) or INFO
    elif not 0 < severity <= MOST_SEVERE:
        raise Unreadable(f"The severity number must lie between 0 and {MOST_SEVERE}.")
    uid = attributes.get(LOG_UID)
    return NewLog(
        origin.service,
        body if isinstance(body, str) else message_of(body, event_name),
        time_ns,
        (_type_of(attributes[LOG_TYPE]) if LOG_TYPE in attributes else None) or origin.log_type,
        severity,
        None if uid is None or uid == "" else _log_id(uid),
        {**origin.metadata, **attributes},
        None if trace_id == _NO_TRACE else trace_id or None,
        None if span_id == _NO_SPAN else span_id or None,
        event_name or None,
        severity_text or None,
    )


def _log_id(uid: Plain) -> str:
    """The id that an attribute declares: a UUID as it is, anything else, such as a ULID, as a derived one."""
    text = whole_characters(str(uid))
    return text.lower() if is_uuid(text) else uuid_of(text)


def _type_of(given: Plain) -> ServiceLogType | None:
    return _TYPES.get(given.lower()) if isinstance(given, str) else None


def _type_of_scope(name: str) -> ServiceLogType:
    """The type that a logger's name tells: `audit`, `payments.audit`."""
    last = name.lower().rpartition(".")[2]
    return next((each for each in _TYPES_OF_SCOPES if each.value == last), ServiceLogType.APPLICATION)
