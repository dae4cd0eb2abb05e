"""The bodies of kept payloads: checked, and read record by record."""

import json
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any, BinaryIO

from graph.core.geojson.feature_splitter import InvalidGeoJson
from graph.core.geojson.reading import Fingerprinted, read_features
from graph.core.gzipped import PIECE_BYTES, Gunzipped, NotWhole
from graph.domains.earthquakes.ingest.ingest import EVENTS_ROUTE
from graph.domains.earthquakes.model import Incoming
from graph.domains.earthquakes.rules import RejectedFeature, given_record
from graph.domains.earthquakes.usgs.normalise import read_record
from graph.domains.payloads.folder import Place
from graph.domains.payloads.model import Payload
from graph.domains.payloads.order import DamagedPayload


def check_body(place: Place, payload: Payload) -> None:
    """Compare a body with its size and hash, as far as they are known.

    Raises:
        DamagedPayload: It is missing, or not as it was received.
    """
    try:
        with _opened(place) as file:
            body = Fingerprinted(Gunzipped(file, may_break_off=not place.body.exists()))
            while body.read(PIECE_BYTES):
                pass
    except FileNotFoundError:
        raise DamagedPayload(f"{place.body}: the file is missing") from None
    except NotWhole as error:
        raise DamagedPayload(f"{place.body}: {error}") from error
    if payload.sha256 is not None and (body.size, body.sha256) != (payload.size, payload.sha256):
        raise DamagedPayload(f"{place.body}: the file is not what its journal says, by its size and SHA-256")


class PayloadRecords:
    """The records of a payload, read in order of their places."""

    def __init__(self, place: Place, payload: Payload) -> None:
        self._place = place
        self._file = _opened(place)
        self._check: Callable[[Any], Incoming]
        self._values: Iterator[Any]
        body = Gunzipped(self._file, may_break_off=not place.body.exists())
        if payload.route == EVENTS_ROUTE:
            self._check = partial(given_record, ingested_at=payload.received_at)
            self._values = _listed(body)
        else:
            self._check = partial(read_record, ingested_at=payload.received_at)
            self._values = read_features(body)
        self._read = 0  # values
        self._kept: dict[int, Any] = {}  # place → value

    def close(self) -> None:
        """Close the body."""
        self._file.close()

    def forget(self, before: int) -> None:
        """Forget the values before a place."""
        for place in [place for place in self._kept if place < before]:
            del self._kept[place]

    def of(self, place: int, event_id: str) -> Incoming:
        """The record at a place.

        Raises:
            DamagedPayload: There is another one, or none.
        """
        try:
            while self._read <= place:
                self._kept[self._read] = next(self._values)
                self._read += 1
            record = self._check(self._kept[place])
        except (InvalidGeoJson, StopIteration, NotWhole, RejectedFeature, KeyError) as error:
            raise self._damaged(place, event_id) from error
        if record.event_id != event_id:
            raise self._damaged(place, event_id)
        return record

    def _damaged(self, place: int, event_id: str) -> DamagedPayload:
        return DamagedPayload(f"{self._place.body}: record {place} is not {event_id!r}, which the journal names")


def _opened(place: Place) -> BinaryIO:
    return (place.body if place.body.exists() else place.part).open("rb")


def _listed(body: Gunzipped) -> Iterator[Mapping[str, Any]]:
    text = b"".join(iter(lambda: body.read(PIECE_BYTES), b""))
    yield from json.loads(text)
