"""The write of a record that changes stored events: a next version, an update in place, or a merge of several."""

from collections.abc import Sequence
from dataclasses import dataclass

from graph.domains.earthquakes.entities import ALIAS, EVENT, REVISION
from graph.domains.earthquakes.ingest.write import NewEvent, Outcome, Write
from graph.domains.earthquakes.model import Incoming, SourceDeletion, day_of, possible_id
from graph.domains.earthquakes.revisions.changes import change_key
from graph.domains.earthquakes.revisions.versions import (
    alias_ids,
    completed,
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


@dataclass(frozen=True, slots=True)
class Step:
    """The change of one stored event's item."""

    stored: Item  # as it was read
    item: Item  # in its place
    is_version: bool = True  # whether it is a new version

    @property
    def conditions(self) -> Condition:
        """Holds while the stored event is what was read. An update in place changes `updated`, `ids` or both."""
        return AllOf(tuple(unchanged(self.stored, name) for name in STATE))

    def actions(self, now: int, number: int) -> list[Action]:
        """Its actions. `now` is when a version is recorded, `number` that of the change."""
        before = completed(self.stored)
        if not self.is_version:
            changed = {**self.item, "changedAt": max(now, before["recordedAt"])}
            return [Put(EVENT, changed, condition=self.conditions)]
        version = recorded(self.item, before, at=now, number=number)
        return [Put(EVENT, version, condition=self.conditions), Put(REVISION, superseded(before, version))]


class ChangedEvents(Write):
    """The changes of stored events that one record makes."""

    __slots__ = (
        *("aliases", "days", "ids", "is_version", "keys", "outcome", "record", "size", "steps", "stored", "time_ms"),
        "versions",
    )

    def __init__(self, record: Incoming, steps: Sequence[Step], aliases: Sequence[str]) -> None:
        """Make a write.

        Args:
            steps: the first one is of the event that the record is about.
            aliases: to be kept.
        """
        self.record = record
        self.steps = steps
        self.aliases = aliases
        self.versions = [step for step in steps if step.is_version]
        self.is_version = bool(self.versions)
        self.outcome = self._outcome()
        self.time_ms = steps[0].item["eventTsMs"]
        self.ids = {record.event_id, *aliases, *[step.item["eventId"] for step in steps]}
        self.keys = [change_key(step.item) for step in self.versions]
        self.stored = [step.stored for step in steps]
        days = [day_of(item["dayBucket"]) for step in steps for item in (step.stored, step.item)]
        self.days = tuple(dict.fromkeys(days))
        self.size = len(aliases) + sum(2 if step.is_version else 1 for step in steps)

    def _outcome(self) -> Outcome:
        if not self.is_version:
            return "skipped"
        return "deleted" if isinstance(self.record, SourceDeletion) else "revised"

    def prepare(self) -> None:
        """Nothing is left to compute."""

    def actions(self, now: int, number: int) -> list[Action]:
        event_id = self.steps[0].item["eventId"]
        aliases = [Put(ALIAS, {"alias": alias, "eventId": event_id}) for alias in self.aliases]
        return [*(action for step in self.steps for action in step.actions(now, number)), *aliases]

    def count(self, tally: Tally) -> None:
        for step in self.steps:
            if step.is_version:
                tally.replace(step.stored, step.item)
            else:
                tally.update(step.stored, step.item)


def write_of(record: Incoming, stored: Sequence[Item]) -> Write | None:
    """What a record changes; None for nothing.

    Args:
        stored: the events that it is about. Several of them turn out to be one.
    """
    if not stored:
        return None if isinstance(record, SourceDeletion) else NewEvent.with_aliases(record)
    survivor = survivor_of(stored)
    if not is_news(record, survivor):
        return None
    before = completed(survivor)
    version = next_version(before, record)
    steps = [Step(survivor, version or same_version(before, record), is_version=version is not None)]
    merged = [item for item in stored if item is not survivor]
    steps += [Step(item, merged_version(completed(item), survivor["eventId"], record)) for item in merged]
    gone = {item["eventId"] for item in merged}
    aliases = [each for each in alias_ids(record, survivor) if possible_id(each) and each not in gone]
    return ChangedEvents(record, steps, aliases)
