"""The types of events that watches make: their payloads, as JSON Schema, and an example of each."""

from datetime import datetime
from typing import Any

from graph.core.names import camel_case
from graph.core.times import rfc3339_of_millis
from graph.domains.earthquakes.model import Event
from graph.domains.earthquakes.revisions.model import EventRevision
from graph.domains.triggers.event_types import EventType
from graph.domains.triggers.json_schemas import TIME, JsonSchema, object_of, schema_of, value_of
from graph.domains.watches.model import Watch
from graph.store.records import Stored

CREATED = "earthquake.created"
REVISED = "earthquake.revised"
DELETED = "earthquake.deleted"

_OF_AN_EARTHQUAKE = (
    *("event_id", "time", "mag", "mag_type", "place", "lat", "lon", "depth"),
    *("type", "status", "alert", "tsunami", "felt", "sig", "url"),
)
"""The attributes of an event that a payload has."""
_KINDS = {str: "string", float: "number", int: "integer", bool: "boolean"}


def _schema_of(name: str) -> JsonSchema:
    """The schema of an attribute of an event."""
    declared = Event.declarations()[name]
    if declared.python_type is datetime:
        return {**TIME, "description": declared.description}
    kind = _KINDS[declared.python_type]
    may_lack = isinstance(declared, Stored) and declared.optional
    return value_of([kind, "null"] if may_lack else kind, declared.description)


_CHANGE = object_of(
    {
        "field": value_of("string", "What changed."),
        "before": {"description": "Its value before."},
        "after": {"description": "Its value now."},
    }
)

_OF_A_WATCH = schema_of(
    {
        "earthquake": object_of({camel_case(name): _schema_of(name) for name in _OF_AN_EARTHQUAKE}),
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


def payload_of_watch(watch: Watch, version: EventRevision) -> dict[str, Any]:
    """The payload for a watch that wants a version of an earthquake."""
    event = version.event
    return {
        "earthquake": {
            **{camel_case(name): getattr(event, name) for name in _OF_AN_EARTHQUAKE},
            "time": rfc3339_of_millis(event.event_ts_ms),
        },
        "kind": version.kind.value,
        "revision": version.number,
        "recordedAt": rfc3339_of_millis(version.recorded_at),
        "mergedInto": event.merged_into,
        "changes": [{"field": each.field, "before": each.before, "after": each.after} for each in version.changes],
        "watch": {"watchId": watch.watch_id, "name": watch.name},
    }


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

EARTHQUAKE_TYPES = (
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
)
