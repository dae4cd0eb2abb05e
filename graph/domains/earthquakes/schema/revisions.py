"""Versions of events: what changed, when it was published, and when it was stored here."""

from datetime import datetime
from typing import TYPE_CHECKING, Annotated

import strawberry

from graph.api.fields import shows
from graph.api.record_type import record_type
from graph.api.scalars import millis_floor
from graph.api.sizes import ListSize
from graph.api.times import time_field
from graph.domains.earthquakes.revisions import model as records
from graph.domains.earthquakes.revisions.versions import TRACKED, RevisionKind
from graph.domains.earthquakes.revisions.views import AsOf, Deleted

if TYPE_CHECKING:
    from graph.domains.earthquakes.schema.events import EventVersion

strawberry.enum(Deleted, name="DeletedEvents")


@strawberry.input(name="AsOf", one_of=True, description="The time at which the catalogue is seen.")
class AsOfInput:
    recorded: datetime | None = shows(
        "As it was stored here at this time; a date means its end.", default=strawberry.UNSET
    )
    published: datetime | None = shows(
        "As its sources had published it at this time, as far as this is known; a date means its end.",
        default=strawberry.UNSET,
    )
    first: bool | None = shows("The first stored version of each event; must be true.", default=strawberry.UNSET)

    @property
    def value(self) -> AsOf:
        """The time for the catalogue."""
        return AsOf(
            recorded_ms=millis_floor(self.recorded) if self.recorded else None,
            published_ms=millis_floor(self.published) if self.published else None,
            first=bool(self.first),
        )


@strawberry.type(description="An id that finds an event.")
class EventAlias:
    event_id: strawberry.ID = strawberry.field(description="The id.")
    preferred: bool = strawberry.field(description="Whether the source prefers it now.")


@strawberry.type(description="The deletion of an event by its source.")
class Deletion:
    recorded_ms: strawberry.Private[int]
    published_ms: strawberry.Private[int | None]
    recorded_at: datetime = time_field("recorded_ms", "When it was stored here.")
    published_at: datetime | None = time_field("published_ms", "When the source published it.")


@record_type(records.EventRevision, "One version of an event.", pages="versions of an event")
class EventRevision:
    number: int = shows("From 1, without gaps.")
    kind: RevisionKind = shows("What made the version.")
    published_at: datetime | None = time_field(
        "published_at", "When the source published it; null if it did not say.", "publishedAt"
    )
    recorded_at: datetime = time_field("recorded_at", "When it was stored here.", "recordedAt")
    seconds_after_origin: float | None = shows(
        "The time from the earthquake to the publication, seconds; null if it is not known."
    )
    changes: list[records.RevisionChange] = shows(
        "The tracked values that differ from the version before; none of the first version.",
        directives=[ListSize(assumed_size=len(TRACKED))],
    )
    event: Annotated["EventVersion", strawberry.lazy("graph.domains.earthquakes.schema.events")] = shows(
        "The event as it was."
    )
