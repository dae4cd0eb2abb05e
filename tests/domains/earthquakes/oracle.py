"""What the catalogue must answer, found by looking at every event and by other formulas than the catalogue's."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, fields
from fractions import Fraction
from itertools import pairwise
from math import atan2, cos, hypot, radians, sin
from typing import Any, NamedTuple, TypeVar
from unicodedata import category, normalize

from graph.core.paging import Paging, Position
from graph.domains.earthquakes.model import Event
from graph.domains.earthquakes.selection import Selection
from graph.geography.areas import EARTH_RADIUS_KM, Box, Circle
from graph.geography.polygon import ON_EDGE, Polygon

P = TypeVar("P")


NUMBERS = dict.fromkeys(each.name[4:] for each in fields(Selection) if each.name.startswith(("min_", "max_")))
"""The attributes of an event with a least or a greatest number in a selection, beside the magnitude."""


def bounds_of(selection: Selection, name: str) -> tuple[Any, Any]:
    """The least and the greatest number of an attribute; None for no bound."""
    return getattr(selection, f"min_{name}", None), getattr(selection, f"max_{name}", None)


def selects(selection: Selection, event: Event) -> bool:
    """Whether the event is meant."""
    return (
        _within(event.event_ts_ms, selection.start_ms, selection.end_ms)
        and _within(event.mag, selection.magnitudes.minimum, selection.magnitudes.maximum)
        and all(_within(getattr(event, name), *bounds_of(selection, name)) for name in NUMBERS)
        and _is_any(event.type, selection.types)
        and _is_any(event.net, selection.networks)
        and _is_any(event.mag_type, selection.mag_types)
        and _is_any(event.status, selection.statuses)
        and _is_any(event.alert, selection.alerts)
        and (selection.tsunami is None or bool(event.tsunami) == selection.tsunami)
        and (selection.place is None or plain(selection.place) in plain(event.place))
        and (selection.event_ids is None or event.event_id in selection.event_ids)
        and event.event_id != selection.excluded_id
        and (selection.box is None or in_box(selection.box, event))
        and (selection.circle is None or distance_km(selection.circle, event) <= selection.circle.radius_km)
        and (selection.polygon is None or in_polygon(selection.polygon, event))
        and (not selection.any_of or any(selects(each, event) for each in selection.any_of))
        and (selection.none_of is None or not selects(selection.none_of, event))
    )


def plain(text: str) -> str:
    """A text without case, accents and `_`."""
    letters = [letter for letter in normalize("NFD", text) if category(letter) != "Mn"]
    return "".join(letters).lower().replace("_", " ")


def _is_any(text: str | None, texts: Sequence[str] | None) -> bool:
    return texts is None or (text is not None and plain(text) in map(plain, texts))


def distance_km(circle: Circle, event: Event) -> float:
    """The great-circle distance from a circle's centre, by the vectors from the middle of the earth."""
    (ax, ay, az), (bx, by, bz) = _vector(circle.lat, circle.lon), _vector(event.lat, event.lon)
    cross = hypot(ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx)
    return EARTH_RADIUS_KM * atan2(cross, ax * bx + ay * by + az * bz)


def _vector(lat: float, lon: float) -> tuple[float, float, float]:
    north, east = radians(lat), radians(lon)
    return cos(north) * cos(east), cos(north) * sin(east), sin(north)


def in_box(box: Box, event: Event) -> bool:
    """By comparison of the stored numbers, of which 180 and -180 are one meridian."""
    longitudes = (180.0, -180.0) if abs(event.lon) == 180 else (event.lon,)
    if box.min_lon <= box.max_lon:
        inside = any(box.min_lon <= lon <= box.max_lon for lon in longitudes)
    else:
        inside = any(not box.max_lon < lon < box.min_lon for lon in longitudes)
    return inside and box.min_lat <= event.lat <= box.max_lat


def in_polygon(polygon: Polygon, event: Event) -> bool:
    """On an edge but for rounding, or within."""
    on_edge = squared_distance(polygon, event.lat, event.lon) <= Fraction(ON_EDGE) ** 2
    return on_edge or encloses(polygon, event.lat, event.lon)


class Side(NamedTuple):
    """An edge of a polygon as seen from its western end, in exact degrees."""

    lat: Fraction
    lon: Fraction
    height: Fraction
    width: Fraction  # from 0 to 180


def sides(polygon: Polygon) -> Iterator[Side]:
    for one, other in pairwise((*polygon.points, polygon.points[0])):
        (lat, lon), (to_lat, to_lon) = (tuple(map(Fraction, point)) for point in (one, other))
        width = to_lon - lon
        width += 360 if width < -180 else -360 if width > 180 else 0
        if width >= 0:
            yield Side(lat, lon, to_lat - lat, width)
        else:
            yield Side(to_lat, to_lon, lat - to_lat, -width)


def encloses(polygon: Polygon, lat: float, lon: float) -> bool:
    """Whether an odd number of edges lies between a point and the north pole, by exact arithmetic."""
    crossed = 0
    for side in sides(polygon):
        east = (Fraction(lon) - side.lon) % 360
        if east < side.width:
            crossed += side.lat + side.height * east / side.width > Fraction(lat)
    return crossed % 2 == 1


def squared_distance(polygon: Polygon, lat: float, lon: float) -> Fraction:
    """From a point to the nearest edge, in square degrees."""
    nearest = Fraction(10**6)
    for side in sides(polygon):
        north, east = Fraction(lat) - side.lat, (Fraction(lon) - side.lon) % 360
        for x in (east, east - 360):
            length = side.width**2 + side.height**2
            part = (x * side.width + north * side.height) / length if length else Fraction(0)
            part = min(max(part, Fraction(0)), Fraction(1))
            nearest = min(nearest, (x - part * side.width) ** 2 + (north - part * side.height) ** 2)
    return nearest


def _within(value: float | None, least: float | None, greatest: float | None) -> bool:
    """What is not known lies within no bound."""
    if value is None:
        return least is None and greatest is None
    return (least is None or value >= least) and (greatest is None or value <= greatest)


@dataclass(frozen=True)
class Expected:
    """A page as Relay defines it."""

    events: list[Event]
    has_next: bool
    has_previous: bool


def expected_page(
    stored: Sequence[Event], selection: Selection, paging: Paging, place_of: Callable[[Position], float]
) -> Expected:
    """The page of `stored`, every event there is in the connection's order, by Relay's own algorithm.

    As Relay allows, the side that was paged from is looked at too: whether anything lies behind a cursor is
    always known.

    Args:
        place_of: where a position stands among the stored events: at one of them, or between two.
    """
    selected = [(place, event) for place, event in enumerate(stored) if selects(selection, event)]
    after = -1.0 if paging.after is None else place_of(paging.after)
    before = float(len(stored)) if paging.before is None else place_of(paging.before)
    edges = [(place, event) for place, event in selected if after < place < before]
    if paging.backward:
        page = edges[max(len(edges) - paging.size, 0) :]
        end = page[-1][0] + 1 if page else before
        beyond = paging.before is not None and any(place >= end for place, _ in selected)
        return Expected([event for _, event in page], has_next=beyond, has_previous=len(edges) > paging.size)
    page = edges[: paging.size]
    start = page[0][0] - 1 if page else after
    beyond = paging.after is not None and any(place <= start for place, _ in selected)
    return Expected([event for _, event in page], has_next=len(edges) > paging.size, has_previous=beyond)


PLACE_OF: dict[str, Callable[[Event], tuple[Any, ...]]] = {
    "time": lambda event: (event.event_ts_ms, event.event_id),
    "magnitude": lambda event: (event.mag, event.event_ts_ms, event.event_id),
}
"""Order → what orders events."""


def by_magnitude(events: Sequence[Event], *, ascending: bool) -> list[Event]:
    """The events in the order of magnitude."""
    return sorted(events, key=PLACE_OF["magnitude"], reverse=not ascending)


def place_in(
    stored: Sequence[Event], place_of: Callable[[Event], tuple[Any, ...]], position: Position, *, ascending: bool
) -> float:
    """Where a position stands, of an event or not."""
    places, at = list(map(place_of, stored)), place_of(Event(dict(position)))
    if at in places:
        return places.index(at)
    return [each < at if ascending else each > at for each in places].count(True) - 0.5
