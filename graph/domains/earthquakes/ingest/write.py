"""What one record of the source changes in the catalogue, as actions of one transaction."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from graph.domains.earthquakes.entities import ALIAS, EVENT, REVISION
from graph.domains.earthquakes.facets import facet_names
from graph.domains.earthquakes.model import Event, Incoming, SourceDeletion, day_of, possible_id
from graph.domains.earthquakes.revisions.changes import change_key
from graph.domains.earthquakes.revisions.versions import (
    alias_ids,
    completed,
    first_version,
    is_news,
    merged_version,
    next_version,
    recorded,
    same_version,
    superseded,
    survivor_of,
)
from graph.domains.earthquakes.summaries import Tally
from graph.store.conditions import AllOf, Condition, unchanged
from graph.store.contract import Action, Put
from graph.store.entity import Item

STATE = ("revision", "updated", "ids")
"""The attributes that tell the states of an event's item apart."""

Outcome = Literal["upserted", "revised", "deleted", "skipped"]
"""What becomes of a record. A deletion is a revision too, and counts as one."""


@dataclass(slots=True)  # never changed; not frozen, which would take a microsecond more for each event
class Step:
    """The change of one event's item."""

    stored: Item | None  # as it was read; None for a new event
    item: Item  # in its place
    is_version: bool = True  # whether it is a new version

    @property
    def conditions(self) -> Condition:
        """Holds while the stored event is what was read. An update in place changes `updated`, `ids` or both."""
        return AllOf(tuple(unchanged(self.stored, name) for name in STATE))

    @property
    def is_counted(self) -> bool:
        """Whether it changes a summary. An update in place may change facets, but most change none."""
        return self.is_version or self.stored is None or facet_names(self.stored) != facet_names(self.item)

    def actions(self, now: int, number: int) -> list[Action]:
        """Its actions. `now` is when a version is recorded, `number` that of the change."""
        if self.stored is None:
            return [Put(EVENT, {**self.item, "recordedAt": now, "arrival": number}, if_absent=True)]
        if not self.is_version:
            return [Put(EVENT, self.item, condition=self.conditions)]
        before = completed(self.stored)
        version = recorded(self.item, before, at=now, number=number)
        return [Put(EVENT, version, condition=self.conditions), Put(REVISION, superseded(before, version))]


class Write:
    """The changes that one record makes, all of them or none."""

    __slots__ = ("aliases", "counted", "ids", "outcome", "periods", "record", "size", "steps", "versions")

    def __init__(self, record: Incoming, steps: Sequence[Step], aliases: Sequence[str] = ()) -> None:
        """Make a write. A bulk ingest makes many, so what is used several times is computed once.

        Args:
            steps: the first one is of the event that the record is about.
            aliases: to be kept.
        """
        self.record = record
        self.steps = steps
        self.aliases = aliases
        self.versions = [step for step in steps if step.is_version]
        self.counted = [step for step in steps if step.is_counted]
        self.outcome = self._outcome()
        self.ids = {record.event_id, *aliases, *[step.item["eventId"] for step in steps]}
        """The ids that no other write of the same transaction may touch."""
        self.size = len(aliases) + sum([2 if step.stored and step.is_version else 1 for step in steps])
        """The number of its actions, without those on summaries."""
        self.periods: set[str] = set()
        """The days and years whose summaries it changes."""
        for step in self.counted:
            for item in (step.stored, step.item):
                if item:
                    day = day_of(item["dayBucket"])
                    self.periods |= {day, day[:4]}

    def _outcome(self) -> Outcome:
        """What becomes of the record."""
        if not self.versions:
            return "skipped"
        if not self.steps[0].stored:
            return "upserted"
        return "deleted" if isinstance(self.record, SourceDeletion) else "revised"

    @property
    def time_ms(self) -> int:
        """The origin time of the event."""
        time_ms: int = self.steps[0].item["eventTsMs"]
        return time_ms

    @property
    def keys(self) -> list[str]:
        """The keys of its versions in the sequence of changes."""
        return [change_key(step.item) for step in self.versions]

    def actions(self, now: int, number: int) -> list[Action]:
        """Its actions, without those on summaries."""
        event_id = self.steps[0].item["eventId"]
        aliases = [Put(ALIAS, {"alias": alias, "eventId": event_id}) for alias in self.aliases]
        return [*(action for step in self.steps for action in step.actions(now, number)), *aliases]

    def count(self, tally: Tally) -> None:
        """Count its changes for the summaries."""
        for step in self.counted:
            if step.stored is None:
                tally.add(step.item)
            elif step.is_version:
                tally.replace(step.stored, step.item)
            else:
                tally.update(step.stored, step.item)


def insert(event: Event) -> Write:
    """The write of a new event, without aliases."""
    return Write(event, (Step(None, first_version(event)),))


def write_of(record: Incoming, stored: Sequence[Item]) -> Write | None:
    """What a record changes; None for nothing.

    Args:
        stored: the events that it is about. Several of them turn out to be one.
    """
    if not stored:
        if isinstance(record, SourceDeletion):
            return None
        return Write(record, (Step(None, first_version(record)),), _aliases(record, None))
    survivor = survivor_of(stored)
    if not is_news(record, survivor):
        return None
    before = completed(survivor)
    version = next_version(before, record)
    steps = [Step(survivor, version or same_version(before, record), is_version=version is not None)]
    merged = [item for item in stored if item is not survivor]
    steps += [Step(item, merged_version(completed(item), survivor["eventId"], record)) for item in merged]
    gone = {item["eventId"] for item in merged}
    return Write(record, steps, [each for each in _aliases(record, survivor) if each not in gone])


def _aliases(record: Incoming, stored: Item | None) -> list[str]:
    return [each for each in alias_ids(record, stored) if possible_id(each)]
