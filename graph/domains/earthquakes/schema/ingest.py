"""Ingests and the ingest status."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Annotated, Any

import strawberry
from strawberry import auto

from graph.api import relay
from graph.api.context import Context, Info
from graph.api.fields import Options, field, optional, shows
from graph.api.mutations import mutation
from graph.api.record_type import record_input, record_type, value_type
from graph.api.scalars import ByteCount, EpochMillis, millis_ceil, millis_floor, millis_of
from graph.api.selected import selected_attributes
from graph.api.sizes import ListSize
from graph.core.errors import BadUserInput
from graph.domains.earthquakes import model
from graph.domains.earthquakes.catalogue import Catalogue
from graph.domains.earthquakes.ingest import report, status
from graph.domains.earthquakes.ingest.ingest import EVENTS_ROUTE, RECENT_ROUTE, Ingest
from graph.domains.earthquakes.ingest.write import Outcome
from graph.domains.earthquakes.rules import EventRejection
from graph.domains.earthquakes.schema.events import Event
from graph.domains.earthquakes.scopes import EVENTS_READ, EVENTS_WRITE
from graph.domains.earthquakes.usgs import requests as usgs_requests
from graph.store.query import Needed

value_type(status.IngestStatus, computed=["newest_event_lag_seconds"])


class IngestQueries:
    @field(
        "The state of polling USGS, and the age of the newest event.",
        scope=EVENTS_READ,
        cost=10,  # at most as many reads of the store
        route="/ingest/status",
    )
    async def ingest_status(self, info: Info) -> status.IngestStatus:
        return await info.context.service(status.IngestStatusReader).status()


strawberry.enum(Outcome, name="IngestOutcome")


async def load_events(context: Context, event_ids: Sequence[str], attributes: Needed) -> dict[str, model.Event]:
    """The events with these ids or aliases."""
    catalogue = context.service(Catalogue)
    found = await catalogue.events(event_ids, attributes)
    for alias in set(event_ids) - found.keys():
        if event := await catalogue.event(alias, attributes):
            found[alias] = event
    return found


@record_type(report.IngestedEvent)
class IngestedEvent:
    @field("The event as it is now; null if none has the id.", scope=EVENTS_READ, cost=2)
    @staticmethod
    async def event(ingested: strawberry.Parent[report.IngestedEvent], info: Info) -> model.Event | None:
        attributes = selected_attributes(info, model.Event)
        return await info.context.loader(load_events, attributes).load(ingested.event_id)


value_type(EventRejection, event_id={"of": strawberry.ID | None}, index={"of": int})


def payload_of(mutation: str, **single: Options) -> Any:
    """The payload of an ingest, with options of single fields."""
    return value_type(
        report.IngestReport,
        f"{mutation}Payload",
        upstream_size={"of": ByteCount | None},
        computed=["events"],
        **single,
    )


@strawberry.input(description="What to fetch from USGS: the latest events, a feed, a time range, or what changed.")
class IngestRecentInput:
    limit: int | None = optional(
        "The most events, latest first, 1 … 20,000; default 100, for a time range or changes 20,000."
    )
    feed: usgs_requests.UsgsFeed | None = optional("A summary feed, without any other argument.")
    start_time: datetime | None = optional("Earliest origin time, inclusive.")
    end_time: datetime | None = optional("Latest origin time, inclusive. A date includes that whole day.")
    min_magnitude: float | None = optional("Least magnitude, inclusive.")
    updated_since: datetime | None = optional(
        "Only events that USGS has changed or deleted since, inclusive. Without `startTime`, of any origin time.",
    )

    @property
    def recent_events(self) -> usgs_requests.RecentEvents:
        """The input for the USGS client."""
        return usgs_requests.RecentEvents(
            limit=self.limit,
            feed=self.feed,
            start_ms=millis_ceil(self.start_time) if self.start_time else None,
            end_ms=millis_floor(self.end_time) if self.end_time else None,
            min_magnitude=self.min_magnitude,
            updated_since=millis_floor(self.updated_since) if self.updated_since else None,
        )


@record_input(
    model.Event,
    [name for name in model.DETAILS if name != "updated"],
    description="An event of a caller, which must follow the catalogue's rules.",
)
class EventInput:
    event_id: strawberry.ID = strawberry.field(
        description="Event id, 1 to 64 characters, without control characters, or the event's global id."
    )
    event_ts_ms: EpochMillis | None = optional(
        "As documented: origin time, epoch milliseconds. An event needs either this or `time`."
    )
    time: datetime | None = optional(
        "Origin time, to the millisecond; a date means its beginning, UTC. An event needs either this or `eventTsMs`.",
    )
    mag: float = strawberry.field(description="Magnitude; clamped to -2.0 … 10.0.")
    place: str | None = optional("The name of the place, cut after 512 characters; by default the coordinates.")
    lat: auto
    lon: auto
    depth: float | None = optional("Depth, km; negative is stored as 0.")
    source: str = strawberry.field(default="USGS", description="The source of the record.")
    status: auto = optional("`automatic`, `reviewed` or `deleted`.")
    updated_at: datetime | None = optional("The source's last change; without it, no stored event is revised.")
    url: auto = optional("The event's page.")
    tsunami: auto = optional("Whether a tsunami message was linked.")
    ids: auto = optional("Every id of the event, in any network.")
    types: auto = optional("The types of the source's products.")
    detail: auto = optional("Address of the event's full description.")

    @property
    def own_id(self) -> str | bool:
        """The event's own id; no text for the id of another type, which the catalogue's rules reject."""
        try:
            return relay.key_of(Event, self.event_id, "eventId")
        except BadUserInput:
            return False

    @property
    def values(self) -> Mapping[str, Any]:
        """The values as JSON has them."""
        times = {"time": self.time, "updated": self.updated_at}
        return {
            **vars(self),
            "event_id": self.own_id,
            **{name: millis_of(time) for name, time in times.items() if time is not None},
        }


@strawberry.input(description="Events to store.")
class IngestEventsInput:
    events: list[EventInput] = shows("At most 1,000.")


class IngestMutations:
    @field(
        "Fetch events from USGS, and store the new ones and new versions of stored ones.",
        scope=EVENTS_WRITE,
        cost=100,  # it waits for another service
        of=payload_of("IngestRecent", events={"size": report.EVENTS_LISTED}),
        size=ListSize(assumed_size=report.REJECTIONS_LISTED, sized_fields=["rejections"]),
        route=RECENT_ROUTE,
    )
    async def ingest_recent(
        self,
        info: Info,
        input: Annotated[IngestRecentInput | None, "What to fetch; by default the latest 100 events."] = None,
    ) -> report.IngestReport:
        return await info.context.service(Ingest).recent(input.recent_events if input else usgs_requests.RecentEvents())

    @mutation(
        "Store events: new ones, and new versions of stored ones, which have a later `updatedAt`. "
        "The status `deleted` deletes one.",
        scope=EVENTS_WRITE,
        of=payload_of("IngestEvents"),
        size=ListSize(slicing_arguments=["input.events"], sized_fields=["events", "rejections"]),
        route=EVENTS_ROUTE,
    )
    async def ingest_events(self, info: Info, input: IngestEventsInput) -> report.IngestReport:
        return await info.context.service(Ingest).events([event.values for event in input.events])
