"""A watch of an area."""

from graph.domains.sightings.model import AREA_SLUG, CATEGORY, ID_LENGTH, USER_ID
from graph.domains.triggers.model import MILLIS
from graph.store.attributes import Text, Whole
from graph.store.records import Record, stored

WATCH_ID = Text(shortest=ID_LENGTH, longest=ID_LENGTH, unit="UUID v7")


class AreaWatch(Record):
    """An area and a category whose sightings a user wants to hear of."""

    __slots__ = ()

    watch_id = stored("watchId", WATCH_ID, "The watch's own id, a UUID.")
    user_id = stored("userId", USER_ID)
    area_slug = stored("areaSlug", AREA_SLUG, "The slug of the area.")
    category = stored("category", CATEGORY)  # or `ALL`
    since = stored("since", Whole(least=0, unit="sequence number"))  # of the last change that it does not tell of
    created_at = stored("createdAt", MILLIS, "When it was created.")

    @property
    def identity(self) -> tuple[str, str]:
        """Type and key, unique in the graph for its user."""
        return "AreaWatch", self.watch_id
