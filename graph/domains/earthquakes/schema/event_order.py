"""The orders of events, and the cursors that belong to them."""

from graph.core.described import DescribedText
from graph.domains.earthquakes.catalogue.by_magnitude import BY_MAGNITUDE
from graph.domains.earthquakes.model import BY_TIME
from graph.store.ordering import Order


class EventOrder(DescribedText):
    """The order of events. Orders by time and orders by magnitude have different cursors."""

    TIME_DESC = "TIME_DESC", "Newest first."
    TIME_ASC = "TIME_ASC", "Oldest first."
    MAGNITUDE_DESC = "MAGNITUDE_DESC", "Largest first; of one magnitude the newest first."
    MAGNITUDE_ASC = "MAGNITUDE_ASC", "The reverse of MAGNITUDE_DESC."

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
