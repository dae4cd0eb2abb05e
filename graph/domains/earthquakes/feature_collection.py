"""Writes events as GeoJSON in the form of USGS's feeds, which `usgs.normalise` reads.

As in these feeds, the third coordinate is a depth in km, though RFC 7946 has a height in metres. Maps
ignore it, and all readers of USGS's feeds, also `quakegraph ingest`, read it as a depth.
"""

from collections.abc import Iterable
from typing import Any

from graph.domains.earthquakes.model import DETAILS, Event

_OF_USGS = (
    *("mag", "place", "time", "updated", "url", "detail", "felt", "cdi", "mmi", "alert", "status", "tsunami", "sig"),
    *("net", "code", "ids", "sources", "types", "nst", "dmin", "rms", "gap", "magType", "type", "title"),
)
"""USGS's properties in its order, without `tz`, which is always null."""

PROPERTIES = tuple(dict.fromkeys((*_OF_USGS, *(each.attribute for each in DETAILS.values()))))

READ = frozenset({*PROPERTIES, "lat", "lon", "depth", "sourceDepth"} - {"time"})
"""The written attributes of an event, beside its position."""


def feature_collection(events: Iterable[Event]) -> dict[str, Any]:
    """The events as a FeatureCollection, in order.

    Source: https://earthquake.usgs.gov/earthquakes/feed/v1.0/geojson.php
    """
    return {"type": "FeatureCollection", "features": [feature(event) for event in events]}


def feature(event: Event) -> dict[str, Any]:
    """One event as a Feature."""
    item = event.item
    depth = item.get("sourceDepth", item.get("depth"))
    properties = {name: item.get(name) for name in PROPERTIES}
    properties["time"] = event.event_ts_ms
    return {
        "type": "Feature",
        "id": event.event_id,
        "geometry": {"type": "Point", "coordinates": [event.lon, event.lat, *([] if depth is None else [depth])]},
        "properties": properties,
    }
