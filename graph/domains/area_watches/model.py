"""A watch of an area, and the order of a user's watches."""

from graph.core.days import datetime_of
from graph.domains.area_watches.entities import AREA_WATCH
from graph.store.ordering import Ordering
from graph.store.records import Record, Stored


class AreaWatch(Record):
    """An area and a category whose sightings a user wants to hear of."""

    __slots__ = ()

    user_id = Stored[str]("userId")
    watch_id = Stored[str]("watchId")
    area_slug = Stored[str]("areaSlug")
    category = Stored[str]("category")  # or `ALL`
    since = Stored[int]("since")
    created_at = Stored("createdAt", datetime_of)

    @property
    def identity(self) -> tuple[str, str]:
        """Type and key, unique in the graph for its user."""
        return "AreaWatch", self.watch_id


AREA_WATCHES = Ordering("areawatches", AREA_WATCH, AREA_WATCH.table.primary)
