"""The events near an event, with how far away and in which direction each is."""

from collections.abc import Sequence
from dataclasses import dataclass

from graph.domains.earthquakes.catalogue import EventPage
from graph.domains.earthquakes.model import Event
from graph.geography.areas import azimuth, distance_km


@dataclass(frozen=True, slots=True)
class Neighbour:
    """An event near another one."""

    node: Event
    centre: Event  # the other one

    @property
    def cursor(self) -> str:
        """The position of the event."""
        return self.node.cursor

    @property
    def distance_km(self) -> float:
        """The great-circle distance of the epicentres."""
        return distance_km(self.centre.lat, self.centre.lon, self.node.item)

    @property
    def azimuth(self) -> float:
        """The direction of the event from the other one, degrees clockwise from north, 0 … 360 exclusive."""
        return azimuth(self.centre.lat, self.centre.lon, self.node.item)


@dataclass(frozen=True, kw_only=True)
class Neighbourhood(EventPage):
    """A page of the events near an event."""

    centre: Event

    @property
    def neighbours(self) -> Sequence[Neighbour]:
        """Its events."""
        return [Neighbour(event, self.centre) for event in self.records]
