"""A selection refuses what makes no sense, and knows what summaries answer."""

from collections.abc import Callable
from decimal import Decimal
from functools import partial
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graph.core.days import FIRST_MS, LAST_MS
from graph.core.errors import BadUserInput
from graph.domains.earthquakes.magnitudes import MagnitudeRange, bin_of
from graph.domains.earthquakes.selection import Selection
from graph.domains.earthquakes.selection.conditions import MOST_TEXTS
from graph.geography.areas import Box, Circle
from graph.geography.polygon import Polygon

NAN = float("nan")
LATITUDES = "`box` needs -90 ≤ minLat ≤ maxLat ≤ 90."
LONGITUDES = "`box` needs minLon and maxLon from -180 to 180; minLon > maxLon crosses the dateline."
CENTRE = "`circle` needs lat from -90 to 90 and lon from -180 to 180."
RADIUS = "`circle` needs a radiusKm from 0 to 40,100."
POINTS = "`polygon` needs 3 to 100 points."
PLACES = "`polygon` needs points with lat from -90 to 90 and lon from -180 to 180."
IMPOSSIBLE: list[tuple[Callable[[], Any], str]] = [
    (lambda: Selection(start_ms=1, end_ms=0), "`startTime` must not be greater than `endTime`."),
    (lambda: Selection(magnitudes=MagnitudeRange(4.6, 4.5)), "`minMagnitude` must not be greater than `maxMagnitude`."),
    (lambda: Selection(min_depth=1, max_depth=0), "`minDepth` must not be greater than `maxDepth`."),
    (lambda: Selection(types=("x",) * (MOST_TEXTS + 1)), "`types` takes at most 100 values."),
    *((partial(Box, *edges), LATITUDES) for edges in ((1, 0, 0, 0), (-90.1, 0, 0, 0), (0, 90.1, 0, 0), (NAN, 0, 0, 0))),
    *((partial(Box, *edges), LONGITUDES) for edges in ((0, 0, -181, 0), (0, 0, 0, NAN))),
    *((partial(Circle, *values), CENTRE) for values in ((91, 0, 1), (0, 180.5, 1), (NAN, 0, 1))),
    *((partial(Circle, *values), RADIUS) for values in ((0, 0, -0.1), (0, 0, 40_100.1))),
    *((partial(Polygon, points), POINTS) for points in (((0, 0), (0, 1)), tuple((0, lon) for lon in range(101)))),
    (lambda: Polygon(((0, 0), (0, 1), (0, 0))), "`polygon` needs at least three different points."),
    *((partial(Polygon, ((0, 0), (0, 1), place)), PLACES) for place in ((90.1, 0), (1, -180.1), (1, NAN))),
    (
        lambda: Polygon(((60, -120), (60, 0), (60, 120))),
        "`polygon` goes around a pole: lead its edge along the pole, by points at most 180 degrees apart whose lat"
        " is 90 or -90.",
    ),
]


def test_contradictory_selections_and_impossible_areas_are_refused_with_a_message() -> None:
    for make, message in IMPOSSIBLE:
        with pytest.raises(BadUserInput) as caught:
            make()
        assert str(caught.value) == message


def test_an_open_bound_means_the_end_of_the_calendar() -> None:
    for start, end, span in (
        (None, None, (FIRST_MS, LAST_MS)),
        (0, None, (0, LAST_MS)),
        (None, 0, (FIRST_MS, 0)),
        (5, 5, (5, 5)),
        (FIRST_MS - 1, LAST_MS + 1, (FIRST_MS, LAST_MS)),
    ):
        assert Selection(start_ms=start, end_ms=end).span == span


def test_summaries_answer_for_time_and_tenths_of_magnitude_alone() -> None:
    assert Selection().summarised
    assert Selection(start_ms=1, end_ms=2, magnitudes=MagnitudeRange(4.5, 4.6)).summarised
    for other in (
        *(Selection(magnitudes=MagnitudeRange(4.55)), Selection(magnitudes=MagnitudeRange(None, 4.55))),
        *(Selection(min_depth=0), Selection(max_depth=0), Selection(types=())),
        *(Selection(box=Box(-90, 90, -180, 180)), Selection(circle=Circle(0, 0, 1))),
        Selection(polygon=Polygon(((0, 0), (0, 1), (1, 1)))),
    ):
        assert not other.summarised, other


def test_an_event_must_lie_in_every_area() -> None:
    triangle = Polygon(((0, 0), (0, 5), (5, 5)))
    selection = Selection(box=Box(0, 3, 0, 3), circle=Circle(0, 0, 400), polygon=triangle, excluded_id="excluded")
    item = {"eventId": "us1", "eventTsMs": 0, "lat": 1.0, "lon": 2.0}
    assert selection.admits(item)
    for beyond in ({"lat": 4.0}, {"lat": 2.9, "lon": 2.9}, {"lat": 2.0, "lon": 1.0}, {"eventId": "excluded"}):
        assert not selection.admits({**item, **beyond}), beyond
    assert selection.keep is not None
    assert selection.keep.reads == {"lat", "lon", "eventId"}


# Magnitudes


# 4.6 * 10 is 46.0, but 4.6 // 0.1 is 45.0, and 0.3 / 0.1 is 2.999…
ODD = [4.6, 0.3, 4.55, 4.599999999999999, 4.600000000000001, -0.1, -0.05, -1.12, -0.0, 1e-300, 7, -2, 10]


@given(st.floats(-2, 10))
def test_a_bin_reaches_from_its_edge_to_the_next_one(mag: float) -> None:
    for each in (mag, *ODD, *(tenths / 10 for tenths in range(-20, 101))):
        tenths, on_edge = bin_of(each)
        written = Decimal(repr(each))
        assert Decimal(tenths) / 10 <= written < Decimal(tenths + 1) / 10
        assert on_edge == (written == Decimal(tenths) / 10)


def test_a_range_knows_the_bins_that_may_hold_its_magnitudes() -> None:
    for bounds, on_tenths, bins in (
        (MagnitudeRange(), True, range(-20, 101)),
        (MagnitudeRange(4.5), True, range(45, 101)),
        (MagnitudeRange(4.55), False, range(45, 101)),
        (MagnitudeRange(None, 4.5), True, range(-20, 46)),
        (MagnitudeRange(4.6, 4.6), True, range(46, 47)),
        (MagnitudeRange(4.61, 4.69), False, range(46, 47)),
        (MagnitudeRange(-5, 12), True, range(-20, 101)),
        (MagnitudeRange(10.1, 12), True, range(101, 101)),
    ):
        assert (bounds.on_tenths, bounds.bins) == (on_tenths, bins)
        assert bounds.everything == (bounds == MagnitudeRange())
