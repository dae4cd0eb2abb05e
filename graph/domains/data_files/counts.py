"""Counts the items of the index by date, in the transactions that write them: the plan of every list of files.

A put of another program takes from an item what says that it was counted. So what is counted of each file is kept: by
its registration in the file and its revision, and by adoption in an item beside them. Both together are what the file
has in the counters. Whoever counts a file adds the difference, so to count it again changes nothing.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from itertools import starmap
from typing import Any, NamedTuple

from graph.domains.data_files.entities import CALIBRATED, COUNTED, DAY
from graph.domains.data_files.model import CALIBRATION
from graph.store.contract import Update
from graph.store.entity import Item, Key

ITEMS = "items"
KEPT = 1024  # kinds; the days of a list have the same few


class CountedKind(NamedTuple):
    """What a day's items are counted by."""

    level: str
    product: str  # empty for none, as the version
    version: str

    @classmethod
    def of_item(cls, part: Mapping[str, Any]) -> "CountedKind":
        """The kind of a sortable item."""
        return cls(part.get("data-level", ""), part.get("data-product", ""), part.get("data-version", ""))

    @classmethod
    @lru_cache(KEPT)
    def of_name(cls, name: str) -> "CountedKind":
        """The kind that an attribute of a day counts."""
        return cls(*name.split("#", 2))

    @property
    def name(self) -> str:
        """The attribute of a day that counts it."""
        return "#".join(self)


def counter_of(identifier: str, part: Item) -> str | None:
    """The day and the kind of an item of a file, or what it calibrates.

    None for an additional item, and for one of another program that is not adopted.
    """
    if (day := part.get("applicable-date")) is not None and "data-level" in part:
        return f"{day}#{CountedKind.of_item(part).name}"
    return identifier if identifier.startswith(CALIBRATION) and "calibration-order" in part else None


def counted(parts: Iterable[tuple[str, Item]]) -> Counter[str]:
    """The numbers of items, by their counters."""
    return Counter(filter(None, starmap(counter_of, parts)))


def counted_before(file: Mapping[str, Any], beside: Item) -> Counter[str]:
    """What a file has in the counters.

    Args:
        beside: its item of what adoption has counted.
    """
    before = Counter(file.get("counted", {}))
    before.update({name: number for name, number in beside.items() if name not in COUNTED.named})
    return before


class CounterChanges:
    """Changes of counters."""

    def __init__(self, changes: Mapping[str, int] | None = None) -> None:
        """Add to counters, see `counter_of`."""
        self._by_key: dict[Key, Counter[str]] = {}
        for name, number in (changes or {}).items():
            day, _, kind = name.partition("#")
            is_day = not name.startswith(CALIBRATION)
            of_key = self._by_key.setdefault(DAY.key_for(day) if is_day else CALIBRATED.key_for(name), Counter())
            of_key.update(dict.fromkeys((ITEMS, kind) if is_day else (ITEMS,), number))

    def __len__(self) -> int:
        return len(self._by_key)

    def merge(self, other: "CounterChanges") -> None:
        """Add the changes of another."""
        for key, added in other._by_key.items():
            self._by_key.setdefault(key, Counter()).update(added)

    def touched_with(self, other: "CounterChanges") -> int:
        """The number of counters that both together change."""
        return len(self._by_key) + sum(key not in self._by_key for key in other._by_key)

    def updates(self) -> Iterator[Update]:
        """The changes, as actions of a transaction."""
        for key, added in self._by_key.items():
            if changed := {name: number for name, number in added.items() if number}:
                yield Update(key, add=changed)
