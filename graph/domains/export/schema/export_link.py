"""Links to exports: the path and the query string by which the events of a field can be exported."""

from datetime import datetime
from enum import Enum
from urllib.parse import urlencode

import orjson

from graph.core.times import time_text
from graph.domains.earthquakes.schema.filter_json import filter_as_json
from graph.domains.earthquakes.schema.filters import EventFilter
from graph.domains.export.formats import ExportFormat, path_of


def export_url(
    format_: ExportFormat,
    *,
    filter_: EventFilter | None,
    order_by: Enum,
    as_of: datetime | None,
    deleted: Enum,
    updated_since: datetime | None,
) -> str:
    """The path that exports the events of a field with these arguments, relative to the service's root.

    Args:
        filter_: None for all events.
        as_of: when they were recorded; None for now.
    """
    parameters = {"orderBy": order_by.name, "deleted": deleted.name}
    times = {"asOf": as_of, "updatedSince": updated_since}
    parameters |= {name: time_text(time) for name, time in times.items() if time is not None}
    if filter_ is not None and (given := filter_as_json(filter_)):
        parameters["filter"] = orjson.dumps(given).decode()
    return f"{path_of(format_)}?{urlencode(parameters)}"
