"""A report becomes one sighting under all its keys at once, or a confirmation of what it repeats, or nothing at all."""

import asyncio
from collections.abc import Sequence
from math import inf, nan
from pathlib import Path
from typing import Any

import pytest

from graph.core.errors import BadUserInput, NotThere
from graph.domains.sightings.entities import LISTED_SIGHTING, RECENT_REPORT, SIGHTING, SIGHTING_BY_ID
from graph.domains.sightings.grid import KM10
from graph.domains.sightings.lifetimes import Lifetimes
from graph.domains.sightings.selection import lists_of_position
from graph.store.contract import Action, Put, Update
from tests.domains.earthquakes.revisions.histories import Clock, Source, a_record
from tests.domains.earthquakes.watched_database import WatchedDatabase
from tests.domains.entities import everything_in
from tests.domains.sightings.counted import check_all
from tests.domains.sightings.in_store import ANNA, CARA, NOON_S, sightings, sightings_of, two_processes

LAT, LON = 35.6, -117.6
HERE: dict[str, Any] = {"lat": LAT, "lon": LON}


class Writes(WatchedDatabase):
    """Keeps the transactions. Nothing else may be written."""

    transactions: list[Sequence[Action]]

    async def transact(self, actions: Sequence[Action]) -> tuple[int, ...]:
        refused = await super().transact(actions)
        self.transactions = [*getattr(self, "transactions", []), actions]
        return refused

    async def put(self, put: Put) -> bool:
        raise AssertionError(put)

    async def update(self, update: Update) -> bool:
        raise AssertionError(update)


# New sightings


async def test_a_new_sighting_is_written_under_each_of_its_keys_in_one_transaction(engine: str) -> None:
    async with sightings(engine) as ours:
        await Source(ours.database, clock=Clock()).say(a_record("us1"))
        database = Writes(ours.database)
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
        assert len(database.transactions) == 1
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
