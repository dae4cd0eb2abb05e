"""What a format of an answer is. Each module beside this one writes one of them, some events at a time."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from functools import lru_cache

from graph.core.days import DAY_MS, datetime_of
from graph.domains.earthquakes.model import Event

Earlier = Mapping[str, Sequence[Event]]
"""Event id → the earlier versions of the event, the latest first."""

NO_EARLIER: Earlier = {}


class Format(ABC):
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


def iso_time(time_ms: int) -> str:
    """A time as `2023-08-03T02:52:13.180`, UTC."""
    days, rest = divmod(time_ms, DAY_MS)
    minutes, milliseconds = divmod(rest, 60_000)
    return f"{_date(days)}T{_minute(minutes)}:{milliseconds // 1000:02}.{milliseconds % 1000:03}"


@lru_cache(4096)
def _date(days: int) -> str:
    return datetime_of(days * DAY_MS).date().isoformat()


@lru_cache(1440)
def _minute(minutes: int) -> str:
    return f"{minutes // 60:02}:{minutes % 60:02}"
