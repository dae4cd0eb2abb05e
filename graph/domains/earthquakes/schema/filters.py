"""Filters of events: which events a query, a subscription, statistics or an export is about."""

from collections.abc import Mapping
from dataclasses import asdict
from datetime import datetime
from typing import Any, Optional, TypeVar, get_type_hints

import strawberry

from graph.api import relay
from graph.api.context import Context
from graph.api.fields import optional, shows
from graph.api.scalars import millis_ceil, millis_floor
from graph.core.described import DescribedText
from graph.core.errors import BadUserInput
from graph.core.names import camel_case
from graph.domains.earthquakes.magnitudes import MagnitudeRange
from graph.domains.earthquakes.schema.events import Event
from graph.domains.earthquakes.selection import Selection
from graph.domains.earthquakes.selection.conditions import check_order, check_texts, conditions_of, ranges_of
from graph.geography.areas import Box, Circle
from graph.geography.polygon import Polygon

T = TypeVar("T")

MOST_CONDITIONS = 40  # of a filter with `or` or `not`: DynamoDB takes an expression of 4 KB
MOST_LEVELS = 5

LIMITS = (
    f"A filter with `or` or `not` takes at most {MOST_CONDITIONS} conditions in all, on {MOST_LEVELS} levels below it. "
    "An area counts as three conditions, a list once for each ten values."
)
TOO_LARGE = f"`filter` is too large. {LIMITS}"

CONDITIONS = conditions_of(Selection)
"""The conditions of the filter, beside times, magnitudes and areas, by the names of their fields."""

RANGES = ranges_of(Selection)
"""The fields with the least and the greatest value of one number."""


@strawberry.input(description="An area between two latitudes and two longitudes, edges included.")
class BoxInput:
    min_lat: float = shows("Southern edge, degrees north.")
    max_lat: float = shows("Northern edge, degrees north.")
    min_lon: float = shows("Western edge, degrees east; 180 and -180 are one meridian.")
    max_lon: float = shows("Eastern edge, degrees east; less than minLon, the area crosses the dateline.")


@strawberry.input(description="An area around a point, by great-circle distance, edge included.")
class CircleInput:
    lat: float = shows("Latitude of the centre, degrees north.")
    lon: float = shows("Longitude of the centre, degrees east.")
    radius_km: float = shows("Radius, km, 0 … 40,100.")


@strawberry.input(description="A point on the earth.")
class PointInput:
    lat: float = shows("Degrees north.")
    lon: float = shows("Degrees east.")


@strawberry.input
class TimesAndMagnitudes:
    """The arguments of every filter of events."""

    start_time: datetime | None = optional("Earliest origin time, inclusive.")
    end_time: datetime | None = optional("Latest origin time, inclusive. A date includes that whole day.")
    min_magnitude: float | None = optional("Least magnitude, inclusive.")
    max_magnitude: float | None = optional("Greatest magnitude, inclusive.")

    @property
    def selection(self) -> Selection:
        """The filter as a selection."""
        return Selection(**self.conditions())

    def conditions(self) -> dict[str, Any]:
        """The arguments of the selection. Times are rounded to the millisecond, towards the inside."""
        return {
            "start_ms": millis_ceil(self.start_time) if self.start_time else None,
            "end_ms": millis_floor(self.end_time) if self.end_time else None,
            "magnitudes": MagnitudeRange(self.min_magnitude, self.max_magnitude),
        }


def _with_conditions(of: type[T]) -> type[T]:
    """Add a field for each condition of a selection, in the order of the selection's fields."""
    own, annotations = of.__annotations__, dict[str, Any]()
    for name, type_ in get_type_hints(Selection).items():
        if name in own:
            annotations[name] = own[name]
        elif each := CONDITIONS.get(name):
            element = strawberry.ID if name == "event_ids" else each.known or str
            annotations[name] = list[element] | None if type_ == tuple[str, ...] | None else type_  # type: ignore[valid-type]
            setattr(of, name, optional(each.description))
    of.__annotations__ = annotations | own
    return of


@strawberry.input(
    description="The selected events: those that fulfil all given conditions, at least one filter of `or`, and not "
    f"that of `not`. {LIMITS}"
)
@_with_conditions
class EventFilter(TimesAndMagnitudes):
    """Has also a field for each of the `CONDITIONS`."""

    box: BoxInput | None = optional("An area between latitudes and longitudes.")
    circle: CircleInput | None = optional("An area around a point.")
    polygon: list[PointInput] | None = optional(
        "The corners of an area, 3 to 100, in order around it. Its edges are straight on a map of "
        "longitude and latitude, and belong to it. It may cross the dateline, but not surround a pole.",
    )
    or_: list["EventFilter"] | None = optional("Other filters: an event must pass one of them, too.", name="or")
    not_: Optional["EventFilter"] = optional("Another filter: an event must not pass it.", name="not")

    @property
    def selection(self) -> Selection:
        """The filter as a selection."""
        self._check_number()
        selection = super().selection
        for low, high in RANGES:
            check_order(camel_case(low), getattr(self, low), camel_case(high), getattr(self, high))
        if selection.nested and (selection.depth > MOST_LEVELS or selection.size > MOST_CONDITIONS):
            raise BadUserInput(TOO_LARGE)
        return selection

    def _check_number(self) -> None:
        """Refuse too many filters in this one before selections are made of them."""
        number, left = -1, [self]
        while left:
            each = left.pop()
            left += [*(each.or_ or ()), *([each.not_] if each.not_ else ())]
            number += 1
            if number > MOST_CONDITIONS:
                raise BadUserInput(TOO_LARGE)

    def conditions(self) -> dict[str, Any]:
        """The arguments of the selection."""
        if self.or_ == []:
            raise BadUserInput("`or` must have a filter; leave it out for no condition.")
        given = {name: getattr(self, name) for name in CONDITIONS}
        return {
            **super().conditions(),
            **{name: _texts(name, value) if isinstance(value, list) else value for name, value in given.items()},
            "box": Box(**asdict(self.box)) if self.box else None,
            "circle": Circle(**asdict(self.circle)) if self.circle else None,
            "polygon": None if self.polygon is None else Polygon(tuple((each.lat, each.lon) for each in self.polygon)),
            "any_of": tuple(each.selection for each in self.or_ or ()),
            "none_of": self.not_ and self.not_.selection,
        }


def _texts(name: str, values: list[Any]) -> tuple[str, ...]:
    """The values of a list as an event has them."""
    if name == "event_ids":
        check_texts("eventIds", values)
        return tuple(relay.key_of(Event, each, "eventIds") for each in values)
    return tuple(each.value if isinstance(each, DescribedText) else each for each in values)


def filter_facts(context: Context, arguments: Mapping[str, Any], result: object) -> dict[str, Any]:
    """The facts of a query's filter for its request log."""
    filter_: TimesAndMagnitudes | None = arguments.get("filter")
    if filter_ is None:
        return {}
    return {
        "starttime": millis_ceil(filter_.start_time) if filter_.start_time else None,
        "endtime": millis_floor(filter_.end_time) if filter_.end_time else None,
        "minmagnitude": filter_.min_magnitude,
    }
