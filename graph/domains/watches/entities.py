"""The watches, in the table of the endpoints that hear of them."""

from graph.domains.triggers.entities import ENDPOINTS, USER
from graph.domains.watches.model import WATCH_ID, Watch
from graph.feed.sequence import SequenceEntities
from graph.store.entity import Entity
from graph.store.ordering import Ordering

WATCH = Entity("WATCH", ENDPOINTS, Watch, key=("WATCHES#{user_id}", "{watch_id}"))

WATCH_ENTRY = Entity(  # so that all watches can be read, of whichever user
    "WATCH_ENTRY",
    ENDPOINTS,
    key=("ALL_WATCHES", "{watch_id}"),
    attributes=(WATCH_ID, USER),
)

WATCH_CHANGES = SequenceEntities.of(
    ENDPOINTS, "WATCH_CHANGES", "WATCH_CHANGE", keys="watches", number="change", expires=True
)

ENTITIES = (WATCH, WATCH_ENTRY, WATCH_CHANGES.change, WATCH_CHANGES.latest)

OLDEST_FIRST = Ordering("triggerwatches", WATCH, ENDPOINTS.primary)
