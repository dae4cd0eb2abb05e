"""The values that the records of an event give it, and which of them it has. No I/O."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from graph.domains.earthquakes.entities import EVENT
from graph.domains.earthquakes.model import DELETED, Event
from graph.domains.earthquakes.revisions.names import NEVER, Names, Rank, ids_of, status_of_values
from graph.domains.earthquakes.revisions.versions import tracked_text
from graph.store.entity import Item

_OF_AN_ITEM = frozenset({*EVENT.named} - {each.name for each in Event.declared()} | {"mergedInto"})
"""The attributes of an event's item that come from no record."""


@dataclass(frozen=True, slots=True)
class RecordValues:
    """The values that a record gives an event."""

    rank: Rank
    item: Item
    event_id: str  # of the event that has them

    @classmethod
    def of_stored(cls, item: Item) -> "RecordValues":
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
    def of_record(cls, event: Event) -> "RecordValues":
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

    def of_event(self) -> "RecordValues":
        """The same values, as if they were published under the event's own id."""
        return replace(self, rank=self.rank._replace(event_id=self.event_id))


def best_of(values: Sequence[RecordValues], names: Names) -> RecordValues | None:
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
    return min([each for each in own if each.rank == rank], key=text_order)


def text_order(values: RecordValues) -> tuple[str, str]:
    """What the values of records of one rank are ordered by."""
    return tracked_text(values.item), values.item.get("ids", "")
