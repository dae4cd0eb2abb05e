"""The parameters of an export: the arguments of `events`, as far as an export takes them."""

from dataclasses import replace
from datetime import datetime

from graph.api.scalars import millis_ceil, millis_floor
from graph.api.text_arguments import Parameters, TextArguments
from graph.core.errors import BadUserInput, InvalidCursor
from graph.core.paging import Position
from graph.domains.earthquakes import model
from graph.domains.earthquakes.revisions.views import Deleted
from graph.domains.earthquakes.schema.event_order import EventOrder
from graph.domains.earthquakes.schema.filters import EventFilter
from graph.domains.earthquakes.selection import Selection
from graph.domains.export.source import ExportRequest


def export_request(parameters: Parameters) -> ExportRequest:
    """Read the parameters of an export: `filter` as JSON or its fields one by one, and the others by their names.

    Raises:
        BadUserInput: A parameter is unknown, or has an impossible value.
        InvalidCursor: `after` is neither a cursor of `events` nor an event's id.
    """
    return _ARGUMENTS.read(parameters)


def _request(
    filter: EventFilter | None = None,
    order_by: EventOrder = EventOrder.TIME_DESC,
    after: str | None = None,
    as_of: datetime | None = None,
    deleted: Deleted = Deleted.EXCLUDE,
    updated_since: datetime | None = None,
) -> ExportRequest:
    if order_by.by_magnitude:
        raise BadUserInput("An export is in order of time: `orderBy` must be TIME_DESC or TIME_ASC.")
    selection = filter.selection if filter else Selection()
    return ExportRequest(
        replace(selection, updated_since_ms=millis_ceil(updated_since)) if updated_since else selection,
        ascending=order_by.ascending,
        after=_after(after) if after is not None else None,
        as_of_ms=millis_floor(as_of) if as_of else None,
        deleted=deleted,
    )


_ARGUMENTS = TextArguments(_request, spread="filter")


def _after(text: str) -> Position | str:
    """A cursor of `events`, or an event's id."""
    try:
        return model.BY_TIME.place_of(text, "after")
    except InvalidCursor:
        if not model.possible_id(text):
            raise
        return text
