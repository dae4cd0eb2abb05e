"""Bins of one width, cut in decimal arithmetic: 0.3 begins the bin 0.3, though 0.3 / 0.1 is 2.99… in binary."""

from decimal import Decimal
from math import floor

ROUNDING = 1e-9  # far more than a division of two numbers errs by, as a share of the quotient


class DecimalBins:
    """Bins that begin at a whole number. Each has its lower edge."""

    def __init__(self, width: float, first: int = 0) -> None:
        """Take the width of a bin, and the lower edge of the bin 0."""
        self._width = width
        self._decimal_width = Decimal(repr(width))
        self._first = first

    def number_of(self, value: float) -> int:
        """The bin of a value."""
        quotient = (value - self._first) / self._width
        nearest = round(quotient)
        if abs(quotient - nearest) > ROUNDING * (1 + abs(quotient)):
            return floor(quotient)
        return nearest if Decimal(repr(value)) >= self._edge(nearest) else nearest - 1

    def edge(self, number: int) -> float:
        """The lower edge of a bin."""
        return float(self._edge(number))

    def _edge(self, number: int) -> Decimal:
        return self._first + number * self._decimal_width
