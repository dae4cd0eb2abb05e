"""The columns of an export, the same in every tabular format: the fields of `Event` by the graph's names.

Left out are fields that repeat others: `id`, `dayBucket`, and `eventTsMs`, which is `time`. A value that an
event lacks is null, so that all rows have all columns and a reader can infer their types from the first. Only
what names a version is never null where the graph has a value: events of other programs do not store it.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum, auto
from typing import Any

from graph.domains.earthquakes.entities import EVENT
from graph.domains.earthquakes.model import Event, listed
from graph.store.attributes import Real, Text
from graph.store.records import Stored

TIME = "time"
FIRST = (TIME, "eventId", "mag", "magType", "place", "lat", "lon", "depth", "type", "status")
LEFT_OUT = frozenset({"dayBucket", "mergedInto"})  # a merged event is in no list


class Kind(Enum):
    """The type of a column's values."""

    TEXT = auto()
    NAMES = auto()  # a list of texts
    REAL = auto()
    WHOLE = auto()
    MILLIS = auto()  # a time in epoch milliseconds
    TRUTH = auto()


@dataclass(frozen=True, slots=True)
class Column:
    """A column of an export."""

    name: str
    attribute: str  # of the stored event
    kind: Kind
    optional: bool  # whether it may be null
    instead: str | None = None  # the attribute whose value it has in events that lack its own
    default: int | None = None  # its value in events that lack both


OF_A_VERSION = (
    Column("revision", "revision", Kind.WHOLE, optional=False, default=1),
    Column("recordedAt", "recordedAt", Kind.MILLIS, optional=False, instead="ingestedAt"),
    Column("publishedAt", "publishedAt", Kind.MILLIS, optional=True, instead="updated"),
    Column("preferredId", "preferredId", Kind.TEXT, optional=False, instead="eventId"),
)
"""The columns that are no stored attributes of every event, with the rules of `Event`'s properties."""


def _columns() -> Iterator[Column]:
    for stored in Event.stored().values():
        if stored.attribute not in LEFT_OUT:
            declared = EVENT.named[stored.attribute]
            name = TIME if declared.name == "eventTsMs" else declared.name
            yield Column(name, declared.name, _kind(stored), stored.optional)
    yield from OF_A_VERSION


def _kind(stored: Stored[Any]) -> Kind:
    if stored.convert is listed:
        return Kind.NAMES
    if stored.convert is bool:
        return Kind.TRUTH
    declared = EVENT.named[stored.attribute]
    if isinstance(declared, Real):
        return Kind.REAL
    if isinstance(declared, Text):
        return Kind.TEXT
    return Kind.MILLIS if declared.unit == "epoch ms" else Kind.WHOLE


COLUMNS = tuple(sorted(_columns(), key=lambda column: (*FIRST, column.name).index(column.name)))
"""The important ones first, the others in the order of their declaration."""

READ = frozenset(column.attribute for column in COLUMNS)
"""The attributes of an event that a row needs."""
