"""The watches, in the table of the endpoints that hear of them."""

from graph.domains.triggers.entities import ENDPOINTS, USER
from graph.domains.triggers.model import LONGEST_ID, LONGEST_NAME
from graph.feed.sequence import SequenceEntities
from graph.store.attributes import Document, Text, Whole
from graph.store.entity import Entity

LARGEST_FILTER = 65_536  # bytes

WATCH_ID = Text("watch_id", shortest=LONGEST_ID, longest=LONGEST_ID, unit="UUID v7")

WATCH = Entity(
    "WATCH",
    ENDPOINTS,
    key=("WATCHES#{user_id}", "{watch_id}"),
    attributes=(
        USER,
        WATCH_ID,
        Text("name", shortest=1, longest=LONGEST_NAME),
        Document("filter", largest=LARGEST_FILTER),  # an `EventFilter` as JSON
        Document("kinds", largest=256),
        Text("endpoint_id", longest=LONGEST_ID, optional=True),  # absent: for the inbox only
        Whole("since", least=0, unit="sequence number"),
        Whole("created_at", unit="epoch ms"),
    ),
)

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
