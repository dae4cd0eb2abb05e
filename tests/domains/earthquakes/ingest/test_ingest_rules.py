"""Features of every shape, fed in by a real server, and any data. The rules of values have tests of their own."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from graph.core.days import DAY_MS, FIRST_MS
from graph.domains.earthquakes.ingest.report import REJECTIONS_LISTED
from graph.domains.earthquakes.usgs.requests import RecentEvents
from tests.domains.earthquakes.ingest.ingests import (
    NOW,
    Station,
    a_feature,
    a_station,
    events_in,
    file_of,
    located,
    recounted,
    summaries_in,
)
from tests.domains.earthquakes.strategies import A_FEW
from tests.domains.earthquakes.usgs.usgs_server import UsgsServer, collection

NOTHING = object()  # for an attribute that must be absent
# Feature → what of its item the rules decide.
STORED: list[tuple[dict[str, Any], dict[str, Any]]] = [
    (a_feature("magnitude-above", mag=10.7), {"mag": 10.0}),
    (located("depth-negative", -117.6, 35.6, -1.27), {"depth": 0.0}),
    (located("depth-null", -117.6, 35.6, None), {"depth": NOTHING}),
    (located("depth-missing", -117.6, 35.6), {"depth": NOTHING}),
    (located("coordinates-four", -117.6, 35.6, 8.0, 9.0), {"lon": -117.6, "lat": 35.6, "depth": 8.0}),
    (located("coordinates-at-the-edges", -180, 90, 0.0), {"lon": -180.0, "lat": 90.0, "depth": 0.0}),
    (located("coordinates-tiny", 1e-300, -1e-300, 1e-200), {"lon": 0.0, "lat": 0.0, "depth": 0.0}),
    (a_feature("place-513", place="🌋" * 513), {"place": "🌋" * 512}),
    (a_feature("time-before-1970", time=-1), {"eventTsMs": -1, "gsi1pk": "DAY#19691231", "gsi1sk": -1}),
]

# Feature → the id and code of its rejection.
REJECTED: list[tuple[Any, str | None, str]] = [
    ({"type": "Feature", "properties": a_feature()["properties"]}, None, "ID_MISSING"),
    (a_feature("geometry-null") | {"geometry": None}, "geometry-null", "COORDINATES_INVALID"),
    (a_feature("geometry-text") | {"geometry": "here"}, "geometry-text", "COORDINATES_INVALID"),
    (a_feature("coordinates-text") | {"geometry": {"coordinates": "1,2"}}, "coordinates-text", "COORDINATES_INVALID"),
    (located("longitude-alone", -117.6), "longitude-alone", "COORDINATES_INVALID"),
    (a_feature("properties-null") | {"properties": None}, "properties-null", "TIME_INVALID"),
    (a_feature("properties-list") | {"properties": []}, "properties-list", "TIME_INVALID"),
    (None, None, "FEATURE_UNREADABLE"),
    ([a_feature()], None, "FEATURE_UNREADABLE"),
]


async def test_each_feature_is_stored_or_rejected_by_its_own_rule(any_station: Station) -> None:
    station = any_station
    mixed = [feature for feature, _ in STORED]
    for place, (feature, _, _) in enumerate(REJECTED):
        mixed.insert(2 * place, feature)
    station.usgs.answer_next(collection(mixed))

    report = await station.ingest.recent(RecentEvents())

    items = await events_in(station.database)
    assert {
        feature["id"]: {name: items[feature["id"]].get(name, NOTHING) for name in rules} for feature, rules in STORED
    } == {feature["id"]: rules for feature, rules in STORED}
    assert [(told.event_id, told.code) for told in report.rejections] == [(id_, code) for _, id_, code in REJECTED]
    assert (report.fetched, report.upserted, report.skipped) == (len(mixed), len(STORED), 0)
    assert len(items) == len(STORED)
    assert await summaries_in(station.database) == await recounted(station.database)


async def test_all_rejections_are_counted_and_the_first_thousand_listed(station: Station) -> None:
    report = await station.ingest.file(file_of(a_feature(f"us{n}", mag=None) for n in range(1003)))

    assert (report.fetched, report.rejected, await events_in(station.database)) == (1003, 1003, {})
    assert [told.event_id for told in report.rejections] == [f"us{n}" for n in range(REJECTIONS_LISTED)]


# Anything at all

WHOLE = st.integers(-(2**63) + 1, 2**63 - 1)  # that the parser of collections takes
anything = st.recursive(
    st.none() | st.booleans() | WHOLE | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=8),
    lambda values: st.lists(values, max_size=4) | st.dictionaries(st.text(max_size=8), values, max_size=4),
    max_leaves=8,
)
nearly_features = st.fixed_dictionaries(
    {
        "id": st.sampled_from(["us1", "us2", "us3", "ci4", "", "i" * 65]) | anything,
        "properties": st.fixed_dictionaries(
            {
                "time": st.sampled_from([NOW, NOW - DAY_MS, -1, FIRST_MS]) | anything,
                "mag": st.floats(-12, 12) | st.integers(-12, 12) | anything,
            },
            optional=dict.fromkeys(("place", "updated", "url", "tsunami", "felt", "alert", "sig"), anything),
        )
        | anything,
        "geometry": st.fixed_dictionaries(
            {
                "coordinates": st.tuples(st.floats(-190, 190), st.floats(-95, 95), st.none() | st.floats(-10, 700))
                | anything
            }
        )
        | anything,
    }
)


@A_FEW
@given(features=st.lists(nearly_features | anything, max_size=30), data=st.data())
async def test_whatever_the_features_are_each_is_counted_once(
    usgs: UsgsServer, features: list[Any], data: st.DataObject
) -> None:
    features += data.draw(st.lists(st.sampled_from(features), max_size=5)) if features else []
    async with a_station("sqlite", usgs) as station:
        first = await station.ingest.file(file_of(features))
        again = await station.ingest.file(file_of(features))

        assert first.fetched == first.upserted + first.skipped + first.rejected == len(features)
        assert len(await events_in(station.database)) == first.upserted
        assert (again.upserted, again.skipped) == (0, first.upserted + first.skipped)
        assert again.rejections == first.rejections
        assert await summaries_in(station.database) == await recounted(station.database)
