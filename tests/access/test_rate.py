"""What a caller may spend in a minute: each their own, in all processes together, and never in the way of others.

A test may fall on the edge of a minute's window: it spends no more at once than any window allows,
and says nothing that is true of one window only.
"""

import asyncio

import pytest

from graph.access.rate import WINDOW_S, Rates, UnusableRateStore, rates, spender
from graph.core.errors import QueryTooComplex, RateLimited
from tests.held_time import Pauses
from tests.settings import Settings

LIMIT = 1000


def limited(store: str = "memory://") -> Rates:
    return rates(Settings(rate_limit=LIMIT, rate_limit_store=store))


async def spend(rates: Rates, who: str, points: int) -> None:
    if charged := rates.spend(who, points):
        await charged


async def allowed(rates: Rates, who: str, points: int) -> bool:
    try:
        await spend(rates, who, points)
    except RateLimited:
        return False
    return True


async def test_without_a_limit_anybody_may_spend_anything() -> None:
    free = rates(Settings())

    for _ in range(10):
        await spend(free, "x", 10**9)
        await free.spend_in_time("x", 10**9)


async def test_a_caller_may_spend_so_many_points_and_no_more() -> None:
    each = limited()

    assert await allowed(each, "a", 400)
    for _ in range(10):
        assert not await allowed(each, "a", 900)  # which is not charged
    assert await allowed(each, "a", 600)
    assert not await allowed(each, "a", 600)
    assert await allowed(each, "b", 600)  # who has points of their own


async def test_a_rate_limited_caller_learns_how_long_to_wait() -> None:
    each = limited()
    await spend(each, "a", LIMIT)

    with pytest.raises(RateLimited) as little:
        await spend(each, "a", 1)
    with pytest.raises(RateLimited) as all_of_it:
        await spend(each, "a", LIMIT)
    assert 1 <= little.value.retry_after_s <= 62
    assert little.value.retry_after_s + 55 <= all_of_it.value.retry_after_s <= 120


async def test_a_caller_that_can_wait_spends_more_than_one_minutes_points() -> None:
    waited = Pauses()
    each = Rates(LIMIT, clock=lambda: 2.0 * WINDOW_S * len(waited), sleep=waited.sleep)
    await spend(each, "a", LIMIT // 5)
    await each.spend_in_time("a", LIMIT // 5 + 2 * LIMIT)

    assert len(waited) == 4  # as each time, half is left for what else is asked
    assert await allowed(each, "a", LIMIT // 2)
    assert all(0 < seconds <= 2 * WINDOW_S for seconds in waited)
    await each.spend_in_time("a", 0)
    assert not await allowed(each, "a", LIMIT // 2)


async def test_an_operation_costs_at_least_a_point_and_at_most_what_a_minute_has() -> None:
    each = limited()
    for _ in range(LIMIT):
        assert await allowed(each, "a", 0)

    assert not await allowed(each, "a", 500)
    with pytest.raises(QueryTooComplex, match="costs 1,001 points, and a caller has 1,000 a minute"):
        await spend(each, "b", LIMIT + 1)


async def test_points_that_are_spent_at_once_are_counted_once_each() -> None:
    each = limited()

    outcomes = await asyncio.gather(*[allowed(each, "a", 100) for _ in range(50)])

    assert 10 <= sum(outcomes) <= 20  # the second ten only in another window


def test_a_spender_is_a_subject_or_an_address() -> None:
    assert spender("ada", "192.0.2.1") == "subject:ada"
    assert spender("address:192.0.2.1", None) == "subject:address:192.0.2.1"
    names = {
        "192.0.2.1": "192.0.2.1",
        "::ffff:192.0.2.1": "192.0.2.1",
        "2001:db8:1:2:3:4:5:6": "2001:db8:1:2::/64",
        "2001:db8:1:2:ffff::": "2001:db8:1:2::/64",
        "::1": "::/64",
        "testclient": "testclient",
        None: "None",
    }
    assert {address: spender(None, address) for address in names} == {
        address: f"address:{name}" for address, name in names.items()
    }


def test_the_error_for_a_missing_client_of_a_rate_store_hides_the_password() -> None:
    with pytest.raises(UnusableRateStore, match=r"^GRAPH_RATE_LIMIT_STORE: memcached:// cannot be used: ") as told:
        limited("memcached://quakes:hunter2@127.0.0.1")  # pragma: allowlist secret

    assert "hunter2" not in str(told.value)
    assert "\n" not in str(told.value)
