"""Checks a log of a sender, and makes the item that is stored. A log is judged by itself, never by its neighbours."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from graph.core.names import is_line
from graph.domains.service_logs.ids import is_uuid, uuid_of
from graph.domains.service_logs.model import (
    DAY_S,
    LARGEST_METADATA,
    LONGEST_EVENT_NAME,
    LONGEST_MESSAGE,
    LONGEST_SERVICE,
    LONGEST_SEVERITY,
    OWN_SERVICE,
    InvalidLog,
    LogProblem,
    NewLog,
    RejectedLog,
    ServiceLogLevel,
    ServiceLogType,
    is_shard,
)
from graph.domains.service_logs.repairs import (
    CHANGED,
    HALF_CHARACTER,
    fitting,
    shortened,
    sizes_of,
    whole_characters,
    whole_values,
)
from graph.domains.service_logs.settings import ServiceLogSettings
from graph.store.entity import Item
from graph.store.values import InvalidItem, bytes_at_most, check_number_of_values

MOST_AHEAD_S = 2 * 3600  # of the service's clock; as CloudWatch Logs has it
MOST_METADATA_NAMES = 128  # as in Loki's structured metadata
LAST_NS = 2**63 - 1
BYTES_BESIDE = 2_000  # of an item, without message and metadata
BYTES_OF_NOTE = 2_000  # in metadata: what was changed
BYTES_OF_MAPPING = 3  # of metadata, beside names and values
BYTES_PER_CHARACTER = 4  # the most that UTF-8 takes

_HEXADECIMAL = re.compile(r"[0-9a-fA-F]*")


@dataclass(slots=True)
class LogDraft:
    """A checked log, before it has a slot."""

    index: int  # in its batch, from 0
    service: str
    time_ns: int
    item: Item
    slot: int  # epoch microseconds; until it is placed, that of its time
    size: int  # bytes that the item takes at most


class _TooLarge(InvalidLog):
    """The metadata have too many bytes."""


@dataclass(eq=False)
class Checks:
    """Checks the logs of a batch."""

    settings: ServiceLogSettings
    now: int  # epoch seconds
    ids: dict[str, int]  # those that were derived for the same source, and how often each was derived
    is_own: bool = False  # whether this service wrote the logs; other senders cannot use its name
    changed: dict[int, str] = field(default_factory=dict)  # what was changed in which log

    def __post_init__(self) -> None:
        self._days = {
            ServiceLogType.APPLICATION: self.settings.application_log_days,
            ServiceLogType.SYSTEM: self.settings.system_log_days,
            ServiceLogType.AUDIT: self.settings.audit_log_days,
        }

    def draft(self, index: int, log: NewLog) -> LogDraft | RejectedLog:
        """The item of a log, without slot and number."""
        try:
            return self._draft(index, log)
        except InvalidLog as refusal:
            return refusal.at(index)

    def _draft(self, index: int, log: NewLog) -> LogDraft:
        service, message, severity = log.service, log.message, log.severity
        _check_service(service)
        if service == OWN_SERVICE and not self.is_own:
            raise InvalidLog(
                f"The service must not be `{OWN_SERVICE}`, which keeps its own logs.", LogProblem.SERVICE_INVALID
            )
        ttl = self._checked_ttl(log)
        changed = list(log.changed)
        if not message.isascii() and (repaired := whole_characters(message)) != message:
            message = log.message = repaired
            changed.append(HALF_CHARACTER)
        if len(message) > LONGEST_MESSAGE:
            message = shortened(message)
            changed.append(f"message cut from {len(log.message):,} characters")
        item: Item = {
            "log_type": log.log_type.value,
            "level": ServiceLogLevel.name_of(severity),
            "message": message,
            "time_unix_nano": str(log.time_ns),
            "severity_number": severity,
        }
        size = BYTES_BESIDE + len(message) * (1 if message.isascii() else BYTES_PER_CHARACTER)
        if ttl is not None:
            item["ttl"] = ttl
        for name, text, digits in (("trace_id", log.trace_id, 32), ("span_id", log.span_id, 16)):
            if text and len(text) == digits and _HEXADECIMAL.fullmatch(text):
                item[name] = text.lower()
            elif text:
                changed.append(f"{name} left out: it must have {digits} hexadecimal digits")
        if metadata := log.metadata:
            metadata, of_metadata, repairs = _storable(metadata)
            size += of_metadata
            changed = list(dict.fromkeys([*changed, *repairs]))
        if changed:
            self.changed[index] = ", ".join(changed)
            metadata = _with_note(metadata or {}, self.changed[index])
        if metadata:
            item["metadata"] = metadata
        if log.severity_text:
            item["severity_text"] = whole_characters(log.severity_text)[:LONGEST_SEVERITY]
        if log.event_name:
            item["event_name"] = whole_characters(log.event_name)[:LONGEST_EVENT_NAME]
        item["log_id"] = self._log_id(log)  # last, since a refused log is none of the equal ones
        return LogDraft(index, service, log.time_ns, item, log.time_ns // 1000, size)

    def _checked_ttl(self, log: NewLog) -> int | None:
        """When the log expires, epoch seconds: so many days after its time. None for never."""
        if not 0 <= log.time_ns <= LAST_NS:
            raise InvalidLog("The time must lie between the years 1970 and 2262.", LogProblem.TIME_INVALID)
        second = log.time_ns // 1_000_000_000
        if second > self.now + MOST_AHEAD_S:
            raise InvalidLog(
                "The time is more than two hours ahead: set the sender's clock right.", LogProblem.TIME_IN_FUTURE
            )
        days = self._days[log.log_type]
        ttl = second + days * DAY_S if days else None
        if ttl is not None and ttl <= self.now:
            raise InvalidLog(
                f"The log is older than logs of the type {log.log_type.value} are kept.", LogProblem.EXPIRED
            )
        return ttl

    def _log_id(self, log: NewLog) -> str:
        """The log's id, or one that is derived from service, time, message, and its ordinal among equal ones."""
        if log.log_id is not None:
            if not is_uuid(log.log_id):
                raise InvalidLog("The log's id must be a UUID.", LogProblem.LOG_ID_INVALID)
            return log.log_id.lower()
        text = f"{log.service}\0{log.time_ns}\0{log.message}"
        log_id = uuid_of(text)
        before = self.ids.get(log_id, 0)
        self.ids[log_id] = before + 1
        return uuid_of(f"{text}\0{before}") if before else log_id


@lru_cache(10_000)
def _check_service(service: str) -> None:
    if not 0 < len(service) <= LONGEST_SERVICE or not is_line(service):
        raise InvalidLog(
            f"The service must have 1 to {LONGEST_SERVICE} characters, without control characters.",
            LogProblem.SERVICE_INVALID,
        )
    if is_shard(service):
        raise InvalidLog(
            "The service must not end with `#` and a digit, which name a part of a service.", LogProblem.SERVICE_INVALID
        )


def _storable(metadata: Mapping[str, Any]) -> tuple[Mapping[str, Any], int, list[str]]:
    """Metadata without half characters and within the limit, an upper bound of its bytes, and what was changed."""
    try:
        return metadata, _checked_size(metadata), []
    except _TooLarge:
        repaired, changed = fitting(metadata, LARGEST_METADATA - BYTES_OF_NOTE)
    except InvalidLog as refusal:
        if "surrogate" not in str(refusal):  # what is too much is not walked again
            raise
        repaired, changed = whole_values(metadata), [HALF_CHARACTER]
    metadata, size, more = _storable(repaired)
    return metadata, size, [*changed, *more]


def _checked_size(metadata: Mapping[str, Any]) -> int:
    """An upper bound of the metadata's bytes."""
    if len(metadata) > MOST_METADATA_NAMES:
        raise InvalidLog(f"The metadata must have at most {MOST_METADATA_NAMES} names.", LogProblem.METADATA_INVALID)
    try:
        check_number_of_values(metadata)
        size = bytes_at_most(metadata)
    except InvalidItem as error:
        raise InvalidLog(f"The metadata cannot be stored: {error}.", LogProblem.METADATA_INVALID) from error
    if size > LARGEST_METADATA < sum(sizes_of(metadata).values()) + BYTES_OF_MAPPING:
        raise _TooLarge(f"The metadata must have at most {LARGEST_METADATA} bytes.", LogProblem.METADATA_INVALID)
    return size


def _with_note(metadata: Mapping[str, Any], note: str) -> Mapping[str, Any]:
    """The metadata with what was changed in the log, if there is room for that."""
    noted = {**metadata, CHANGED: note}
    try:
        _checked_size(noted)
    except InvalidLog:
        return metadata
    return noted
