"""Links to exports: the path and the query string by which the events of a list can be exported."""

from datetime import datetime
from typing import Annotated
from urllib.parse import urlencode

import orjson
import strawberry

from graph.api.fields import field
from graph.core.times import time_text
from graph.domains.earthquakes.catalogue import EventPage
from graph.domains.earthquakes.revisions.views import Deleted
from graph.domains.earthquakes.schema.event_order import EventOrder
from graph.domains.earthquakes.schema.filter_json import filter_as_json
from graph.domains.earthquakes.schema.filters import EventFilter
from graph.domains.earthquakes.schema.revisions import AsOfInput
from graph.domains.export.formats import ExportFormat


class ExportOfEvents:
    @field(
        "The address, relative to the service's root, that exports the events of all pages in one answer. "
        "Null for lists by magnitude, as of a time of `published` or of the first versions, which "
        "exports do not have. A caller with a token sends the token there, too.",
        reads=[],
        before="bucketsScanned",
    )
    @staticmethod
    def export_url(
        page: strawberry.Parent[EventPage],
        format: Annotated[ExportFormat, "Its format."],
    ) -> str | None:
        return export_url(format, **page.arguments) if page.arguments else None


def export_url(
    format_: ExportFormat,
    *,
    filter: EventFilter | None,
    order_by: EventOrder,
    as_of: AsOfInput | None,
    deleted: Deleted,
    updated_since: datetime | None,
) -> str | None:
    """The path that exports the events of a list with these arguments, relative to the service's root.

    None if no export has such a list.
    """
    if order_by.by_magnitude or (as_of and not as_of.recorded):
        return None
    parameters = {"orderBy": order_by.name, "deleted": deleted.name}
    times = {"asOf": as_of.recorded if as_of else None, "updatedSince": updated_since}
    parameters |= {name: time_text(time) for name, time in times.items() if time is not None}
    if filter is not None and (given := filter_as_json(filter)):
        parameters["filter"] = orjson.dumps(given).decode()
    return f"{format_.path}?{urlencode(parameters)}"
