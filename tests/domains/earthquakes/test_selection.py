"""A selection refuses what makes no sense, and knows what summaries answer."""

from collections.abc import Callable
from typing import Any

import pytest

from graph.core.days import FIRST_MS, LAST_MS
from graph.core.errors import BadUserInput
from graph.domains.earthquakes.areas import Box, Circle
from graph.domains.earthquakes.bounds import MOST_TEXTS
from graph.domains.earthquakes.magnitudes import MagnitudeRange
from graph.domains.earthquakes.polygon import Polygon
from graph.domains.earthquakes.selection import Selection

IMPOSSIBLE: list[tuple[Callable[[], Any], str]] = [
    (lambda: Selection(start_ms=1, end_ms=0), "`startTime` must not be greater than `endTime`."),
    (lambda: Selection(magnitudes=MagnitudeRange(4.6, 4.5)), "`minMagnitude` must not be greater than `maxMagnitude`."),
    (lambda: Selection(min_depth=1, max_depth=0), "`minDepth` must not be greater than `maxDepth`."),
    (lambda: Selection(types=("x",) * (MOST_TEXTS + 1)), "`types` takes at most 100 values."),
]


def test_contradictory_selections_are_refused_with_a_message() -> None:
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
