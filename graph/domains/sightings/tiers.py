"""How far a user's reports are trusted. No I/O.

A tier depends only on numbers that never fall by waiting. A user alone reaches no tier above bronze: others have to
confirm what the user reported.
"""

from dataclasses import dataclass
from enum import Enum


class TrustTier(Enum):
    """How far a user's reports are trusted."""

    BRONZE = "BRONZE"
    SILVER = "SILVER"
    GOLD = "GOLD"

    @property
    def description(self) -> str:
        """What a user needs for it."""
        needed = next(each for each in THRESHOLDS if each.tier is self)
        if not needed.reports:
            return "Every user, at first."
        return f"From {needed.reports} reports and {needed.confirmations} confirmations by others on."


def tier_named(name: str) -> TrustTier:
    """The tier of a name, which other programs may write as `gold`. Raises ValueError if there is none."""
    return TrustTier(name.upper())


@dataclass(frozen=True, slots=True)
class Threshold:
    """What a user needs for a tier."""

    tier: TrustTier
    reports: int
    confirmations: int  # of these reports, by others


THRESHOLDS = (
    Threshold(TrustTier.GOLD, 50, 100),
    Threshold(TrustTier.SILVER, 10, 20),
    Threshold(TrustTier.BRONZE, 0, 0),
)
"""The tiers, the highest first."""


def tier_of(reports: int, confirmations: int) -> TrustTier:
    """The tier of a user with so many reports, and so many confirmations of them."""
    return next(each.tier for each in THRESHOLDS if reports >= each.reports and confirmations >= each.confirmations)
