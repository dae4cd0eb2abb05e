"""Filters of events: which events a query, a subscription, statistics or an export is about."""

from collections.abc import Mapping
from dataclasses import asdict
from datetime import datetime
from typing import Any

import strawberry

from graph.api.context import Context
from graph.api.scalars import millis_ceil, millis_floor
from graph.domains.earthquakes.magnitudes import MagnitudeRange
from graph.domains.earthquakes.selection import Selection
from graph.domains.earthquakes.selection.areas import Box, Circle
from graph.domains.earthquakes.selection.polygon import Polygon


@strawberry.input(description="An area between two latitudes and two longitudes, edges included.")
class BoxInput:
    min_lat: float = strawberry.field(description="Southern edge, degrees north.")
    max_lat: float = strawberry.field(description="Northern edge, degrees north.")
    min_lon: float = strawberry.field(description="Western edge, degrees east; 180 and -180 are one meridian.")
    max_lon: float = strawberry.field(
        description="Eastern edge, degrees east; less than minLon, the area crosses the dateline."
    )


@strawberry.input(description="An area around a point, by great-circle distance, edge included.")
class CircleInput:
    lat: float = strawberry.field(description="Latitude of the centre, degrees north.")
    lon: float = strawberry.field(description="Longitude of the centre, degrees east.")
    radius_km: float = strawberry.field(description="Radius, km, 0 … 40,100.")


@strawberry.input(description="A point on the earth.")
class PointInput:
    lat: float = strawberry.field(description="Degrees north.")
    lon: float = strawberry.field(description="Degrees east.")


_ALIKE = "at most 100, without regard to case and `_`"


@strawberry.input
class TimesAndMagnitudes:
    """The arguments of every filter of events."""

    start_time: datetime | None = strawberry.field(default=None, description="Earliest origin time, inclusive.")
    end_time: datetime | None = strawberry.field(
        default=None, description="Latest origin time, inclusive. A date includes that whole day."
    )
    min_magnitude: float | None = strawberry.field(default=None, description="Least magnitude, inclusive.")
    max_magnitude: float | None = strawberry.field(default=None, description="Greatest magnitude, inclusive.")

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


@strawberry.input(description="The selected events: those that fulfil all given conditions.")
class EventFilter(TimesAndMagnitudes):
    min_depth: float | None = strawberry.field(
        default=None, description="Least depth, km, inclusive; leaves out events without a depth."
    )
    max_depth: float | None = strawberry.field(
        default=None, description="Greatest depth, km, inclusive; leaves out events without a depth."
    )
    box: BoxInput | None = strawberry.field(default=None, description="An area between latitudes and longitudes.")
    circle: CircleInput | None = strawberry.field(default=None, description="An area around a point.")
    polygon: list[PointInput] | None = strawberry.field(
        default=None,
        description="The corners of an area, 3 to 100, in order around it. Its edges are straight on a map of "
        "longitude and latitude, and belong to it. It may cross the dateline, but not surround a pole.",
    )
    types: list[str] | None = strawberry.field(
        default=None, description=f"Any of these types of event, such as `earthquake`; {_ALIKE}."
    )
    networks: list[str] | None = strawberry.field(
        default=None, description=f"Any of these preferred networks, such as `nc`; {_ALIKE}."
    )
    mag_types: list[str] | None = strawberry.field(
        default=None, description=f"Any of these types of magnitude, such as `mww`; {_ALIKE}."
    )
    status: list[str] | None = strawberry.field(
        default=None, description=f"Any of these, such as `reviewed`; {_ALIKE}."
    )
    alerts: list[str] | None = strawberry.field(
        default=None, description=f"Any of these PAGER alert levels, such as `red`; {_ALIKE}."
    )
    tsunami: bool | None = strawberry.field(
        default=None, description="Whether USGS linked it to a tsunami message. An event that does not say is `false`."
    )
    min_felt: int | None = strawberry.field(default=None, description="Least number of felt reports, inclusive.")
    min_sig: int | None = strawberry.field(default=None, description="Least significance, inclusive.")
    max_gap: float | None = strawberry.field(
        default=None, description="Greatest angle without a station, degrees, inclusive."
    )
    place: str | None = strawberry.field(
        default=None,
        description="A part of the place's name, without regard to case, accents and apostrophes: `pahala`.",
    )
    ids: list[str] | None = strawberry.field(
        default=None, description="These events, by their ids or any alias; at most 100."
    )

    def conditions(self) -> dict[str, Any]:
        """The arguments of the selection."""
        return super().conditions() | {
            "min_depth": self.min_depth,
            "max_depth": self.max_depth,
            "box": Box(**asdict(self.box)) if self.box else None,
            "circle": Circle(**asdict(self.circle)) if self.circle else None,
            "polygon": Polygon(tuple((each.lat, each.lon) for each in self.polygon))
            if self.polygon is not None
            else None,
            "types": _tuple(self.types),
            "networks": _tuple(self.networks),
            "mag_types": _tuple(self.mag_types),
            "statuses": _tuple(self.status),
            "alerts": _tuple(self.alerts),
            "tsunami": self.tsunami,
            "min_felt": self.min_felt,
            "min_sig": self.min_sig,
            "max_gap": self.max_gap,
            "place": self.place,
            "ids": _tuple(self.ids),
        }


def _tuple(values: list[str] | None) -> tuple[str, ...] | None:
    return None if values is None else tuple(values)


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
