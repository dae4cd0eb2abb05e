"""The queries of events: one by its id, and pages in the order of time or of magnitude."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from typing import Annotated, Any

from graph.api.connection_field import connection_field
from graph.api.context import Context, Info
from graph.api.fields import field
from graph.api.scalars import millis_ceil
from graph.api.selected import selected_attributes
from graph.domains.earthquakes import model
from graph.domains.earthquakes.catalogue import Catalogue, EventPage
from graph.domains.earthquakes.revisions.views import Deleted, View
from graph.domains.earthquakes.schema.event_order import EventOrder
from graph.domains.earthquakes.schema.events import PAGE_SIZE, event_page
from graph.domains.earthquakes.schema.filters import EventFilter, filter_facts
from graph.domains.earthquakes.schema.revisions import AsOfInput
from graph.domains.earthquakes.scopes import EVENTS_READ
from graph.domains.earthquakes.selection import Selection
from graph.store.ordering import PageRequest


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


class EventQueries:
    @field(
        "The event with this id or any alias of it; null if the catalogue does not have it. "
        "A deleted event has a `deletion`.",
        scope=EVENTS_READ,
        route="/earthquakes/event",
    )
    async def event(
        self,
        info: Info,
        event_id: Annotated[str, "USGS event id, such as `us7000kz6a`."],
        as_of: Annotated[AsOfInput | None, "The version of another time; by default the latest."] = None,
    ) -> model.Event | None:
        attributes = selected_attributes(info, model.Event)
        return await info.context.service(Catalogue).event(event_id, attributes, as_of.value if as_of else None)

    @connection_field(
        "Events in the order of time or of magnitude, by default the newest first.",
        lambda arguments: arguments["order_by"].cursors,
        scope=EVENTS_READ,
        size=PAGE_SIZE,
        route=model.CATALOGUE_ROUTE,
        facts=_facts,
    )
    async def events(
        self,
        info: Info,
        page: PageRequest,
        filter: Annotated[EventFilter | None, "Which events; by default all."] = None,
        order_by: Annotated[EventOrder, "Their order."] = EventOrder.TIME_DESC,
        as_of: Annotated[
            AsOfInput | None,
            "The catalogue of another time; by default the present one. Attributes that make no "
            "version, such as `felt`, are the last ones of the version.",
        ] = None,
        deleted: Annotated[Deleted, "Whether the list has deleted events."] = Deleted.EXCLUDE,
        updated_since: Annotated[
            datetime | None,
            "Only events of which anything was stored here at this time or later: "
            "a version, or values that make none, such as `felt`.",
        ] = None,
    ) -> EventPage:
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
