"""Magnitudes in bins of 0.1, cut in decimal arithmetic: 4.6 is in the bin 4.6, though 4.6 * 10 is 45.99… in binary.

A bin is named by its lower edge in tenths: bin 45 holds 4.5 ≤ mag < 4.6. The events exactly on
the edge are also counted, so that `mag ≤ 4.5` can be counted as exactly as `mag ≥ 4.5`.
"""

from dataclasses import dataclass
from decimal import ROUND_FLOOR, Decimal
from functools import cached_property, lru_cache

from graph.store.values import storable_bound

LEAST_BIN, GREATEST_BIN = -20, 100


Bin = tuple[int, bool]
"""The bin's lower edge in tenths, and whether the magnitude is exactly on the edge."""


@lru_cache(maxsize=4096)
def bin_of(mag: float) -> Bin:
    """The bin of a magnitude, and whether it is exactly on the bin's edge."""
    tenths = Decimal(repr(float(mag))) * 10
    floor = int(tenths.to_integral_value(ROUND_FLOOR))
    return floor, floor == tenths


@dataclass(frozen=True)
class MagnitudeRange:
    """A range of magnitudes, both ends included; None for an open end."""

    minimum: float | None = None
    maximum: float | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "minimum", storable_bound(self.minimum, up=True))
        object.__setattr__(self, "maximum", storable_bound(self.maximum, up=False))

    @property
    def everything(self) -> bool:
        """Whether the range has no bounds."""
        return self.minimum is None and self.maximum is None

    @property
    def on_tenths(self) -> bool:
        """Whether bins alone give the exact number of events in the range."""
        return all(mag is None or bin_of(mag)[1] for mag in (self.minimum, self.maximum))

    @cached_property
    def bins(self) -> range:
        """The bins that may hold a magnitude of the range."""
        least = LEAST_BIN if self.minimum is None else max(bin_of(self.minimum)[0], LEAST_BIN)
        greatest = GREATEST_BIN if self.maximum is None else min(bin_of(self.maximum)[0], GREATEST_BIN)
        return range(least, greatest + 1)

    @cached_property
    def bin_without_edge(self) -> int | None:
        """The first bin, if the magnitude on its edge is below the range."""
        if self.minimum is None or bin_of(self.minimum)[1]:
            return None
        return bin_of(self.minimum)[0]

    @cached_property
    def bin_of_edge(self) -> int | None:
        """The last bin, if the range ends with the magnitude on its edge."""
        if self.maximum is None or not bin_of(self.maximum)[1]:
            return None
        return bin_of(self.maximum)[0]

    @cached_property
    def inner_bins(self) -> range:
        """The bins whose events all lie in the range. Those on the lower edge of the next bin may lie in it too."""
        least, after = LEAST_BIN, GREATEST_BIN + 1
        if self.minimum is not None:
            tenths, on_edge = bin_of(self.minimum)
            least = max(tenths + (not on_edge), LEAST_BIN)
        if self.maximum is not None:
            after = min(bin_of(self.maximum)[0], GREATEST_BIN)
        return range(least, after)
