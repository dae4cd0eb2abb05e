"""The events of a selection in columns, for statistics that counts do not give. No I/O."""

from array import array
from collections.abc import Callable, Iterable
from math import nan

from graph.domains.earthquakes.magnitudes import bin_of
from graph.domains.statistics.networks import network_of
from graph.store.entity import Item

EARTHQUAKE = "earthquake"
TEXTS = ("type", "magType", "place")
READABLE = frozenset({"mag", "lat", "lon", "depth", "net", *TEXTS})
"""The attributes that statistics may need, beside the type and the position."""


def is_earthquake(type: str | None) -> bool:
    """Whether statistics count events of this type unless types are named: `earthquake`, in any case, or none.

    USGS's types default to `earthquake`. All other types are left out: blasts, explosions and collapses are
    not exponential in magnitude, and happen by day.
    """
    return not type or type == EARTHQUAKE or type.casefold().replace("_", " ").strip() == EARTHQUAKE


class Events:
    """Events in order of time, as columns of equal length. A column that was not read is empty."""

    def __init__(self, attributes: frozenset[str]) -> None:
        """Begin with no events.

        Args:
            attributes: those that were read, of `READABLE`.
        """
        self.attributes = attributes
        self.times = array("q")  # origin time, epoch milliseconds
        self.ids: list[str] = []
        self.magnitudes = array("d")
        self.tenths: list[int] = []  # lower edge of the magnitude's bin, in tenths
        self.lats = array("d")  # degrees north
        self.lons = array("d")  # degrees east
        self.depths = array("d")  # km; NaN if unknown
        self.networks: list[str] = []
        self.texts: dict[str, list[str | None]] = {name: [] for name in TEXTS if name in attributes}
        self._has_places = {"lat", "lon"} <= attributes
        self._has_depths = "depth" in attributes

    def __len__(self) -> int:
        return len(self.times)

    def add(self, items: Iterable[Item], holds: Callable[[Item], bool]) -> None:
        """Add items in order of time, of those that pass."""
        for item in items:
            if not holds(item):
                continue
            magnitude = item["mag"]
            self.times.append(item["eventTsMs"])
            self.ids.append(item["eventId"])
            self.magnitudes.append(magnitude)
            self.tenths.append(bin_of(magnitude)[0])
            self.networks.append(network_of(item))
            for name, texts in self.texts.items():
                texts.append(item.get(name))
            if self._has_places:
                self.lats.append(item["lat"])
                self.lons.append(item["lon"])
            if self._has_depths:
                self.depths.append(item.get("depth", nan))
