"""Writes GeoJSON as USGS does. The metadata come last, since they have the number of events."""

from collections.abc import Sequence

import orjson

from graph.domains.earthquakes.feature_collection import READ, feature
from graph.domains.earthquakes.model import Event
from graph.domains.fdsn.formats import NO_EARLIER, AnswerFormat, Earlier


class FdsnGeoJson(AnswerFormat):
    """A FeatureCollection of events.

    Source: https://earthquake.usgs.gov/earthquakes/feed/v1.0/geojson.php
    """

    media_type = "application/geo+json"
    attributes = READ
    is_document_without_events = True

    def __init__(self, *, url: str, generated_ms: int, version: str) -> None:
        """Write the answer to a URL, generated at a time in epoch milliseconds."""
        self._metadata = {
            "generated": generated_ms,
            "url": url,
            "title": "Quakegraph earthquakes",
            "status": 200,
            "api": version,
        }
        self._separator = b""
        self._box: list[float] | None = None  # west, south, top, east, north, bottom

    @property
    def head(self) -> bytes:
        return b'{"type":"FeatureCollection","features":['

    def rows(self, events: Sequence[Event], earlier: Earlier = NO_EARLIER) -> bytes:
        if not events:
            return b""
        self._extend(events)
        separator, self._separator = self._separator, b","
        return separator + orjson.dumps([feature(event) for event in events])[1:-1]

    def tail(self, count: int) -> bytes:
        box = b',"bbox":' + orjson.dumps(self._box) if self._box else b""
        return b'],"metadata":' + orjson.dumps({**self._metadata, "count": count}) + box + b"}\n"

    def _extend(self, events: Sequence[Event]) -> None:
        """Extend the box to these events. Where a depth is missing, it counts as none."""
        lons, lats = [event.lon for event in events], [event.lat for event in events]
        depths: list[float] = [event.item.get("sourceDepth", event.item.get("depth")) or 0.0 for event in events]
        if self._box:
            for values, low, high in zip((lons, lats, depths), self._box[:3], self._box[3:], strict=True):
                values += (low, high)
        self._box = [min(lons), min(lats), min(depths), max(lons), max(lats), max(depths)]
