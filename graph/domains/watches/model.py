"""A watch, the kinds of changes that it tells apart, and the order of a user's watches."""

from collections.abc import Mapping
from enum import Enum
from typing import Any

from graph.core.days import datetime_of
from graph.domains.earthquakes.revisions.versions import RevisionKind
from graph.domains.watches.entities import WATCH
from graph.store.ordering import Ordering
from graph.store.records import Record, Stored


class ChangeKind(Enum):
    """What happened to an event of the catalogue."""

    CREATED = "CREATED"
    REVISED = "REVISED"
    DELETED = "DELETED"


OF_REVISION: Mapping[RevisionKind, ChangeKind] = {
    RevisionKind.CREATED: ChangeKind.CREATED,
    RevisionKind.REVISED: ChangeKind.REVISED,
    RevisionKind.RENAMED: ChangeKind.REVISED,
    RevisionKind.RESTORED: ChangeKind.REVISED,
    RevisionKind.DELETED: ChangeKind.DELETED,
    RevisionKind.MERGED: ChangeKind.DELETED,
}
"""Kind of a version → kind of the change."""


class Watch(Record):
    """What a user wants to hear of the catalogue."""

    __slots__ = ()

    user_id = Stored[str]("user_id")
    watch_id = Stored[str]("watch_id")
    name = Stored[str]("name")
    filter = Stored[Mapping[str, Any]]("filter")
    kinds = Stored[list[str]]("kinds")
    endpoint_id = Stored[str | None]("endpoint_id", optional=True)
    since = Stored[int]("since")
    created_at = Stored("created_at", datetime_of)

    @property
    def identity(self) -> tuple[str, str]:
        """Type and key, unique in the graph for its user."""
        return "Watch", self.watch_id


WATCHES = Ordering("triggerwatches", WATCH, WATCH.table.primary)
