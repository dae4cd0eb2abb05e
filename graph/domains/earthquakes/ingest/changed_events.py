"""The write of a record that changes stored events: versions, updates in place, merges and splits."""

from collections.abc import Iterable, Sequence
from dataclasses import InitVar, dataclass

from graph.domains.earthquakes.entities import EVENT, REVISION
from graph.domains.earthquakes.ingest.write import LookedAt, Outcome, Write
from graph.domains.earthquakes.model import Incoming, SourceDeletion, day_of
from graph.domains.earthquakes.revisions.changes import change_key
from graph.domains.earthquakes.revisions.names import Rank, ids_of
from graph.domains.earthquakes.revisions.versions import completed, recorded, superseded
from graph.domains.earthquakes.summaries import Tally
from graph.store.conditions import Condition, unchanged
from graph.store.contract import Action, Put
from graph.store.entity import Item

STATE = ("revision", "updated", "ids", "names")
"""The attributes that tell the states of an event's item apart."""


@dataclass(frozen=True, slots=True)
class EventStep:
    """The change of one event's item."""

    stored: Item | None  # as it was read; None of a new event
    item: Item  # in its place
    is_version: bool  # whether it is a new version
    first: Item | None = None  # the first version of a new event, which a deletion that came earlier replaces at once

    @property
    def conditions(self) -> Condition:
        """Holds while the stored event is what was read. An update in place changes one of the attributes of `STATE`.

        The adoption of an event of another program, and a put of one, change its number.
        """
        return unchanged(self.stored, *STATE, "arrival")

    @property
    def changes_state(self) -> bool:
        """Whether one of the attributes of `STATE` changes."""
        return self.is_version or "mergedInto" not in self.item

    @property
    def size(self) -> int:
        """The number of its actions."""
        return 2 if self.first or (self.is_version and self.stored) else 1

    @property
    def versions(self) -> list[Item]:
        """Its versions, in order."""
        return [*([self.first] if self.first else []), *([self.item] if self.is_version else [])]

    def actions(self, now: int, number: int) -> list[Action]:
        """Its actions. `now` is when a version is recorded, `number` that of the change."""
        if self.stored is None:
            if self.first is None:
                return [Put(EVENT, {**self.item, "recordedAt": now, "arrival": number}, if_absent=True)]
            before = {**self.first, "recordedAt": now, "arrival": number}
            version = recorded(self.item, before, at=now, number=number)
            return [Put(EVENT, version, if_absent=True), Put(REVISION, superseded(before, version))]
        before = completed(self.stored)
        if not self.is_version:
            changed = {**self.item, "changedAt": max(now, before["recordedAt"])}
            return [Put(EVENT, changed, condition=self.conditions)]
        version = recorded(self.item, before, at=now, number=number)
        return [Put(EVENT, version, condition=self.conditions), Put(REVISION, superseded(before, version))]

    def count(self, tally: Tally) -> None:
        """Count its change for the summaries."""
        if self.first:
            tally.add_superseded(self.first)
        if self.stored is None:
            tally.add(self.item)
        elif self.is_version:
            tally.replace(self.stored, self.item)
        else:
            tally.update(self.stored, self.item)


@dataclass(eq=False)
class ChangedEvents(Write):
    """The changes of events that one record makes, beside the insert of one that nothing is known of."""

    record: Incoming
    steps: Sequence[EventStep]  # the first one is of the event that the record is about
    aliases: Sequence[Put]  # to be kept
    others: InitVar[Iterable[str]]  # ids of events that the record is about, beside its own
    looked_at: LookedAt  # what was known of these ids

    def __post_init__(self, others: Iterable[str]) -> None:
        steps = self.steps
        self.versions = [step for step in steps if step.is_version]
        self.is_version = bool(self.versions)
        self.outcome = self._outcome()
        self.time_ms = steps[0].item["eventTsMs"] if steps else 0
        self.ids = {*ids_of(self.record), *others}
        self.inserts = [step.item["eventId"] for step in steps if step.stored is None]
        self.names = [put.item["alias"] for put in self.aliases]
        self.keys = [change_key(version) for step in steps for version in step.versions]
        self.stored = [step.stored for step in steps if step.stored and step.changes_state]
        items = [item for step in steps for item in (step.stored, step.first, step.item) if item]
        self.days = tuple(dict.fromkeys(day_of(item["dayBucket"]) for item in items))
        self.size = len(self.aliases) + sum(step.size for step in steps)

    def _outcome(self) -> Outcome:
        if not self.is_version:
            return Outcome.SKIPPED
        if isinstance(self.record, SourceDeletion):
            return Outcome.DELETED
        first, rank = self.steps[0], Rank.of(self.record)
        given = Rank.of_values(first.item)
        is_new = first.stored is None and (given.time, given.event_id) == (rank.time, rank.event_id)
        return Outcome.CREATED if is_new else Outcome.REVISED

    def actions(self, now: int, number: int) -> list[Action]:
        return [*(action for step in self.steps for action in step.actions(now, number)), *self.aliases]

    def count(self, tally: Tally) -> None:
        for step in self.steps:
            step.count(tally)
