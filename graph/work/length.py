"""How long operations take, as their points tell: those of the price, and those that reading costs."""

from enum import IntEnum


class Length(IntEnum):
    """How long an operation takes."""

    SHORT = 1  # a lookup, a count
    USUAL = 2  # a page of a hundred
    LONG = 3  # a page of a thousand

    @classmethod
    def of(cls, points: int) -> "Length":
        """The length of an operation of so many points."""
        if points < LEAST_USUAL:
            return cls.SHORT
        return cls.USUAL if points < LEAST_LONG else cls.LONG


LEAST_USUAL, LEAST_LONG = 150, 4000  # points; a thousand of them take some 0.7 ms
SHARES = {Length.SHORT: 4, Length.USUAL: 2, Length.LONG: 1}
"""Their shares of a caller's time, if operations of all lengths wait."""
