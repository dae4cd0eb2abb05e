"""Trending counts and ranks exactly the active sightings, whatever was reported, confirmed and hidden."""

from hypothesis import given, settings
from hypothesis import strategies as st
from strawberry.utils.await_maybe import await_maybe

from graph.core.paging import Page, Paging
from graph.domains.sightings.confidence import Confidence
from graph.domains.sightings.entities import BY_CONFIDENCE, TALLY
from graph.domains.sightings.iso import seconds_of
from graph.domains.sightings.model import Sighting
from graph.domains.sightings.reading import Sightings
from graph.domains.sightings.tiers import TrustTier
from graph.store.entity import Item
from graph.store.ordering import PageRequest
from graph.work.account import charged_to
from tests.domains.earthquakes.strategies import A_FEW
from tests.domains.earthquakes.watched_database import WatchedDatabase
from tests.domains.sightings.built import a_sighting, ids, ids_of, readable
from tests.domains.sightings.in_store import LIFETIMES, NOON_S, sightings
from tests.effort import rounds
from tests.work.accounts import an_account


async def test_no_sighting_is_read_for_the_counts_and_tallies_are_paid_for(engine: str) -> None:
    async with sightings(engine) as ours:
        for number in range(10):
            ours.later(60)
            await ours.new(category="FIRE", area=f"area {number}")
        watched = WatchedDatabase(ours.database)
        read = Sightings(watched, ours.clock, ours.categories, longest_s=LIFETIMES.longest_kept)
        with charged_to(an_account()) as account:
            (trend, *others) = await read.trends(6)
    assert (trend.category, trend.count) == ("FIRE", 10)
    assert [each.count for each in others] == [0] * 7
    assert {(call.method, call.entity) for call in watched.calls} == {("query", TALLY)}
    assert len(watched.calls) == 1
    assert watched.gets == []
    assert account.spent == 1  # for ten tallies


# By confidence

tiers = st.sampled_from(["BRONZE", "SILVER", "GOLD"])
kinds = st.tuples(st.sampled_from([0, 0, 60, 600, 4000]), st.sampled_from([60, 660, 1800]), st.integers(0, 4), tiers)


def _items(some: list[tuple[int, int, int, str]]) -> list[Item]:
    return [
        a_sighting(
            number,
            NOON_S - ago,
            lives_s=ago + left,
            confirmationCount=confirmations,
            reporterTier=tier,
            category=("FIRE", "SHAKING")[number % 5 == 4],
        )
        for number, (ago, left, confirmations, tier) in enumerate(some)
    ]


def confidence_of(item: Item) -> float:
    """The sum of the parts of a confidence at noon, which may be more than 1."""
    tier = TrustTier(item["reporterTier"])
    parts = Confidence.at(NOON_S, expires_at=item["expiresAt"], confirmations=item["confirmationCount"], tier=tier)
    return parts.lifetime + parts.confirmations + parts.trust


@settings(A_FEW, max_examples=rounds(60))
@given(
    some=st.lists(kinds, max_size=10).map(_items),
    expired=st.lists(kinds, max_size=3),
    since=st.sampled_from([NOON_S - 3600, NOON_S - 90_000, NOON_S]),
    size=st.integers(1, 4),
    backward=st.booleans(),
)
async def test_pages_by_confidence_are_those_of_all_active_sightings_in_its_order(
    engine: str, some: list[Item], expired: list[tuple[int, int, int, str]], since: int, size: int, backward: bool
) -> None:
    gone = [
        a_sighting(1000 + number, NOON_S - 60, lives_s=60, category="FIRE", confirmationCount=count, reporterTier=tier)
        for number, (_, _, count, tier) in enumerate(expired)
    ]
    wanted = [each for each in some if each["category"] == "FIRE" and seconds_of(each["reportedAt"]) >= since]
    order = sorted(wanted, key=lambda item: (round(1800 * confidence_of(item)), item["sightingId"]), reverse=True)
    found: list[str] = []
    cursor: str | None = None
    async with readable(engine, [*some, *gone]) as (_, ours):
        more = True
        while more:
            place = cursor and BY_CONFIDENCE.place_of(cursor, "after")
            paging = Paging(size, backward, **{"before" if backward else "after": place or None})
            page: Page[Sighting] = await ours.by_confidence("FIRE", since, PageRequest(paging))
            more = bool(page.has_more)
            assert len(page.records) == size or not more
            assert bool(await await_maybe(page.has_next if backward else page.has_previous)) == bool(found)
            found = [*ids(page), *found] if backward else [*found, *ids(page)]
            cursor = page.records[0 if backward else -1].cursor if page.records else None
    assert found == ids_of(order)


@settings(A_FEW, max_examples=rounds(30))
@given(
    some=st.lists(kinds, max_size=12).map(_items),
    since=st.sampled_from([NOON_S - 3600, NOON_S - 90_000, NOON_S]),
    size=st.integers(0, 4),
)
async def test_the_first_pages_of_all_categories_are_read_at_once_and_are_those_of_each(
    engine: str, some: list[Item], since: int, size: int
) -> None:
    async with readable(engine, some) as (_, ours):
        names = sorted(ours.categories.names)
        pages = await ours.most_trusted(names, since, size, None)
        each = [await ours.by_confidence(name, since, PageRequest(Paging(size))) for name in names]
    assert [list(page.records) for page in pages] == [list(page.records) for page in each]
    assert [page.has_more for page in pages] == [page.has_more for page in each]
    assert {page.has_behind for page in pages} == {False}
