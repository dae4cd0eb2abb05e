"""How strongly an earthquake was felt, by reports in the store, and of which earthquakes a report may be."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from math import hypot, log
from random import Random

import pytest

from graph.core.days import FIRST_MS, LAST_MS
from graph.core.errors import QueryTooComplex
from graph.domains.earthquake_events import TIME_ORDERED
from graph.domains.earthquakes.catalogue import Catalogue
from graph.domains.earthquakes.entities import EVENT
from graph.domains.earthquakes.model import DELETED, Event
from graph.domains.felt.attenuation import expected_intensity, plausibility
from graph.domains.felt.candidates import EventCandidate, candidates_of
from graph.domains.felt.intensity import FeltIntensity, felt_intensity
from graph.domains.sightings.collected_reports import CollectedReports, FeltAt
from graph.domains.sightings.entities import FELT_REPORTS
from graph.domains.sightings.felt_reports import FeltReport, added, felt_report
from graph.domains.sightings.grid import KM10, Point
from graph.geography.areas import distance_km
from graph.store.contract import Put
from tests.domains.earthquakes.builders import NOON, an_event, catalogue_of, ingest
from tests.domains.earthquakes.watched_database import WatchedDatabase
from tests.domains.entities import ENTITIES
from tests.store.engines import empty_database
from tests.work.accounts import an_account

NOON_S = NOON // 1000
MOST_IN_A_BATCH = 100  # reports of one transaction


@dataclass(frozen=True)
class Shaken:
    """Where the ground has shaken."""

    database: WatchedDatabase
    events: dict[str, Event]
    catalogue: Catalogue

    async def report(self, *reports: FeltReport) -> None:
        """Store reports, in batches."""
        for first in range(0, len(reports), MOST_IN_A_BATCH):
            assert await self.database.transact(added(reports[first : first + MOST_IN_A_BATCH])) == ()

    async def felt(self, event_id: str, *, now_s: int = NOON_S + 86_400, most_items: int = 10_000) -> FeltIntensity:
        """How strongly an event was felt, with nothing read before."""
        reports = CollectedReports(self.database, most=most_items)
        return await felt_intensity(self.events[event_id], reports, self.catalogue, lambda: 1000 * now_s)

    async def candidates(
        self, reports: Sequence[FeltAt], attributes: frozenset[str] | None = None
    ) -> list[list[EventCandidate]]:
        """The earthquakes that reports may be of."""
        return await candidates_of(self.catalogue, reports, attributes)


@asynccontextmanager
async def shaken(engine: str, events: Sequence[Event]) -> AsyncIterator[Shaken]:
    """A table of its own that holds these events, and one for felt reports."""
    async with empty_database(engine, frozenset({*ENTITIES, FELT_REPORTS})) as database:
        assert await ingest(database, events) == len(events)
        watched = WatchedDatabase(database)
        yield Shaken(watched, {event.event_id: event for event in events}, catalogue_of(watched))


def a_report(lat: float = 35.6, lon: float = -117.6, now_s: int = NOON_S, event_id: str | None = None) -> FeltReport:
    """A report of somebody who has felt it; what is not given does not matter."""
    return felt_report({"felt": 1}, lat, lon, now_s, event_id)


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
        with an_account() as account:
            await here.felt("us1")
        assert account.spent == 20

        with an_account(most=19), pytest.raises(QueryTooComplex):
            await here.felt("us1")


async def test_an_earthquake_of_any_time_has_an_intensity() -> None:
    events = [an_event("us1", FIRST_MS, mag=5.0), an_event("us2", LAST_MS - 86_400_000, mag=5.0)]
    async with shaken("sqlite", events) as here:
        assert [(await here.felt(event.event_id)).reports for event in events] == [0, 0]


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

    assert (near.event.event_id, near.difference_seconds) == ("near", 120)
    assert near.distance_km == pytest.approx(11.12, abs=0.01)
    assert near.plausibility == 0.933  # certainly felt, two of thirty minutes ago
    assert (far.event.event_id, far.difference_seconds) == ("far", 180)
    assert far.plausibility == plausibility(5.0, far.distance_km, 180, 8.0) < near.plausibility


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
