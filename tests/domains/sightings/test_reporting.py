"""A report becomes one sighting under all its keys at once, or a confirmation of what it repeats, or nothing at all.

A user reports so much at a place within an hour of the clock, and no more, however many reports come at once. The
confirmations of a sighting are those of its distinct users, however many confirm at once.
"""

import asyncio
import random
from math import inf, nan
from pathlib import Path
from typing import Any

import pytest

from graph.core.errors import BadUserInput, NotThere
from graph.domains.sightings.areas import coordinates
from graph.domains.sightings.entities import (
    CONFIRMATION,
    CONFIRMER,
    FELT_REPORTS,
    LISTED_SIGHTING,
    RECENT_REPORT,
    REPORT_COUNT,
    SIGHTING,
    SIGHTING_BY_ID,
)
from graph.domains.sightings.felt_reports import felt_report
from graph.domains.sightings.grid import KM10
from graph.domains.sightings.lifetimes import Lifetimes
from graph.domains.sightings.model import ReportOutcome
from graph.domains.sightings.rates import TooManyReports
from graph.domains.sightings.selection import lists_of_position
from tests.domains.earthquakes.builders import at
from tests.domains.earthquakes.revisions.histories import Clock, Source, a_record
from tests.domains.entities import everything_in
from tests.domains.sightings.counted import check_all
from tests.domains.sightings.in_store import ANNA, BEN, CARA, NOON_S, held_clock, sightings, sightings_of, two_processes
from tests.domains.watches.cuts import Noted
from tests.effort import rounds

LAT, LON = 35.6, -117.6
HERE: dict[str, Any] = {"lat": LAT, "lon": LON}


# New sightings


async def test_a_new_sighting_is_written_under_each_of_its_keys_in_one_transaction(engine: str) -> None:
    async with sightings(engine) as ours:
        await Source(ours.database, clock=Clock()).say(a_record("us1"))
        database = Noted(ours.database)
        async with sightings_of(database, ours.clock) as writing:
            sighting = await writing.new(text="The shelf fell.", event_id="us1", **HERE)

        cell = KM10.cell(LAT, LON)
        rounded = KM10.centre(cell)
        (by_id,) = await ours.items(SIGHTING_BY_ID)
        assert by_id == sighting.item
        assert by_id == {
            "sightingId": sighting.sighting_id,
            "userId": ANNA,
            "areaSlug": cell.replace(":", "-"),
            "area": coordinates(rounded),
            "category": "SHAKING",
            "text": "The shelf fell.",
            "reportedAt": "2100-03-02T12:00:00Z",
            "expiresAt": NOON_S + 1800,
            "rank": NOON_S + 1800,
            "cell": cell,
            "lat": rounded.lat,
            "lon": rounded.lon,
            "eventId": "us1",
            "reporterTier": "BRONZE",
            "confirmationCount": 0,
            "lists": ["user:anna", *lists_of_position(*rounded), "event:us1"],
        }
        assert await ours.items(SIGHTING) == [by_id]
        listed = {item["list"]: item for item in await ours.items(LISTED_SIGHTING)}
        assert listed == {name: {**by_id, "list": name} for name in by_id["lists"]}
        assert [name for name, _ in database.noted if name in ("put", "update", "transact")] == ["transact"]
        await check_all(ours)


async def test_an_own_area_stays_beside_the_position_and_an_earthquake_gets_its_own_id() -> None:
    async with sightings("sqlite") as ours:
        await Source(ours.database, clock=Clock()).say(a_record("us1", ids=["us1", "ci9"]))
        sighting = await ours.new(area="Old Town", event_id="ci9", **HERE)
        assert (sighting.area_slug, sighting.position) == ("old-town", KM10.centre(KM10.cell(LAT, LON)))
        assert sighting.event_id == "us1"
        assert await ours.ids(event_ids=("us1",)) == [sighting.sighting_id]


async def test_people_write_in_their_own_scripts() -> None:
    texts = ["x" * 280, "Two\nlines", "震度４　強い揺れ", "می\u200cلرزد", "👩\u200d🚒 here", "non\u00a0breaking"]
    async with sightings("sqlite") as ours:
        for number, text in enumerate(texts):
            assert (await ours.new(text=text, area=f"東京　{number}")).text == text


REFUSED: list[tuple[dict[str, Any], str]] = [
    ({"text": ""}, "`text` must not be empty"),
    ({"text": " \n "}, "`text` must not be empty"),
    ({"text": "x" * 281}, "`text` must be a text of at most 280 characters"),
    ({"text": "<b>help</b>"}, "`text` must not have `<` or `>`"),
    ({"text": "a > b"}, "`text` must not have `<` or `>`"),
    ({"text": "bell\a"}, "`text` must not have control characters"),
    ({"text": "carriage\rreturn"}, "`text` must not have control characters"),
    ({"text": "\x9b31m"}, "`text` must not have control characters"),
    ({"text": "right\u202eleft"}, "`text` must not have control characters"),
    ({"text": "nothing\x00"}, "`text` must not have control characters"),
    ({"text": "line\u2028separator"}, "`text` must not have control characters"),
    ({"text": "\ud800"}, "it has a lone surrogate"),
    ({"category": "SNEAKERS"}, "`category` must be one of SHAKING, DAMAGE"),
    ({"category": "shaking"}, "`category` must be one of"),
    ({"category": "ALL"}, "`category` must be one of"),
    ({"category": ""}, "`category` must be one of"),
    ({"area": ""}, "`area` must not be empty"),
    ({"area": "x" * 129}, "`area` must have at most 128 characters"),
    ({"area": "a\tb"}, "`area` must not have control characters"),
    ({"area": "two\nlines"}, "`area` must not have control characters"),
    ({"area": "<i>here</i>"}, "`area` must not have `<` or `>`"),
    ({"area": "?!"}, "`area` must have a letter or a digit"),
    ({"area": None}, "Give an `area`, or `lat` and `lon`"),
    ({"lat": 1.0}, "Give both `lat` and `lon`"),
    ({"area": "Here", "lon": 1.0}, "Give both `lat` and `lon`"),
    ({"lat": 90.001, "lon": 0.0}, "`lat` must lie between -90 and 90"),
    ({"lat": 0.0, "lon": -180.001}, "`lon` between -180 and 180"),
    ({"lat": nan, "lon": 0.0}, "`lat` must lie between"),
    ({"lat": 0.0, "lon": nan}, "`lat` must lie between"),
    ({"lat": inf, "lon": 0.0}, "`lat` must lie between"),
    ({"answers": {"felt": 1.0}}, "A `questionnaire` needs `lat` and `lon`"),
]


async def test_bad_input_is_refused_with_what_to_do_and_nothing_is_stored() -> None:
    async with sightings("sqlite") as ours:
        for given, message in REFUSED:
            with pytest.raises(BadUserInput) as refused:
                await ours.report(**given)
            assert message in str(refused.value), given
        for event_id in ("us404", "", "x" * 1000, "a\x00b"):
            with pytest.raises(NotThere, match="There is no earthquake"):
                await ours.report(event_id=event_id)
        assert await everything_in(ours.database) == []


# Repeated reports


async def test_a_report_that_says_nothing_more_than_the_latest_sighting_repeats_it(engine: str) -> None:
    said: dict[str, Any] = {"area": "Old Town", **HERE}
    elsewhere_in_the_cell = {"lat": LAT - 0.04, "lon": LON - 0.08}
    assert KM10.cell(*elsewhere_in_the_cell.values()) == KM10.cell(LAT, LON)
    async with sightings(engine) as ours:
        first = await ours.new(ANNA, text="Smoke.", **said)
        ours.later(1)
        latest = await ours.new(ANNA, text="A roof is burning.", **said)
        for other in (
            {"category": "FIRE"},
            {"area": "New Town"},
            {"area": None, **elsewhere_in_the_cell},
            {"lat": LAT + 0.1},
            {"lat": None, "lon": None},
        ):
            assert (await ours.report(CARA, **{**said, "text": "Smoke.", **other})).created, other
        for again, repeated in (
            ({}, latest),
            (elsewhere_in_the_cell, latest),
            ({"area": "old-town", "text": "Smoke."}, first),
            ({"text": "A roof is burning."}, latest),
        ):
            user_id = f"user{len(again)}{repeated.sighting_id}"
            outcome = await ours.report(user_id, **{**said, **again})
            assert (outcome.created, outcome.sighting.sighting_id) == (False, repeated.sighting_id), again


async def test_a_report_after_the_first_has_expired_is_a_new_sighting(engine: str) -> None:
    async with sightings(engine, lifetimes=Lifetimes(new=60, refreshed=60, longest=60)) as ours:
        await ours.new(ANNA)
        ours.later(59)
        assert not (await ours.report(ANNA)).created
        ours.later(1)
        second = await ours.new(ANNA)
        assert await ours.ids() == [second.sighting_id]
        (recent,) = await ours.items(RECENT_REPORT)
        assert recent["sightingId"] == second.sighting_id


# At the same time


@pytest.mark.parametrize("place", [{"area": "Downtown"}, HERE], ids=["area", "position"])
async def test_reports_of_two_processes_at_the_same_moment_make_one_sighting(
    engine: str, tmp_path: Path, place: dict[str, Any]
) -> None:
    async with two_processes(engine, tmp_path) as processes:
        await processes[0].new(CARA, "OTHER", **place)  # the area is there already
        reports = [process.report(f"user{n}", **place) for n in range(8) for process in processes]
        outcomes = await asyncio.gather(*reports)  # each user reports through both

        assert [outcome.created for outcome in outcomes].count(True) == 1
        assert [outcome.confirmed for outcome in outcomes].count(True) == 7
        (sighting,) = (await processes[0].page(categories=("SHAKING",))).records
        assert sighting.confirmations == 7
        assert {outcome.sighting.sighting_id for outcome in outcomes} == {sighting.sighting_id}
        await check_all(processes[1])


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


CROWD = rounds(1000)


@pytest.mark.repeated
async def test_a_crowds_confirmations_at_once_through_two_processes_count_distinct_users(
    engine: str, tmp_path: Path
) -> None:
    async with two_processes(engine, tmp_path) as processes:
        sighting = await processes[0].new(ANNA, lat=35.6, lon=-117.6)
        users = [f"user{number}" for number in range(CROWD)]
        twice = [*users, *users[::7], ANNA, ANNA]
        random.Random(18).shuffle(twice)
        outcomes = await asyncio.gather(
            *[processes[number % 2].confirm(user, sighting) for number, user in enumerate(twice)]
        )

        assert [outcome.confirmed for outcome in outcomes].count(True) == CROWD
        assert max(outcome.sighting.confirmations for outcome in outcomes) == CROWD
        found = await processes[0].one(sighting)
        assert found is not None
        assert found.confirmations == CROWD
        assert len(await processes[1].items(CONFIRMER)) == len(await processes[1].items(CONFIRMATION)) == CROWD
        assert (await processes[1].profile(ANNA)).confirmations_received == CROWD
        await check_all(processes[1])


async def test_confirmations_expire_with_their_sighting_however_long_others_keep_it(engine: str) -> None:
    async with sightings(engine) as ours:
        sighting = await ours.new(ANNA, lat=35.6, lon=-117.6)
        for user in ("ben", "cara", "dora"):
            ours.later(600)
            await ours.confirm(user, sighting)

        found = await ours.one(sighting)
        assert found is not None
        for entity in (CONFIRMATION, CONFIRMER):
            assert [item["expiresAt"] for item in await ours.items(entity)] == [found.item["expiresAt"]] * 3
        assert not (await ours.confirm("ben", sighting)).confirmed
        await check_all(ours)


async def test_forty_at_once_who_each_felt_another_earthquake_all_count(engine: str) -> None:
    async with sightings(engine) as ours:
        names = [f"us{number}" for number in range(41)]
        await Source(ours.database, clock=Clock()).say(*map(a_record, names))
        sighting = await ours.new(ANNA, lat=35.6, lon=-117.6, event_id=names.pop())
        ours.later(61)  # so that the sighting lasts longer, which takes further actions of each transaction
        now = ours.clock() // 1000
        confirming_now = [
            ours.confirming.confirm(name, sighting.sighting_id, felt_report({"felt": 1.0}, 35.6, -117.6, now, name))
            for name in names
        ]
        assert all(outcome.confirmed for outcome in await asyncio.gather(*confirming_now))
        assert {item["place"]: item["reports"] for item in await ours.items(FELT_REPORTS)} == {
            f"event:{name}": 1 for name in names
        }
        found = await ours.one(sighting)
        assert found is not None
        assert found.confirmations == 40
        await check_all(ours)
