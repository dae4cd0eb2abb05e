"""Wherever the store fails, nothing is half written, and whoever does not know tells it again without harm."""

from collections.abc import Awaitable, Callable
from itertools import count
from typing import Any

import pytest

from graph.core.errors import NotThere
from graph.domains.sightings.entities import CONFIRMER, FELT_REPORTS, HIDING
from tests.domains.sightings.counted import both_counts, both_profiles
from tests.domains.sightings.in_store import ANNA, BEN, CARA, SightingStore, sightings, sightings_of
from tests.domains.triggers.watching.cuts import Cut, cut_off

WAYS = ("refused", "answer lost")  # of `Cut`
ANSWERS = {"felt": 1.0, "motion": 3.0}


async def agrees(ours: SightingStore, *ways: Callable[[SightingStore], Awaitable[tuple[Any, Any]]]) -> None:
    """Check what is stored twice."""
    for both in ways or (both_counts,):
        counted, recounted = await both(ours)
        assert counted == recounted


async def report(ours: SightingStore, user_id: str, number: int) -> None:
    """Report something with all its parts, each number somewhere else."""
    await ours.report(user_id, area="Town", lat=35 + number / 100, lon=-117.0, text="Smoke", answers=ANSWERS)


async def people(ours: SightingStore) -> int:
    """How many people's answers are counted."""
    return sum([item["reports"] for item in await ours.items(FELT_REPORTS)])


@pytest.mark.parametrize("way", WAYS)
async def test_a_report_that_breaks_off_at_any_call_can_be_repeated(engine: str, way: str) -> None:
    async with sightings(engine) as ours:
        database = Cut(ours.database, way)
        for failing in count(1):
            database.left = failing
            async with sightings_of(database, ours.clock) as cut:
                await cut_off(report(cut, f"user{failing}", failing))
            broke_off, database.left = database.left <= 0, 0
            await agrees(ours)
            stored = len(await ours.ids())
            assert stored in (failing - 1, failing)
            assert await people(ours) == stored

            await report(ours, f"user{failing}", failing)
            assert len(await ours.ids()) == await people(ours) == failing
            await agrees(ours, both_counts, both_profiles)
            if not broke_off:
                break
        assert failing > 5


@pytest.mark.parametrize("way", WAYS)
async def test_a_repeated_report_that_breaks_off_at_any_call_can_be_repeated(engine: str, way: str) -> None:
    async with sightings(engine) as ours:
        await report(ours, ANNA, 0)
        database = Cut(ours.database, way)
        for failing in count(1):
            database.left = failing
            async with sightings_of(database, ours.clock) as cut:
                await cut_off(report(cut, f"user{failing}", 0))
            broke_off, database.left = database.left <= 0, 0
            assert len(await ours.items(CONFIRMER)) in (failing - 1, failing)

            await report(ours, f"user{failing}", 0)
            (sighting,) = (await ours.page()).records
            assert sighting.confirmations == len(await ours.items(CONFIRMER)) == failing
            assert await people(ours) == failing + 1
            await agrees(ours, both_counts, both_profiles)
            if not broke_off:
                break
        assert failing > 5


@pytest.mark.parametrize("way", WAYS)
async def test_a_hiding_that_breaks_off_at_any_call_can_be_repeated(engine: str, way: str) -> None:
    async with sightings(engine) as ours:
        database = Cut(ours.database, way)
        for failing in count(1):
            sighting = await ours.new(ANNA, area=f"Town {failing}")
            await ours.confirm(BEN, sighting)
            database.left = failing
            async with sightings_of(database, ours.clock) as cut:
                await cut_off(cut.hiding.hide(CARA, sighting.sighting_id, "Spam"))
            broke_off, database.left = database.left <= 0, 0
            await agrees(ours)
            if await ours.one(sighting):
                await ours.hiding.hide(CARA, sighting.sighting_id, "Spam")
            else:
                with pytest.raises(NotThere):
                    await ours.hiding.hide(CARA, sighting.sighting_id, "Spam")
            await agrees(ours)
            assert await ours.ids() == []
            assert len(await ours.items(HIDING)) == failing
            assert (await ours.profiles.of(ANNA)).reports == 0
            if not broke_off:
                break
        assert failing > 4
