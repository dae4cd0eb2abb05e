"""Half a surrogate pair, which JSON can express and UTF-8 cannot: no text of an event is changed to get rid of it."""

import json
from typing import Any

import httpx
import pytest

from tests.domains.earthquakes.ingest.ingests import a_feature
from tests.domains.earthquakes.usgs.usgs_server import UsgsServer, body
from tests.service import Service

RECENT = "mutation { ingestRecent { fetched upserted rejections { eventId code message } } }"
STORED = "{ events { totalCount nodes { eventId place } } }"
INGEST = """mutation($events: [EventInput!]!) {
  ingestEvents(input: {events: $events}) { upserted rejections { code } }
}"""
WHOLE = {"eventId": "us1", "eventTsMs": 0, "mag": 1, "lat": 0, "lon": 0}
EVENT = {**WHOLE, "eventId": "us2"}
TEXTS = ["place", "source", "magType", "type", "status", "url", "alert", "net", "code", "title", "detail"]
HALVES = ["a\ud800", "\udc00a", "\udc00\ud800", "\ud800A"]

halves = pytest.mark.parametrize("half", HALVES, ids=map(ascii, HALVES))


@halves
def test_usgs_has_the_event_rejected_and_its_neighbours_stored(service: Service, usgs: UsgsServer, half: str) -> None:
    of_usgs = [name for name in TEXTS if name != "source"]
    features = [
        a_feature(half),
        *[a_feature(f"us-{name}", **{name: half}) for name in of_usgs],
        a_feature("us-tz", tz=half),  # which is not stored
        a_feature("us-whole", place="\U0001f30b"),
    ]
    usgs.answer_next(body(json.dumps({"type": "FeatureCollection", "features": features}).encode()))

    payload = service.ask(RECENT)["ingestRecent"]

    assert payload["rejections"] == [
        {
            "eventId": None,
            "code": "ID_INVALID",
            "message": "The id must be text of at most 64 characters, none of them a control.",
        },
        *[
            {
                "eventId": f"us-{name}",
                "code": "FEATURE_UNREADABLE",
                "message": f"`{name}` is not valid Unicode text: it holds half a surrogate pair.",
            }
            for name in of_usgs
        ],
    ]
    assert (payload["fetched"], payload["upserted"]) == (len(features), 2)
    stored = service.ask(STORED)["events"]
    assert stored["totalCount"] == 2
    assert {"eventId": "us-whole", "place": "\U0001f30b"} in stored["nodes"]


@halves
def test_a_variable_with_one_refuses_the_request_and_nothing_is_stored(service: Service, half: str) -> None:
    for name in ["eventId", *TEXTS]:
        content = json.dumps({"query": INGEST, "variables": {"events": [WHOLE, {**EVENT, name: half}]}})

        answer = service.http.post("/graphql", content=content, headers={"Content-Type": "application/json"})

        assert codes(answer) == ["BAD_REQUEST"]
    assert service.ask(STORED)["events"]["totalCount"] == 0


@halves
def test_a_literal_with_one_refuses_the_document_and_nothing_is_stored(service: Service, half: str) -> None:
    for name in ["eventId", *TEXTS]:
        events = ", ".join(map(literal, [WHOLE, {**EVENT, name: half}]))

        document = f"mutation {{ ingestEvents(input: {{events: [{events}]}}) {{ upserted }} }}"

        assert codes(service.http.post("/graphql", json={"query": document})) == ["GRAPHQL_PARSE_FAILED"]
    assert service.ask(STORED)["events"]["totalCount"] == 0


def literal(event: dict[str, Any]) -> str:
    return "{" + ", ".join(f"{name}: {json.dumps(value)}" for name, value in event.items()) + "}"


def codes(answer: httpx.Response) -> list[str]:
    return [error["extensions"]["code"] for error in answer.json()["errors"]]
