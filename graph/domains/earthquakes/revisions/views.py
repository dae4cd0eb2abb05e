"""Views of the catalogue: as it is, as it was at a time, with deleted events or only them.

An event has at most one version in a view. Versions are in two kinds of partitions, which a view merges:
those of the latest versions, `DAY#<day>`, and those of superseded ones, `REV#<day>`. Deleted events have
partitions of their own.

There are two axes of time. `recorded` is when this catalogue learned of a version, `published` when its
source published it. With one alone, the future leaks: a back-fill of today records what was published
years ago.
"""

from dataclasses import dataclass

from graph.core.described import DescribedText
from graph.core.errors import BadUserInput
from graph.domains.earthquake_events import TIME_ORDERED
from graph.domains.earthquakes.entities import EVENT, REVISION
from graph.domains.earthquakes.model import Event, EventVersion
from graph.domains.earthquakes.selection import Selection
from graph.domains.earthquakes.summaries import Counted
from graph.store.conditions import Absent, AllOf, AnyOf, Compare, Condition, all_of
from graph.store.entity import Entity, Item
from graph.store.query import Needed, Query

RECORDED = ("recordedAt", "ingestedAt")
PUBLISHED = ("publishedAt", "updated", "recordedAt", "ingestedAt")
"""The attributes with the time of a version: the first one that it has. Other programs store only some."""


@dataclass(frozen=True, slots=True)
class AsOf:
    """A time at which the catalogue is seen, in epoch milliseconds; or the first version of each event."""

    recorded_ms: int | None = None
    published_ms: int | None = None
    first: bool = False

    def __post_init__(self) -> None:
        if (self.recorded_ms is not None) + (self.published_ms is not None) + self.first != 1:
            raise BadUserInput("`asOf` needs one of `recorded`, `published` and `first: true`.")

    @property
    def time_ms(self) -> int | None:
        """The time; None for the first versions."""
        return self.published_ms if self.recorded_ms is None else self.recorded_ms

    def holds_latest(self) -> Condition:
        """The condition that the latest version of an event was valid."""
        if self.first:
            return AnyOf((Absent("revision"), Compare("revision", "=", 1)))
        names, time_ms = self._axis
        return _by(names, time_ms)

    def holds_superseded(self) -> Condition:
        """The condition that a superseded version was valid."""
        if self.first:
            return Compare("revision", "=", 1)
        names, time_ms = self._axis
        ended = "supersededAt" if names is RECORDED else "supersededPublishedAt"
        return AllOf((_by(names, time_ms), Compare(ended, ">", time_ms)))

    def held(self, version: Item) -> bool:
        """Whether a version had begun."""
        if self.first:
            return bool(version.get("revision", 1) == 1)
        names, time_ms = self._axis
        return bool(next(version[name] for name in names if name in version) <= time_ms)

    @property
    def _axis(self) -> tuple[tuple[str, ...], int]:
        if self.recorded_ms is not None:
            return RECORDED, self.recorded_ms
        if self.published_ms is None:
            raise AssertionError("the first versions have no time")
        return PUBLISHED, self.published_ms


def _by(names: tuple[str, ...], time_ms: int) -> Condition:
    """The first present one of these attributes is not later than the time."""
    name, *others = names
    reached = Compare(name, "<=", time_ms)
    return AnyOf((reached, AllOf((Absent(name), _by(tuple(others), time_ms))))) if others else reached


class Deleted(DescribedText):
    """Whether a list has deleted events."""

    EXCLUDE = "EXCLUDE", "Only events that are not deleted."
    INCLUDE = "INCLUDE", "Also deleted events."
    ONLY = "ONLY", "Only deleted events."


@dataclass(frozen=True, slots=True)
class Stream:
    """A part of a view: versions of one entity, in partitions of their own."""

    entity: Entity
    counted: Counted  # the counts of a summary that plan its days
    prefix: str = ""  # of its days' names in partitions
    condition: Condition | None = None

    def query(self, selection: Selection, attributes: Needed) -> Query:
        """The query for its selected versions of any days, with the needed attributes; None for all."""
        return Query(
            entity=self.entity,
            index=TIME_ORDERED,
            between=selection.span,
            where=all_of(selection.condition, self.condition),
            attributes=attributes,
        )


LATEST = Stream(EVENT, "bin")
"""The events of the catalogue as it is."""


@dataclass(frozen=True, slots=True)
class View:
    """Which versions of events a list has."""

    as_of: AsOf | None = None
    deleted: Deleted = Deleted.EXCLUDE

    @property
    def record(self) -> type[Event]:
        """The class of its records."""
        return Event if self.as_of is None else EventVersion

    def needed(self, attributes: Needed) -> Needed:
        """The attributes to read, if these are needed: a version's id has its number."""
        return attributes if attributes is None or self.as_of is None else attributes | {"revision"}

    @property
    def streams(self) -> tuple[Stream, ...]:
        """Its parts. Together they have each event at most once."""
        listed: list[Stream] = []
        if self.deleted is not Deleted.ONLY:
            listed += self._streams("", "bin", "past")
        if self.deleted is not Deleted.EXCLUDE:
            listed += self._streams("DELETED#", "gone", "gone")
        return tuple(listed)

    def _streams(self, prefix: str, latest: Counted, superseded: Counted) -> list[Stream]:
        if self.as_of is None:
            return [Stream(EVENT, latest, prefix)]
        return [
            Stream(EVENT, latest, prefix, self.as_of.holds_latest()),
            Stream(REVISION, superseded, prefix, self.as_of.holds_superseded()),
        ]


PRESENT = View()
