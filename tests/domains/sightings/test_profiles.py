"""A tier follows from reports and others' confirmations. What else a profile counts is tested with the consistency."""

from graph.domains.sightings.tiers import TrustTier, tier_of


def test_a_tier_needs_both_reports_and_others_confirmations() -> None:
    for tier, needs in {
        TrustTier.BRONZE: [(0, 0), (1000, 19), (9, 1000)],
        TrustTier.SILVER: [(10, 20), (50, 99), (49, 100)],
        TrustTier.GOLD: [(50, 100), (1000, 1000)],
    }.items():
        assert {tier_of(reports, received) for reports, received in needs} == {tier}
