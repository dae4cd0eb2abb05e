"""The write of a record that changes stored events: versions, updates in place, merges and splits.

the stored events of the record's ids + the record → all ids with what is remembered of them → the events that
these name now → the steps from the stored events to them
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from graph.domains.earthquakes.entities import ALIAS, EVENT, REVISION
from graph.domains.earthquakes.ingest.write import NewEvent, Outcome, Write
from graph.domains.earthquakes.model import DELETED, Event, Incoming, SourceDeletion, day_of
from graph.domains.earthquakes.revisions.changes import change_key
from graph.domains.earthquakes.revisions.names import (
    MOST_IDS,
    NEVER,
    Name,
    Names,
    Rank,
    absorb,
    deleted_at,
    event_id_of,
    events_of,
    hidden_in,
    ids_of,
    joined,
    names_of,
    status_of_values,
    with_listers,
    with_names,
)
from graph.domains.earthquakes.revisions.versions import (
    completed,
    merged_version,
    next_version,
    recorded,
    superseded,
    tracked_text,
)
from graph.domains.earthquakes.summaries import Tally
from graph.store.conditions import AllOf, Condition, unchanged
from graph.store.contract import Action, Put
from graph.store.entity import Item

STATE = ("revision", "updated", "ids", "names")
"""The attributes that tell the states of an event's item apart."""

MOST_NAMES = MOST_IDS  # ids of an event
MOST_EVENTS = 10  # that one record changes. With these numbers, its write fits a transaction of 100 actions

_OF_AN_ITEM = frozenset(
    {
        "revision",
        "recordedAt",
        "publishedAt",
        "changedAt",
        "hash",
        "kind",
        "arrival",
        "preferredId",
        "mergedInto",
        "names",
    }
)
"""The attributes of an event's item that come from no record."""


_OF_THE_DAY = frozenset({"dayBucket", "ingestedAt"})
"""The attributes of a record that a version gets again."""


@dataclass(frozen=True, slots=True)
class Known:
    """What is stored of some ids."""

    events: Mapping[str, Item]  # by id, whole; also merged ones
    aliases: Mapping[str, Item]  # by id: those that are not known to be ids of the events

    @property
    def current(self) -> list[Item]:
        """The events that are not merged."""
        return [item for item in self.events.values() if "mergedInto" not in item]


NOTHING = Known({}, {})


@dataclass(frozen=True, slots=True)
class Step:
    """The change of one event's item."""

    stored: Item | None  # as it was read; None of a new event
    item: Item  # in its place
    is_version: bool  # whether it is a new version
    first: Item | None = None  # the first version of a new event, which a deletion that came earlier replaces at once

    @property
    def conditions(self) -> Condition:
        """Holds while the stored event is what was read. An update in place changes one of these attributes."""
        return AllOf(tuple(unchanged(self.stored, name) for name in STATE))

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


class ChangedEvents(Write):
    """The changes of events that one record makes, beside the insert of one that nothing is known of."""

    __slots__ = (
        *("aliases", "days", "ids", "is_version", "keys", "outcome", "record", "size", "steps", "stored", "time_ms"),
        *("inserts", "is_early", "versions"),
    )

    def __init__(self, record: Incoming, steps: Sequence[Step], aliases: Sequence[Put], ids: Iterable[str]) -> None:
        """Make a write.

        Args:
            steps: the first one is of the event that the record is about.
            aliases: to be kept.
            ids: of all events that the record is about.
        """
        self.record = record
        self.steps = steps
        self.aliases = aliases
        self.versions = [step for step in steps if step.is_version]
        self.is_version = bool(self.versions)
        self.outcome = self._outcome()
        self.time_ms = steps[0].item["eventTsMs"] if steps else 0
        self.ids = {*ids_of(record), *ids}
        self.inserts = [step.item["eventId"] for step in steps if step.stored is None]
        self.is_early = any("deletedAt" in put.item for put in aliases)
        self.keys = [change_key(version) for step in steps for version in step.versions]
        self.stored = [step.stored for step in steps if step.stored and step.changes_state]
        items = [item for step in steps for item in (step.stored, step.first, step.item) if item]
        self.days = tuple(dict.fromkeys(day_of(item["dayBucket"]) for item in items))
        self.size = len(aliases) + sum(step.size for step in steps)

    def _outcome(self) -> Outcome:
        if not self.is_version:
            return "skipped"
        if isinstance(self.record, SourceDeletion):
            return "deleted"
        first, rank = self.steps[0], Rank.of(self.record)
        given = Rank.of_values(first.item)
        is_new = first.stored is None and (given.time, given.event_id) == (rank.time, rank.event_id)
        return "upserted" if is_new else "revised"

    def prepare(self) -> None:
        """Nothing is left to compute."""

    def actions(self, now: int, number: int) -> list[Action]:
        return [*(action for step in self.steps for action in step.actions(now, number)), *self.aliases]

    def count(self, tally: Tally) -> None:
        for step in self.steps:
            step.count(tally)


@dataclass(frozen=True, slots=True)
class _Values:
    """The values that a record gives an event."""

    rank: Rank
    item: Item
    event_id: str  # of the event that has them

    @classmethod
    def of_stored(cls, item: Item) -> "_Values":
        """Those that a stored event has, without its deletion."""
        rank = Rank.of_values(item)
        values = {name: value for name, value in item.items() if name not in _OF_AN_ITEM} | {"eventId": rank.event_id}
        if item.get("status") == DELETED:
            values.pop("status")
            if status := status_of_values(item):
                values["status"] = status
            values["updated"] = rank.time
            if rank.time == NEVER:
                del values["updated"]
        return cls(rank, values, item["eventId"])

    @classmethod
    def of_record(cls, event: Event) -> "_Values":
        """Those of a record."""
        return cls(Rank.of(event), event.item, event.event_id)

    @property
    def lists(self) -> list[str]:
        """The ids that the record lists."""
        return ids_of(Event({**self.item, "eventId": self.rank.event_id}))

    def is_latest(self, names: Names) -> bool:
        """Whether they are of the record that is the latest one of its own id."""
        name = names.get(self.rank.event_id)
        return name is not None and name.listing == self.rank

    def of_event(self) -> "_Values":
        """The same values, as if they were published under the event's own id."""
        return replace(self, rank=self.rank._replace(event_id=self.event_id))


def write_of(record: Incoming, known: Known) -> Write | None:
    """What a record changes; None for nothing.

    Args:
        known: what is stored of its ids, of all ids of the events that these name, and of those that follow them now.
    """
    if known is NOTHING and isinstance(record, Event):
        return NewEvent.with_aliases(record)
    names = _all_names(known)
    too_much = len(known.current) > MOST_EVENTS or len({*ids_of(record), *names}) > MOST_NAMES
    said = _alone(record) if too_much else record
    aliases = list[Put]()
    for event_id in ids_of(said):
        if isinstance(said, SourceDeletion) and event_id not in names:
            aliases += _early(event_id, said, known)
        elif (deleted := known.aliases.get(event_id, {}).get("deletedAt")) is not None:
            names[event_id] = joined(names.get(event_id), Name(deleted=deleted))
    absorb(names, said)
    values = [_Values.of_stored(item) for item in known.current]
    values += [_Values.of_record(Event(hidden)) for item in known.current for hidden in hidden_in(item)]
    if isinstance(said, Event):
        values.append(_Values.of_record(said))
    latest = {each.rank.event_id: each for each in sorted(values, key=_order, reverse=True) if each.is_latest(names)}
    listed_by = {event_id: each.lists for event_id, each in latest.items()}
    groups = with_listers(events_of(names, listed_by), listed_by)
    steps = _steps(said, known, values, latest, groups)
    aliases += _aliases(known, groups)
    return ChangedEvents(record, steps, aliases, names) if steps or aliases else None


def _alone(record: Incoming) -> Incoming:
    """The record without its other ids."""
    if isinstance(record, SourceDeletion):
        return replace(record, ids=())
    return Event({name: value for name, value in record.item.items() if name != "ids"})


def _all_names(known: Known) -> Names:
    """The ids of all stored events that a record is about."""
    names: Names = {}
    for item in known.current:
        for event_id, name in names_of(item).items():
            names[event_id] = joined(names.get(event_id), name)
    for event_id, into in _leading(known):  # earlier versions of the service forgot them
        if event_id not in names and into in known.events:
            names[event_id] = Name(Rank(NEVER, 0, Rank.of_values(known.events[into]).event_id))
    return names


def _leading(known: Known) -> Iterable[tuple[str, str]]:
    """The ids that name other events: aliases, and merged events."""
    yield from ((event_id, alias["eventId"]) for event_id, alias in known.aliases.items())
    yield from ((event_id, item["mergedInto"]) for event_id, item in known.events.items() if "mergedInto" in item)


def _early(event_id: str, deletion: SourceDeletion, known: Known) -> list[Put]:
    """The item that remembers the deletion of an unknown event; none if one as late is remembered."""
    remembered, time = known.aliases.get(event_id, {}), Rank.of(deletion).time
    if remembered.get("deletedAt", time - 1) >= time:
        return []
    item = {"alias": event_id, "eventId": remembered.get("eventId", event_id), "deletedAt": time}
    return [Put(ALIAS, item, condition=_as_read(remembered))]


def _as_read(alias: Item) -> Condition:
    return AllOf((unchanged(alias, "eventId"), unchanged(alias, "deletedAt")))


def _steps(
    record: Incoming,
    known: Known,
    values: Sequence[_Values],
    latest: Mapping[str, _Values],
    groups: Sequence[Names],
) -> list[Step]:
    """The steps from the stored events to those that the ids name now, that of the record's own event first.

    Args:
        latest: id → the values of the record that is the latest one of this id and was published under it.
    """
    steps: list[Step] = []
    event_of: dict[str, str] = {}  # id → the id of the event that it names
    for group in sorted(groups, key=lambda group: record.event_id not in group):
        event_id, best = event_id_of(group), _best(values, group)
        if event_id is None or best is None:
            continue
        event_of |= dict.fromkeys(group, event_id)
        hidden = {
            name: {attribute: value for attribute, value in each.item.items() if attribute not in _OF_THE_DAY}
            for name, each in latest.items()
            if name in group and each.rank != best.rank
        }
        steps += _step(event_id, group, best, hidden, known.events.get(event_id), record)
    for item in known.events.values():
        into = event_of.get(item["eventId"])
        if into is None or into == item["eventId"]:
            continue
        if "mergedInto" not in item:
            steps.append(Step(item, merged_version(completed(item), into, record.updated), is_version=True))
        elif item["mergedInto"] != into:
            steps.append(Step(item, {**item, "mergedInto": into}, is_version=False))
    return steps


def _best(values: Sequence[_Values], names: Names) -> _Values | None:
    """The values of an event: those of the latest record under any of its ids.

    Of two records of one time, the one whose values come first as text is taken, so that their order does not matter.
    Of records without a time, the stored one stays.
    """
    own = [each for each in values if each.rank.event_id in names]
    if not own:  # a record without ids gave them, and its id names another event now
        return next((each.of_event() for each in values if each.event_id in names), None)
    rank = max(each.rank for each in own)
    if rank.time == NEVER:
        return own[0]
    return min([each for each in own if each.rank == rank], key=_order)


def _order(values: _Values) -> tuple[str, str]:
    """What the values of records of one rank are ordered by."""
    return tracked_text(values.item), values.item.get("ids", "")


def _step(
    event_id: str, names: Names, best: _Values, hidden: Mapping[str, Item], stored: Item | None, record: Incoming
) -> list[Step]:
    """The step to an event with these names and values; none if it is as it was."""
    item = {**best.item, "eventId": event_id}
    if best.rank.event_id != event_id:
        item["preferredId"] = best.rank.event_id
    if stored:
        item["ingestedAt"] = stored["ingestedAt"]
    elif isinstance(record, Event):
        item["ingestedAt"] = record.ingested_at
    deleted, of_values = deleted_at(names), None
    live = item
    if deleted >= best.rank.time:
        of_values = (best.rank.time, item.get("status"))
        item = {**item, "status": DELETED, "updated": deleted}
    if stored is None:
        first = next_version(None, live)
        if not of_values:
            return [Step(None, with_names(first, names, hidden), is_version=True)]
        after = with_names(next_version(completed(first), item), names, hidden, of_values)
        return [Step(None, after, is_version=True, first=first)]
    before = completed(stored)
    after = with_names(next_version(before, item), names, hidden, of_values)
    if after in [{name: value for name, value in each.items() if name != "changedAt"} for each in (stored, before)]:
        return []
    return [Step(stored, after, is_version=after["revision"] != before["revision"])]


def _aliases(known: Known, groups: Sequence[Names]) -> list[Put]:
    """The aliases to be kept: of ids that name another event than before, and have no event of their own."""
    puts: list[Put] = []
    named = {item["eventId"]: names_of(item) for item in known.current}
    for group in groups:
        if (event_id := event_id_of(group)) is None:
            continue
        for alias in sorted(group.keys() - known.events.keys() - {event_id} - named.get(event_id, {}).keys()):
            read = known.aliases.get(alias, {})
            if read.get("eventId") != event_id or "deletedAt" in read:
                is_new = not any(alias in names_before for names_before in named.values())
                condition = _as_read(read) if is_new else None
                puts.append(Put(ALIAS, {"alias": alias, "eventId": event_id}, condition=condition))
    return puts
