"""Sightings: what people feel and see, confirmed by others, fading with time."""

from collections.abc import Sequence
from pathlib import Path

from graph.domain import Contribution, Domain, Resources
from graph.domains.earthquakes.catalogue import Catalogue
from graph.domains.earthquakes.schema.events import Event
from graph.domains.sightings.adopting import ADOPTIONS
from graph.domains.sightings.areas import KnownAreas
from graph.domains.sightings.categories import Categories
from graph.domains.sightings.collected_reports import CollectedReports
from graph.domains.sightings.demo import prepare
from graph.domains.sightings.entities import ENTITIES
from graph.domains.sightings.lifetimes import Lifetimes
from graph.domains.sightings.live import SightingBroadcast
from graph.domains.sightings.reading import Sightings
from graph.domains.sightings.reporting import Reporting
from graph.domains.sightings.schema.areas import AreaQueries
from graph.domains.sightings.schema.events import SightingsOfEvent
from graph.domains.sightings.schema.live import SightingSubscriptions
from graph.domains.sightings.schema.profile import ProfileQueries
from graph.domains.sightings.schema.reporting import ReportingMutations
from graph.domains.sightings.schema.sightings import Sighting, SightingQueries
from graph.domains.sightings.schema.trending import TrendingQueries
from graph.domains.sightings.schema.values import SCALARS
from graph.domains.sightings.scopes import SIGHTINGS_MODERATE, SIGHTINGS_READ, SIGHTINGS_WRITE
from graph.domains.sightings.settings import SightingSettings


async def open_services(resources: Resources) -> Sequence[object]:
    """Open what reads, stores and broadcasts sightings."""
    settings = resources.settings.part(SightingSettings)
    database, clock = resources.database, resources.clock
    categories = Categories(settings.sighting_categories, others_write=database.other_writers is not None)
    known = KnownAreas.of_setting(settings.sighting_areas)
    lifetimes = Lifetimes(settings.sighting_lifetime, settings.sighting_refresh, settings.sighting_longest)
    reporting = Reporting(
        database=database,
        catalogue=resources.services.of(Catalogue),
        categories=categories,
        known=known,
        lifetimes=lifetimes,
        clock=clock,
        most=settings.sighting_reports,
    )
    areas, changes = reporting.areas, reporting.changes
    broadcast = await resources.closing.enter_async_context(SightingBroadcast(database, changes.sequence, clock))
    resources.endings.add(broadcast.end)
    return (
        *(categories, known, lifetimes, areas, reporting, reporting.confirming, reporting.adopting),
        *(changes, broadcast, CollectedReports(database)),
        Sightings(database, clock, categories, longest_s=lifetimes.longest_kept),
    )


DOMAIN = Domain(
    name="sightings",
    requires=("earthquakes",),  # what people feel
    entities=ENTITIES,
    scopes=(SIGHTINGS_READ, SIGHTINGS_WRITE, SIGHTINGS_MODERATE),
    settings=SightingSettings,
    open=open_services,
    queries=(SightingQueries, TrendingQueries, AreaQueries, ProfileQueries),
    mutations=(ReportingMutations,),
    subscriptions=(SightingSubscriptions,),
    nodes=(Sighting,),
    contributions=(Contribution(Event, SightingsOfEvent),),
    scalars=SCALARS,
    examples=Path(__file__).parent / "examples",
    prepare=prepare,
    adoptions=ADOPTIONS,
)
