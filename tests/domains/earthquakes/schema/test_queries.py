"""The queries of the catalogue as clients send them, over the real week of 2023-08-03."""

from collections.abc import Mapping
from functools import cache
from math import asin, atan2, cos, degrees, radians, sin
from typing import Any

import pytest
from graphql import GraphQLInputObjectType

from graph.core.days import DAY_MS
from graph.domains.earthquakes.model import Event
from graph.domains.earthquakes.selection import Selection
from graph.geography.areas import EARTH_RADIUS_KM, Circle
from tests.domains.earthquakes.builders import normalised
from tests.domains.earthquakes.oracle import selects
from tests.domains.earthquakes.schema.test_revisions import store
from tests.domains.earthquakes.usgs.usgs_server import week_features
from tests.schemas import schema
from tests.service import Service
from tests.store.samples import NOON

EVENTS = """
query Events($filter: EventFilter, $orderBy: EventOrder! = TIME_DESC, $first: Int, $after: String) {
  events(filter: $filter, orderBy: $orderBy, first: $first, after: $after) {
    totalCount bucketsScanned nodes { eventId } pageInfo { hasNextPage endCursor }
  }
}
"""


@cache
def stored() -> list[Event]:
    """The week's events, latest first; no two of them are of the same millisecond."""
    return [normalised(feature, ingested_at=NOON) for feature in week_features()]


ALL = Selection()


def selected(selection: Selection = ALL) -> list[str]:
    """The ids of the events that are meant, latest first, found by looking at each."""
    return [event.event_id for event in stored() if selects(selection, event)]


def page(week: Service, **variables: Any) -> dict[str, Any]:
    """A page of events."""
    connection: dict[str, Any] = week.ask(EVENTS, variables)["events"]
    return connection


def ids(connection: Mapping[str, Any]) -> list[str]:
    return [node["eventId"] for node in connection["nodes"]]


def test_a_page_is_in_the_order_of_time_or_of_magnitude_then_time_then_id(week: Service) -> None:
    by_magnitude = sorted(stored(), key=lambda event: (event.mag, event.event_ts_ms, event.event_id))
    orders = {
        "TIME_DESC": selected(),
        "TIME_ASC": selected()[::-1],
        "MAGNITUDE_DESC": [event.event_id for event in reversed(by_magnitude)],
        "MAGNITUDE_ASC": [event.event_id for event in by_magnitude],
    }
    for order_by, expected in orders.items():
        assert ids(page(week, first=1000, orderBy=order_by)) == expected[:1000], order_by
    strong = page(week, first=3, orderBy="MAGNITUDE_ASC", filter={"minMagnitude": 5.45, "types": ["earthquake"]})
    assert (len(ids(strong)), strong["bucketsScanned"] <= 5) == (3, True)
    assert ids(page(week)) == selected()[:50], "by default"
    assert page(week, filter={"minMagnitude": 5.9})["bucketsScanned"] == 2


def test_a_filter_of_nulls_is_no_filter(week: Service) -> None:
    filter_type = schema.type_map["EventFilter"]
    assert isinstance(filter_type, GraphQLInputObjectType)

    for nothing in (dict.fromkeys(filter_type.fields), None):
        assert page(week, filter=nothing)["totalCount"] == 2124


def test_a_page_is_a_feature_collection_from_which_it_can_be_ingested_again(week: Service) -> None:
    found = week.ask("{ events(first: 1000) { asGeoJson nodes { eventId } } }")["events"]

    collection = found["asGeoJson"]
    assert collection["type"] == "FeatureCollection"
    assert [feature["id"] for feature in collection["features"]] == [node["eventId"] for node in found["nodes"]]
    assert [normalised(feature, ingested_at=NOON) for feature in collection["features"]] == stored()[:1000]


def test_an_event_without_a_depth_has_two_coordinates(service: Service) -> None:
    event = {"eventId": "us1", "eventTsMs": NOON, "mag": 1.0, "lat": 1.5, "lon": -2.5}
    store(service, event)

    (feature,) = service.ask("{ events { asGeoJson } }")["events"]["asGeoJson"]["features"]
    assert feature["geometry"] == {"type": "Point", "coordinates": [-2.5, 1.5]}
    assert feature["properties"]["felt"] is None


# The events around one

NEARBY = """
query Nearby($eventId: ID!, $radiusKm: Float!, $days: Float!) {
  event(eventId: $eventId) { nearby(radiusKm: $radiusKm, days: $days, first: 1000) {
    totalCount nodes { eventId } edges { cursor distanceKm azimuth node { eventId } }
  } }
}
"""


def neighbours(event: Event, radius_km: float, days: float) -> list[str]:
    around = Selection(
        start_ms=event.event_ts_ms - int(days * DAY_MS),
        end_ms=event.event_ts_ms + int(days * DAY_MS),
        circle=Circle(event.lat, event.lon, radius_km),
    )
    return [event_id for event_id in selected(around) if event_id != event.event_id]


def assert_leads_to(start: Event, edge: dict[str, Any], end: Event) -> None:
    """Whoever walks the distance in the direction of the azimuth arrives at the event."""
    lat, along, towards = radians(start.lat), edge["distanceKm"] / EARTH_RADIUS_KM, radians(edge["azimuth"])
    sine = sin(lat) * cos(along) + cos(lat) * sin(along) * cos(towards)
    east = atan2(sin(towards) * sin(along) * cos(lat), cos(along) - sin(lat) * sine)
    arrived = degrees(asin(sine)), (start.lon + degrees(east) + 180) % 360 - 180
    assert arrived == pytest.approx((end.lat, end.lon), abs=1e-5)


def test_the_events_around_one_are_those_within_the_radius_and_the_days(week: Service) -> None:
    for radius_km, days in ((100.0, 30.0), (50.0, 0.5), (0.0, 30.0), (40_100.0, 0.1)):
        busiest = max(stored()[::100], key=lambda event: len(neighbours(event, radius_km, days)))
        expected = neighbours(busiest, radius_km, days)

        found = week.ask(NEARBY, {"eventId": busiest.event_id, "radiusKm": radius_km, "days": days})["event"]["nearby"]
        edges = found.pop("edges")
        assert found == {"totalCount": len(expected), "nodes": [{"eventId": each} for each in expected]}
        assert [edge["node"] for edge in edges] == found["nodes"]
        assert all(edge["distanceKm"] <= radius_km and 0 <= edge["azimuth"] < 360 for edge in edges)
        by_id = {event.event_id: event for event in stored()}
        for edge in edges:
            assert_leads_to(busiest, edge, by_id[edge["node"]["eventId"]])


def test_an_impossible_neighbourhood_is_refused(week: Service) -> None:
    for radius_km, days in ((-1.0, 1.0), (41_000.0, 1.0), (1.0, -1.0), (1.0, 40_000.0)):
        variables = {"eventId": stored()[0].event_id, "radiusKm": radius_km, "days": days}
        assert week.codes(NEARBY, variables) == ["BAD_USER_INPUT"]
