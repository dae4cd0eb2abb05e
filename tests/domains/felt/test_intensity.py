"""How strongly an earthquake was felt, by reports in the store."""

from math import hypot, log

import pytest

from graph.core.days import FIRST_MS, LAST_MS
from graph.core.errors import QueryTooComplex
from graph.domains.earthquakes.entities import EVENT
from graph.domains.felt.attenuation import expected_intensity
from graph.domains.sightings.entities import FELT_REPORTS
from graph.domains.sightings.felt_reports import felt_report
from graph.domains.sightings.grid import KM10, Point
from graph.geography.areas import distance_km
from graph.work.account import charged_to
from tests.domains.earthquakes.builders import NOON, an_event
from tests.domains.felt.reporting import NOON_S, a_report, shaken
from tests.work.accounts import an_account

STRONG = {"felt": 1, "motion": 3, "reaction": 3, "stand": 1, "shelf": 1}  # 5.4


async def test_the_answers_of_a_cell_are_averaged_and_have_the_published_intensity(engine: str) -> None:
    """By reports of three minutes, of which two name the earthquake by one of its ids: perhaps one person's."""
    event = an_event("us1", NOON, mag=6.2, ids=",us1,ci4,", cdi=6.9, depth=40.0)
    answers: list[tuple[dict[str, float], str | None]] = [
        ({"felt": 1, "motion": 3, "shelf": 2}, "ci4"),
        ({"felt": 0.36, "damage": 0.75}, None),
        ({"felt": 1, "motion": 4, "stand": 1, "furniture": 1}, "us1"),
    ]
    near = [felt_report(each, 35.6, -117.6, NOON_S + 60 * n, id_) for n, (each, id_) in enumerate(answers)]
    alone = felt_report({"felt": 0}, 35.6, -117.3, NOON_S, "us1")
    async with shaken(engine, [event]) as here:
        await here.report(*near, alone)
        felt = await here.felt("us1")

    weighted = 5 * 2.36 / 3 + 7 / 2 + 5 * 2 + 5 * 0.75 + 2 + 3  # each a mean of those who answered
    intensity = round(3.3996 * log(weighted) - 4.3781, 1)
    places = [Point(*KM10.centre(KM10.cell(35.6, lon))) for lon in (-117.6, -117.3)]
    assert {(each.precision_km, each.centre): (each.reports, each.intensity) for each in felt.cells} == {
        (10, places[0]): (3, intensity),
        (10, places[1]): (1, 1.0),
    }
    for each in felt.cells:
        km = distance_km(event.lat, event.lon, each.centre._asdict())
        assert each.expected == pytest.approx(expected_intensity(6.2, hypot(km, 40)), abs=0.001)
    assert (felt.reports, felt.cdi, felt.usgs_cdi, felt.is_complete) == (4, intensity, 6.9, True)
    assert felt.difference == round(intensity - 6.9, 1)


async def test_reports_that_name_no_earthquake_are_those_of_the_most_plausible_one(engine: str) -> None:
    """The second one, four minutes later and 200 km to the north, is much smaller."""
    first = an_event("us1", NOON, mag=6.0, lat=35.0)
    second = an_event("us2", NOON + 240_000, mag=5.0, lat=36.8)
    async with shaken(engine, [first, second]) as here:
        await here.report(
            a_report(35.1, now_s=NOON_S + 60),
            a_report(36.8, now_s=NOON_S + 60),  # from the place of the second one, which was not yet
            a_report(35.1, now_s=NOON_S + 300),
            a_report(36.8, now_s=NOON_S + 300),  # felt from both
            a_report(36.8, now_s=NOON_S + 330),  # in the same minute
            a_report(35.1, now_s=NOON_S + 300, event_id="us2"),
            a_report(35.1, now_s=NOON_S - 120),  # before both
            a_report(-35.1, now_s=NOON_S + 300),  # nothing was felt there
        )
        felt = {event_id: await here.felt(event_id) for event_id in ("us1", "us2")}

    latitudes = {
        event_id: sorted((round(c.centre.lat, 1), c.reports) for c in each.cells) for event_id, each in felt.items()
    }
    assert felt["us1"].reports == 3
    assert latitudes["us1"] == [(35.1, 2), (36.8, 1)]
    assert felt["us2"].reports == 3
    assert latitudes["us2"] == [(35.1, 1), (36.8, 2)]


async def test_an_earthquake_at_the_dateline_is_felt_on_both_sides(engine: str) -> None:
    async with shaken(engine, [an_event("us1", NOON, mag=6.0, lat=-17.0, lon=179.95)]) as here:
        places = [(-17.0, 179.9), (-17.0, -179.9), (-17.0, 180.0), (-17.0, -180.0)]
        await here.report(*(a_report(*place, now_s=NOON_S + 60) for place in places))
        felt = await here.felt("us1")

    assert felt.reports == 4
    assert sorted(round(cell.centre.lon, 2) for cell in felt.cells) == [
        -179.95,
        -179.86,
        179.86,
    ]  # 180 and -180 are one


async def test_an_earthquake_before_midnight_is_felt_after_it(engine: str) -> None:
    midnight_s = NOON_S + 12 * 3600
    async with shaken(engine, [an_event("us1", 1000 * midnight_s - 30_000, mag=6.0)]) as here:
        times = [midnight_s - 120, midnight_s - 60, midnight_s - 1, midnight_s, midnight_s + 1769, midnight_s + 1800]
        await here.report(*(a_report(now_s=now_s) for now_s in times))
        felt = await here.felt("us1")

    # Of a minute that began up to a minute before the origin, up to half an hour after it.
    assert felt.reports == 4


async def test_an_earthquake_that_nobody_reports_costs_a_reading_of_few_partitions() -> None:
    async with shaken("sqlite", [an_event("us1", NOON + 600_000, mag=5.0)]) as here:
        await here.report(a_report(event_id="us2"), a_report(now_s=NOON_S - 7200))
        felt = await here.felt("us1")

        assert [call.entity for call in here.database.calls] == [FELT_REPORTS, FELT_REPORTS]
        assert sorted(place for (place,) in here.database.read(FELT_REPORTS)) == [
            "event:us1",
            "km1000:13:5:2023-08-03T12",
            "km1000:13:6:2023-08-03T12",
            "km1000:14:4:2023-08-03T12",
            "km1000:14:5:2023-08-03T12",
        ]

        assert (felt.reports, felt.cells, felt.cdi, felt.difference) == (0, [], None, None)
        await here.report(*(a_report(35.6 + n / 50, now_s=NOON_S + 600 + 20 * n) for n in range(80)))
        assert (await here.felt("us1")).reports == 80
        assert sum(call.entity is EVENT for call in here.database.calls) == 1


async def test_a_strong_report_from_too_far_away_does_not_raise_the_intensity() -> None:
    async with shaken("sqlite", [an_event("us1", NOON, mag=4.0, cdi=2.4)]) as here:
        far = felt_report(STRONG, 37.6, -117.6, NOON_S + 60, "us1")
        await here.report(a_report(now_s=NOON_S + 60), far)
        felt = await here.felt("us1")

    assert [(cell.intensity, round(cell.expected, 1), cell.outlier) for cell in felt.cells] == [
        (2.0, 3.8, False),
        (5.4, 1.0, True),
    ]
    assert (felt.reports, felt.cdi, felt.usgs_cdi, felt.difference) == (2, 2.0, 2.4, -0.4)


async def test_more_reports_than_are_read_leave_the_result_incomplete(engine: str) -> None:
    async with shaken(engine, [an_event("us1", NOON, mag=5.0)]) as here:
        await here.report(*(a_report(now_s=NOON_S + 60 * n, event_id="us1") for n in range(5)))
        felt = await here.felt("us1", most_items=4)
        whole = await here.felt("us1", most_items=5)

    assert (felt.reports, felt.is_complete) == (4, False)
    assert (whole.reports, whole.is_complete) == (5, True)


async def test_reading_many_reports_is_charged_to_the_operation() -> None:
    async with shaken("sqlite", [an_event("us1", NOON, mag=5.0)]) as here:
        await here.report(*(a_report(now_s=NOON_S + 60 * n, event_id="us1") for n in range(200)))
        with charged_to(an_account()) as account:
            await here.felt("us1")
        assert account.spent == 20

        with charged_to(an_account(most=19)), pytest.raises(QueryTooComplex):
            await here.felt("us1")


async def test_an_earthquake_of_any_time_has_an_intensity() -> None:
    events = [an_event("us1", FIRST_MS, mag=5.0), an_event("us2", LAST_MS - 86_400_000, mag=5.0)]
    async with shaken("sqlite", events) as here:
        assert [(await here.felt(event.event_id)).reports for event in events] == [0, 0]
