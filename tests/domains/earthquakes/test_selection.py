"""A selection refuses what makes no sense, and its circle is the great circle's, by another formula."""

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from graph.core.days import FIRST_MS, LAST_MS
from graph.core.errors import BadUserInput
from graph.domains.earthquakes.magnitudes import MagnitudeRange
from graph.domains.earthquakes.selection import MOST_TYPES, Box, Circle, Selection
from graph.store.conditions import predicate
from tests.domains.earthquakes.builders import an_event
from tests.domains.earthquakes.oracle import distance_km

NAN = float("nan")

latitudes = st.floats(-90, 90) | st.sampled_from([-90.0, 90.0, 0.0])
longitudes = st.floats(-180, 180) | st.sampled_from([-180.0, 180.0, 0.0])


@given(lat=latitudes, lon=longitudes, radius_km=st.floats(0, 20_050), at_lat=latitudes, at_lon=longitudes)
def test_the_condition_of_a_circle_keeps_all_points_within_it(
    lat: float, lon: float, radius_km: float, at_lat: float, at_lon: float
) -> None:
    circle = Circle(lat, lon, radius_km)
    distance = distance_km(circle, an_event(lat=at_lat, lon=at_lon))
    # The haversine loses digits near the opposite point, where a metre is still told apart.
    assume(abs(distance - radius_km) > 1e-3)

    item = {"lat": at_lat, "lon": at_lon}
    assert circle.holds(item) == (distance <= radius_km)
    assert circle.condition is not None
    if distance <= radius_km:
        assert predicate(circle.condition)(item)


@given(lat=latitudes, lon=longitudes, radius_km=st.floats(0.001, 20_020), bearing=st.sampled_from(["north", "south"]))
def test_the_edge_of_a_circle_lies_within_its_condition(lat: float, lon: float, radius_km: float, bearing: str) -> None:
    """Along a meridian, over a pole where the circle reaches beyond it."""
    degrees = radius_km * (1 - 1e-9) / 111.19508372419142 * (1 if bearing == "north" else -1)
    at_lat, at_lon = lat + degrees, lon
    if abs(at_lat) > 90:
        at_lat, at_lon = (180 if at_lat > 0 else -180) - at_lat, lon + 180 if lon <= 0 else lon - 180
    assume(abs(at_lat) <= 90)
    circle = Circle(lat, lon, radius_km)

    assert circle.condition is not None
    assert predicate(circle.condition)({"lat": at_lat, "lon": at_lon})


def test_a_small_circle_reads_a_small_box() -> None:
    condition = Circle(60, 10, 111.195).condition
    assert condition is not None
    holds = predicate(condition)
    assert holds({"lat": 60.99, "lon": 11.99})
    assert not holds({"lat": 61.01, "lon": 10})
    assert not holds({"lat": 60, "lon": 12.01})
    assert not holds({"lat": 60, "lon": -10})


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Box(1, 0, 0, 0), "`box` needs -90 ≤ minLat ≤ maxLat ≤ 90."),
        (lambda: Box(-90.1, 0, 0, 0), "`box` needs -90 ≤ minLat ≤ maxLat ≤ 90."),
        (lambda: Box(0, 90.1, 0, 0), "`box` needs -90 ≤ minLat ≤ maxLat ≤ 90."),
        (lambda: Box(NAN, 0, 0, 0), "`box` needs -90 ≤ minLat ≤ maxLat ≤ 90."),
        (
            lambda: Box(0, 0, -181, 0),
            "`box` needs minLon and maxLon from -180 to 180; minLon > maxLon crosses the dateline.",
        ),
        (
            lambda: Box(0, 0, 0, NAN),
            "`box` needs minLon and maxLon from -180 to 180; minLon > maxLon crosses the dateline.",
        ),
        (lambda: Circle(91, 0, 1), "`circle` needs lat from -90 to 90 and lon from -180 to 180."),
        (lambda: Circle(0, 180.5, 1), "`circle` needs lat from -90 to 90 and lon from -180 to 180."),
        (lambda: Circle(NAN, 0, 1), "`circle` needs lat from -90 to 90 and lon from -180 to 180."),
        (lambda: Circle(0, 0, -0.1), "`circle` needs a radiusKm from 0 to 40,100."),
        (lambda: Circle(0, 0, 40_100.1), "`circle` needs a radiusKm from 0 to 40,100."),
        (lambda: Selection(start_ms=1, end_ms=0), "`startTime` must not be greater than `endTime`."),
        (
            lambda: Selection(magnitudes=MagnitudeRange(4.6, 4.5)),
            "`minMagnitude` must not be greater than `maxMagnitude`.",
        ),
        (lambda: Selection(min_depth=1, max_depth=0), "`minDepth` must not be greater than `maxDepth`."),
        (lambda: Selection(types=("x",) * (MOST_TYPES + 1)), "`types` takes at most 50 values."),
    ],
)
def test_contradictory_selections_are_refused_with_a_message(make: Callable[[], Any], message: str) -> None:
    with pytest.raises(BadUserInput) as caught:
        make()
    assert str(caught.value) == message


@pytest.mark.parametrize(
    ("start", "end", "span"),
    [
        (None, None, (FIRST_MS, LAST_MS)),
        (0, None, (0, LAST_MS)),
        (None, 0, (FIRST_MS, 0)),
        (5, 5, (5, 5)),
        (FIRST_MS - 1, LAST_MS + 1, (FIRST_MS, LAST_MS)),
    ],
)
def test_an_open_bound_means_the_end_of_the_calendar(start: int | None, end: int | None, span: tuple[int, int]) -> None:
    assert Selection(start_ms=start, end_ms=end).span == span


@pytest.mark.parametrize(
    ("selection", "summarised"),
    [
        (Selection(), True),
        (Selection(start_ms=1, end_ms=2, magnitudes=MagnitudeRange(4.5, 4.6)), True),
        (Selection(magnitudes=MagnitudeRange(4.55)), False),
        (Selection(magnitudes=MagnitudeRange(None, 4.55)), False),
        (Selection(min_depth=0), False),
        (Selection(max_depth=0), False),
        (Selection(box=Box(-90, 90, -180, 180)), False),
        (Selection(circle=Circle(0, 0, 1)), False),
        (Selection(types=()), False),
    ],
)
def test_summaries_answer_for_time_and_tenths_of_magnitude_alone(selection: Selection, summarised: bool) -> None:
    assert selection.summarised == summarised
