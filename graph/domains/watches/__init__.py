"""Watches of the catalogue: which of them want a version of an event."""

from collections.abc import Sequence
from pathlib import Path

from graph.domain import Domain, Resources
from graph.domains.earthquakes.revisions.history import History
from graph.domains.earthquakes.revisions.live import event_sequence
from graph.domains.earthquakes.schema.filter_json import selection_of_json
from graph.domains.triggers.endpoints import Endpoints
from graph.domains.triggers.event_types import EventTypes
from graph.domains.triggers.following import Follower, Followers
from graph.domains.triggers.outbox import Outbox
from graph.domains.watches.entities import ENTITIES
from graph.domains.watches.event_types import EARTHQUAKE_TYPES
from graph.domains.watches.known import KnownWatches
from graph.domains.watches.schema import Watch, WatchMutations, WatchQueries
from graph.domains.watches.settings import WatchSettings
from graph.domains.watches.watcher import Watcher
from graph.domains.watches.watches import Watches


async def open_services(resources: Resources) -> Sequence[object]:
    """Open the watches, and let them follow the catalogue."""
    database, clock, services = resources.database, resources.clock, resources.services
    endpoints, sequence = services.of(Endpoints), event_sequence(database)
    most = resources.settings.part(WatchSettings).max_watches
    watches = Watches(database, endpoints, sequence, clock, most=most)
    endpoints.deletions.append(watches.delete_of_endpoint)
    watcher = Watcher(sequence, History(database), KnownWatches(watches, selection_of_json))
    services.of(Followers).append(Follower(database, watcher, services.of(Outbox)))
    services.of(EventTypes)[:0] = EARTHQUAKE_TYPES
    return [watches]


DOMAIN = Domain(
    name="watches",
    requires=("earthquakes",),
    part_of="triggers",
    entities=ENTITIES,
    settings=WatchSettings,
    open=open_services,
    queries=(WatchQueries,),
    mutations=(WatchMutations,),
    nodes=(Watch,),
    examples=Path(__file__).parent / "examples",
)
