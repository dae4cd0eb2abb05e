"""A watch of an area."""

from datetime import datetime

from graph.core.days import datetime_of
from graph.domains.sightings.iso import time_of
from graph.domains.sightings.model import CATEGORY, LONGEST_ID, LONGEST_NAME, SLUG, USER_ID, Moment
from graph.store.attributes import Text, Whole
from graph.store.records import Converted, Record, optional, stored

WATCH_ID = Text(shortest=1, longest=LONGEST_ID, unit="UUID v7")


def _time_of(moment: int | str) -> datetime:
    return time_of(moment) if isinstance(moment, str) else datetime_of(moment)


class AreaWatch(Record):
    """An area and a category whose sightings a user wants to hear of."""

    __slots__ = ()

    watch_id = stored("watchId", WATCH_ID, "The watch's own id; a UUID, if this service stored it.")
    user_id = stored("userId", USER_ID)
    area_slug = stored("areaSlug", SLUG, "The slug of the area.")
    category = stored("category", CATEGORY)  # or `ALL`
    area_in_key = optional("areaInKey", Text(longest=LONGEST_NAME))  # how its documented key names the area
    # Of the last change that it does not tell of; -1 if another program made it, and it is not adopted yet.
    since = stored("since", Whole(least=-1, unit="sequence number", absent=-1))
    created_at = optional("createdAt", Converted(Moment(unit="epoch ms"), _time_of))

    @property
    def identity(self) -> tuple[str, str]:
        """Type and key, unique in the graph for its user."""
        return "AreaWatch", self.watch_id
