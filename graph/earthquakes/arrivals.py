"""The order in which events were stored, the same for every process and on every store.

Each transaction that inserts events writes an item with the next number too, only if there is none
with that number: so of two that take the same number one is refused, and tries again with another.
What has a lower number was stored before, without a gap, and nothing is ever stored into the past.
An event says in its attribute `arrival` with which of them it came. Events without it were stored
before all that have it.

| partition | sort key | attributes |
|---|---|---|
| `ARRIVALS` | the number, in twelve digits | `eventIds`, those that came with it, in their order |
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

from graph.earthquakes.model import Event
from graph.store.contract import Item, Put, Table

PARTITION = "ARRIVALS"
DIGITS = 12


@dataclass(frozen=True, slots=True)
class Arrival:
    """Some events that were stored together."""

    number: int  # from 1
    event_ids: tuple[str, ...]

    @classmethod
    def of(cls, item: Item) -> Self:
        """The arrival that an item is."""
        return cls(int(item["sk"]), tuple(item["eventIds"]))

    def behind(self, event_id: str) -> "Arrival":
        """What of it comes after one of its events."""
        return Arrival(self.number, self.event_ids[self.event_ids.index(event_id) + 1 :])


def arrival_of(event: Event) -> int:
    """The number that an event came with; 0 where it was stored before any was given."""
    return int(event.item.get("arrival", 0))


class Arrivals:
    """The arrivals of one catalogue."""

    def __init__(self, table: Table) -> None:
        self._table = table
        self._latest: int | None = None  # as far as this process knows

    async def latest(self) -> int:
        """The number of the last one; 0 where there is none."""
        page = await self._table.query(self._table.design.primary, PARTITION, forward=False, limit=1)
        return Arrival.of(page.items[0]).number if page.items else 0

    async def since(self, number: int, most: int) -> list[Arrival]:
        """Those after a number, in order, at most so many."""
        behind = (_sort_key(number + 1), None)
        page = await self._table.query(self._table.design.primary, PARTITION, between=behind, limit=most)
        return list(map(Arrival.of, page.items))

    async def put(self, events: Sequence[Event]) -> Put:
        """The action that these events arrive by, which are told its number.

        What becomes of it must be told to `taken` or to `refused`.
        """
        if self._latest is None:
            self._latest = await self.latest()
        number = self._latest + 1
        for event in events:
            event.item["arrival"] = number
        item: Item = {
            "pk": PARTITION,
            "sk": _sort_key(number),
            "entity": "ARRIVAL",
            "eventIds": [event.item["eventId"] for event in events],
        }
        return Put(item, if_absent=True)

    def taken(self, put: Put) -> None:
        """Note that the action was applied."""
        self._latest = max(self._latest or 0, int(put.item["sk"]))

    def refused(self) -> None:
        """Note that another transaction had the number."""
        self._latest = None


def _sort_key(number: int) -> str:
    return f"{number:0{DIGITS}}"
