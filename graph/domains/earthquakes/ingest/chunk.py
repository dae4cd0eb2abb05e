"""Some records of a payload, which are stored together."""

from collections.abc import Sequence
from functools import cached_property

from graph.domains.earthquakes.ingest.payload import Received
from graph.domains.earthquakes.model import Incoming


class Chunk:
    """Records that were checked, with their places in the payload."""

    def __init__(self, payload: Received, records: Sequence[Incoming], places: Sequence[int]) -> None:
        self.payload = payload
        self.records = records
        self._places = places

    @property
    def first(self) -> int:
        """The first place."""
        return self._places[0]

    def of(self, record: Incoming) -> int:
        """The place of a record, from 0."""
        return self._by_record[id(record)]

    @cached_property
    def _by_record(self) -> dict[int, int]:
        return dict(zip(map(id, self.records), self._places, strict=True))
