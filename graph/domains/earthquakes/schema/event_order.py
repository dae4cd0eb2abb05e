"""The orders of events, and the cursors that belong to them."""

from enum import Enum

import strawberry

from graph.api.connection_field import CursorReader
from graph.core.paging import TimeOrder
from graph.domains.earthquakes.catalogue.magnitude_order import MagnitudeOrder
from graph.domains.earthquakes.model import EVENTS


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
    def cursors(self) -> CursorReader:
        """Reads the cursors of events in this order."""
        return MagnitudeOrder() if self.by_magnitude else TimeOrder(EVENTS)
