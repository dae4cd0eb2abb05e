"""A watch, and the kinds of changes that it tells apart."""

from collections.abc import Mapping
from typing import Any

from graph.core.described import DescribedText
from graph.domains.earthquakes.revisions.versions import RevisionKind
from graph.domains.triggers.model import LONGEST_ID, LONGEST_NAME, MILLIS, USER
from graph.store.attributes import JsonDocument, Text, Whole
from graph.store.records import Record, Stored, optional, stored

LARGEST_FILTER = 65_536  # bytes

WATCH_ID = Text("watch_id", shortest=LONGEST_ID, longest=LONGEST_ID, unit="UUID v7")


class ChangeKind(DescribedText):
    """What happened to an event of the catalogue."""

    CREATED = "CREATED", "It was stored: an event of the type `earthquake.created`."
    REVISED = "REVISED", "It was revised, renamed or restored: `earthquake.revised`."
    DELETED = "DELETED", "It was deleted, or merged into another one: `earthquake.deleted`."


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
    """What the caller wants to hear of the catalogue, as trigger events."""

    user_id = stored("user_id", USER)
    watch_id = stored("watch_id", WATCH_ID, "The watch's own id, a UUID.")
    name = stored("name", Text(shortest=1, longest=LONGEST_NAME), "Its name.")
    filter: Stored[Mapping[str, Any]] = stored(
        "filter", JsonDocument(largest=LARGEST_FILTER), "Which events it is about: an `EventFilter` as it was given."
    )
    kinds: Stored[list[str]] = stored("kinds", JsonDocument(largest=256), "Which changes of them it is about.")
    endpoint_id = optional(
        "endpoint_id",
        Text(longest=LONGEST_ID),
        "The endpoint that its events are delivered to; null for the inbox only.",
    )
    since = stored("since", Whole(least=0, unit="sequence number"))
    created_at = stored("created_at", MILLIS, "When it was created.")

    @property
    def identity(self) -> tuple[str, str]:
        """Type and key, unique in the graph for its user."""
        return "Watch", self.watch_id
