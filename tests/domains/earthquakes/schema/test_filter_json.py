"""A filter that is kept as JSON comes back as it was given."""

from dataclasses import fields
from typing import Any

import pytest

from graph.api.text_arguments import TextArguments
from graph.core.errors import BadUserInput
from graph.domains.earthquakes.areas import Box, Circle
from graph.domains.earthquakes.magnitudes import MagnitudeRange
from graph.domains.earthquakes.polygon import Polygon
from graph.domains.earthquakes.schema.filter_json import filter_as_json, selection_of_json
from graph.domains.earthquakes.schema.filters import EventFilter
from graph.domains.earthquakes.selection import Selection
from tests.domains.earthquakes.builders import at


def _itself(filter: EventFilter | None = None) -> EventFilter | None:
    return filter


FILTERS = TextArguments(_itself, spread="filter")
"""Reads a filter as the graph reads a variable."""

STORED: dict[str, Any] = {
    "startTime": "2023-08-03T02:52:13.180500+00:00",
    "endTime": "2023-08-04",
    "minMagnitude": 4.5,
    "maxMagnitude": 9,
    "minDepth": 0.0,
    "maxDepth": 70.5,
    "box": {"minLat": -25.0, "maxLat": 60.0, "minLon": 170.0, "maxLon": -100.0},
    "circle": {"lat": 35.6, "lon": -117.6, "radiusKm": 12345.6},
    "polygon": [{"lat": 0.0, "lon": 0.0}, {"lat": 0.0, "lon": 3.5}, {"lat": 3.0, "lon": 3.0}],
    "types": ["earthquake", "QUARRY_BLAST"],
    "networks": ["ci", "ñc"],
    "magTypes": ["mww"],
    "status": ["reviewed"],
    "alerts": [],
    "tsunami": False,
    "minFelt": 0,
    "minSig": 600,
    "maxGap": 90.0,
    "place": "pāhala",
    "ids": ["us7000abcd"],
}
"""A filter with every field, as it stands in stores. Never change it: add what is new."""

READ = Selection(
    start_ms=at("2023-08-03T02:52:13.181"),
    end_ms=at("2023-08-04T23:59:59.999"),
    magnitudes=MagnitudeRange(4.5, 9.0),
    min_depth=0.0,
    max_depth=70.5,
    box=Box(-25, 60, 170, -100),
    circle=Circle(35.6, -117.6, 12345.6),
    polygon=Polygon(((0, 0), (0, 3.5), (3, 3))),
    types=("earthquake", "QUARRY_BLAST"),
    networks=("ci", "ñc"),
    mag_types=("mww",),
    statuses=("reviewed",),
    alerts=(),
    tsunami=False,
    min_felt=0,
    min_sig=600,
    max_gap=90.0,
    place="pāhala",
    ids=("us7000abcd",),
)


def test_a_filter_is_read_as_it_stands_in_stores() -> None:
    assert selection_of_json(STORED) == READ
    filter_ = FILTERS.read_json({"filter": STORED})
    assert filter_
    assert filter_as_json(filter_) == STORED
    assert len(STORED) == len(fields(EventFilter))  # so no field is missing above
    assert selection_of_json({}) == selection_of_json({"circle": None}) == Selection()


def test_what_the_graph_refuses_is_no_filter() -> None:
    refusals: list[tuple[dict[str, Any], str]] = [
        ({"minMag": 5}, "not to include unknown field 'minMag'"),
        ({"minMagnitude": "5"}, "Float"),
        ({"startTime": "yesterday"}, "DateTime must be a time of RFC 3339"),
        ({"circle": {"lat": 1, "lon": 2}}, "required field 'radiusKm'"),
        ({"circle": {"lat": 91, "lon": 2, "radiusKm": 3}}, "`circle` needs lat from -90 to 90"),
        ({"minMagnitude": 5, "maxMagnitude": 4}, "`minMagnitude` must not be greater than `maxMagnitude`"),
    ]
    for json, message in refusals:
        with pytest.raises(BadUserInput) as refused:
            selection_of_json(json)
        assert message in str(refused.value)
