"""Filters of events as JSON: in links to exports, and in the store.

A stored filter is read by later versions of the service too. So a field of `EventFilter` keeps its name, its type and
its meaning, and a new one is optional.
"""

from collections.abc import Mapping
from dataclasses import fields
from datetime import datetime
from enum import Enum
from typing import Any

from graph.api.text_arguments import TextArguments
from graph.core.names import camel_case
from graph.core.times import time_text
from graph.domains.earthquakes.schema.filters import EventFilter
from graph.domains.earthquakes.selection import Selection


def filter_as_json(filter: EventFilter) -> dict[str, Any]:
    """A filter by the names of the graph, without what is null. Times are texts of RFC 3339, or dates."""
    return _given(filter)


def selection_of_json(json: Mapping[str, Any]) -> Selection:
    """Read a filter as the graph reads a variable. It takes some 0.2 ms.

    Raises:
        BadUserInput: A field is unknown, or has an impossible value.
    """
    return _SELECTIONS.read_json({"filter": json})


def _given(input_: Any) -> dict[str, Any]:
    """An input object as JSON, without what is null."""
    values = {camel_case(field.name): getattr(input_, field.name) for field in fields(input_)}
    return {name: _written(value) for name, value in values.items() if value is not None}


def _written(value: Any) -> Any:
    match value:
        case datetime():
            return time_text(value)
        case Enum():
            return value.name
        case list():
            return [_written(each) for each in value]
        case _ if hasattr(value, "__strawberry_definition__"):
            return _given(value)
    return value


def _selection(filter: EventFilter | None = None) -> Selection:
    return filter.selection if filter else Selection()


_SELECTIONS = TextArguments(_selection, spread="filter")
