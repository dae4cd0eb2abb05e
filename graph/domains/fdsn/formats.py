"""What a format of an answer is. Each module beside this one writes one of them, some events at a time."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence

from graph.domains.earthquakes.model import Event

Earlier = Mapping[str, Sequence[Event]]
"""Event id → the earlier versions of the event, the latest first."""

NO_EARLIER: Earlier = {}


class AnswerFormat(ABC):
    """A format, for one answer."""

    media_type: str
    attributes: frozenset[str] | None  # that it reads, beside an event's position; None for all
    is_document_without_events = False  # whether an answer without events is still a document of this format

    @property
    def head(self) -> bytes:
        """What comes before the events."""
        return b""

    @abstractmethod
    def rows(self, events: Sequence[Event], earlier: Earlier = NO_EARLIER) -> bytes:
        """The events, which follow those of the last call."""

    def tail(self, count: int) -> bytes:
        """What comes after so many events."""
        return b""
