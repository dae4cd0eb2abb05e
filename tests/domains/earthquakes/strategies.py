"""Catalogues and selections for Hypothesis.

There are ties, day edges, leap days, times before 1970 and years without an event; texts in every spelling; numbers on
the edges of the facets' bins and beside them.
"""

from collections.abc import Mapping
from dataclasses import fields, replace
from typing import Any, TypeVar

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

from graph.core.days import FIRST_MS, LAST_MS
from graph.core.errors import BadUserInput
from graph.domains.earthquakes.magnitudes import MagnitudeRange
from graph.domains.earthquakes.selection import Selection
from graph.geography.areas import Box, Circle
from graph.geography.polygon import Polygon
from tests.domains.earthquakes.builders import an_event, at
from tests.domains.earthquakes.oracle import NUMBERS
from tests.effort import rounds

T = TypeVar("T")

# Every example has a table of its own, so the fixture `engine`, a mere name, may be shared by all.
A_FEW = settings(
    max_examples=rounds(20), suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
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
depths = st.sampled_from([0.0, 4.99, 5.0, 8.0, 70.5, 700.0, 800.0, 6371.0])
types = st.sampled_from(
    ["earthquake", "Earthquake", "quarry blast", "QUARRY_BLAST", "ice quake", "thunder", "rockfall"]
)
"""The last two are unusual, and facets count them under one name."""
networks = st.sampled_from(["us", "US", "ci", "nc", "ñc", "a network", "n"])
magnitude_types = st.sampled_from(["ml", "Ml", "mww", "mb_lg", "Mb Lg", "m?"])
statuses = st.sampled_from(["automatic", "reviewed", "REVIEWED", "manual", "final"])
alerts = st.sampled_from(["green", "Green", "red", "violet"])
felts = st.sampled_from([-1, 0, 1, 2, 3, 4, 1000, 1024, 2**19, 2**31 - 1])
significances = st.sampled_from([-5, 0, 24, 25, 26, 600, 999, 1000, 1249, 1250, 3000, 2**31 - 1])
azimuthal_gaps = st.sampled_from([0.0, 9.99, 10.0, 10.01, 90.0, 349.9, 350.0, 360.0])
_usual = st.sampled_from([0.0, 1.0, 2.5, 12.0])
numbers = {"depth": depths, "felt": felts, "sig": significances, "gap": azimuthal_gaps}
numbers = {name: numbers.get(name, _usual) for name in NUMBERS}
"""Attribute with a bound in a selection → its values."""
places = st.sampled_from(["8 km E of Pāhala, Hawaii", "PAHALA", "Ōfunato, Japan", "Elâzığ, Türkiye", "5_km_N", "100 %"])

values: Mapping[str, st.SearchStrategy[Any]] = {
    "event_ts_ms": times,
    "mag": magnitudes,
    "lat": latitudes,
    "lon": longitudes,
    "place": places,
    "type": st.none() | types,
    "net": st.none() | networks,
    "mag_type": st.none() | magnitude_types,
    "status": st.none() | statuses,
    "alert": st.none() | alerts,
    "tsunami": st.sampled_from([None, 0, 1]),
    **{name: st.none() | each for name, each in numbers.items()},
}
"""Attribute of an event → its values."""

MOST_EVENTS = 24


def _id(number: int) -> str:
    """An event's id, which says nothing about its place in the list."""
    return f"us{number * 7919 % 1000:03}"


catalogues = st.lists(st.fixed_dictionaries(dict(values)), max_size=MOST_EVENTS).map(
    lambda rows: [an_event(_id(number), **row) for number, row in enumerate(rows)]
)


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


@st.composite
def polygons(draw: st.DrawFn) -> Polygon:
    """Of any form, with corners where events are."""
    corners = draw(st.lists(st.tuples(latitudes, longitudes), min_size=3, max_size=6))
    try:
        return Polygon(tuple(corners))
    except BadUserInput:  # it has too few corners or goes around a pole
        return Polygon(((-0.5, -179.9), (89.9, -117.6), (35.6, 0.5), (-89.9, -117.6)))


def _some(texts: st.SearchStrategy[str]) -> st.SearchStrategy[tuple[str, ...]]:
    return st.lists(texts, max_size=3).map(tuple)


def _named(name: str, values: st.SearchStrategy[Any]) -> st.SearchStrategy[Mapping[str, Any]]:
    return values.map(lambda value: {name: value})


def _numbers(name: str) -> st.SearchStrategy[Mapping[str, Any]]:
    """The bounds that a selection has of an attribute."""
    possible = {each.name for each in fields(Selection)}
    names = [f"min_{name}", f"max_{name}"]
    return _bounds(numbers[name]).map(
        lambda bounds: {each: bound for each, bound in zip(names, bounds, strict=True) if each in possible}
    )


filters: Mapping[str, st.SearchStrategy[Mapping[str, Any]]] = {
    **{name: _numbers(name) for name in numbers},
    "box": _named("box", boxes),
    "circle": _named("circle", circles),
    "polygon": _named("polygon", polygons()),
    "types": _named("types", _some(types)),
    "networks": _named("networks", _some(networks)),
    "mag_types": _named("mag_types", _some(magnitude_types)),
    "statuses": _named("statuses", _some(statuses)),
    "alerts": _named("alerts", _some(alerts)),
    "tsunami": _named("tsunami", st.booleans()),
    "place": _named(
        "place", st.sampled_from(["pahala", "PĀHALA", "ofunato", "turkiye", "km", "5 km", "100 %", "_", "x"])
    ),
    "event_ids": _named("event_ids", _some(st.sampled_from([*map(_id, range(MOST_EVENTS)), "unknown"]))),
}
"""Each filter beside time and magnitude, as arguments of a selection."""


def _selection(time: Any, magnitudes: MagnitudeRange, others: Mapping[str, Any]) -> Selection:
    return Selection(start_ms=time[0], end_ms=time[1], magnitudes=magnitudes, **others)


@st.composite
def _several(draw: st.DrawFn) -> Mapping[str, Any]:
    """Up to three filters, since hardly an event passes more."""
    names = draw(st.lists(st.sampled_from(list(filters)), max_size=3, unique=True))
    return {name: value for each in names for name, value in draw(filters[each]).items()}


summarised_selections = st.builds(_selection, _bounds(times), magnitude_ranges, st.just({}))
_flat = st.builds(_selection, _bounds(times), magnitude_ranges, _several())


@st.composite
def _one_of_few(draw: st.DrawFn) -> Selection:
    """A selection with one or two conditions, so that its opposite and what it shares with others have events."""
    name = draw(st.sampled_from(["times", "magnitudes", *filters]))
    if name == "times":
        return _selection(draw(_bounds(times)), MagnitudeRange(), {})
    if name == "magnitudes":
        return _selection((None, None), draw(magnitude_ranges), {})
    return _selection((None, None), MagnitudeRange(), draw(filters[name]))


def _with_nested(nested: st.SearchStrategy[Selection]) -> st.SearchStrategy[Selection]:
    any_of, none_of = st.lists(nested, max_size=3).map(tuple), st.none() | nested
    return st.builds(replace, _one_of_few() | st.just(Selection()), any_of=any_of, none_of=none_of)


nested_selections = st.recursive(_one_of_few() | _flat, _with_nested, max_leaves=6)
"""With `any_of` and `none_of` on several levels."""

selections = _flat | nested_selections
