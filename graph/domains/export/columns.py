"""The columns of an export, the same in every tabular format: the fields of `Event` by the graph's names.

Left out are fields that repeat others: `id`, `dayBucket`, and `eventTsMs`, which is `time`. A value that an
event lacks is null, so that all rows have all columns and a reader can infer their types from the first. Only
what names a version is never null where the graph has a value: events of other programs do not store it.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum, auto
from typing import Any

from graph.domains.earthquakes.model import Event, listed
from graph.store.attributes import Real, Text, Whole
from graph.store.records import Stored

TIME = "time"
FIRST = (TIME, "eventId", "mag", "magType", "place", "lat", "lon", "depth", "type", "status", "sourceDepth")
LEFT_OUT = frozenset({"dayBucket", "mergedInto"})  # a merged event is in no list


class ColumnType(Enum):
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
    kind: ColumnType
    optional: bool  # whether it may be null
    instead: str | None = None  # the attribute whose value it has in events that lack its own
    default: int | None = None  # its value in events that lack both


OF_A_VERSION = (
    Column("revision", "revision", ColumnType.WHOLE, optional=False, default=1),
    Column("recordedAt", "recordedAt", ColumnType.MILLIS, optional=False, instead="ingestedAt"),
    Column("publishedAt", "publishedAt", ColumnType.MILLIS, optional=True, instead="updated"),
    Column("preferredId", "preferredId", ColumnType.TEXT, optional=False, instead="eventId"),
)
"""The columns that are no stored attributes of every event, with the rules of `Event`'s properties."""


def _columns() -> Iterator[Column]:
    for stored in Event.stored().values():
        if stored.attribute not in LEFT_OUT:
            name = TIME if stored.attribute == "eventTsMs" else stored.attribute
            yield Column(name, stored.attribute, _kind(stored), stored.optional)
    yield from OF_A_VERSION


def _kind(stored: Stored[Any]) -> ColumnType:
    match stored.kind:
        case _ if stored.convert is listed:
            return ColumnType.NAMES
        case _ if stored.convert is bool:
            return ColumnType.TRUTH
        case Real():
            return ColumnType.REAL
        case Text():
            return ColumnType.TEXT
        case Whole(unit="epoch ms"):
            return ColumnType.MILLIS
    return ColumnType.WHOLE


COLUMNS = tuple(sorted(_columns(), key=lambda column: (*FIRST, column.name).index(column.name)))
"""The important ones first, the others in the order of their declaration."""

READ = frozenset(column.attribute for column in COLUMNS)
"""The attributes of an event that a row needs."""
