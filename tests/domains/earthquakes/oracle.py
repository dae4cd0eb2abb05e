"""What the catalogue must answer, found by looking at every event and by other formulas than the catalogue's."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import atan2, cos, hypot, radians, sin

from graph.core.paging import Paging, Position
from graph.domains.earthquakes.areas import EARTH_RADIUS_KM, Box, Circle
from graph.domains.earthquakes.model import Event
from graph.domains.earthquakes.selection import Selection


def selects(selection: Selection, event: Event) -> bool:
    """Whether the event is meant."""
    return (
        _within(event.event_ts_ms, selection.start_ms, selection.end_ms)
        and _within(event.mag, selection.magnitudes.minimum, selection.magnitudes.maximum)
        and (
            _within(event.depth, selection.min_depth, selection.max_depth)
            if event.depth is not None
            else selection.min_depth is None and selection.max_depth is None
        )
        and (selection.types is None or event.type in selection.types)
        and event.event_id != selection.but
        and (selection.box is None or in_box(selection.box, event))
        and (selection.circle is None or distance_km(selection.circle, event) <= selection.circle.radius_km)
    )


def distance_km(circle: Circle, event: Event) -> float:
    """The great-circle distance from a circle's centre, by the vectors from the middle of the earth."""
    (ax, ay, az), (bx, by, bz) = _vector(circle.lat, circle.lon), _vector(event.lat, event.lon)
    cross = hypot(ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx)
    return EARTH_RADIUS_KM * atan2(cross, ax * bx + ay * by + az * bz)


def _vector(lat: float, lon: float) -> tuple[float, float, float]:
    north, east = radians(lat), radians(lon)
    return cos(north) * cos(east), cos(north) * sin(east), sin(north)


def in_box(box: Box, event: Event) -> bool:
    """By comparison of the stored numbers: 180 and -180 are two."""
    if box.min_lon <= box.max_lon:
        longitudes = box.min_lon <= event.lon <= box.max_lon
    else:
        longitudes = not box.max_lon < event.lon < box.min_lon
    return longitudes and box.min_lat <= event.lat <= box.max_lat


def _within(value: float, least: float | None, greatest: float | None) -> bool:
    return (least is None or value >= least) and (greatest is None or value <= greatest)


@dataclass(frozen=True)
class Expected:
    """A page as Relay defines it."""

    events: list[Event]
    has_next: bool
    has_previous: bool


def expected_page(
    stored: Sequence[Event], selection: Selection, paging: Paging[Position], *, ascending: bool
) -> Expected:
    """The page of `stored`, every event there is in the connection's order, by Relay's own algorithm.

    A position must be an event's, or alone on its millisecond. As Relay allows, the side that
    was paged from is looked at too: whether anything lies behind a cursor is always known.
    """
    selected = [(place, event) for place, event in enumerate(stored) if selects(selection, event)]
    after = -1.0 if paging.after is None else _place(stored, paging.after, ascending)
    before = float(len(stored)) if paging.before is None else _place(stored, paging.before, ascending)
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


def _place(stored: Sequence[Event], position: Position, ascending: bool) -> float:
    """Where a position stands among the stored events: at one of them, or between two."""
    for place, event in enumerate(stored):
        if event.position == position:
            return place
        if event.event_ts_ms > position.time_ms if ascending else event.event_ts_ms < position.time_ms:
            return place - 0.5
    return len(stored) - 0.5
