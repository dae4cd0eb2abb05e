"""Catalogues and selections for Hypothesis: ties, day edges, leap days, times before 1970, years without an event."""

import os
from typing import Any, TypeVar

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

from graph.core.days import FIRST_MS, LAST_MS
from graph.core.paging import Position
from graph.domains.earthquakes.areas import Box, Circle
from graph.domains.earthquakes.magnitudes import MagnitudeRange
from graph.domains.earthquakes.model import EVENTS, Event
from graph.domains.earthquakes.selection import Selection
from tests.domains.earthquakes.builders import an_event, at
from tests.effort import rounds

T = TypeVar("T")

# Every example has a table of its own, so the fixture `engine`, a mere name, may be shared by all.
A_FEW = settings(
    max_examples=rounds(20),
    deadline=None,
    derandomize=bool(os.environ.get("CI")),
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)

INSTANTS = [
    FIRST_MS + 1,
    at("1899-12-31T23:59:59.999"),
    at("1900-02-28T23:59:59.999"),  # not a leap year
    at("1900-03-01T00:00:00.000"),
    at("1969-12-31T23:59:59.999"),
    at("1970-01-01T00:00:00.000"),
    at("2020-02-28T23:59:59.999"),
    at("2020-02-29T00:00:00.000"),
    at("2020-02-29T23:59:59.999"),
    at("2020-12-31T23:59:59.999"),
    at("2021-01-01T00:00:00.000"),
    at("2023-08-03T12:00:00.000"),
    LAST_MS - 1,
]

times = st.builds(int.__add__, st.sampled_from(INSTANTS), st.sampled_from([0, 0, 0, 1, -1]))
magnitudes = st.sampled_from([-2.0, -1.12, -0.1, 0.0, 0.3, 4.49, 4.5, 4.55, 4.6, 4.65, 6.5, 10.0])
latitudes = st.sampled_from([-90.0, -89.9, -0.5, 0.0, 35.6, 89.9, 90.0])
longitudes = st.sampled_from([-180.0, -179.9, -117.6, 0.0, 0.5, 117.6, 179.9, 180.0])
depths = st.sampled_from([0.0, 8.0, 70.5, 700.0])
types = st.sampled_from(["earthquake", "quarry blast", "ice quake"])

catalogues = st.lists(
    st.fixed_dictionaries(
        {
            "event_ts_ms": times,
            "mag": magnitudes,
            "lat": latitudes,
            "lon": longitudes,
            "depth": st.none() | depths,
            "type": st.none() | types,
        }
    ),
    max_size=24,
).map(lambda rows: [_numbered(number, values) for number, values in enumerate(rows)])


def _numbered(number: int, values: dict[str, Any]) -> Event:
    """An event whose id says nothing about its place in the list."""
    return an_event(f"us{number * 7919 % 1000:03}", **values)


def _bounds(values: st.SearchStrategy[T]) -> st.SearchStrategy[tuple[T | None, T | None]]:
    def ordered(low: Any, high: Any) -> tuple[T | None, T | None]:
        return (high, low) if low is not None and high is not None and low > high else (low, high)

    return st.builds(ordered, st.none() | values, st.none() | values)


magnitude_ranges = _bounds(magnitudes).map(lambda bounds: MagnitudeRange(*bounds))
boxes = st.builds(
    lambda lats, west, east: Box(lats[0], lats[1], west, east),
    st.tuples(latitudes, latitudes).map(sorted),
    longitudes,
    longitudes,
)
# Radii that no two of the points above are apart, so that rounding decides nothing.
circles = st.builds(Circle, latitudes, longitudes, st.sampled_from([5.0, 150.0, 3333.3, 12_345.6, 20_100.0]))


def _selection(time: Any, magnitudes: MagnitudeRange, others: dict[str, Any]) -> Selection:
    return Selection(start_ms=time[0], end_ms=time[1], magnitudes=magnitudes, **others)


summarised_selections = st.builds(_selection, _bounds(times), magnitude_ranges, st.just({}))
selections = st.builds(
    _selection,
    _bounds(times),
    magnitude_ranges,
    st.just({})
    | _bounds(depths).map(lambda bounds: {"min_depth": bounds[0], "max_depth": bounds[1]})
    | boxes.map(lambda box: {"box": box})
    | circles.map(lambda circle: {"circle": circle})
    | st.lists(types, min_size=1, max_size=2).map(lambda chosen: {"types": tuple(chosen)}),
)


def positions(events: list[Event]) -> st.SearchStrategy[Position]:
    """Those of the events, and some where no event ever was."""
    elsewhere = st.builds(
        lambda instant, key: Position(EVENTS, instant + 7, key),
        st.sampled_from(INSTANTS[:-1]),  # behind the last of them time ends
        st.sampled_from(["a", "us500", "zz"]),
    )
    return elsewhere | st.sampled_from([event.position for event in events]) if events else elsewhere
