"""The order of events by magnitude, then by time, then by event id. No I/O."""

from graph.core.paging import Position
from graph.domains.earthquakes.model import GREATEST_MAG, LEAST_MAG, POSSIBLE_ID, POSSIBLE_TIME, Event
from graph.store.attributes import Real
from graph.store.ordering import Order

BY_MAGNITUDE = Order("magnitudes", Real("mag", least=LEAST_MAG, greatest=GREATEST_MAG), POSSIBLE_TIME, POSSIBLE_ID)

MagnitudePlace = tuple[float, int, str]
"""Magnitude, origin time in epoch milliseconds, event id."""


def magnitude_place(item: Position) -> MagnitudePlace:
    """The place of an event in the order by magnitude. An engine may return 2 for the magnitude 2.0."""
    return float(item["mag"]), item["eventTsMs"], item["eventId"]


class EventByMagnitude(Event):
    """An event in a list by magnitude. Its item is read with the magnitude, whatever else is needed."""

    __slots__ = ()

    cursor = BY_MAGNITUDE.cursors()
