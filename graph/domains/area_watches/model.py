"""A watch of an area."""

from datetime import datetime
from uuid import UUID, uuid5

from graph.core.days import datetime_of
from graph.core.times import utc_time
from graph.core.uuid7 import is_like_uuid7
from graph.domains.sightings.model import CATEGORY, LONGEST_ID, LONGEST_NAME, SLUG, USER_ID, Moment
from graph.store.attributes import Text, Whole
from graph.store.entity import Item
from graph.store.records import Converted, Record, optional, stored

OTHERS = UUID("01979a1b-52f8-7c31-8e4d-6b0f9d2a7c15")  # the namespace of unique ids
WATCH_ID = Text(shortest=1, longest=LONGEST_ID, unit="UUID v7")


def unique_id(watch: Item) -> str:
    """An id of a watch that no other has: its own one if it is like ours. Other programs may number each user's."""
    own = watch["watchId"]
    if is_like_uuid7(own):
        return str(own)
    return str(uuid5(OTHERS, "\x1f".join([watch[name] for name in ("userId", "areaSlug", "category", "watchId")])))


def _time_of(moment: int | str) -> datetime:
    return utc_time(moment) if isinstance(moment, str) else datetime_of(moment)


class AreaWatch(Record):
    """An area whose sightings the caller wants to hear of, as trigger events."""

    watch_id = stored("watchId", WATCH_ID, "The watch's own id; a UUID, if this service stored it.")
    user_id = stored("userId", USER_ID)
    area_slug = stored("areaSlug", SLUG, "The slug of the area.")
    category = stored("category", CATEGORY)  # or `ALL`
    area_in_key = optional("areaInKey", Text(longest=LONGEST_NAME))  # how its documented key names the area
    id_in_key = optional("idInKey", WATCH_ID)  # its own id, where `watchId` is one that no other watch has
    # Of the last change that it does not tell of; -1 if another program made it, and it is not adopted yet.
    since = stored("since", Whole(least=-1, unit="sequence number", absent=-1))
    created_at = optional("createdAt", Converted(Moment(unit="epoch ms"), _time_of))

    @property
    def identity(self) -> tuple[str, str]:
        """Type and key, unique in the graph for its user."""
        return "AreaWatch", self.watch_id
