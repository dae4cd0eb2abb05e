"""A profile counts what a user reports and confirms. Streaks are of UTC days, and a tier never falls by waiting."""

from datetime import UTC, date, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graph.core.days import datetime_of
from graph.domains.sightings.entities import PROFILE
from graph.domains.sightings.model import Profile
from graph.domains.sightings.profiles import reported, streak_on
from graph.domains.sightings.tiers import THRESHOLDS, TrustTier, tier_of
from graph.store.contract import Put
from tests.domains.earthquakes.builders import at
from tests.domains.sightings.in_store import ANNA, BEN, CARA, SightingStore, held_clock, sightings

DAY_S = 86_400
BRONZE, SILVER, GOLD = TrustTier.BRONZE, TrustTier.SILVER, TrustTier.GOLD


async def streaks(ours: SightingStore) -> tuple[int, int]:
    """Anna's streak today, and her longest one."""
    profile = await ours.profiles.of(ANNA)
    return streak_on(profile, datetime_of(ours.clock()).date()), profile.longest_streak_days


async def has(ours: SightingStore, user_id: str, reports: int, received: int) -> None:
    """Give a user such a profile."""
    numbers = {"reports": reports, "confirmations": 0, "confirmationsReceived": received}
    item = {"userId": user_id, **numbers, "streakDays": 1, "longestStreakDays": 1, "since": 1}
    await ours.database.put(Put(PROFILE, item))


async def test_a_user_who_has_done_nothing_has_a_profile_of_zeros() -> None:
    async with sightings("sqlite") as ours:
        profile = await ours.profiles.of("nobody")
        assert (profile.reports, profile.confirmations, profile.confirmations_received) == (0, 0, 0)
        assert (profile.longest_streak_days, profile.tier) == (0, BRONZE)
        assert await ours.items(PROFILE) == []


async def test_a_first_profile_has_its_day_and_its_time(engine: str) -> None:
    async with sightings(engine) as ours:
        await ours.new(ANNA)
        await ours.new(ANNA, area="Elsewhere")
        assert await ours.items(PROFILE) == [
            {
                "userId": ANNA,
                "reports": 2,
                "streakDays": 1,
                "longestStreakDays": 1,
                "lastDay": "2100-03-02",
                "since": at("2100-03-02T12:00:00"),
            }
        ]


async def test_a_user_who_confirmed_first_begins_to_report_all_the_same(engine: str) -> None:
    async with sightings(engine) as ours:
        sighting = await ours.new(BEN)
        await ours.confirm(ANNA, sighting)
        await ours.new(ANNA, area="Elsewhere")
        anna = await ours.profiles.of(ANNA)
        assert (anna.reports, anna.confirmations) == (1, 1)
        assert await streaks(ours) == (1, 1)


async def test_a_streak_grows_by_utc_days_and_ends_with_a_day_without_a_report(engine: str) -> None:
    clock = held_clock()
    clock.now = at("2100-02-27T23:59:59.999")
    async with sightings(engine, clock) as ours:
        seen = []
        for number, seconds in enumerate((0, 0.001, DAY_S - 0.001, 0.001, DAY_S, 2 * DAY_S, DAY_S)):
            ours.later(seconds)
            await ours.new(ANNA, area=f"Town {number}")
            seen.append(await streaks(ours))
        # February 27, the 28th, still the 28th, March 1, March 2, after a gap the 4th, and the 5th.
        assert seen == [(1, 1), (2, 2), (2, 2), (3, 3), (4, 4), (1, 4), (2, 4)]


async def test_a_streak_is_shown_until_the_end_of_the_next_day() -> None:
    clock = held_clock()
    async with sightings("sqlite", clock) as ours:
        await ours.new(ANNA)
        for time, shown in (("2100-03-03T23:59:59", 1), ("2100-03-04T00:00:00", 0)):
            clock.now = at(time)
            assert await streaks(ours) == (shown, 1)


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


@pytest.mark.parametrize(
    ("reports", "received", "tier"),
    [
        (0, 0, BRONZE),
        (1000, 19, BRONZE),
        (9, 1000, BRONZE),
        (10, 20, SILVER),
        (50, 99, SILVER),
        (49, 100, SILVER),
        (50, 100, GOLD),
    ],
)
def test_a_tier_needs_both_reports_and_others_confirmations(reports: int, received: int, tier: TrustTier) -> None:
    assert tier_of(reports, received) is tier


@given(st.integers(0, 200), st.integers(0, 200), st.integers(0, 50), st.integers(0, 50))
def test_a_tier_never_falls_by_more_reports_or_confirmations(reports: int, received: int, more: int, also: int) -> None:
    order = [each.tier for each in THRESHOLDS][::-1]
    assert order.index(tier_of(reports + more, received + also)) >= order.index(tier_of(reports, received))


async def test_a_sighting_keeps_the_tier_of_its_reporter_at_the_time_of_the_report(engine: str) -> None:
    async with sightings(engine) as ours:
        await has(ours, ANNA, 9, 19)
        first = await ours.new(ANNA)
        assert first.reporter_tier is BRONZE

        await ours.confirm(BEN, first)
        assert (await ours.profiles.of(ANNA)).tier is SILVER
        second = await ours.new(ANNA, area="Elsewhere")
        assert second.reporter_tier is SILVER
        found = await ours.one(first)
        assert found is not None
        assert found.reporter_tier is BRONZE


async def test_a_tier_does_not_fall_by_waiting(engine: str) -> None:
    async with sightings(engine) as ours:
        await has(ours, ANNA, 10, 20)
        ours.later(400 * DAY_S)
        assert (await ours.profiles.of(ANNA)).tier is SILVER
        assert (await ours.new(ANNA)).reporter_tier is SILVER


async def test_hiding_takes_a_report_off_but_neither_its_confirmations_nor_the_streak(engine: str) -> None:
    async with sightings(engine) as ours:
        await has(ours, ANNA, 9, 30)
        sighting = await ours.new(ANNA)
        await ours.confirm(BEN, sighting)
        assert (await ours.profiles.of(ANNA)).tier is SILVER

        await ours.hiding.hide(CARA, sighting.sighting_id, "Spam")
        anna = await ours.profiles.of(ANNA)
        assert (anna.reports, anna.confirmations_received, anna.tier) == (9, 31, BRONZE)
        assert await streaks(ours) == (1, 1)
        assert (await ours.profiles.of(BEN)).confirmations == 1
