"""The watches of areas, in the table of the sightings."""

from graph.domains.area_watches.model import AreaWatch
from graph.domains.sightings.entities import BLIP
from graph.domains.sightings.model import LONGEST_USER
from graph.store.attributes import Text, Whole
from graph.store.conditions import Compare
from graph.store.entity import Entity
from graph.store.ordering import Ordering

AREA_WATCH = Entity("AREA_WATCH", BLIP, AreaWatch, key=("USER#{userId}", "WATCH#{areaSlug}#{category}#{watchId}"))

# By this, a sighting finds who watches for it.
AREA_WATCHER = Entity("AREA_WATCHER", BLIP, AreaWatch, key=("WATCHED#{areaSlug}#{category}", "{watchId}"))

AREA_WATCHES_MADE = Entity(  # so that a user who makes several at once gets no two alike, and no more than the limit
    "AREA_WATCHES_MADE",
    BLIP,
    key=("USER#{userId}", "WATCHES_MADE"),
    attributes=(
        Text("userId", shortest=1, longest=LONGEST_USER, in_key_alone=True),
        Whole("number", least=0),  # of watches until now, deleted ones among them
    ),
)

FOREIGN = Compare("since", "=", -1)  # a watch that another program has made, and that is not adopted

ENTITIES = (AREA_WATCH, AREA_WATCHER, AREA_WATCHES_MADE)

AREA_WATCHES = Ordering("areawatches", AREA_WATCH, BLIP.primary)
