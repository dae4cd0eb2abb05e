"""The type of events that tell of a sighting in a watched area."""

from typing import Any

from graph.domains.area_watches.model import AreaWatch
from graph.domains.sightings.categories import ALL
from graph.domains.sightings.grid import KM10
from graph.domains.sightings.iso import iso_of
from graph.domains.sightings.model import Sighting
from graph.domains.sightings.tiers import TrustTier
from graph.domains.triggers.event_types import EventType
from graph.domains.triggers.json_schemas import TIME, object_of, schema_of, value_of

_POSITION = object_of(
    {
        "lat": value_of("number", "Degrees north, of the middle of the cell."),
        "lon": value_of("number", "Degrees east, of the middle of the cell."),
        "precisionKm": value_of("number", "The width of the cell, km. No finer position is known."),
    }
)

_SIGHTING = object_of(
    {
        "sightingId": value_of("string", "The sighting's id."),
        "category": value_of("string", "What it is about."),
        "area": object_of({"slug": value_of("string", "The area that it is in.")}),
        "text": value_of(["string", "null"], "What the reporter says, plain text."),
        "reportedAt": {**TIME, "description": "When it was reported."},
        "expiresAt": {**TIME, "description": "When it expires unless it is confirmed."},
        "position": {
            **_POSITION,
            "type": ["object", "null"],
            "description": "Where it is, rounded. Null if the reporter gave no position.",
        },
        "reporterTier": value_of(
            "string", "How far its reporter was trusted at the report.", enum=[tier.name for tier in TrustTier]
        ),
        "eventId": value_of(["string", "null"], "Id of the earthquake that the reporter names."),
    }
)

_WATCH = object_of(
    {
        "watchId": value_of("string", "The watch that asked for it."),
        "area": value_of("string", "The slug of the watched area."),
        "category": value_of("string", f"The watched category, or `{ALL}`."),
    }
)

REPORTED = EventType(
    "sighting.reported",
    "Somebody else has reported a sighting in an area that a watch asks for.",
    {
        "sighting": {
            "sightingId": "01979a5d-3c40-7d2e-9b6f-4a1c8e0d7f53",
            "category": "SHAKING",
            "area": {"slug": "ridgecrest"},
            "text": "The lamps were swinging.",
            "reportedAt": "2026-06-25T14:30:00Z",
            "expiresAt": "2026-06-25T15:00:00Z",
            "position": {"lat": 35.595, "lon": -117.6548673, "precisionKm": KM10.km},
            "reporterTier": "SILVER",
            "eventId": None,
        },
        "watch": {"watchId": "01979a1b-52f8-7c31-8e4d-6b0f9d2a7c15", "area": "ridgecrest", "category": ALL},
    },
    schema_of({"sighting": _SIGHTING, "watch": _WATCH}),
)


def payload_of(watch: AreaWatch, sighting: Sighting) -> dict[str, Any]:
    """The payload for a watch that wants a sighting. It names no user."""
    position = sighting.position
    return {
        "sighting": {
            "sightingId": sighting.sighting_id,
            "category": sighting.category,
            "area": {"slug": sighting.area_slug},
            "text": sighting.text,
            "reportedAt": sighting.item["reportedAt"],
            "expiresAt": iso_of(sighting.item["expiresAt"]),
            "position": position and {**position._asdict(), "precisionKm": KM10.km},
            "reporterTier": sighting.tier.name,
            "eventId": sighting.event_id,
        },
        "watch": {"watchId": watch.id_in_key or watch.watch_id, "area": watch.area_slug, "category": watch.category},
    }
