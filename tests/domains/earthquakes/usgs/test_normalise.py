"""A feature of USGS GeoJSON becomes the record that the rules make of it, or is refused; nothing else."""

from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graph.core.days import DAY_MS
from graph.domains.earthquakes.rules import RejectedFeature, Rejection
from graph.domains.earthquakes.usgs.geojson import UnreadableFeature
from tests.domains.earthquakes.builders import NOON, normalised
from tests.domains.earthquakes.test_rules import assert_right, json
from tests.domains.earthquakes.usgs.usgs_server import week

NOW = NOON + DAY_MS
PROPERTIES: dict[str, Any] = {
    "mag": 4.55, "place": "Ridgecrest, CA", "time": NOON, "updated": NOON + 1, "tz": None, "url": "https://u",
    "felt": 2, "cdi": 2.1, "mmi": None, "alert": "green", "status": "reviewed", "tsunami": 0, "sig": 319, "net": "ci",
    "code": "1", "ids": ",ci1,us2,", "sources": ",ci,us,", "nst": None, "magType": "ml", "type": "earthquake",
}  # fmt: skip


def a_feature(**changes: Any) -> dict[str, Any]:
    geometry = {"type": "Point", "coordinates": [-117.67, 35.62, 8.25]}
    return {"type": "Feature", "id": "ci1", "properties": PROPERTIES, "geometry": geometry, **changes}


def rejected(feature: Any) -> Rejection:
    with pytest.raises(RejectedFeature) as caught:
        normalised(feature, ingested_at=NOW)
    return caught.value.rejection


def test_a_feature_is_read_by_its_documented_members() -> None:
    assert normalised(a_feature(), ingested_at=NOW).values() == {
        "event_id": "ci1", "event_ts_ms": NOON, "mag": 4.55, "place": "Ridgecrest, CA",
        "lat": 35.62, "lon": -117.67, "depth": 8.25,
        "source": "USGS", "ingested_at": NOW, "mag_type": "ml", "type": "earthquake", "status": "reviewed",
        "updated": NOON + 1,
        "url": "https://u", "tsunami": False, "felt": 2, "alert": "green", "sig": 319, "day_bucket": "20230803",
        "source_depth": 8.25, "net": "ci", "code": "1", "ids": ["ci1", "us2"], "sources": ["ci", "us"], "types": None,
        "nst": None, "dmin": None, "rms": None, "gap": None, "cdi": 2.1, "mmi": None, "title": None, "detail": None,
        "merged_into": None,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("coordinates", "depth"), [([1, 2], None), ([1, 2, None], None), ([1, 2, 0], 0.0), ([1, 2, -3.2, "more"], 0.0)]
)
def test_a_missing_depth_is_none_and_not_0(coordinates: list[Any], depth: float | None) -> None:
    event = normalised(a_feature(geometry={"coordinates": coordinates}), ingested_at=NOW)
    assert (event.lon, event.lat, event.depth) == (1.0, 2.0, depth)


@pytest.mark.parametrize("geometry", [None, [], "here", {}, {"coordinates": None}, {"coordinates": "1,2"}])
def test_a_feature_without_coordinates_is_refused(geometry: Any) -> None:
    message = "The latitude must be a number from -90 to 90 degrees."
    assert rejected(a_feature(geometry=geometry)) == Rejection("ci1", "COORDINATES_INVALID", message)


@pytest.mark.parametrize("properties", [None, [], "none", {}])
def test_a_feature_without_properties_is_refused(properties: Any) -> None:
    assert rejected(a_feature(properties=properties)).code == "TIME_INVALID"


def test_a_feature_that_could_not_be_read_is_refused_by_its_place() -> None:
    message = "Feature 7 is not a JSON object."
    assert rejected(UnreadableFeature(7, "not a JSON object")) == Rejection(None, "FEATURE_UNREADABLE", message)


def test_all_events_of_the_real_week_with_a_magnitude_are_accepted() -> None:
    features = orjson.loads(week())["features"]
    events = [normalised(feature, ingested_at=NOW) for feature in features if feature["properties"]["mag"] is not None]
    without = [feature for feature in features if feature["properties"]["mag"] is None]

    assert {rejected(feature).code for feature in without} <= {"MAGNITUDE_MISSING"}
    assert len(events) + len(without) == 2124
    assert len({event.event_id for event in events}) == len(events)
    assert sum(event.depth == 0.0 for event in events) >= 104
    for event in events:
        assert_right(event)


@given(
    feature=st.fixed_dictionaries(
        {},
        optional={
            "id": st.just("ci1") | json,
            "properties": st.fixed_dictionaries({name: st.just(value) | json for name, value in PROPERTIES.items()})
            | json,
            "geometry": st.fixed_dictionaries({"coordinates": st.lists(json, max_size=4) | json}) | json,
        },
    )
)
def test_no_feature_raises_anything_but_its_rejection(feature: dict[str, Any]) -> None:
    try:
        event = normalised(feature, ingested_at=NOW)
    except RejectedFeature:
        return
    assert_right(event)
