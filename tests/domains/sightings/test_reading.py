"""Pages of sightings, and what is trending, equal what looking at every stored one finds, on either engine.

Whatever was reported, confirmed and hidden, and for any filter and any cursors.
"""

from collections.abc import Sequence
from contextlib import aclosing
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from strawberry.utils.await_maybe import await_maybe

from graph.core.errors import BadUserInput, QueryTooComplex
from graph.core.paging import Page, Paging
from graph.domains.sightings.categories import USUAL
from graph.domains.sightings.confidence import Confidence
from graph.domains.sightings.entities import (
    BLIP,
    BY_CONFIDENCE,
    LISTED_SIGHTING,
    SEEN_CATEGORY,
    SIGHTING,
    TALLY,
    TRENDING,
)
from graph.domains.sightings.grid import KM10, KM100, KM1000, CellGrid
from graph.domains.sightings.iso import iso_of, seconds_of
from graph.domains.sightings.model import Sighting
from graph.domains.sightings.reading import Sightings
from graph.domains.sightings.selection import MOST_CELLS, SightingSelection
from graph.domains.sightings.tiers import TrustTier
from graph.geography.areas import Circle, distance_km
from graph.store.design import Index
from graph.store.entity import Entity, Item
from graph.store.ordering import PageRequest
from tests.domains.earthquakes.strategies import A_FEW
from tests.domains.earthquakes.watched_database import WatchedDatabase
from tests.domains.sightings.built import a_sighting, ids, ids_of, newest_first, page_of, place_of, readable, reading
from tests.domains.sightings.in_store import ANNA, BEN, CARA, LIFETIMES, NOON_S, held_clock, sightings
from tests.effort import rounds
from tests.feed.notes import some
from tests.work.accounts import an_account

PLACES = ((0.0, 0.0), (0.05, 0.05), (-90.0, 0.0), (12.0, 179.99), (12.0, -179.99))

OLDEST_S = LIFETIMES.longest + 58  # of an active sighting, whose expiry is rounded up to a whole minute

kinds = st.fixed_dictionaries(
    {
        "reported_at": st.sampled_from([NOON_S - ago for ago in (0, 0, 1, 2, 1799, 1800, OLDEST_S)]),
        "lives_s": st.sampled_from([60, 1800, 1800, OLDEST_S + 1]),
        "userId": st.sampled_from([ANNA, ANNA, BEN]),
        "areaSlug": st.sampled_from(["downtown", "downtown", "harbour", "down"]),
        "category": st.sampled_from(["SHAKING", "SHAKING", "FIRE", "OTHER"]),
    },
    optional={"place": st.sampled_from(PLACES), "eventId": st.sampled_from(["us1", "us1", "ci2"])},
)


def _items(some: Sequence[dict[str, Any]]) -> list[Item]:
    placed = [{**each, **dict(zip(("lat", "lon"), each.get("place", ()), strict=False))} for each in some]
    return [
        a_sighting(number, **{name: value for name, value in each.items() if name != "place"})
        for number, each in enumerate(placed)
    ]


items = st.lists(kinds, max_size=12).map(_items)


def _some(*texts: str) -> st.SearchStrategy[tuple[str, ...]]:
    return st.lists(st.sampled_from(texts), max_size=3).map(tuple)


circles = st.builds(
    lambda place, radius: Circle(place[0], place[1], radius),
    st.sampled_from([*PLACES, (1.0, 1.0)]),
    st.sampled_from([0.0, 9.0, 150.0, 1500.0, 12_345.6, 40_000.0]),
)
filters: dict[str, st.SearchStrategy[Any]] = {
    "areas": _some("downtown", "downtown", "harbour", "down", "up", ""),
    "categories": _some("SHAKING", "SHAKING", "FIRE", "OTHER", "TSUNAMI"),
    "near": circles,
    "event_ids": _some("us1", "us1", "ci2", "nc3"),
    "user_id": st.sampled_from([ANNA, ANNA, BEN, CARA]),
    "start_ms": st.sampled_from([(NOON_S - ago) * 1000 + ms for ago, ms in ((10**6, 0), (1800, 0), (2, 0), (2, 1))]),
    "end_ms": st.sampled_from([(NOON_S - ago) * 1000 + ms for ago, ms in ((2, -1), (1, 0), (0, 0), (0, 1))]),
}


@st.composite
def selections(draw: st.DrawFn) -> SightingSelection:
    """Of up to three conditions, since hardly a sighting fulfils more."""
    names = draw(st.lists(st.sampled_from(list(filters)), max_size=3, unique=True))
    return SightingSelection(**{name: draw(filters[name]) for name in names})


def selects(selection: SightingSelection, item: Item, now: int = NOON_S) -> bool:
    """Whether a stored sighting is selected, by the words of the filter's documentation."""
    near = selection.near
    return (
        item["expiresAt"] > now
        and (selection.areas is None or item["areaSlug"] in selection.areas)
        and (selection.categories is None or item["category"] in selection.categories)
        and (near is None or ("lat" in item and distance_km(near.lat, near.lon, item) <= near.radius_km))
        and (selection.event_ids is None or item.get("eventId") in selection.event_ids)
        and selection.user_id in (None, item["userId"])
        and (selection.start_ms is None or seconds_of(item["reportedAt"]) * 1000 >= selection.start_ms)
        and (selection.end_ms is None or seconds_of(item["reportedAt"]) * 1000 <= selection.end_ms)
    )


positions = st.fixed_dictionaries(
    {
        "reportedAt": st.sampled_from([iso_of(NOON_S - ago) for ago in (-1, 0, 1, 5, 1799, 10**6)]),
        "sightingId": st.sampled_from(["0", "00000000-0000-0000-0000-0000000001ff", "zz"]),
    }
)


@settings(A_FEW, max_examples=rounds(100))
@given(some=items, selection=selections(), size=st.integers(0, 5), data=st.data())
async def test_a_page_has_what_any_filter_selects_between_any_cursors(
    engine: str, some: list[Item], selection: SightingSelection, size: int, data: st.DataObject
) -> None:
    order = newest_first(item for item in some if selects(selection, item))
    anywhere = positions | st.sampled_from(some) if some else positions
    after, before = (data.draw(st.none() | anywhere, label) for label in ("after", "before"))
    behind = [item for item in order if after is None or place_of(item) < place_of(after)]
    window = [item for item in behind if before is None or place_of(item) > place_of(before)]
    backward = data.draw(st.booleans(), "backward")

    async with readable(engine, some) as (_, ours):
        page = await page_of(ours, selection, Paging(size, backward, after, before))

    expected = window[max(len(window) - size, 0) :] if backward else window[:size]
    assert ids(page) == ids_of(expected)
    assert [each.values() for each in page.records] == [Sighting(item).values() for item in expected]


def _cells(grid: CellGrid, radius_km: float) -> list[str]:
    return grid.cells_around(Circle(0, 0, radius_km), MOST_CELLS) or []


PARTITIONS: list[tuple[SightingSelection, Entity, Index, list[str]]] = [
    (SightingSelection(), SIGHTING, TRENDING, list(USUAL)),
    (SightingSelection(categories=("FIRE", "FIRE")), SIGHTING, TRENDING, ["FIRE"]),
    (SightingSelection(categories=()), SIGHTING, TRENDING, []),
    (SightingSelection(areas=("a", "b"), categories=("FIRE",)), SIGHTING, BLIP.primary, ["a", "b"]),
    (SightingSelection(near=Circle(0, 0, 9), areas=("a",)), LISTED_SIGHTING, BLIP.primary, _cells(KM10, 9)),
    (SightingSelection(near=Circle(0, 0, 200)), LISTED_SIGHTING, BLIP.primary, _cells(KM100, 200)),
    (SightingSelection(near=Circle(0, 0, 2000)), LISTED_SIGHTING, BLIP.primary, _cells(KM1000, 2000)),
    (SightingSelection(near=Circle(0, 0, 9000), areas=("a",)), SIGHTING, BLIP.primary, ["a"]),
    (SightingSelection(near=Circle(0, 0, 9000)), SIGHTING, TRENDING, list(USUAL)),
    (SightingSelection(event_ids=("us1", "ci2")), LISTED_SIGHTING, BLIP.primary, ["event:us1", "event:ci2"]),
    (SightingSelection(user_id=ANNA, near=Circle(0, 0, 9)), LISTED_SIGHTING, BLIP.primary, ["user:anna"]),
]


def others_write(engine: str, index: Index, selection: SightingSelection) -> bool:
    """Whether another program may have named the areas of a selection in the keys that are read."""
    return (
        engine == "dynamodb"
        and index is BLIP.primary
        and selection.areas is not None
        and selection.near in (None, Circle(0, 0, 9000))
    )


async def test_a_filter_reads_the_partitions_that_fit_and_no_other_and_what_is_needed(engine: str) -> None:
    async with readable(engine, [a_sighting(0, lat=0.0, lon=0.0)]) as (database, _):
        for selection, entity, index, names in PARTITIONS:
            watched = WatchedDatabase(database)
            page = await reading(watched, held_clock()).page(selection, PageRequest(Paging(5), frozenset({"text"})))
            others = {SEEN_CATEGORY} if engine == "dynamodb" and selection.is_of_all_categories else set()
            assert {call.entity for call in watched.calls} <= {entity, *others}
            assert {(call.method, call.index) for call in watched.calls if call.entity is entity} <= {
                ("query", index.name)
            }
            as_others_write = {name.capitalize() for name in names} if others_write(engine, index, selection) else set()
            assert watched.read(entity, index) == {(name,) for name in as_others_write.union(names)}, selection
            assert all("rank" not in each.item and each.cursor for each in page.records)


async def test_a_filter_that_few_of_many_sightings_pass_costs_what_it_reads(engine: str) -> None:
    rare = a_sighting(0, NOON_S - 1000, category="FIRE", lat=0.0, lon=0.0)
    many = [a_sighting(number, NOON_S - number, lat=0.5, lon=0.5) for number in range(1, 301)]
    sparse = (
        SightingSelection(areas=("downtown",), categories=("FIRE",)),
        SightingSelection(areas=("downtown",), near=Circle(0, 0, 9000), categories=("FIRE",)),
        SightingSelection(user_id=ANNA, categories=("FIRE",)),
    )
    async with readable(engine, [rare, *many]) as (_, ours):
        for selection in sparse:
            # Of one partition, 200 and 400 sightings are read, and 10 cost a point. An area has two on DynamoDB.
            price = 80 if engine == "dynamodb" and selection.areas else 60
            with an_account(most=price) as account:
                assert ids(await page_of(ours, selection, Paging(5))) == ids_of([rare])
            assert account.spent == price
            with an_account(most=price - 10), pytest.raises(QueryTooComplex):
                await page_of(ours, selection, Paging(5))
        for selection in (SightingSelection(categories=("FIRE",)), SightingSelection(near=Circle(0.045, 0.045, 1))):
            with an_account(most=20):
                assert ids(await page_of(ours, selection, Paging(5))) == ids_of([rare])


async def test_no_sighting_is_read_for_the_counts_and_tallies_are_paid_for(engine: str) -> None:
    async with sightings(engine) as ours:
        for number in range(10):
            ours.later(60)
            await ours.new(category="FIRE", area=f"area {number}")
        watched = WatchedDatabase(ours.database)
        reader = Sightings(watched, ours.clock, ours.categories, longest_s=LIFETIMES.longest_kept)
        with an_account() as account:
            (trend, *others) = await reader.trends(6)
    assert (trend.category, trend.count) == ("FIRE", 10)
    assert [each.count for each in others] == [0] * 7
    read = [*([SEEN_CATEGORY] if engine == "dynamodb" else []), TALLY]
    assert [(call.method, call.entity) for call in watched.calls] == [("query", each) for each in read]
    assert watched.gets == []
    assert account.spent == 1  # for ten tallies


# By confidence

tiers = st.sampled_from(["BRONZE", "SILVER", "GOLD"])
trends = st.tuples(st.sampled_from([0, 0, 60, 600, 4000]), st.sampled_from([60, 660, 1800]), st.integers(0, 4), tiers)


def _of_trends(some: list[tuple[int, int, int, str]]) -> list[Item]:
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
    some=st.lists(trends, max_size=10).map(_of_trends),
    expired=st.lists(trends, max_size=3),
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
    some=st.lists(trends, max_size=12).map(_of_trends),
    since=st.sampled_from([NOON_S - 3600, NOON_S - 90_000, NOON_S]),
    size=st.integers(0, 4),
)
async def test_the_first_pages_of_all_categories_are_read_at_once_and_are_those_of_each(
    engine: str, some: list[Item], since: int, size: int
) -> None:
    async with readable(engine, some) as (_, ours):
        names = sorted(ours.categories.names)
        request = PageRequest(Paging(size))
        found = await ours.most_trusted(names, (since, request))
        each = [await ours.by_confidence(name, since, request) for name in names]
    pages = [found[name] for name in names]
    assert [list(page.records) for page in pages] == [list(page.records) for page in each]
    assert [page.has_more for page in pages] == [page.has_more for page in each]
    assert {page.has_behind for page in pages} == {False}


# As they happen


async def test_only_an_areas_and_a_categorys_changes_are_sent(engine: str) -> None:
    async with (
        sightings(engine, stream=True) as ours,
        aclosing(await ours.broadcast.changes(SightingSelection(areas=("Harbour",)))) as of_area,
        aclosing(await ours.broadcast.changes(SightingSelection(categories=("FIRE",)))) as of_category,
        aclosing(await ours.broadcast.changes(SightingSelection(areas=("harbour",), categories=("FIRE",)))) as of_both,
    ):
        for area in ("Downtown", "Harbour"):
            for category in ("FIRE", "DAMAGE"):
                await ours.new(ANNA, category, area=area)
        for notices, numbers in ((of_area, [3, 4]), (of_category, [1, 3]), (of_both, [3])):
            sent = await some(notices, len(numbers))
            assert [notice.record and notice.record.number for notice in sent] == numbers


async def test_the_time_of_a_report_is_compared_however_another_program_writes_it() -> None:
    written = ["2026-06-25T14:30:00.5Z", "2026-06-25T14:30:00Z", "2026-06-25T14:30:00+00:00", "2026-06-25T14:30:01"]
    first = seconds_of("2026-06-25T14:30:00Z") * 1000
    expected = {(first, first): written[1:3], (first + 1, first + 1000): [written[0], written[3]]}
    for (start_ms, end_ms), texts in expected.items():
        selection = SightingSelection(start_ms=start_ms, end_ms=end_ms)
        low, high = selection.reported
        keep = selection.keep()
        assert keep is not None
        assert [text for text in written if str(low) <= text <= str(high) and keep.holds({"reportedAt": text})] == texts
    with pytest.raises(BadUserInput, match="`startTime` must not be greater than `endTime`"):
        SightingSelection(start_ms=1, end_ms=0)
