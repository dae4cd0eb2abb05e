"""Which logs a query selects, as bounds of slots, a filter of the store, and what is left of the filter."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import orjson

from graph.core.errors import BadUserInput
from graph.domains.service_logs.model import (
    MOST_SEVERE,
    LogLevel,
    ServiceLogType,
    service_of,
    slot_of,
    timestamp_of,
)
from graph.store.between import Between
from graph.store.conditions import Compare, Condition, HasText, OneOf, all_of, predicate
from graph.store.entity import Item
from graph.store.query import Bounds
from graph.store.time_walk import Keep

MOST_VALUES = 100  # of a list in a filter
LONGEST_TEXT = 256  # characters


@dataclass(frozen=True)
class LogSelection:
    """The selected logs: those that fulfil all conditions. None means no condition."""

    first: int | None = None  # slot, epoch microseconds
    last: int | None = None  # slot, inclusive
    services: tuple[str, ...] | None = None
    types: tuple[ServiceLogType, ...] | None = None
    levels: tuple[LogLevel, ...] | None = None
    min_severity: int | None = None
    text: str | None = None  # in the message, without regard to case
    trace_id: str | None = None
    metadata: tuple[tuple[str, str], ...] = ()  # names and values as text

    def __post_init__(self) -> None:
        if self.first is not None and self.last is not None and self.first > self.last:
            raise BadUserInput("`startTime` must not be greater than `endTime`.")
        for name, values in (("services", self.services), ("metadata", self.metadata)):
            if values is not None and len(values) > MOST_VALUES:
                raise BadUserInput(f"`{name}` takes at most {MOST_VALUES} values.")
        if self.min_severity is not None and not 1 <= self.min_severity <= MOST_SEVERE:
            raise BadUserInput(f"`minSeverity` must lie between 1 and {MOST_SEVERE}.")
        for name, text in (("text", self.text), ("traceId", self.trace_id)):
            if text is not None and not 0 < len(text) <= LONGEST_TEXT:
                raise BadUserInput(f"`{name}` must have 1 to {LONGEST_TEXT} characters.")

    @property
    def bounds(self) -> Bounds:
        """The bounds of `timestamp`."""
        return (
            None if self.first is None else timestamp_of(self.first),
            None if self.last is None else timestamp_of(self.last),
        )

    @property
    def possible_types(self) -> tuple[ServiceLogType, ...]:
        """The types that selected logs may have."""
        return tuple(ServiceLogType) if self.types is None else tuple(dict.fromkeys(self.types))

    @property
    def possible_levels(self) -> frozenset[str]:
        """The names of the levels that selected logs may have."""
        levels = LogLevel if self.levels is None else self.levels
        least = LogLevel.of(self.min_severity or 1).value
        return frozenset(level.name for level in levels if level.value >= least)

    @cached_property
    def condition(self) -> Condition | None:
        """The part of the filter that stores test, without service, type and time."""
        return all_of(
            OneOf("level", tuple(level.name for level in self.levels)) if self.levels is not None else None,
            Compare("severity_number", ">=", self.min_severity) if self.min_severity is not None else None,
            Compare("trace_id", "=", self.trace_id.lower()) if self.trace_id is not None else None,
            HasText("message", self.text) if self.text is not None else None,
        )

    @property
    def of_types(self) -> Condition | None:
        """The condition on the type, where it does not choose the partitions."""
        return None if self.types is None else OneOf("log_type", tuple(each.value for each in self.types))

    @property
    def keep(self) -> Keep | None:
        """The part of the filter that stores cannot test."""
        if not self.metadata:
            return None
        wanted = self.metadata

        def holds(item: Item) -> bool:
            metadata = item.get("metadata") or {}
            return all(name in metadata and as_text(metadata[name]) == value for name, value in wanted)

        return Keep(holds, frozenset({"metadata"}))

    @cached_property
    def admits(self) -> Callable[[Item], bool]:
        """A function that returns whether a log is selected."""
        low, high = self.bounds
        condition = all_of(
            self.condition,
            self.of_types,
            Compare("timestamp", ">=", low) if low is not None else None,
            Compare("timestamp", "<=", high) if high is not None else None,
        )
        holds = predicate(condition) if condition else None
        services = None if self.services is None else frozenset(self.services)
        keep = self.keep

        def admitted(item: Item) -> bool:
            if services is not None and service_of(item["service_name"]) not in services:
                return False
            return (holds is None or holds(item)) and (keep is None or keep.holds(item))

        return admitted

    def between(self, first: int, last: int) -> "LogSelection":
        """The part of the selection between two slots, which must overlap."""
        return replace(
            self,
            first=first if self.first is None else max(first, self.first),
            last=last if self.last is None else min(last, self.last),
        )

    def within(self, places: Between) -> "LogSelection | None":
        """The part of the selection between two places, with the logs of the same slots. None if it has no slot."""
        first, last = self.first, self.last
        if places.after:
            first = max(slot_of(places.after[0]), first if first is not None else 0)
        if places.before:
            before = slot_of(places.before[0])
            last = before if last is None else min(last, before)
        if first is not None and last is not None and first > last:
            return None
        return replace(self, first=first, last=last)


def as_text(value: Any) -> str:
    """A value of metadata as a filter names it: 500 is `500`, true is `true`."""
    return value if isinstance(value, str) else orjson.dumps(value).decode()
