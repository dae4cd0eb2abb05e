"""The orders of events, and the cursors that belong to them."""

from enum import Enum

import strawberry

from graph.domains.earthquakes.catalogue.by_magnitude import BY_MAGNITUDE
from graph.domains.earthquakes.model import BY_TIME
from graph.store.ordering import Order


@strawberry.enum(description="The order of events. Orders by time and orders by magnitude have different cursors.")
class EventOrder(Enum):
    TIME_DESC = strawberry.enum_value("TIME_DESC", description="Newest first.")
    TIME_ASC = strawberry.enum_value("TIME_ASC", description="Oldest first.")
    MAGNITUDE_DESC = strawberry.enum_value(
        "MAGNITUDE_DESC", description="Largest first; of one magnitude the newest first."
    )
    MAGNITUDE_ASC = strawberry.enum_value("MAGNITUDE_ASC", description="The reverse of MAGNITUDE_DESC.")

    @property
    def ascending(self) -> bool:
        """Whether the least comes first."""
        return self.name.endswith("_ASC")

    @property
    def by_magnitude(self) -> bool:
        """Whether events are ordered by magnitude, or else by time."""
        return self.name.startswith("MAGNITUDE")

    @property
    def cursors(self) -> Order:
        """The order that events have by their cursors."""
        return BY_MAGNITUDE if self.by_magnitude else BY_TIME
