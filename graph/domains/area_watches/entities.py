"""The watches of areas, in the table of the sightings."""

from graph.domains.sightings.entities import AREA_SLUG, BLIP, CATEGORY, ID_LENGTH, LONGEST_USER, USER_ID
from graph.store.attributes import Text, Whole
from graph.store.entity import Entity

WATCH_ID = Text("watchId", shortest=ID_LENGTH, longest=ID_LENGTH, unit="UUID v7")
AREA_WATCH_ATTRIBUTES = (
    WATCH_ID,
    USER_ID,
    AREA_SLUG,
    CATEGORY,  # or ALL
    Whole("since", least=0, unit="sequence number"),  # of the last change that it does not tell of
    Whole("createdAt", unit="epoch ms"),
)

AREA_WATCH = Entity(
    "AREA_WATCH",
    BLIP,
    key=("USER#{userId}", "WATCH#{areaSlug}#{category}#{watchId}"),
    attributes=AREA_WATCH_ATTRIBUTES,
)

AREA_WATCHER = Entity(  # by which a sighting finds who watches for it
    "AREA_WATCHER",
    BLIP,
    key=("WATCHED#{areaSlug}#{category}", "{watchId}"),
    attributes=AREA_WATCH_ATTRIBUTES,
)

AREA_WATCHES_MADE = Entity(  # so that a user who makes several at once gets no two alike, and no more than the limit
    "AREA_WATCHES_MADE",
    BLIP,
    key=("USER#{userId}", "WATCHES_MADE"),
    attributes=(
        Text("userId", shortest=1, longest=LONGEST_USER, in_key_alone=True),
        Whole("number", least=0),  # of watches until now, deleted ones among them
    ),
)

ENTITIES = (AREA_WATCH, AREA_WATCHER, AREA_WATCHES_MADE)
