"""Links to exports: the path and the query string by which the events of a field can be exported."""

from dataclasses import fields
from datetime import datetime
from enum import Enum
from typing import Any
from urllib.parse import urlencode

import orjson
from strawberry.utils.str_converters import to_camel_case

from graph.domains.earthquakes.export.formats import ExportFormat, path_of


def export_url(
    format_: ExportFormat,
    *,
    filter_: Any,
    order_by: Enum,
    as_of: datetime | None,
    deleted: Enum,
    updated_since: datetime | None,
) -> str:
    """The path that exports the events of a field with these arguments, relative to the service's root.

    Args:
        filter_: an input object of Strawberry; None for all events.
        as_of: when they were recorded; None for now.
    """
    parameters = {"orderBy": order_by.name, "deleted": deleted.name}
    times = {"asOf": as_of, "updatedSince": updated_since}
    parameters |= {name: time.isoformat() for name, time in times.items() if time is not None}
    if filter_ is not None and (given := _given(filter_)):
        parameters["filter"] = orjson.dumps(given).decode()
    return f"{path_of(format_)}?{urlencode(parameters)}"


def _given(input_: Any) -> dict[str, Any]:
    """An input object as JSON, without what is null."""
    values = {to_camel_case(field.name): getattr(input_, field.name) for field in fields(input_)}
    return {name: _written(value) for name, value in values.items() if value is not None}


def _written(value: Any) -> Any:
    match value:
        case datetime():
            return value.isoformat()
        case Enum():
            return value.value
        case list():
            return [_written(each) for each in value]
        case _ if hasattr(value, "__strawberry_definition__"):
            return _given(value)
    return value
