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


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Selection(start_ms=1, end_ms=0), "`startTime` must not be greater than `endTime`."),
        (
            lambda: Selection(magnitudes=MagnitudeRange(4.6, 4.5)),
            "`minMagnitude` must not be greater than `maxMagnitude`.",
        ),
        (lambda: Selection(min_depth=1, max_depth=0), "`minDepth` must not be greater than `maxDepth`."),
        (lambda: Selection(types=("x",) * (MOST_TEXTS + 1)), "`types` takes at most 100 values."),
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
        (Selection(polygon=Polygon(((0, 0), (0, 1), (1, 1)))), False),
        (Selection(types=()), False),
    ],
)
def test_summaries_answer_for_time_and_tenths_of_magnitude_alone(selection: Selection, summarised: bool) -> None:
    assert selection.summarised == summarised


@pytest.mark.parametrize(
    ("event", "admitted"),
    [
        ({}, True),
        ({"lat": 4.0}, False),  # beyond the box
        ({"lat": 2.9, "lon": 2.9}, False),  # beyond the circle
        ({"lat": 2.0, "lon": 1.0}, False),  # beyond the polygon
        ({"eventId": "excluded"}, False),
    ],
)
def test_an_event_must_lie_in_every_area(event: dict[str, Any], admitted: bool) -> None:
    selection = Selection(
        box=Box(0, 3, 0, 3),
        circle=Circle(0, 0, 400),
        polygon=Polygon(((0, 0), (0, 5), (5, 5))),
        but="excluded",
    )
    item = {"eventId": "us1", "eventTsMs": 0, "lat": 1.0, "lon": 2.0, **event}
    assert selection.admits(item) == admitted
    assert selection.keep is not None
    assert selection.keep.reads == {"lat", "lon", "eventId"}
