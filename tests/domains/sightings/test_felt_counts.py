"""A user's answers count once for an earthquake, wherever and however often they are given."""

from typing import Any

from graph.domains.earthquakes.model import Event
from graph.domains.sightings.entities import FELT_REPORTS
from graph.store.contract import Database
from tests.domains.earthquakes.builders import an_event, ingest
from tests.domains.sightings.in_store import ANNA, BEN, CARA, NOON, SightingStore, sightings

FELT = {"felt": 1.0, "motion": 2.0}


async def counted(ours: SightingStore) -> dict[str, int]:
    """The number of counted people, by place."""
    found: dict[str, int] = {}
    for item in await ours.items(FELT_REPORTS):
        found[item["place"]] = found.get(item["place"], 0) + item["reports"]
    return found


async def with_earthquakes(database: Database, *event_ids: str) -> None:
    events: list[Event] = [an_event(each, NOON - 60_000, mag=5.0, lat=35.6, lon=-117.6) for each in event_ids]
    assert await ingest(database, events) == len(events)


async def test_a_user_counts_once_for_an_earthquake(engine: str) -> None:
    async with sightings(engine) as ours:
        await with_earthquakes(ours.database, "us1", "us2")
        for user_id, lat, event_id in (
            (ANNA, 35.60, "us1"),
            (ANNA, 35.61, "us1"),
            (ANNA, 35.62, "us2"),
            (BEN, 35.63, "us1"),
        ):
            await ours.new(user_id, lat=lat, lon=-117.6, event_id=event_id, text=f"At {lat}", answers=FELT)

        assert await counted(ours) == {"event:us1": 2, "event:us2": 1}


async def test_a_user_who_names_none_counts_once_an_hour_in_a_region(engine: str) -> None:
    async with sightings(engine) as ours:
        for lat in (35.60, 35.61, -35.6):
            await ours.new(ANNA, lat=lat, lon=-117.6, text=f"At {lat}", answers=FELT)
        ours.later(3600)
        await ours.new(ANNA, lat=35.60, lon=-117.6, answers=FELT)

        assert sorted((await counted(ours)).values()) == [1, 1, 1]


async def test_answers_of_a_report_that_repeats_a_sighting_count_with_its_confirmation(engine: str) -> None:
    async with sightings(engine) as ours:
        await with_earthquakes(ours.database, "us1")
        given: dict[str, Any] = {"lat": 35.6, "lon": -117.6, "event_id": "us1", "answers": FELT}
        await ours.new(ANNA, **given)
        for user_id in (ANNA, BEN, BEN, CARA):
            assert not (await ours.report(user_id, **given)).created

        (item,) = await ours.items(FELT_REPORTS)
        assert (item["reports"], item["motionGiven"], item["motionSum"]) == (3, 3, 6000)
