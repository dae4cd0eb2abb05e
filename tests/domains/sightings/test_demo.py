"""The demo: eight sightings that are as old as they would be after half an hour of reports."""

import shutil
from collections import Counter
from pathlib import Path

from graph.core.paging import Paging
from graph.domain import Resources, Services
from graph.domains import DOMAINS
from graph.domains.earthquakes.catalogue import Catalogue
from graph.domains.felt.intensity import felt_intensity
from graph.domains.sightings.collected_reports import CollectedReports
from graph.domains.sightings.confidence import Freshness
from graph.domains.sightings.demo import DEMO, prepare, report_demo
from graph.domains.sightings.entities import CONFIRMER
from graph.domains.sightings.lifetimes import Lifetimes
from graph.domains.sightings.model import Sighting
from graph.domains.sightings.reading import Sightings
from graph.domains.sightings.selection import SightingSelection
from graph.opening import open_services
from graph.store.ordering import PageRequest
from tests.domains.sightings.in_store import NOON, NOON_S, sightings
from tests.settings import Settings

SENTENCE = "Reported 8 sightings of the last half hour as a demo."


async def active(services: Services) -> list[Sighting]:
    """The active sightings of a service."""
    return list((await services.of(Sightings).page(SightingSelection(), PageRequest(Paging(50)))).records)


async def test_the_demo_shows_fresh_and_fading_and_stale_sightings_at_once(engine: str) -> None:
    async with sightings(engine) as ours:
        await report_demo(ours.reporting, NOON)
        found = (await ours.page()).records
        trends = await ours.sightings.trends(21_600)
        confirmers = await ours.items(CONFIRMER)

    assert [each.area_slug for each in found] == [
        *("niland", "morgan-hill", "chikusei", "konya"),
        *("paekakariki", "palmira", "adi-keyh", "lae"),
    ]
    assert [(NOON_S - each.reported_at.timestamp()) / 60 for each in found] == [1, 4, 8, 13, 17, 22, 24, 27]
    assert Counter(Freshness.of(each.confidence_at(NOON_S).total) for each in found) == {
        Freshness.FRESH: 4,
        Freshness.FADING: 2,
        Freshness.STALE: 2,
    }
    assert [each.confirmations for each in found] == [0, 3, 0, 2, 0, 1, 0, 0]
    assert len(confirmers) == 6
    assert [each.position is None for each in found] == [False, False, False, False, False, True, False, True]
    assert {trend.category: trend.count for trend in trends if trend.count} == Counter(each.category for each in DEMO)


async def test_the_demo_is_active_whatever_the_lifetime_is() -> None:
    for lifetime in (60, 21_600):
        async with sightings("sqlite", lifetimes=Lifetimes(lifetime, 1800, 21_600)) as ours:
            await report_demo(ours.reporting, NOON)
            assert len((await ours.page()).records) == len(DEMO)


async def test_the_demo_is_reported_once_and_by_its_option_and_names_the_earthquakes_of_the_week(
    tmp_path: Path, week_file: Path
) -> None:
    shutil.copy(week_file, tmp_path / "demo.db")
    settings = Settings(store=f"sqlite:///{tmp_path}/demo.db")
    async with open_services(settings, DOMAINS) as services:
        assert (await prepare(services), await active(services)) == (None, [])
    async with open_services(settings.model_copy(update={"demo": True}), DOMAINS) as services:
        assert [await prepare(services), await prepare(services)] == [SENTENCE, None]
        found = await active(services)
        event = await services.of(Catalogue).event("ci39627442")
        assert event
        reports, catalogue = services.of(CollectedReports), services.of(Catalogue)
        felt = await felt_intensity(event, reports, catalogue, services.of(Resources).clock)

    named = {each.event_id for each in DEMO if each.event_id}
    assert {each.event_id for each in found} == {*named, None}
    assert len(found) == len(DEMO)
    assert (felt.reports, felt.cdi, felt.usgs_cdi) == (1, 5.4, 6.6)
