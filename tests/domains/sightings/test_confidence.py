"""The documented formula of confidence, with its bounds, and the rank that puts sightings in its order."""

from math import nextafter
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graph.domains.sightings.confidence import Confidence, Freshness, rank
from graph.domains.sightings.tiers import TrustTier
from tests.domains.sightings.in_store import NOON_S

BRONZE, SILVER, GOLD = TrustTier.BRONZE, TrustTier.SILVER, TrustTier.GOLD

tiers = st.sampled_from(TrustTier)
counts = st.integers(0, 6) | st.integers(0, 10**6)
expiries = st.integers(NOON_S - 100, NOON_S + 86_400)
times = st.integers(NOON_S - 3600, NOON_S + 86_400) | st.floats(NOON_S - 3600, NOON_S + 86_400)


def confidence(left: float, confirmations: int = 0, tier: TrustTier = BRONZE) -> Confidence:
    """The confidence with so many seconds left."""
    return Confidence.at(NOON_S - left, expires_at=NOON_S, confirmations=confirmations, tier=tier)


@pytest.mark.parametrize(
    ("left", "confirmations", "tier", "parts", "total"),
    [
        (1800, 0, BRONZE, (1.0, 0.0, 0.0), 1.0),
        (900, 0, BRONZE, (0.5, 0.0, 0.0), 0.5),
        (900, 1, BRONZE, (0.5, 0.1, 0.0), 0.6),
        (900, 3, SILVER, (0.5, 0.3, 0.05), 0.85),
        (900, 4, GOLD, (0.5, 0.3, 0.1), 0.9),
        (450, 2, GOLD, (0.25, 0.2, 0.1), 0.55),
        (1800, 10, GOLD, (1.0, 0.3, 0.1), 1.0),  # the documented sum is 1.4
        (7200, 0, BRONZE, (1.0, 0.0, 0.0), 1.0),
        (1, 0, SILVER, (1 / 1800, 0.0, 0.05), 0.05 + 1 / 1800),
        (0.0625, 0, BRONZE, (0.0625 / 1800, 0.0, 0.0), 0.0625 / 1800),
        (0, 10, GOLD, (0.0, 0.0, 0.0), 0.0),
        (-1, 10, GOLD, (0.0, 0.0, 0.0), 0.0),
    ],
)
def test_the_confidence_is_that_of_the_documented_formula(
    left: float, confirmations: int, tier: TrustTier, parts: tuple[float, float, float], total: float
) -> None:
    found = confidence(left, confirmations, tier)
    assert (found.lifetime, found.confirmations, found.trust) == pytest.approx(parts)
    assert found.total == pytest.approx(total)


@given(now=times, expires_at=expiries, confirmations=counts, tier=tiers)
def test_the_confidence_lies_between_0_and_1_and_all_parts_are_0_once_expired(
    now: float, expires_at: int, confirmations: int, tier: TrustTier
) -> None:
    found = Confidence.at(now, expires_at=expires_at, confirmations=confirmations, tier=tier)
    parts = (found.lifetime, found.confirmations, found.trust)
    if now >= expires_at:
        assert (*parts, found.total) == (0.0, 0.0, 0.0, 0.0)
    else:
        assert 0 < found.total <= 1
        assert found.total == min(1.0, sum(parts))
        assert 0 < found.lifetime <= 1
        assert 0 <= found.confirmations <= 0.3
        assert 0 <= found.trust <= 0.1


@given(both=st.tuples(times, times), expires_at=expiries, confirmations=counts, tier=tiers)
def test_the_confidence_never_rises_by_waiting(
    both: tuple[float, float], expires_at: int, confirmations: int, tier: TrustTier
) -> None:
    first, second = (
        Confidence.at(now, expires_at=expires_at, confirmations=confirmations, tier=tier) for now in sorted(both)
    )
    assert first.total >= second.total
    if second.total > 0 and first.total < 1 and min(both) < max(both) - 1:
        assert first.total > second.total


@given(now=times, expires_at=expiries, both=st.tuples(counts, counts), tiers=st.tuples(tiers, tiers))
def test_the_confidence_never_falls_by_confirmations_or_a_higher_tier(
    now: float, expires_at: int, both: tuple[int, int], tiers: tuple[TrustTier, TrustTier]
) -> None:
    fewer, more = (
        Confidence.at(now, expires_at=expires_at, confirmations=number, tier=tier).total
        for number, tier in zip(sorted(both), sorted(tiers, key=[BRONZE, SILVER, GOLD].index), strict=True)
    )
    assert fewer <= more
    if now < expires_at and more < 1 and min(both) < min(max(both), 3):
        assert fewer < more


def test_the_freshness_follows_from_the_documented_thresholds() -> None:
    for freshness, totals in {
        Freshness.FRESH: (1.0, nextafter(0.66, 1)),
        Freshness.FADING: (0.66, 0.5, 0.33),
        Freshness.STALE: (nextafter(0.33, 0), 0.0),
    }.items():
        assert {Freshness.of(total) for total in totals} == {freshness}


sightings = st.fixed_dictionaries({"expires_at": expiries, "confirmations": counts, "tier": tiers})


@given(one=sightings, other=sightings, before=st.integers(1, 7200) | st.floats(0.01, 7200))
def test_the_rank_orders_sightings_like_their_confidence_at_any_time_before_either_expires(
    one: dict[str, Any], other: dict[str, Any], before: float
) -> None:
    now = min(one["expires_at"], other["expires_at"]) - before
    first, second = Confidence.at(now, **one), Confidence.at(now, **other)
    # Where neither the life of a sighting nor the sum of the parts is cut at 1.
    uncut = all(each.lifetime < 1 and each.lifetime + each.confirmations + each.trust < 1 for each in (first, second))
    if uncut:
        assert (rank(**one) < rank(**other)) == (first.total < second.total - 1e-6)
        assert (rank(**one) == rank(**other)) == (first.total == pytest.approx(second.total, abs=1e-6))
    else:
        assert rank(**one) >= rank(**other) or first.total <= second.total + 1e-6


@given(one=sightings)
def test_the_rank_is_the_expiry_with_the_bonuses_in_seconds(one: dict[str, Any]) -> None:
    bonus = {BRONZE: 0, SILVER: 90, GOLD: 180}[one["tier"]] + 180 * min(one["confirmations"], 3)
    assert rank(**one) == one["expires_at"] + bonus
