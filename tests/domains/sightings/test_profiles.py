"""A profile counts what a user reports and confirms. Streaks are of UTC days, and a tier never falls by waiting."""

from datetime import UTC, date, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from graph.domains.sightings.model import Profile
from graph.domains.sightings.profiles import reported, streak_on
from graph.domains.sightings.tiers import THRESHOLDS, TrustTier, tier_of
from tests.domains.sightings.in_store import ANNA

DAY_S = 86_400
BRONZE, SILVER, GOLD = TrustTier.BRONZE, TrustTier.SILVER, TrustTier.GOLD


@given(st.lists(st.integers(0, 3), max_size=30))
def test_a_streak_is_the_run_of_days_that_ends_with_the_last_report(gaps: list[int]) -> None:
    profile, day, days = Profile.none_yet(ANNA), date(2100, 2, 20), set[date]()
    for gap in gaps:
        day += timedelta(days=gap)
        days.add(day)
        now = int(datetime(day.year, day.month, day.day, 12, tzinfo=UTC).timestamp()) * 1000
        profile = Profile({**profile.item, **reported(profile, now).set})
        assert streak_on(profile, day) == run_until(day, days)
        assert profile.longest_streak_days == max(run_until(each, days) for each in days)


def run_until(day: date, days: set[date]) -> int:
    """The days in a row that end with a day."""
    return 1 + run_until(day - timedelta(days=1), days) if day in days else 0


def test_a_tier_needs_both_reports_and_others_confirmations() -> None:
    for tier, needs in {
        BRONZE: [(0, 0), (1000, 19), (9, 1000)],
        SILVER: [(10, 20), (50, 99), (49, 100)],
        GOLD: [(50, 100)],
    }.items():
        assert {tier_of(reports, received) for reports, received in needs} == {tier}


@given(st.integers(0, 200), st.integers(0, 200), st.integers(0, 50), st.integers(0, 50))
def test_a_tier_never_falls_by_more_reports_or_confirmations(reports: int, received: int, more: int, also: int) -> None:
    order = [each.tier for each in THRESHOLDS][::-1]
    assert order.index(tier_of(reports + more, received + also)) >= order.index(tier_of(reports, received))
