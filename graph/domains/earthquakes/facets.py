"""Facets of an event: the values by which summaries count, so that a filter reads only days that can match.

Each facet gives an event one name, such as `net:ci` or `sig:4`. The names of a facet are bounded, so that a
day's counts fit an item: unusual texts share a few names, and numbers are counted in bins.
"""

from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import product
from string import ascii_lowercase, digits
from typing import Any, NamedTuple
from zlib import crc32

from graph.geography.cells import cell_of, coarse_of
from graph.store.entity import Item
from graph.store.folding import fold

SHARED_NAMES = 64  # of the unusual texts of a facet


class Names(NamedTuple):
    """The names that events of a filter may have, and those that only such events have."""

    possible: tuple[str, ...]
    sure: frozenset[str]


@dataclass(frozen=True)
class TextFacet:
    """Counts a text attribute by its folded values."""

    attribute: str
    usual: frozenset[str]  # folded values with names of their own

    @cached_property
    def _names(self) -> dict[object, str]:
        return {None: f"{self.attribute}:", **{text: f"{self.attribute}:{text}" for text in self.usual}}

    def name(self, value: object) -> str:
        """The name of a value, which is None if the event lacks the attribute."""
        known = self._names.get(value)  # most values are as they are usually written
        if known is not None:
            return known
        text = fold(str(value))
        return self._names.get(text) or f"{self.attribute}:~{crc32(text.encode()) % SHARED_NAMES}"

    def names(self, values: Collection[object]) -> Names:
        """The names of any of these values."""
        possible = tuple(dict.fromkeys(map(self.name, values)))
        return Names(possible, frozenset(name for name in possible if "~" not in name))


@dataclass(frozen=True)
class NumberFacet:
    """Counts a number in bins."""

    attribute: str
    edges: tuple[float, ...]  # lower edge of each bin; smaller numbers are in the first one

    @cached_property
    def _names(self) -> tuple[str, ...]:
        return tuple(f"{self.attribute}:{at}" for at in range(len(self.edges)))

    @cached_property
    def _absent(self) -> str:
        return f"{self.attribute}:"

    def name(self, value: float | None) -> str:
        """The name of a value, which is None if the event lacks the attribute."""
        return self._absent if value is None else self._names[(bisect_right(self.edges, value) or 1) - 1]

    def names(self, least: float | None, greatest: float | None) -> Names:
        """The names of the numbers in a range, both ends included; None for an open end."""
        first = 0 if least is None else self._bin(least)
        last = len(self.edges) - 1 if greatest is None else self._bin(greatest)
        sure = [at for at in range(first, last + 1) if self._is_within(at, least, greatest)]
        return Names(self._names[first : last + 1], frozenset(self._names[at] for at in sure))

    def _bin(self, value: float) -> int:
        return (bisect_right(self.edges, value) or 1) - 1

    def _is_within(self, at: int, least: float | None, greatest: float | None) -> bool:
        """Whether each number of a bin lies in a range."""
        above = least is None or (at > 0 and self.edges[at] >= least)
        below = greatest is None or (at + 1 < len(self.edges) and self.edges[at + 1] <= greatest)
        return above and below


TYPE = TextFacet(
    "type",
    frozenset(
        {
            *("earthquake", "quarry blast", "quarry", "explosion", "mining explosion", "mine collapse", "collapse"),
            *("ice quake", "rock burst", "rock slide", "rockslide", "landslide", "snow avalanche", "avalanche"),
            *("sonic boom", "acoustic noise", "chemical explosion", "nuclear explosion", "experimental explosion"),
            *("industrial explosion", "accidental explosion", "volcanic eruption", "volcanic explosion", "meteorite"),
            *("induced or triggered event", "anthropogenic event", "building collapse", "other event", "not reported"),
        }
    ),
)
"""The types of events of ANSS. The summaries themselves count it too, since statistics subtract other types."""

NETWORK = TextFacet("net", frozenset(map("".join, product(ascii_lowercase + digits, repeat=2))))
MAGNITUDE_TYPE = TextFacet(
    "magType",
    frozenset(
        {
            *("ml", "md", "mb", "mw", "mww", "mwr", "mwc", "mwb", "mwp", "mwv", "mh", "mc", "ms", "ms 20", "mb lg"),
            *("mblg", "mlg", "mlr", "mlv", "mfa", "mint", "ma", "me", "mi", "mn", "mun", "uk", "m"),
        }
    ),
)
STATUS = TextFacet("status", frozenset({"automatic", "reviewed", "manual"}))
ALERT = TextFacet("alert", frozenset({"green", "yellow", "orange", "red"}))
TSUNAMI = TextFacet("tsunami", frozenset({"0", "1"}))
FELT = NumberFacet("felt", (0, *(2**power for power in range(20))))
SIGNIFICANCE = NumberFacet("sig", tuple(range(0, 1000, 25)) + tuple(range(1000, 3001, 250)))
GAP = NumberFacet("gap", tuple(range(0, 360, 10)))  # degrees
DEPTH = NumberFacet("depth", (*range(0, 50, 5), *range(50, 100, 10), *range(100, 801, 50)))  # km

FACETS: tuple[TextFacet | NumberFacet, ...] = (
    *(TYPE, NETWORK, MAGNITUDE_TYPE, STATUS, ALERT, TSUNAMI),
    *(FELT, SIGNIFICANCE, GAP, DEPTH),
)

ATTRIBUTES = frozenset({"lat", "lon", *(facet.attribute for facet in FACETS)})
"""The attributes of an event that its names depend on."""

CELL, COARSE_CELL = "c:", "area:"
_NAME_OF = tuple((facet.attribute, facet.name) for facet in FACETS)


def facet_names(item: Item) -> list[str]:
    """The names of an event, one of each facet and that of its cell."""
    get = item.get
    names = [name_of(get(attribute)) for attribute, name_of in _NAME_OF]
    names.append(_name_of_cell(cell_of(item["lat"], item["lon"])))
    return names


def count_facets(items: Sequence[Item], counts: Counter[str]) -> None:
    """Add the names of events to counts: as `facet_names`, but each value that occurs is named once."""
    columns: list[tuple[list[Any], Callable[[Any], str]]]
    columns = [([item.get(attribute) for item in items], name_of) for attribute, name_of in _NAME_OF]
    columns.append(([cell_of(item["lat"], item["lon"]) for item in items], _name_of_cell))
    get = counts.get
    for values, name_of in columns:
        for value, number in Counter(values).items():
            name = name_of(value)
            counts[name] = get(name, 0) + number


def _name_of_cell(cell: int) -> str:
    return f"{CELL}{cell}"


@lru_cache(maxsize=40_000)
def name_of_year(name: str) -> str:
    """The name under which a year counts a day's name: it has only coarse cells."""
    return coarse_name(coarse_of(int(name[len(CELL) :]))) if name.startswith(CELL) else name


def coarse_name(cell: int) -> str:
    """The name of a coarse cell."""
    return f"{COARSE_CELL}{cell}"
