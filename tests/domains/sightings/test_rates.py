"""A user reports so much at a place within an hour of the clock, and no more, however many reports come at once."""

import asyncio
from pathlib import Path

import pytest

from graph.domains.sightings.entities import REPORT_COUNT
from graph.domains.sightings.model import ReportOutcome
from graph.domains.sightings.rates import TooManyReports
from tests.domains.earthquakes.builders import at
from tests.domains.entities import everything_in
from tests.domains.sightings.counted import check_all
from tests.domains.sightings.in_store import ANNA, BEN, held_clock, sightings, two_processes

AT_ONCE = 20
MOST = 5


async def test_the_limit_is_of_a_user_an_area_and_an_hour_of_the_clock(engine: str) -> None:
    clock = held_clock()
    clock.now = at("2100-03-02T12:59:57")
    async with sightings(engine, clock, most_reports=2) as ours:
        await ours.new(ANNA, "FIRE")
        await ours.new(ANNA, "DAMAGE")
        stored = await everything_in(ours.database)
        with pytest.raises(TooManyReports) as refused:
            await ours.report(ANNA, "OTHER")
        assert refused.value.headers == {"Retry-After": "3"}
        assert "2 times an hour in an area or within 10 km, and have done so: try again in 3 s." in str(refused.value)
        assert await everything_in(ours.database) == stored

        await ours.new(ANNA, "OTHER", area="Elsewhere")
        await ours.new(BEN, "OTHER")
        ours.later(2.999)
        with pytest.raises(TooManyReports, match="try again in 1 s"):
            await ours.report(ANNA, "LANDSLIDE")
        ours.later(0.001)
        await ours.new(ANNA, "LANDSLIDE")
        assert [item["hour"] for item in await ours.items(REPORT_COUNT)] == ["2100-03-02T13"]


async def test_a_report_that_repeats_a_sighting_does_not_count_for_the_limit_and_a_hidden_one_does() -> None:
    async with sightings("sqlite", most_reports=1) as ours:
        await ours.new(BEN)
        assert (await ours.report(ANNA)).confirmed
        assert not (await ours.report(ANNA)).created
        fire = await ours.new(ANNA, "FIRE")
        assert not (await ours.report(ANNA, "FIRE")).created
        await ours.hide(BEN, fire.sighting_id, "Spam")
        with pytest.raises(TooManyReports):
            await ours.report(ANNA, "OTHER")


async def test_of_many_reports_from_a_cell_at_once_as_many_as_may_are_stored_whatever_areas_they_name(
    engine: str, tmp_path: Path
) -> None:
    async with two_processes(engine, tmp_path, most_reports=MOST) as processes:
        reports = [
            processes[number % 2].report(ANNA, area=f"Area {number}", lat=35.02 + number / 1000, lon=-117.0)
            for number in range(AT_ONCE)
        ]
        outcomes = await asyncio.gather(*reports, return_exceptions=True)

        assert [isinstance(outcome, ReportOutcome) and outcome.created for outcome in outcomes].count(True) == MOST
        assert [isinstance(outcome, TooManyReports) for outcome in outcomes].count(True) == AT_ONCE - MOST
        counts = [item["number"] for item in await processes[0].items(REPORT_COUNT)]
        assert sorted(counts) == [*[1] * MOST, MOST]  # of the areas, and of the cell
        await check_all(processes[1])
