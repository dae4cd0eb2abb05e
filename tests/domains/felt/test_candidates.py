"""The earthquakes that a report may be of."""

from random import Random

import pytest

from graph.domains.earthquake_events import TIME_ORDERED
from graph.domains.earthquakes.entities import EVENT
from graph.domains.earthquakes.model import DELETED
from graph.domains.felt.attenuation import plausibility
from graph.domains.felt.candidates import EventCandidate
from graph.domains.sightings.collected_reports import FeltAt
from graph.geography.areas import distance_km
from graph.store.contract import Put
from tests.domains.earthquakes.builders import NOON, an_event
from tests.domains.felt.reporting import NOON_S, shaken

HERE = (35.6, -117.6)


def ids(candidates: list[EventCandidate]) -> list[str]:
    return [candidate.event.event_id for candidate in candidates]


async def test_candidates_are_the_earthquakes_before_a_report_the_most_plausible_first(engine: str) -> None:
    events = [
        an_event("far", NOON, mag=5.0, lat=35.6, lon=-115.0),
        an_event("near", NOON + 60_000, mag=4.5, lat=35.7, lon=-117.6),
        an_event("small", NOON, mag=1.5, lat=35.6, lon=-117.6),
        an_event("antipode", NOON, mag=9.0, lat=-35.6, lon=62.4),
        an_event("over", NOON - 1_800_000, mag=6.0, lat=35.6, lon=-117.6),
        an_event("ahead", NOON + 241_000, mag=6.0, lat=35.6, lon=-117.6),
    ]
    async with shaken(engine, events) as here:
        ((near, far),) = await here.candidates([FeltAt(*HERE, NOON_S + 180)])

    assert (near.event.event_id, near.seconds) == ("near", 120)
    assert near.km == pytest.approx(11.12, abs=0.01)
    assert near.plausibility == 0.933  # certainly felt, two of thirty minutes ago
    assert (far.event.event_id, far.seconds) == ("far", 180)
    assert far.plausibility == plausibility(5.0, far.km, 180, 8.0) < near.plausibility


async def test_deleted_and_merged_earthquakes_are_no_candidates() -> None:
    events = [an_event("kept", NOON, mag=5.0), an_event("deleted", NOON + 1000, mag=6.0)]
    async with shaken("sqlite", events) as here:
        item = events[1].item
        gone = {**item, "dayBucket": f"DELETED#{item['dayBucket']}", "status": DELETED}
        assert await here.database.put(Put(EVENT, gone))
        found = await here.candidates([FeltAt(*HERE, NOON_S + 60)])

    assert list(map(ids, found)) == [["kept"]]


async def test_sightings_of_near_times_take_one_reading_of_the_catalogue(engine: str) -> None:
    """Of which clocks may be a minute behind."""
    async with shaken(engine, [an_event("us1", NOON, mag=5.0), an_event("us2", NOON - 3_600_000, mag=5.0)]) as here:
        times = [FeltAt(*HERE, NOON_S + seconds) for seconds in (-60, -61, 1799)]
        edges = [[each.plausibility for each in candidates] for candidates in await here.candidates(times)]
        assert edges == [[1.0], [], [0.001]]
        here.database.calls.clear()
        found = await here.candidates([FeltAt(*HERE, NOON_S + 60 * n - 3600) for n in range(80)], frozenset({"place"}))
        calls = [call for call in here.database.calls if call.entity is EVENT]
        at_once = [(call.index, call.partitions) for call in calls]
        await here.candidates([FeltAt(*HERE, NOON_S), FeltAt(*HERE, NOON_S - 7 * 86_400)])
        apart = [call for call in here.database.calls if call.entity is EVENT][len(calls) :]

    assert [ids(found[0]), ids(found[79])] == [["us2"], ["us1"]]
    assert at_once == [(TIME_ORDERED.name, (("20230803",),))]
    assert calls[0].attributes == frozenset({"eventId", "eventTsMs", "mag", "lat", "lon", "depth", "place"})
    assert len(apart) == 1  # a week ago, there was none


@pytest.mark.parametrize(("larger", "found"), [(99, ["local"]), (100, [])])
async def test_of_a_crowded_catalogue_only_the_largest_earthquakes_are_read(larger: int, found: list[str]) -> None:
    far_away = [an_event(f"e{n}", NOON + n, mag=3.1, lat=-35.6, lon=62.4) for n in range(larger)]
    async with shaken("sqlite", [an_event("local", NOON, mag=3.0, lat=35.6, lon=-117.6), *far_away]) as here:
        (candidates,) = await here.candidates([FeltAt(*HERE, NOON_S + 1)])

    assert ids(candidates) == found


async def test_candidates_are_those_of_all_events_without_any_shortcut() -> None:
    """Compared with every event of the catalogue, across midnight, the dateline and a pole."""
    random = Random(17)
    places = [(0.0, 179.5), (0.2, -179.8), (89.5, 10.0), (88.9, -160.0), (35.6, -117.6), (36.9, -116.0)]

    def place() -> tuple[float, float]:
        lat, lon = random.choice(places)
        return lat + random.uniform(-0.4, 0.4), lon + random.uniform(-0.1, 0.1)

    events = []
    for number in range(400):
        lat, lon = place()
        time = NOON + random.randrange(0, 26 * 3_600_000)
        events.append(an_event(f"e{number:03}", time, mag=round(random.uniform(0, 7), 1), lat=lat, lon=lon))
    reports = [FeltAt(*place(), NOON_S + random.randrange(-100, 27 * 3600)) for _ in range(200)]

    expected = []
    for lat, lon, at in reports:
        every = [
            (-plausibility(e.mag, km, at - e.event_ts_ms / 1000, e.depth), km, e.event_id)
            for e in events
            if (km := distance_km(lat, lon, e.item)) is not None
        ]
        expected.append([event_id for plausible, _, event_id in sorted(every) if plausible < 0][:5])
    async with shaken("sqlite", events) as here:
        found = await here.candidates(reports)

    assert list(map(ids, found)) == expected
    assert max(map(len, expected)) == 5
    assert sum(map(bool, expected)) > 50
