"""Pages of events as GeoJSON, as clients ask for them, over the real week of 2023-08-03."""

from tests.domains.earthquakes.builders import normalised
from tests.domains.earthquakes.schema.test_queries import stored
from tests.service import Service
from tests.store.samples import NOON


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
