"""Checks a log of a sender, and makes the item that is stored. A log is judged by itself, never by its neighbours."""

import re
from dataclasses import dataclass
from hashlib import blake2b

import orjson

from graph.core.clock import Clock
from graph.domains.service_logs.entities import LONGEST_EVENT_NAME, LONGEST_MESSAGE, LONGEST_SERVICE
from graph.domains.service_logs.model import DAY_S, LogLevel, NewLog, Problem, Rejection, ServiceLogType, is_shard
from graph.domains.service_logs.settings import ServiceLogSettings
from graph.store.entity import Item
from graph.store.values import InvalidItem, check_text, check_value

MOST_AHEAD_S = 2 * 3600  # of the service's clock; as CloudWatch Logs has it
MOST_METADATA_BYTES = 65_536  # as JSON; as Loki's structured metadata
MOST_METADATA_NAMES = 128
LAST_NS = 2**63 - 1

_UUID = re.compile(r"[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
_TRACE = re.compile(r"[0-9a-fA-F]{32}")
_SPAN = re.compile(r"[0-9a-fA-F]{16}")


@dataclass(slots=True)
class Draft:
    """A checked log, before it has a slot."""

    index: int  # in its batch, from 0
    service: str
    time_ns: int
    item: Item
    slot: int  # epoch microseconds; until it is placed, that of its time


class _Refused(Exception):
    """Why a log cannot be stored."""

    def __init__(self, code: Problem, message: str) -> None:
        super().__init__(message)
        self.code = code


class Checks:
    """The rules for logs, with how long each type is kept."""

    def __init__(self, settings: ServiceLogSettings, clock: Clock) -> None:
        self._clock = clock
        self._days = {
            ServiceLogType.APPLICATION: settings.application_log_days,
            ServiceLogType.SYSTEM: settings.system_log_days,
            ServiceLogType.AUDIT: settings.audit_log_days,
        }

    def ttl(self, log_type: ServiceLogType, second: int) -> int | None:
        """When a log expires, epoch seconds: so many days after the end of its day. None for never."""
        days = self._days[log_type]
        return (second // DAY_S + 1 + days) * DAY_S if days else None

    def draft(self, index: int, log: NewLog, ids: dict[str, int]) -> Draft | Rejection:
        """The item of a log, without slot and number.

        Args:
            ids: the derived ids of this batch, and how often each was derived.
        """
        try:
            return self._draft(index, log, ids)
        except _Refused as refusal:
            return Rejection(index, refusal.code, str(refusal))

    def _draft(self, index: int, log: NewLog, ids: dict[str, int]) -> Draft:
        service, time_ns, message = log.service, log.time_ns, log.message
        if not 0 < len(service) <= LONGEST_SERVICE or not service.isprintable():
            raise _Refused(
                Problem.SERVICE_INVALID,
                f"The service must have 1 to {LONGEST_SERVICE} characters, none of them a control.",
            )
        if is_shard(service):
            raise _Refused(
                Problem.SERVICE_INVALID,
                "The service must not end with `#` and a digit, which name a part of a service.",
            )
        if not 0 <= time_ns <= LAST_NS:
            raise _Refused(Problem.TIME_INVALID, "The time must lie between the years 1970 and 2262.")
        second, now = time_ns // 1_000_000_000, self._clock() // 1000
        if second > now + MOST_AHEAD_S:
            raise _Refused(
                Problem.TIME_IN_FUTURE, "The time is more than two hours ahead: set the sender's clock right."
            )
        ttl = self.ttl(log.log_type, second)
        if ttl is not None and ttl <= now:
            raise _Refused(
                Problem.EXPIRED,
                f"The log is too old: the type {log.log_type.value} is kept {self._days[log.log_type]} days.",
            )
        if len(message) > LONGEST_MESSAGE:
            raise _Refused(Problem.MESSAGE_TOO_LONG, f"The message must have at most {LONGEST_MESSAGE:,} characters.")
        item: Item = {
            "log_id": _log_id(log, ids),
            "log_type": log.log_type.value,
            "level": LogLevel.of(log.severity).name,
            "message": message,
            "time_unix_nano": str(time_ns),
            "severity_number": log.severity,
        }
        if ttl is not None:
            item["ttl"] = ttl
        if log.metadata:
            item["metadata"] = _checked_metadata(log)
        if log.trace_id or log.span_id:
            _add_trace(item, log)
        if log.event_name:
            if len(log.event_name) > LONGEST_EVENT_NAME:
                raise _Refused(
                    Problem.LOG_INVALID, f"The event's name must have at most {LONGEST_EVENT_NAME} characters."
                )
            item["event_name"] = log.event_name
        if not (message.isascii() and service.isascii()):
            _check_unicode(message, service)
        return Draft(index, service, time_ns, item, time_ns // 1000)


def _log_id(log: NewLog, ids: dict[str, int]) -> str:
    """The log's id, or one that is derived from service, time, message, and its ordinal among equal ones."""
    if log.log_id is not None:
        if not _UUID.fullmatch(log.log_id):
            raise _Refused(Problem.LOG_ID_INVALID, "The log's id must be a UUID, such as those of `uuidgen`.")
        return log.log_id.lower()
    text = f"{log.service}\0{log.time_ns}\0{log.message}"
    derived = _uuid_of(text)
    before = ids.get(derived, 0)
    ids[derived] = before + 1
    return _uuid_of(f"{text}\0{before}") if before else derived


def _uuid_of(text: str) -> str:
    """A UUID of version 8 (RFC 9562) from a text."""
    digits = blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()
    return f"{digits[:8]}-{digits[8:12]}-8{digits[13:16]}-a{digits[17:20]}-{digits[20:]}"


def _checked_metadata(log: NewLog) -> dict[str, object]:
    metadata = dict(log.metadata or {})
    try:
        check_value(metadata)
        size = len(orjson.dumps(metadata))
    except (InvalidItem, orjson.JSONEncodeError) as error:
        raise _Refused(Problem.METADATA_INVALID, f"The metadata cannot be stored: {error}.") from error
    if len(metadata) > MOST_METADATA_NAMES:
        raise _Refused(Problem.METADATA_INVALID, f"The metadata must have at most {MOST_METADATA_NAMES} names.")
    if size > MOST_METADATA_BYTES:
        raise _Refused(
            Problem.METADATA_INVALID, f"The metadata must have at most {MOST_METADATA_BYTES:,} bytes as JSON."
        )
    return metadata


def _add_trace(item: Item, log: NewLog) -> None:
    if log.trace_id:
        if not _TRACE.fullmatch(log.trace_id):
            raise _Refused(Problem.TRACE_INVALID, "The trace id must have 32 hexadecimal digits.")
        item["trace_id"] = log.trace_id.lower()
    if log.span_id:
        if not _SPAN.fullmatch(log.span_id):
            raise _Refused(Problem.TRACE_INVALID, "The span id must have 16 hexadecimal digits.")
        item["span_id"] = log.span_id.lower()


def _check_unicode(*texts: str) -> None:
    try:
        for text in texts:
            check_text(text)
    except InvalidItem as error:
        raise _Refused(Problem.LOG_INVALID, "The log has a text that is no valid Unicode.") from error
