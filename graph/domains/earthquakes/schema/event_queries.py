"""The queries of events, as they are and as they were: one by its id, and pages by time or by magnitude."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from typing import Annotated, Any

import strawberry

from graph.api import relay
from graph.api.connection_field import connection_field
from graph.api.context import Context, Info
from graph.api.fields import field
from graph.api.scalars import millis_ceil
from graph.api.selected import selected_attributes
from graph.domains.earthquakes import model
from graph.domains.earthquakes.catalogue import Catalogue, EventPage
from graph.domains.earthquakes.entities import EVENT_SEQUENCE
from graph.domains.earthquakes.revisions.views import Deleted, View
from graph.domains.earthquakes.schema.event_order import EventOrder
from graph.domains.earthquakes.schema.events import PAGE_SIZE, Event, EventVersionConnection, event_page
from graph.domains.earthquakes.schema.filters import EventFilter, filter_facts
from graph.domains.earthquakes.schema.revisions import AsOfInput
from graph.domains.earthquakes.scopes import EVENTS_READ
from graph.domains.earthquakes.selection import Selection
from graph.store.ordering import Order, PageRequest


def _facts(context: Context, arguments: Mapping[str, Any], page: EventPage | None) -> dict[str, Any]:
    """The facts of an events query's filter and page for its request log."""
    sizes = [size for size in (arguments.get("first"), arguments.get("last")) if size is not None]
    facts: dict[str, Any] = {"page_size": sizes[0] if sizes else context.page_sizes.default}
    facts |= filter_facts(context, arguments, page)
    if page and page.was_read:
        facts["result_count"] = len(page.records)
        facts["has_next_token"] = page.has_more
        facts["buckets_scanned"] = page.partitions
    return facts


EventId = Annotated[strawberry.ID, "USGS event id, such as `us7000kz6a`, or the event's global id."]
Filter = Annotated[EventFilter | None, "Which events; by default all."]
OrderBy = Annotated[EventOrder, "Their order."]
Listed = Annotated[Deleted, "Whether the list has deleted events."]
_LIST: Any = {"scope": EVENTS_READ, "size": PAGE_SIZE, "feeds": [EVENT_SEQUENCE], "facts": _facts}


def _cursors(arguments: Mapping[str, Any]) -> Order:
    order: EventOrder = arguments["order_by"]
    return order.cursors


class EventQueries:
    @field(
        "The event with this id or any alias of it, as it is now; null if the catalogue does not have it. "
        "A deleted event has a `deletion`.",
        scope=EVENTS_READ,
        feeds=[EVENT_SEQUENCE],
        route="/earthquakes/event",
    )
    async def event(self, info: Info, event_id: EventId) -> model.Event | None:
        return await info.context.service(Catalogue).event(
            relay.key_of(Event, event_id, "eventId"), selected_attributes(info, model.Event)
        )

    @field(
        "The event with this id or any alias of it, as it was; null if it was not known then.",
        scope=EVENTS_READ,
        feeds=[EVENT_SEQUENCE],
        route="/earthquakes/version",
    )
    async def event_version(
        self, info: Info, event_id: EventId, as_of: Annotated[AsOfInput, "The time."]
    ) -> model.EventVersion | None:
        return await info.context.service(Catalogue).version(relay.key_of(Event, event_id, "eventId"), as_of.value)

    @connection_field(
        "Events as they are now, in the order of time or of magnitude, by default the newest first.",
        _cursors,
        route=model.CATALOGUE_ROUTE,
        **_LIST,
    )
    async def events(
        self,
        info: Info,
        page: PageRequest,
        filter: Filter = None,
        order_by: OrderBy = EventOrder.TIME_DESC,
        deleted: Listed = Deleted.EXCLUDE,
        updated_since: Annotated[
            datetime | None,
            "Only events of which anything was stored here at this time or later: "
            "a version, or values that make none, such as `felt`.",
        ] = None,
    ) -> EventPage:
        return await _page(info, page, filter, order_by, None, deleted, updated_since)

    @connection_field(
        "Events as they were, in the order of time or of magnitude, by default the newest first. Attributes that make "
        "no version, such as `felt`, are the last ones of the version.",
        _cursors,
        of=EventVersionConnection,
        route="/earthquakes/versions",
        **_LIST,
    )
    async def event_versions(
        self,
        info: Info,
        page: PageRequest,
        as_of: Annotated[AsOfInput, "The time."],
        filter: Filter = None,
        order_by: OrderBy = EventOrder.TIME_DESC,
        deleted: Listed = Deleted.EXCLUDE,
    ) -> EventPage:
        return await _page(info, page, filter, order_by, as_of, deleted)


async def _page(
    info: Info,
    page: PageRequest,
    filter: EventFilter | None,
    order_by: EventOrder,
    as_of: AsOfInput | None,
    deleted: Deleted,
    updated_since: datetime | None = None,
) -> EventPage:
    """A page of a root field, which knows the arguments of its list."""
    selection = filter.selection if filter else Selection()
    if updated_since:
        selection = replace(selection, updated_since_ms=millis_ceil(updated_since))
    view = View(as_of.value if as_of else None, deleted)
    arguments = {
        "filter": filter,
        "order_by": order_by,
        "as_of": as_of,
        "deleted": deleted,
        "updated_since": updated_since,
    }
    return replace(await event_page(info, selection, page, order_by, view), arguments=arguments)
