"""How much a sighting can be trusted at a time, as documented. No I/O.

    confidence = (expiresAt - now) / lifetime + min(0.1 · confirmations, 0.3) + trust, at least 0 and at most 1

The lifetime is that of a new sighting: 1,800 seconds, as documented, unless a setting says otherwise.

All sightings lose confidence equally fast. So their order by confidence never changes without a confirmation, and an
index can have it: that of `rank`.
"""

from graph.core.described import DescribedText, described, value
from graph.domains.sightings.tiers import TrustTier

LIFETIME_S = 1800  # of a new sighting, in which confidence falls from 1 to 0
PER_CONFIRMATION, MOST_BY_CONFIRMATIONS = 0.1, 0.3
TRUST = {TrustTier.BRONZE: 0.0, TrustTier.SILVER: 0.05, TrustTier.GOLD: 0.10}
FRESH_ABOVE, STALE_BELOW = 0.66, 0.33


class Freshness(DescribedText):
    """How fresh a sighting looks."""

    FRESH = "FRESH", "Its confidence is more than 0.66."
    FADING = "FADING", "Its confidence is from 0.33 to 0.66."
    STALE = "STALE", "Its confidence is less than 0.33."

    @classmethod
    def of(cls, confidence: float) -> "Freshness":
        """The freshness by the total of a confidence."""
        if confidence > FRESH_ABOVE:
            return cls.FRESH
        return cls.STALE if confidence < STALE_BELOW else cls.FADING


@value
class Confidence:
    """How much a sighting can be trusted at a time. All parts but `lifetimeSeconds` are 0 once it has expired."""

    lifetime: float = described("By what is left of its time, 0 … 1: as a share of `lifetimeSeconds`.")
    confirmations: float = described("By confirmations, 0 … 0.3: 0.1 for each.")
    trust: float = described("By its reporter's tier: 0, 0.05 or 0.1.")
    lifetime_seconds: int = described(
        "The lifetime of a new sighting, in which `lifetime` falls from 1 to 0.", default=LIFETIME_S
    )

    @property
    def total(self) -> float:
        """The sum of the parts, at most 1."""
        return round(min(1.0, self.lifetime + self.confirmations + self.trust), 12)  # else 0.03 + 0.3 is below 0.33

    @classmethod
    def at(
        cls, now: float, *, expires_at: int, confirmations: int, tier: TrustTier, lifetime: int = LIFETIME_S
    ) -> "Confidence":
        """The confidence at a time; both times in epoch seconds, and the lifetime of a new sighting in seconds."""
        left = expires_at - now
        if left <= 0:
            return cls(0.0, 0.0, 0.0, lifetime)
        return cls(min(1.0, left / lifetime), _by_confirmations(confirmations), TRUST[tier], lifetime)


def rank(*, expires_at: int, confirmations: int, tier: TrustTier, lifetime: int = LIFETIME_S) -> int:
    """A number by which sightings are in the order of their confidence at any time, epoch seconds.

    It is the time at which the confidence would be 0 if its bonuses did not end with the sighting.
    """
    return expires_at + round(lifetime * (_by_confirmations(confirmations) + TRUST[tier]))


def _by_confirmations(number: int) -> float:
    return min(PER_CONFIRMATION * number, MOST_BY_CONFIRMATIONS)
