"""GeoJSON in the form of USGS's feeds, one feature on each line of the collection.

The member `metadata` comes last, since it has the count and the hash of the ids.
"""

from collections.abc import Sequence

import orjson

from graph.domains.earthquakes.feature_collection import READ, feature
from graph.domains.earthquakes.model import Event
from graph.domains.export.encoders import Encoder, ExportEnding, IdsHash


class GeoJson(Encoder):
    """A FeatureCollection."""

    reads = READ

    def __init__(self) -> None:
        self._ids = IdsHash()
        self._before = b"\n"  # what comes before the next feature

    def begin(self) -> bytes:
        return b'{"type":"FeatureCollection","features":['

    async def rows(self, events: Sequence[Event]) -> bytes:
        if not events:
            return b""
        self._ids.add(events)
        before, self._before = self._before, b",\n"
        return before + b",\n".join([orjson.dumps(feature(event)) for event in events])

    async def end(self, ending: ExportEnding) -> bytes:
        metadata = {"count": ending.count, "eventIdsSha256": self._ids.hex, "asOf": ending.as_of}
        return b'\n],"metadata":' + orjson.dumps(metadata) + b"}\n"
