"""The documented formula of confidence, the rank that puts sightings in its order, and the tiers of reporters."""

from fractions import Fraction
from math import nextafter

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from graph.domains.sightings.confidence import Confidence, Freshness, rank
from graph.domains.sightings.tiers import TrustTier, tier_of
from tests.domains.sightings.in_store import NOON_S

TRUST = {TrustTier.BRONZE: Fraction(0), TrustTier.SILVER: Fraction(5, 100), TrustTier.GOLD: Fraction(10, 100)}

tiers = st.sampled_from(TrustTier)
counts = st.integers(0, 6) | st.integers(0, 10**6)
lifetimes = st.sampled_from([1800, 60, 3600, 82_800])  # the first is the document's


@given(left=st.integers(-3600, 86_400) | st.floats(-3600, 86_400), confirmations=counts, tier=tiers, lifetime=lifetimes)
@example(900, 1, TrustTier.BRONZE, 1800)
@example(450, 3, TrustTier.GOLD, 1800)
@example(1800, 10, TrustTier.GOLD, 1800)  # the documented sum is 1.4
@example(0.0625, 0, TrustTier.SILVER, 1800)
@example(0, 10, TrustTier.GOLD, 1800)
def test_the_confidence_is_that_of_the_documented_formula_until_the_expiry(
    left: float, confirmations: int, tier: TrustTier, lifetime: int
) -> None:
    found = Confidence.at(NOON_S - left, expires_at=NOON_S, confirmations=confirmations, tier=tier, lifetime=lifetime)
    left = NOON_S - (NOON_S - left)  # as exact as the time is

    parts = [
        min(Fraction(left) / lifetime, Fraction(1)),
        min(Fraction(confirmations, 10), Fraction(3, 10)),
        TRUST[tier],
    ]
    if left <= 0:
        parts = [Fraction(0)] * 3
    assert (found.lifetime, found.confirmations, found.trust) == pytest.approx(tuple(map(float, parts)))
    assert found.total == pytest.approx(float(min(sum(parts), 1)))
    assert (found.total > 0) == (left > 0)
    assert found.total <= 1
    assert found.lifetime_seconds == lifetime


def test_a_confidence_at_a_threshold_is_exactly_that() -> None:
    at_stale = Confidence.at(NOON_S - 54, expires_at=NOON_S, confirmations=3, tier=TrustTier.BRONZE)

    assert (at_stale.total, Freshness.of(at_stale.total)) == (0.33, Freshness.FADING)


def test_the_freshness_follows_from_the_documented_thresholds() -> None:
    for freshness, totals in {
        Freshness.FRESH: (1.0, nextafter(0.66, 1)),
        Freshness.FADING: (0.66, 0.5, 0.33),
        Freshness.STALE: (nextafter(0.33, 0), 0.0),
    }.items():
        assert {Freshness.of(total) for total in totals} == {freshness}


@given(expires_at=st.integers(NOON_S - 100, NOON_S + 86_400), confirmations=counts, tier=tiers, lifetime=lifetimes)
def test_the_rank_is_the_expiry_with_the_bonuses_in_seconds(
    expires_at: int, confirmations: int, tier: TrustTier, lifetime: int
) -> None:
    """So it orders sightings like their confidence at any time before one of them expires."""
    bonus = lifetime * (TRUST[tier] + min(Fraction(confirmations, 10), Fraction(3, 10)))
    assert rank(expires_at=expires_at, confirmations=confirmations, tier=tier, lifetime=lifetime) == expires_at + bonus


def test_a_tier_needs_both_reports_and_others_confirmations() -> None:
    for tier, needs in {
        TrustTier.BRONZE: [(0, 0), (1000, 19), (9, 1000)],
        TrustTier.SILVER: [(10, 20), (50, 99), (49, 100)],
        TrustTier.GOLD: [(50, 100), (1000, 1000)],
    }.items():
        assert {tier_of(reports, received) for reports, received in needs} == {tier}
