"""Wherever the store fails, nothing is half written, and whoever does not know tells it again without harm."""

from collections.abc import AsyncIterator, Callable, Coroutine
from itertools import count
from typing import Any

import pytest

from graph.core.errors import NotThere
from graph.domains.sightings.entities import CONFIRMER, FELT_REPORTS, HIDING
from graph.domains.sightings.model import Sighting
from tests.domains.sightings.counted import check_all, check_counts
from tests.domains.sightings.in_store import ANNA, BEN, CARA, SightingStore, sightings, sightings_of
from tests.domains.watches.cuts import Cut, cut_off

ANSWERS = {"felt": 1.0, "motion": 3.0}

pytestmark = pytest.mark.parametrize("way", ["refused", "answer lost"])  # of `Cut`


async def broken_off(
    ours: SightingStore, way: str, act: Callable[[SightingStore, int], Coroutine[Any, Any, None]]
) -> AsyncIterator[int]:
    """Let something break off at its first call of the store, then at its second, and so on, until it ends.

    Yields its number after each, from 1 on.
    """
    database = Cut(ours.database, way)
    for number in count(1):
        database.left = number
        async with sightings_of(database, ours.clock) as cut:
            await cut_off(act(cut, number))
        broke_off, database.left = database.left <= 0, 0
        await check_counts(ours)
        yield number
        if not broke_off:
            break
    assert number > 4


async def report(ours: SightingStore, user_id: str, place: int = 0) -> None:
    """Report something with all its parts, at one of many places."""
    await ours.report(user_id, area="Town", lat=35 + place / 10, lon=-117.0, text="Smoke", answers=ANSWERS)


async def people(ours: SightingStore) -> int:
    """How many people's answers are counted."""
    return sum([item["reports"] for item in await ours.items(FELT_REPORTS)])


async def test_a_report_that_breaks_off_at_any_call_can_be_repeated(engine: str, way: str) -> None:
    async with sightings(engine) as ours:
        async for number in broken_off(ours, way, lambda cut, number: report(cut, f"user{number}", number)):
            stored = len(await ours.ids())
            assert stored in (number - 1, number)
            assert await people(ours) == stored

            await report(ours, f"user{number}", number)
            assert len(await ours.ids()) == await people(ours) == number
            await check_all(ours)


async def test_a_repeated_report_that_breaks_off_at_any_call_can_be_repeated(engine: str, way: str) -> None:
    async with sightings(engine) as ours:
        await report(ours, ANNA)
        async for number in broken_off(ours, way, lambda cut, number: report(cut, f"user{number}")):
            assert len(await ours.items(CONFIRMER)) in (number - 1, number)

            await report(ours, f"user{number}")
            (sighting,) = (await ours.page()).records
            assert sighting.confirmations == len(await ours.items(CONFIRMER)) == number
            assert await people(ours) == number + 1
            await check_all(ours)


async def test_a_hiding_that_breaks_off_at_any_call_can_be_repeated(engine: str, way: str) -> None:
    async with sightings(engine) as ours:
        new: list[Sighting] = []

        async def hide(cut: SightingStore, number: int) -> None:
            new.append(await ours.new(ANNA, area=f"Town {number}"))  # whole, and so is its confirmation
            await ours.confirm(BEN, new[-1])
            await cut.hide(CARA, new[-1].sighting_id, "Spam")

        async for number in broken_off(ours, way, hide):
            if await ours.one(new[-1]):
                await ours.hide(CARA, new[-1].sighting_id, "Spam")
            with pytest.raises(NotThere):
                await ours.hide(CARA, new[-1].sighting_id, "Spam")
            await check_counts(ours)
            assert await ours.ids() == []
            assert len(await ours.items(HIDING)) == number
            assert (await ours.profile(ANNA)).reports == 0
