"""The demo: eight sightings of the last half hour, so that fresh, fading and stale ones are seen at once.

They are what people may have reported of the packaged week's earthquakes, as if these were of today. They are stored by
the services that store any report, whose clock stands at the time of each one.
"""

from dataclasses import dataclass, replace

from graph.core.paging import Paging
from graph.domain import Resources, Services
from graph.domains.earthquakes.settings import EarthquakeSettings
from graph.domains.sightings.reading import Sightings
from graph.domains.sightings.reporting import Report, Reporting
from graph.domains.sightings.selection import SightingSelection
from graph.store.ordering import PageRequest

LIFETIME_MINUTES = 30  # of the sightings as they are timed here; by another setting, they are as much older or younger


@dataclass(frozen=True, slots=True, kw_only=True)
class DemoSighting(Report):
    """A report, and the confirmations of other users."""

    age: int  # minutes
    confirmations: int = 0  # all at the same time
    confirmed: int = 0  # minutes ago


DEMO = (
    DemoSighting(
        age=27,
        category="ROAD_BLOCKED",
        area="Lae",
        text="Rocks lie on the Highlands Highway. One lane is open.",
        event_id="us6000kxji",
    ),
    DemoSighting(
        age=24,
        category="DAMAGE",
        area="Adi Keyh",
        lat=14.8446,
        lon=39.3772,
        text="Cracks in the walls of the school.",
        event_id="us6000kx3e",
    ),
    DemoSighting(
        age=22,
        category="POWER_OUTAGE",
        area="Palmira",
        text="No electricity in the whole street.",
        event_id="us6000kxnn",
        confirmations=1,
        confirmed=15,
    ),
    DemoSighting(
        age=17,
        category="LANDSLIDE",
        area="Paekākāriki",
        lat=-40.9987,
        lon=174.9465,
        text="Stones have fallen on the coast road.",
        event_id="us6000kwp2",
    ),
    DemoSighting(
        age=13,
        category="FIRE",
        area="Konya",
        lat=37.8716,
        lon=32.4925,
        text="Smoke above the old market.",
        confirmations=2,
        confirmed=11,
    ),
    DemoSighting(
        age=8,
        category="SHAKING",
        area="Chikusei",
        lat=36.3072,
        lon=139.9831,
        text="The lamps swung for some seconds.",
        answers={"felt": 1, "motion": 2, "reaction": 1},
        event_id="us6000kwhi",
    ),
    DemoSighting(
        age=4,
        category="SHAKING",
        area="Morgan Hill",
        lat=37.1305,
        lon=-121.6544,
        text="A jolt, then the windows rattled.",
        answers={"felt": 1, "motion": 2, "reaction": 1, "picture": 0},
        event_id="nc73918291",
        confirmations=3,
        confirmed=2,
    ),
    DemoSighting(
        age=1,
        category="SHAKING",
        area="Niland",
        lat=33.2401,
        lon=-115.5189,
        text="It was hard to stand. Books fell from a shelf.",
        answers={"felt": 1, "motion": 3, "reaction": 3, "stand": 1, "shelf": 1},
        event_id="ci39627442",
    ),
)
"""In the order of their reports. The earthquakes are of the packaged week, which is in the catalogue's own demo."""


async def prepare(services: Services) -> str | None:
    """Store the demo, if it is switched on and there is no active sighting."""
    resources = services.of(Resources)
    if not resources.settings.part(EarthquakeSettings).demo:
        return None
    if (await services.of(Sightings).page(SightingSelection(), PageRequest(Paging(1)))).records:
        return None
    await report_demo(services.of(Reporting), resources.clock())
    return f"Reported {len(DEMO)} sightings of the last half hour as a demo."


async def report_demo(reporting: Reporting, now: int) -> None:
    """Store the demo as it is at a time, epoch milliseconds."""
    known = await reporting.catalogue.events([each.event_id for each in DEMO if each.event_id])
    minute_ms = 1000 * reporting.lifetimes.new // LIFETIME_MINUTES
    for number, each in enumerate(DEMO):
        event_id = each.event_id if each.event_id in known else None
        at_report = _at(now - each.age * minute_ms, reporting)
        sighting = (await at_report.report(f"demo-{number}", replace(each, event_id=event_id))).sighting
        at_confirmation = _at(now - each.confirmed * minute_ms, reporting)
        for further in range(each.confirmations):
            await at_confirmation.confirming.confirm(f"demo-{len(DEMO) + further}", sighting.sighting_id)


def _at(now: int, like: Reporting) -> Reporting:
    """What stores reports as another one does, by a clock that stands at a time."""
    return replace(like, clock=lambda: now, most=1)
