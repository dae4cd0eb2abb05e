"""Instants: a `DateTime` of an attribute in epoch milliseconds. A test compares the whole schema with the rule.

    recorded_at: datetime = time_field("recorded_at", "When this version was stored here.", "recordedAt", "ingestedAt")

Its name ends with `At`. Only an attribute of the documents keeps its name and unit, with a `DateTime` beside it.
"""

from typing import Any

import strawberry

from graph.api.feeds import reads_feeds
from graph.api.selected import needs
from graph.core.days import possible_datetime


def time_field(attribute: str, description: str, *needed: str) -> Any:
    """A field with the time of an attribute in epoch milliseconds.

    It is null if the attribute is None, or a time that the calendar does not have.

    Args:
        attribute: of the object that the resolver gets.
        needed: what the attribute needs of a record, if it is one.
    """

    def resolve(parent: strawberry.Parent[Any]) -> Any:
        time_ms = getattr(parent, attribute)
        return None if time_ms is None else possible_datetime(time_ms)

    return strawberry.field(description=description, resolver=resolve, metadata={**needs(*needed), **reads_feeds(())})
