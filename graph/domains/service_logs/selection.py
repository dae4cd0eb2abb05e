"""Which logs a query selects, as bounds of slots, a filter of the store, and what is left of the filter."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import orjson

from graph.core.errors import BadUserInput
from graph.domains.service_logs.model import (
    MOST_SEVERE,
    MOST_SHIFT,
    ServiceLogLevel,
    ServiceLogType,
    service_of,
    slot_of,
)
from graph.store.between import Between
from graph.store.conditions import Compare, Condition, HasText, OneOf, all_of, predicate
from graph.store.entity import Item
from graph.store.time_walk import Keep, keep_all

MOST_VALUES = 100  # of a list in a filter
LONGEST_TEXT = 256  # characters
_TIME = frozenset({"time_unix_nano"})

Slots = tuple[int | None, int | None]
"""The first and the last slot of a range, or epoch microseconds; None for no bound."""


@dataclass(frozen=True)
class ServiceLogSelection:
    """The selected logs: those that fulfil all conditions. None means no condition."""

    first: int | None = None  # epoch microseconds
    last: int | None = None  # inclusive
    services: tuple[str, ...] | None = None
    types: tuple[ServiceLogType, ...] | None = None
    levels: tuple[ServiceLogLevel, ...] | None = None
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

    def ranges(self, slots: Slots, *, forward: bool) -> list[tuple[Slots, Keep | None]]:
        """The parts of a range of slots that may hold selected logs, in the direction of reading, with what to test.

        A crowd shifts logs behind their time: out of the time range at its end, and into it at its beginning.
        """
        low, high = None, self.last
        parts: list[tuple[Slots, Keep | None]] = []
        if self.first is not None:
            low = self.first + MOST_SHIFT
            parts.append(((self.first, low - 1 if high is None else min(low - 1, high)), self._keep_of_edge))
        parts.append(((low, high), self.keep))
        if high is not None:
            parts.append(((high + 1, high + MOST_SHIFT), self._keep_of_edge))
        within = [(overlap(slots, part), keep) for part, keep in parts]
        return [(part, keep) for part, keep in (within if forward else within[::-1]) if not is_empty(part)]

    @property
    def _keep_of_edge(self) -> Keep | None:
        return keep_all([each for each in (Keep(self._is_in_time, _TIME), self.keep) if each])

    def _is_in_time(self, item: Item) -> bool:
        time = int(item["time_unix_nano"]) // 1000
        return (self.first is None or time >= self.first) and (self.last is None or time <= self.last)

    @property
    def possible_types(self) -> tuple[ServiceLogType, ...]:
        """The types that selected logs may have."""
        return tuple(ServiceLogType) if self.types is None else tuple(dict.fromkeys(self.types))

    @property
    def possible_levels(self) -> frozenset[str]:
        """The names of the levels that selected logs may have."""
        levels = ServiceLogLevel if self.levels is None else self.levels
        least = ServiceLogLevel.of(self.min_severity or 1).value
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
        condition = all_of(self.condition, self.of_types)
        holds = predicate(condition) if condition else None
        services = None if self.services is None else frozenset(self.services)
        keep = self.keep

        def admitted(item: Item) -> bool:
            if services is not None and service_of(item["service_name"]) not in services:
                return False
            return self._is_in_time(item) and (holds is None or holds(item)) and (keep is None or keep.holds(item))

        return admitted

    def within(self, places: Slots) -> "ServiceLogSelection | None":
        """The part of the time range whose logs may have these slots. None if there is none."""
        first, last = places
        times = overlap((self.first, self.last), (None if first is None else first - MOST_SHIFT, last))
        return None if is_empty(times) else replace(self, first=times[0], last=times[1])


def slots_between(places: Between) -> Slots:
    """The slots of the logs between two places, with those at both."""
    after, before = places.after, places.before
    return slot_of(after[0]) if after else None, slot_of(before[0]) if before else None


def overlap(one: Slots, other: Slots) -> Slots:
    """The slots of both ranges."""
    first = [slots[0] for slots in (one, other) if slots[0] is not None]
    last = [slots[1] for slots in (one, other) if slots[1] is not None]
    return max(first, default=None), min(last, default=None)


def is_empty(slots: Slots) -> bool:
    """Whether a range has no slot."""
    first, last = slots
    return first is not None and last is not None and first > last


def as_text(value: Any) -> str:
    """A value of metadata as a filter names it: 500 is `500`, true is `true`."""
    return value if isinstance(value, str) else orjson.dumps(value).decode()
