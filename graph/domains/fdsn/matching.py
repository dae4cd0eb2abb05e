"""A selection of events with FDSN's further conditions."""

from collections.abc import Sequence
from dataclasses import dataclass

from graph.core.errors import BadUserInput
from graph.domains.earthquakes.selection import Selection
from graph.domains.earthquakes.selection.conditions import Fdsn, at_most
from graph.domains.fdsn.event_types import OTHER, quakeml_type
from graph.geography.areas import distance_km
from graph.store.conditions import Condition, all_of
from graph.store.entity import Item
from graph.store.time_walk import Keep, keep_all


@dataclass(frozen=True)
class Matching(Selection):
    """A selection whose events fulfil more conditions."""

    max_cdi: float | None = at_most("cdi", "Greatest intensity by felt reports, inclusive.", Fdsn("maxcdi"))
    max_mmi: float | None = at_most("mmi", "Greatest intensity of the ShakeMap, inclusive.", Fdsn("maxmmi"))
    more: Condition | None = None  # that stores test
    keeps: tuple[Keep, ...] = ()  # that only Python can test

    @property
    def is_counted(self) -> bool:
        """Whether summaries know all of the conditions: of those here, none."""
        return super().is_counted and self.more is None and not self.keeps

    @property
    def condition(self) -> Condition | None:
        """The part of the filter, beside time, that a store can test."""
        return all_of(super().condition, self.more)

    @property
    def keep(self) -> Keep | None:
        """The rest of the filter, which stores cannot test."""
        rest = super().keep
        return keep_all((*self.keeps, rest) if rest else self.keeps)


@dataclass(frozen=True, slots=True)
class Ring:
    """The area outside of a great-circle distance from a point, edge included."""

    lat: float
    lon: float
    least_km: float

    @property
    def keep(self) -> Keep:
        """The test of an event."""
        return Keep(self.holds, frozenset(("lat", "lon")))

    def holds(self, item: Item) -> bool:
        """Whether an event lies in the area."""
        return distance_km(self.lat, self.lon, item) >= self.least_km


def keeps_types(words: Sequence[str]) -> Keep:
    """A test whether QuakeML's type of an event is one of these.

    Raises:
        BadUserInput: QuakeML has no such type.
    """
    wanted = frozenset(map(quakeml_type, words))
    for word in words:
        if quakeml_type(word) == OTHER and word.lower().replace("_", " ") not in (OTHER, "other"):
            raise BadUserInput(f"`eventtype` must be types of QuakeML, such as earthquake; {word[:50]!r} is none.")

    def holds(item: Item) -> bool:
        word = item.get("type")
        return word is not None and quakeml_type(word) in wanted

    return Keep(holds, frozenset(("type",)))
