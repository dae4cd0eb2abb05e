"""A selection refuses what makes no sense, and knows what summaries answer."""

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

from graph.core.days import FIRST_MS, LAST_MS
from graph.core.errors import BadUserInput
from graph.domains.earthquakes.areas import Box, Circle
from graph.domains.earthquakes.bounds import MOST_TEXTS
from graph.domains.earthquakes.magnitudes import MagnitudeRange
from graph.domains.earthquakes.polygon import Polygon
from graph.domains.earthquakes.selection import Selection

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
    selection = Selection(box=Box(0, 3, 0, 3), circle=Circle(0, 0, 400), polygon=triangle, but="excluded")
    item = {"eventId": "us1", "eventTsMs": 0, "lat": 1.0, "lon": 2.0}
    assert selection.admits(item)
    for beyond in ({"lat": 4.0}, {"lat": 2.9, "lon": 2.9}, {"lat": 2.0, "lon": 1.0}, {"eventId": "excluded"}):
        assert not selection.admits({**item, **beyond}), beyond
    assert selection.keep is not None
    assert selection.keep.reads == {"lat", "lon", "eventId"}
