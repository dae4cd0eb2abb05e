"""Counts the items of the index by date, in the transactions that write them: the plan of every list of files."""

from collections import Counter
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any, NamedTuple

from graph.domains.data_files.entities import CALIBRATED, DAY
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


class CounterChanges:
    """Changes of counters."""

    def __init__(self) -> None:
        self._by_key: dict[Key, Counter[str]] = {}

    def __len__(self) -> int:
        return len(self._by_key)

    def add(self, identifier: str, part: Item, number: int = 1) -> None:
        """Count an item of a file; -1 for one that goes. Those that other programs have written are not counted."""
        if (day := part.get("applicable-date")) is not None and "data-level" in part:
            of_day = self._by_key.setdefault(DAY.key_for(day), Counter())
            of_day[ITEMS] += number
            of_day[CountedKind.of_item(part).name] += number
        elif identifier.startswith(CALIBRATION) and "calibration-order" in part:
            self._by_key.setdefault(CALIBRATED.key_for(identifier), Counter())[ITEMS] += number

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
