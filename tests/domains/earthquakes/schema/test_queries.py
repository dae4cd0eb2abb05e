"""The queries of the catalogue as clients send them, over the real week of 2023-08-03."""

from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

import pytest
from graphql import GraphQLInputObjectType

from graph.core.days import DAY_MS
from graph.domains.earthquakes.areas import Box, Circle
from graph.domains.earthquakes.magnitudes import MagnitudeRange
from graph.domains.earthquakes.model import Event
from graph.domains.earthquakes.polygon import Polygon
from graph.domains.earthquakes.selection import Selection
from tests.domains.earthquakes.builders import at, normalised
from tests.domains.earthquakes.oracle import selects
from tests.domains.earthquakes.usgs.usgs_server import week_features
from tests.schemas import schema
from tests.service import Service
from tests.store.samples import NOON

EVENTS = """
query Events(
  $filter: EventFilter, $orderBy: EventOrder! = TIME_DESC, $first: Int, $after: String, $last: Int, $before: String
) {
  events(filter: $filter, orderBy: $orderBy, first: $first, after: $after, last: $last, before: $before) {
    edges { cursor node { eventId } }
    nodes { eventId }
    pageInfo { hasNextPage hasPreviousPage startCursor endCursor }
    bucketsScanned
  }
}
"""
TOTAL = "query Total($filter: EventFilter) { events(filter: $filter, first: 0) { totalCount nodes { id } } }"


@cache
def stored() -> list[Event]:
    """The week's events, latest first; no two of them are of the same millisecond."""
    return [normalised(feature, ingested_at=NOON) for feature in week_features()]


ALL = Selection()


def selected(selection: Selection = ALL) -> list[str]:
    """The ids of the events that are meant, latest first, found by looking at each."""
    return [event.event_id for event in stored() if selects(selection, event)]


def page(week: Service, **variables: Any) -> dict[str, Any]:
    """A page of events, in which edges, nodes and page information agree."""
    connection: dict[str, Any] = week.ask(EVENTS, variables)["events"]
    cursors = [edge["cursor"] for edge in connection["edges"]]
    assert [edge["node"] for edge in connection["edges"]] == connection["nodes"]
    assert connection["pageInfo"]["startCursor"] == (cursors[0] if cursors else None)
    assert connection["pageInfo"]["endCursor"] == (cursors[-1] if cursors else None)
    assert len(set(cursors)) == len(cursors)
    return connection


def ids(connection: Mapping[str, Any]) -> list[str]:
    return [node["eventId"] for node in connection["nodes"]]


def sides(connection: Mapping[str, Any]) -> tuple[bool, bool]:
    """Whether something precedes the page, and whether something follows it."""
    return connection["pageInfo"]["hasPreviousPage"], connection["pageInfo"]["hasNextPage"]


def walk(week: Service, size: int, *, backward: bool = False, **variables: Any) -> Iterator[dict[str, Any]]:
    """All pages, each from the outermost cursor of the one before."""
    cursor, more = None, True
    while more:
        sizes = {"last": size, "before": cursor} if backward else {"first": size, "after": cursor}
        turned = page(week, **sizes, **variables)
        yield turned
        cursor = turned["pageInfo"]["startCursor" if backward else "endCursor"]
        more = sides(turned)[0 if backward else 1]


def test_all_pages_are_the_week_in_each_order_and_direction(week: Service) -> None:
    by_magnitude = sorted(stored(), key=lambda event: (event.mag, event.event_ts_ms, event.event_id))
    orders = {
        "TIME_DESC": selected(),
        "TIME_ASC": selected()[::-1],
        "MAGNITUDE_DESC": [event.event_id for event in reversed(by_magnitude)],
        "MAGNITUDE_ASC": [event.event_id for event in by_magnitude],
    }
    for order_by, expected in orders.items():
        for backward in (False, True):
            pages = list(walk(week, 300, backward=backward, orderBy=order_by))[:: -1 if backward else 1]
            assert [event_id for turned in pages for event_id in ids(turned)] == expected, order_by
            ends = [(n > 0, n < len(pages) - 1) for n in range(len(pages))]
            assert ([sides(turned) for turned in pages], len(pages)) == (ends, 8)
    strong = page(week, first=3, orderBy="MAGNITUDE_ASC", filter={"minMagnitude": 5.45, "types": ["earthquake"]})
    assert (len(ids(strong)), strong["bucketsScanned"] <= 5) == (3, True)


def test_a_cursor_of_the_other_order_is_refused(week: Service) -> None:
    by_time = page(week, first=1)["pageInfo"]["endCursor"]
    by_magnitude = page(week, first=1, orderBy="MAGNITUDE_DESC")["pageInfo"]["endCursor"]

    assert ids(page(week, first=1, orderBy="MAGNITUDE_ASC", before=by_magnitude)) == ids(
        page(week, first=1, orderBy="MAGNITUDE_ASC")
    )
    for argument in ("after", "before"):
        assert week.codes(EVENTS, {"orderBy": "MAGNITUDE_DESC", argument: by_time}) == ["INVALID_CURSOR"]
        assert week.codes(EVENTS, {"orderBy": "TIME_DESC", argument: by_magnitude}) == ["INVALID_CURSOR"]


def test_a_page_holds_fifty_by_default_and_a_thousand_at_most(week: Service) -> None:
    assert len(ids(page(week))) == 50
    assert len(ids(page(week, first=1000))) == len(ids(page(week, last=1000))) == 1000
    assert sides(page(week, first=0)) == (False, True)
    assert ids(page(week, last=0)) == []
    for size in (-1, 1001, 2**31 - 1):
        assert week.codes(EVENTS, {"first": size}) == week.codes(EVENTS, {"last": size}) == ["BAD_USER_INPUT"]
    assert week.codes(EVENTS, {"first": 1, "last": 1}) == ["BAD_USER_INPUT"]


def test_a_cursor_is_the_same_for_ever(week: Service) -> None:
    newest = "ZXZlbnRzMToxNjkxMTE3NTMzMTgwOm5jNzM5MTk5ODY"

    assert page(week, first=1)["pageInfo"]["endCursor"] == newest
    assert ids(page(week, first=2, after=newest)) == selected()[1:3]


def test_a_page_reads_the_days_that_it_needs(week: Service) -> None:
    """The latest of the eight days has 13 events, and the one before 241."""
    assert page(week, first=12)["bucketsScanned"] == 1
    assert page(week, first=13)["bucketsScanned"] == 2  # whether another one follows
    assert page(week, first=1000)["bucketsScanned"] == 5
    strongest = page(week, filter={"minMagnitude": 5.9})
    assert (ids(strongest), strongest["bucketsScanned"]) == (["us6000kxfl", "us6000kwam", "us6000kw3z"], 2)
    assert page(week, filter={"minMagnitude": 6})["bucketsScanned"] == 0


KENAI = ((58.9, -152.5), (61.4, -151.2), (60.9, -147.8), (59.6, -149.0))
CALIFORNIA = {"minLat": 32.0, "maxLat": 42.0, "minLon": -125.0, "maxLon": -114.0}
FILTERS: list[tuple[dict[str, Any], Selection, int]] = [
    (
        {"startTime": "2023-08-01T00:00:00Z", "endTime": "2023-08-01T23:59:59.999Z"},
        Selection(at("2023-08-01"), at("2023-08-01T23:59:59.999")),
        380,
    ),
    ({"minMagnitude": 0.33, "maxMagnitude": 1.32}, Selection(magnitudes=MagnitudeRange(0.33, 1.32)), 977),
    (
        {"circle": {"lat": 38.79, "lon": -122.79, "radiusKm": 20}, "maxGap": 40.5},
        Selection(circle=Circle(38.79, -122.79, 20), max_gap=40.5),
        35,
    ),
    (
        {"polygon": [{"lat": lat, "lon": lon} for lat, lon in KENAI], "networks": ["ak"], "minSig": 10},
        Selection(polygon=Polygon(KENAI), networks=("ak",), min_sig=10),
        4,
    ),
    (
        {"minMagnitude": 1.0, "maxDepth": 50.0, "types": ["earthquake"], "box": CALIFORNIA},
        Selection(magnitudes=MagnitudeRange(1.0), max_depth=50.0, types=("earthquake",), box=Box(*CALIFORNIA.values())),
        298,
    ),
]
"""Those with all fields are in the tests of filters as JSON."""


def test_a_filter_finds_what_it_says_and_counts_it(week: Service) -> None:
    for asked, selection, total in FILTERS:
        assert len(selected(selection)) == total
        assert week.ask(TOTAL, {"filter": asked}) == {"events": {"totalCount": total, "nodes": []}}
        found = [event_id for turned in walk(week, 1000, filter=asked) for event_id in ids(turned)]
        assert found == selected(selection)


def test_a_filter_of_nulls_is_no_filter(week: Service) -> None:
    filter_type = schema.type_map["EventFilter"]
    assert isinstance(filter_type, GraphQLInputObjectType)
    nothing = dict.fromkeys(filter_type.fields)

    assert week.ask(TOTAL, {"filter": nothing})["events"]["totalCount"] == 2124
    assert week.ask(TOTAL, {"filter": None})["events"]["totalCount"] == 2124


def test_a_page_is_a_feature_collection_from_which_it_can_be_ingested_again(week: Service) -> None:
    found = week.ask("{ events(first: 1000) { asGeoJson nodes { eventId } } }")["events"]

    collection = found["asGeoJson"]
    assert collection["type"] == "FeatureCollection"
    assert [feature["id"] for feature in collection["features"]] == [node["eventId"] for node in found["nodes"]]
    assert [normalised(feature, ingested_at=NOON) for feature in collection["features"]] == stored()[:1000]


def test_an_event_without_a_depth_has_two_coordinates(service: Service) -> None:
    event = {"eventId": "us1", "eventTsMs": NOON, "mag": 1.0, "lat": 1.5, "lon": -2.5}
    service.ask(
        "mutation Give($events: [EventInput!]!) { ingestEvents(input: {events: $events}) { upserted } }",
        {"events": [event]},
    )

    (feature,) = service.ask("{ events { asGeoJson } }")["events"]["asGeoJson"]["features"]
    assert feature["geometry"] == {"type": "Point", "coordinates": [-2.5, 1.5]}
    assert feature["properties"]["felt"] is None


# The events around one

NEARBY = """
query Nearby($eventId: String!, $radiusKm: Float!, $days: Float!, $after: String) {
  event(eventId: $eventId) {
    nearby(radiusKm: $radiusKm, days: $days, first: 200, after: $after) {
      totalCount nodes { eventId } pageInfo { hasNextPage endCursor }
    }
  }
}
"""


def neighbours(event: Event, radius_km: float, days: float) -> list[str]:
    around = Selection(
        start_ms=event.event_ts_ms - int(days * DAY_MS),
        end_ms=event.event_ts_ms + int(days * DAY_MS),
        circle=Circle(event.lat, event.lon, radius_km),
    )
    return [event_id for event_id in selected(around) if event_id != event.event_id]


@pytest.mark.parametrize(("radius_km", "days"), [(100.0, 30.0), (50.0, 0.5), (0.0, 30.0), (40_100.0, 0.1)])
def test_the_events_around_one_are_walked_page_by_page(week: Service, radius_km: float, days: float) -> None:
    busiest = max(stored()[::100], key=lambda event: len(neighbours(event, radius_km, days)))
    expected = neighbours(busiest, radius_km, days)

    found: list[str] = []
    after = None
    while True:
        variables = {"eventId": busiest.event_id, "radiusKm": radius_km, "days": days, "after": after}
        page = week.ask(NEARBY, variables)["event"]["nearby"]
        assert page["totalCount"] == len(expected)
        found += [node["eventId"] for node in page["nodes"]]
        after = page["pageInfo"]["endCursor"] if page["pageInfo"]["hasNextPage"] else None
        if not after:
            break
    assert found == expected


def test_an_impossible_neighbourhood_is_refused(week: Service) -> None:
    for radius_km, days in ((-1.0, 1.0), (41_000.0, 1.0), (1.0, -1.0), (1.0, 40_000.0)):
        variables = {"eventId": stored()[0].event_id, "radiusKm": radius_km, "days": days}
        assert week.codes(NEARBY, variables) == ["BAD_USER_INPUT"]
