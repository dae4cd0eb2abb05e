"""The types of events that the service itself creates: their payloads, as JSON Schema, and an example of each."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from graph.core.days import datetime_of
from graph.domains.earthquakes.revisions.model import EventRevision
from graph.domains.triggers.model import Endpoint, Watch

TEST = "endpoint.test"
DISABLED = "endpoint.disabled"
CREATED = "earthquake.created"
REVISED = "earthquake.revised"
DELETED = "earthquake.deleted"

JsonSchema = dict[str, Any]

DIALECT = "https://json-schema.org/draft/2020-12/schema"


@dataclass(frozen=True, slots=True)
class EventType:
    """A type of events."""

    name: str
    description: str
    example: Mapping[str, Any]  # a payload
    schema: JsonSchema  # of payloads


def _object(properties: Mapping[str, JsonSchema], *, optional: tuple[str, ...] = ()) -> JsonSchema:
    required = [name for name in properties if name not in optional]
    return {"type": "object", "properties": dict(properties), "required": required, "additionalProperties": False}


def _of(kind: str | list[str], description: str, **others: Any) -> JsonSchema:
    return {"type": kind, "description": description, **others}


_TIME: JsonSchema = {"type": "string", "format": "date-time"}

_EARTHQUAKE = _object(
    {
        "eventId": _of("string", "USGS event id."),
        "time": {**_TIME, "description": "Origin time."},
        "mag": _of("number", "Magnitude."),
        "magType": _of(["string", "null"], "How the magnitude was measured."),
        "place": _of("string", "Where it was, in words."),
        "lat": _of("number", "Degrees north."),
        "lon": _of("number", "Degrees east."),
        "depth": _of(["number", "null"], "Depth, km."),
        "type": _of(["string", "null"], "Type of event, such as `earthquake`."),
        "status": _of(["string", "null"], "`automatic` or `reviewed`."),
        "alert": _of(["string", "null"], "PAGER alert level."),
        "tsunami": _of(["boolean", "null"], "Whether USGS linked it to a tsunami message."),
        "felt": _of(["integer", "null"], "Number of felt reports."),
        "sig": _of(["integer", "null"], "Significance."),
        "url": _of(["string", "null"], "Its page."),
    }
)

_CHANGE = _object(
    {
        "field": _of("string", "What changed."),
        "before": {"description": "Its value before."},
        "after": {"description": "Its value now."},
    }
)

_OF_A_WATCH = {
    "$schema": DIALECT,
    **_object(
        {
            "earthquake": _EARTHQUAKE,
            "kind": _of(
                "string",
                "What made this version of the earthquake.",
                enum=["CREATED", "REVISED", "RENAMED", "MERGED", "DELETED", "RESTORED"],
            ),
            "revision": _of("integer", "Number of the version, from 1.", minimum=1),
            "recordedAt": {**_TIME, "description": "When the catalogue stored the version."},
            "mergedInto": _of(["string", "null"], "Id of the event that it turned out to be."),
            "changes": {"type": "array", "items": _CHANGE},
            "watch": _object(
                {"watchId": _of("string", "The watch that asked for it."), "name": _of("string", "The watch's name.")}
            ),
        }
    ),
}

_OF_AN_ENDPOINT = {
    "$schema": DIALECT,
    **_object(
        {
            "endpointId": _of("string", "The endpoint."),
            "url": _of("string", "Where its deliveries are sent."),
            "reason": _of("string", "Why.", enum=["GONE", "FAILING"]),
        }
    ),
}

_OF_A_TEST = {
    "$schema": DIALECT,
    **_object({"endpointId": _of("string", "The endpoint."), "message": _of("string", "A greeting.")}),
}


def _iso(time: datetime) -> str:
    return time.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def payload_of_watch(watch: Watch, version: EventRevision) -> dict[str, Any]:
    """The payload for a watch that wants a version of an earthquake."""
    event = version.event
    return {
        "earthquake": {
            "eventId": event.event_id,
            "time": _iso(event.time),
            "mag": event.mag,
            "magType": event.mag_type,
            "place": event.place,
            "lat": event.lat,
            "lon": event.lon,
            "depth": event.depth,
            "type": event.type,
            "status": event.status,
            "alert": event.alert,
            "tsunami": event.tsunami,
            "felt": event.felt,
            "sig": event.sig,
            "url": event.url,
        },
        "kind": version.kind.value,
        "revision": version.number,
        "recordedAt": _iso(datetime_of(version.recorded_at)),
        "mergedInto": event.merged_into,
        "changes": [{"field": each.field, "before": each.before, "after": each.after} for each in version.changes],
        "watch": {"watchId": watch.watch_id, "name": watch.name},
    }


def payload_of_disabled(endpoint: Endpoint, reason: str) -> dict[str, Any]:
    """The payload that tells of a disabled endpoint."""
    return {"endpointId": endpoint.endpoint_id, "url": endpoint.url, "reason": reason}


def payload_of_test(endpoint_id: str) -> dict[str, Any]:
    """The payload of a test delivery."""
    return {"endpointId": endpoint_id, "message": "This is a test. Your endpoint works."}


_ENDPOINT_ID = "01930c5f-7a3e-7cc4-98a5-3f0d6d1c2b7e"
_EXAMPLE = {
    "earthquake": {
        "eventId": "us7000kjkj",
        "time": "2023-08-03T04:28:15.511Z",
        "mag": 5.6,
        "magType": "mww",
        "place": "139 km ESE of Kokopo, Papua New Guinea",
        "lat": -4.8352,
        "lon": 153.4021,
        "depth": 74.0,
        "type": "earthquake",
        "status": "reviewed",
        "alert": "green",
        "tsunami": False,
        "felt": 3,
        "sig": 483,
        "url": "https://earthquake.usgs.gov/earthquakes/eventpage/us7000kjkj",
    },
    "kind": "CREATED",
    "revision": 1,
    "recordedAt": "2023-08-03T04:41:02.120Z",
    "mergedInto": None,
    "changes": [],
    "watch": {"watchId": "01930c60-11d2-7b1f-8d3a-5b2e9c7f4a10", "name": "Larger than 5"},
}

EVENT_TYPES = (
    EventType(CREATED, "An earthquake was stored that a watch asks for.", _EXAMPLE, _OF_A_WATCH),
    EventType(
        REVISED,
        "An earthquake that a watch asks for was revised, renamed or restored. It is sent, too, if the revision takes "
        "it out of the watch's filter.",
        {
            **_EXAMPLE,
            "kind": "REVISED",
            "revision": 2,
            "recordedAt": "2023-08-03T05:10:44.803Z",
            "changes": [{"field": "mag", "before": 5.4, "after": 5.6}],
        },
        _OF_A_WATCH,
    ),
    EventType(
        DELETED,
        "An earthquake that a watch asks for was deleted, or merged into another one.",
        {**_EXAMPLE, "kind": "DELETED", "revision": 3, "recordedAt": "2023-08-03T06:00:00.000Z"},
        _OF_A_WATCH,
    ),
    EventType(
        DISABLED,
        "The service has disabled an endpoint: it answered 410, or failed for five days.",
        {"endpointId": _ENDPOINT_ID, "url": "https://receiver.example/hooks", "reason": "GONE"},
        _OF_AN_ENDPOINT,
    ),
    EventType(TEST, "A test that its user asked for. It is sent once.", payload_of_test(_ENDPOINT_ID), _OF_A_TEST),
)
