"""Writes events as GeoJSON in the form of USGS's feeds, which `normalise` reads.

As in these feeds, the third coordinate is a depth in km, though RFC 7946 has a height in metres. Maps
ignore it, and all readers of USGS's feeds, also `quakegraph ingest`, read it as a depth.
"""

from collections.abc import Iterable
from typing import Any

from graph.domains.earthquakes.model import Event

READ = frozenset(
    {
        *("mag", "place", "lat", "lon", "depth", "updated", "url", "felt"),
        *("alert", "status", "tsunami", "sig", "magType", "type"),
    }
)
"""The written attributes of an event, beside its position."""


def feature_collection(events: Iterable[Event]) -> dict[str, Any]:
    """The events as a FeatureCollection, in order.

    Source: https://earthquake.usgs.gov/earthquakes/feed/v1.0/geojson.php
    """
    return {"type": "FeatureCollection", "features": [_feature(event) for event in events]}


def _feature(event: Event) -> dict[str, Any]:
    depth = [] if event.depth is None else [event.depth]
    return {
        "type": "Feature",
        "id": event.event_id,
        "geometry": {"type": "Point", "coordinates": [event.lon, event.lat, *depth]},
        "properties": {
            "mag": event.mag,
            "place": event.place,
            "time": event.event_ts_ms,
            "updated": event.updated,
            "url": event.url,
            "felt": event.felt,
            "alert": event.alert,
            "status": event.status,
            "tsunami": None if event.tsunami is None else int(event.tsunami),
            "sig": event.sig,
            "magType": event.mag_type,
            "type": event.type,
        },
    }
