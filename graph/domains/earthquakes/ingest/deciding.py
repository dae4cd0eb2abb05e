"""What a record changes of the stored events. No I/O.

the stored events of the record's ids + the record → all ids with what is remembered of them → the events that
these name now → the steps from the stored events to them
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from graph.domains.earthquakes.entities import ALIAS
from graph.domains.earthquakes.ingest.changed_events import ChangedEvents, EventStep
from graph.domains.earthquakes.ingest.record_values import RecordValues, best_of, text_order
from graph.domains.earthquakes.ingest.write import FirstVersion, LookedAt, Write
from graph.domains.earthquakes.model import DELETED, Event, Incoming, SourceDeletion
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
    with_listers,
    with_names,
)
from graph.domains.earthquakes.revisions.versions import completed, merged_version, next_version
from graph.store.conditions import unchanged
from graph.store.contract import Put
from graph.store.entity import Item

MOST_NAMES = MOST_IDS  # ids of an event
MOST_EVENTS = 10  # that one record changes. With these numbers, its write fits a transaction of 100 actions

_OF_THE_DAY = frozenset({"dayBucket", "ingestedAt"})
"""The attributes of a record that a version gets again."""


@dataclass(frozen=True, slots=True)
class KnownEvents:
    """What is stored of some ids."""

    events: Mapping[str, Item]  # by id, whole; also merged ones
    aliases: Mapping[str, Item]  # by id: those that are not known to be ids of the events

    @property
    def current(self) -> list[Item]:
        """The events that are not merged."""
        return [item for item in self.events.values() if "mergedInto" not in item]


NOTHING = KnownEvents({}, {})


def write_of(record: Incoming, known: KnownEvents) -> Write | None:
    """What a record changes; None for nothing.

    Args:
        known: what is stored of its ids, of all ids of the events that these name, and of those that follow them now.
    """
    if known is NOTHING and isinstance(record, Event):
        return FirstVersion.with_aliases(record)
    names = joined(*map(names_of, known.current))
    too_much = len(known.current) > MOST_EVENTS or len({*ids_of(record), *names}) > MOST_NAMES
    said = _alone(record) if too_much else record
    aliases = list[Put]()
    for event_id in ids_of(said):
        if isinstance(said, SourceDeletion) and event_id not in names:
            aliases += _early(event_id, said, known)
        elif (deleted := known.aliases.get(event_id, {}).get("deletedAt")) is not None:
            names = joined(names, {event_id: Name(deleted=deleted)})
    absorb(names, said)
    values = [RecordValues.of_stored(item) for item in known.current]
    values += [RecordValues.of_record(Event(hidden)) for item in known.current for hidden in hidden_in(item)]
    if isinstance(said, Event):
        values.append(RecordValues.of_record(said))
    latest = {
        each.rank.event_id: each for each in sorted(values, key=text_order, reverse=True) if each.is_latest(names)
    }
    listed_by = {event_id: each.lists for event_id, each in latest.items()}
    groups = with_listers(events_of(names, listed_by), listed_by)
    steps = _steps(said, known, values, latest, groups)
    aliases += _aliases(known, groups)
    if not steps and not aliases:
        return None
    return ChangedEvents(record, steps, aliases, names, LookedAt(known.events.keys(), known.aliases.keys()))


def _alone(record: Incoming) -> Incoming:
    """The record without its other ids."""
    if isinstance(record, SourceDeletion):
        return replace(record, ids=())
    return Event({name: value for name, value in record.item.items() if name != "ids"})


def _early(event_id: str, deletion: SourceDeletion, known: KnownEvents) -> list[Put]:
    """The item that remembers the deletion of an unknown event; none if one as late is remembered."""
    remembered, time = known.aliases.get(event_id, {}), Rank.of(deletion).time
    if remembered.get("deletedAt", time - 1) >= time:
        return []
    item = {"alias": event_id, "eventId": remembered.get("eventId", event_id), "deletedAt": time}
    return [Put(ALIAS, item, condition=unchanged(remembered, "eventId", "deletedAt"))]


def _steps(
    record: Incoming,
    known: KnownEvents,
    values: Sequence[RecordValues],
    latest: Mapping[str, RecordValues],
    groups: Sequence[Names],
) -> list[EventStep]:
    """The steps from the stored events to those that the ids name now, that of the record's own event first.

    Args:
        latest: id → the values of the record that is the latest one of this id and was published under it.
    """
    steps: list[EventStep] = []
    event_of: dict[str, str] = {}  # id → the id of the event that it names
    for group in sorted(groups, key=lambda group: record.event_id not in group):
        event_id, best = event_id_of(group), best_of(values, group)
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
            steps.append(EventStep(item, merged_version(completed(item), into, record.updated), is_version=True))
        elif item["mergedInto"] != into:
            steps.append(EventStep(item, {**item, "mergedInto": into}, is_version=False))
    return steps


def _step(
    event_id: str, names: Names, best: RecordValues, hidden: Mapping[str, Item], stored: Item | None, record: Incoming
) -> list[EventStep]:
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
        item = {**item, "status": DELETED} | ({} if deleted == NEVER else {"updated": deleted})
    if stored is None:
        first = next_version(None, live)
        if not of_values:
            return [EventStep(None, with_names(first, names, hidden), is_version=True)]
        after = with_names(next_version(completed(first), item), names, hidden, of_values)
        return [EventStep(None, after, is_version=True, first=first)]
    before = completed(stored)
    after = with_names(next_version(before, item), names, hidden, of_values)
    if after in [{name: value for name, value in each.items() if name != "changedAt"} for each in (stored, before)]:
        return []
    return [EventStep(stored, after, is_version=after["revision"] != before["revision"])]


def _aliases(known: KnownEvents, groups: Sequence[Names]) -> list[Put]:
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
                condition = unchanged(read, "eventId", "deletedAt") if is_new else None
                puts.append(Put(ALIAS, {"alias": alias, "eventId": event_id}, condition=condition))
    return puts
