"""Watches of areas: which of them want a sighting."""

from collections.abc import Sequence
from pathlib import Path

from graph.domain import Domain, Resources
from graph.domains.area_watches.entities import AREA_WATCH, ENTITIES, FOREIGN
from graph.domains.area_watches.reported import REPORTED
from graph.domains.area_watches.schema import AreaWatch, AreaWatchMutations, AreaWatchQueries
from graph.domains.area_watches.settings import AreaWatchSettings
from graph.domains.area_watches.watcher import AreaWatcher
from graph.domains.area_watches.watches import AreaWatches
from graph.domains.sightings.changes import SightingChanges
from graph.domains.sightings.entities import ADOPTION
from graph.domains.triggers.event_types import EventTypes
from graph.domains.triggers.following import Follower, Followers
from graph.domains.triggers.outbox import Outbox
from graph.feed.adoption import Adoption, adopt_by


async def open_services(resources: Resources) -> Sequence[object]:
    """Open the watches, and let them follow the sightings."""
    database, services = resources.database, resources.services
    changes, most = services.of(SightingChanges), resources.settings.part(AreaWatchSettings).sighting_watches
    watches = AreaWatches(database, resources.clock, changes.sequence, most=most)
    services.of(Followers).append(Follower(database, AreaWatcher(changes, watches), services.of(Outbox)))
    services.of(EventTypes).append(REPORTED)
    return [watches]


DOMAIN = Domain(
    name="area_watches",
    requires=("triggers",),
    part_of="sightings",
    entities=ENTITIES,
    settings=AreaWatchSettings,
    open=open_services,
    queries=(AreaWatchQueries,),
    mutations=(AreaWatchMutations,),
    nodes=(AreaWatch,),
    adoptions=(Adoption(AREA_WATCH, ADOPTION, FOREIGN, adopt_by(AreaWatches, AreaWatches.adopt)),),
    examples=Path(__file__).parent / "examples",
)
