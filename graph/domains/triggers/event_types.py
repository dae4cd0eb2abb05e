"""The types of events that the service itself creates: their payloads, as JSON Schema, and an example of each.

A domain that builds on the triggers adds its own types to the service `EventTypes`.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from graph.core.days import datetime_of
from graph.domains.earthquakes.revisions.model import EventRevision
from graph.domains.triggers.json_schemas import TIME, JsonSchema, object_of, schema_of, value_of
from graph.domains.triggers.model import Endpoint, Watch

TEST = "endpoint.test"
DISABLED = "endpoint.disabled"
LIMITED = "watches.limited"
CREATED = "earthquake.created"
REVISED = "earthquake.revised"
DELETED = "earthquake.deleted"


@dataclass(frozen=True, slots=True)
class EventType:
    """A type of events."""

    name: str
    description: str
    example: Mapping[str, Any]  # a payload
    schema: JsonSchema  # of payloads


_EARTHQUAKE = object_of(
    {
        "eventId": value_of("string", "USGS event id."),
        "time": {**TIME, "description": "Origin time."},
        "mag": value_of("number", "Magnitude."),
        "magType": value_of(["string", "null"], "How the magnitude was measured."),
        "place": value_of("string", "Where it was, in words."),
        "lat": value_of("number", "Degrees north."),
        "lon": value_of("number", "Degrees east."),
        "depth": value_of(["number", "null"], "Depth, km."),
        "type": value_of(["string", "null"], "Type of event, such as `earthquake`."),
        "status": value_of(["string", "null"], "`automatic` or `reviewed`."),
        "alert": value_of(["string", "null"], "PAGER alert level."),
        "tsunami": value_of(["boolean", "null"], "Whether USGS linked it to a tsunami message."),
        "felt": value_of(["integer", "null"], "Number of felt reports."),
        "sig": value_of(["integer", "null"], "Significance."),
        "url": value_of(["string", "null"], "Its page."),
    }
)

_CHANGE = object_of(
    {
        "field": value_of("string", "What changed."),
        "before": {"description": "Its value before."},
        "after": {"description": "Its value now."},
    }
)

_OF_A_WATCH = schema_of(
    {
        "earthquake": _EARTHQUAKE,
        "kind": value_of(
            "string",
            "What made this version of the earthquake.",
            enum=["CREATED", "REVISED", "RENAMED", "MERGED", "DELETED", "RESTORED"],
        ),
        "revision": value_of("integer", "Number of the version, from 1.", minimum=1),
        "recordedAt": {**TIME, "description": "When the catalogue stored the version."},
        "mergedInto": value_of(["string", "null"], "Id of the event that it turned out to be."),
        "changes": {"type": "array", "items": _CHANGE},
        "watch": object_of(
            {
                "watchId": value_of("string", "The watch that asked for it."),
                "name": value_of("string", "The watch's name."),
            }
        ),
    }
)

_OF_AN_ENDPOINT = schema_of(
    {
        "endpointId": value_of("string", "The endpoint."),
        "url": value_of("string", "Where its deliveries are sent."),
        "reason": value_of("string", "Why.", enum=["GONE", "FAILING"]),
    }
)

_OF_A_LIMIT = schema_of(
    {
        "limit": value_of("integer", "How many events a user's watches make in an hour.", minimum=1),
        "until": {**TIME, "description": "When the hour ends. Until then, further events are left out."},
    }
)

_OF_A_TEST = schema_of(
    {"endpointId": value_of("string", "The endpoint."), "message": value_of("string", "A greeting.")}
)


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


def payload_of_limited(limit: int, until: int) -> dict[str, Any]:
    """The payload that tells of events that are left out until a time, epoch milliseconds."""
    return {"limit": limit, "until": _iso(datetime_of(until))}


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
    EventType(
        LIMITED,
        "The user's watches have made as many events as they may within an hour. Further ones are left out.",
        payload_of_limited(10_000, 1_691_038_800_000),
        _OF_A_LIMIT,
    ),
    EventType(TEST, "A test that its user asked for. It is sent once.", payload_of_test(_ENDPOINT_ID), _OF_A_TEST),
)


class EventTypes:
    """The types of all domains."""

    def __init__(self) -> None:
        self.all = list(EVENT_TYPES)

    def add(self, event_type: EventType) -> None:
        """Add a type, before the process serves."""
        self.all.append(event_type)
