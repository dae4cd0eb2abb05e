"""What one record of the source changes in the catalogue: the interface, and the write of a new event."""

from abc import ABC, abstractmethod
from collections.abc import Collection, Sequence, Set
from typing import NamedTuple

from graph.core.described import DescribedText
from graph.domains.earthquakes.entities import ALIAS, EVENT
from graph.domains.earthquakes.model import Event, Incoming
from graph.domains.earthquakes.revisions.names import ids_of
from graph.domains.earthquakes.revisions.versions import first_version
from graph.domains.earthquakes.summaries import Tally
from graph.store.contract import Action, Put
from graph.store.entity import Item


class Outcome(DescribedText):
    """What became of an event of an ingest."""

    CREATED = "upserted", "It was inserted."
    REVISED = "revised", "A stored event was changed by a new version."
    DELETED = "deleted", "A stored event was deleted, which is a revision, too."
    SKIPPED = "skipped", "It was stored already as it is or later, or given twice."


class LookedAt(NamedTuple):
    """What was known when a write was decided: the ids of stored events, changed or not, and of aliases."""

    events: Set[str] = frozenset()
    aliases: Set[str] = frozenset()


class Write(ABC):
    """The changes that one record makes, all of them or none."""

    __slots__ = ()

    record: Incoming
    outcome: Outcome  # what becomes of the record
    is_version: bool  # whether it makes versions, so that its transaction has a number
    time_ms: int  # the origin time of the event
    ids: Collection[str]  # that no other write of the same transaction may touch, each once
    keys: Sequence[str]  # of its versions, in the sequence of changes
    stored: Sequence[Item] | None  # the events that it changes, as they were read; None of an insert
    days: tuple[str, ...]  # whose summaries it changes
    size: int  # the number of its actions, without those on summaries
    inserts: Collection[str]  # the ids of new events
    names: Collection[str]  # the ids for which it keeps aliases
    looked_at: LookedAt = LookedAt()

    def prepare(self) -> None:  # noqa: B027 - most writes have nothing left to compute
        """Compute what the actions need and what does not depend on their number."""

    @abstractmethod
    def actions(self, now: int, number: int) -> list[Action]:
        """Its actions, without those on summaries. `now` is when a version is recorded, `number` that of the change."""

    @abstractmethod
    def count(self, tally: Tally) -> None:
        """Count its changes for the summaries."""


class FirstVersion(Write):
    """The first version of an event. A bulk ingest makes many."""

    __slots__ = ("_of_version", "days", "ids", "inserts", "item", "keys", "names", "record", "size", "time_ms")

    outcome = Outcome.CREATED
    is_version = True
    stored = None

    def __init__(self, event: Event, names: Sequence[str] = ()) -> None:
        """Make a write that keeps aliases for these ids, too."""
        self.record = event
        self.item = item = event.item
        self.names = names
        self.keys = self.inserts = (item["eventId"],)
        self.ids = (*self.keys, *names) if names else self.keys
        self.days = (item["dayBucket"],)
        self.size = 1 + len(names)
        self.time_ms = item["eventTsMs"]
        self._of_version: Item = {}

    @classmethod
    def with_aliases(cls, event: Event) -> "FirstVersion":
        """The write that keeps the other ids of the event."""
        return cls(event, ids_of(event)[1:] if "ids" in event.item else ())

    def prepare(self) -> None:
        if not self._of_version:
            self._of_version = first_version(self.item)

    def actions(self, now: int, number: int) -> list[Action]:
        item = {**self.item, **self._of_version, "recordedAt": now, "arrival": number}
        put = Put(EVENT, item, if_absent=True, is_checked=True)  # the rules make only items that can be stored
        if not self.names:
            return [put]
        event_id = item["eventId"]
        return [put, *(Put(ALIAS, {"alias": each, "eventId": event_id}, if_absent=True) for each in self.names)]

    def count(self, tally: Tally) -> None:
        tally.add(self.item)
