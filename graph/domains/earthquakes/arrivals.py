"""The order in which events were stored, the same for every process and on every store.

Each transaction that inserts events takes the next number: it applies only where the number before
is the latest one. So what has a lower number was stored before, no number is left out, and nothing
is ever stored into the past. An event says in its attribute `arrival` with which number it came.
Events without it were stored before all that have it.
"""

import asyncio
from collections.abc import AsyncIterator, Iterable, Iterator, Sequence
from contextlib import asynccontextmanager, nullcontext
from dataclasses import dataclass
from typing import Self

from graph.domains.earthquakes.entities import ARRIVAL, LATEST_ARRIVAL
from graph.domains.earthquakes.model import Event
from graph.store.conditions import Absent, Compare
from graph.store.contract import Database, Put, Update
from graph.store.entity import Item
from graph.store.query import Query

LATEST = LATEST_ARRIVAL.key_for()


@dataclass(frozen=True, slots=True)
class Arrival:
    """Some events that were stored together."""

    number: int  # from 1
    event_ids: tuple[str, ...]

    @classmethod
    def of(cls, item: Item) -> Self:
        """The arrival that an item is."""
        return cls(int(item["number"]), tuple(item["eventIds"]))

    def behind(self, event_id: str) -> "Arrival":
        """What of it comes after one of its events."""
        return Arrival(self.number, self.event_ids[self.event_ids.index(event_id) + 1 :])


def sliced(arrivals: Iterable[Arrival], most: int) -> Iterator[list[Arrival]]:
    """The arrivals, cut and put together so that each list has at most so many events."""
    some: list[Arrival] = []
    room = most
    for arrival in arrivals:
        rest = arrival.event_ids
        while len(rest) > room:
            yield [*some, Arrival(arrival.number, rest[:room])]
            some, rest, room = [], rest[room:], most
        some.append(Arrival(arrival.number, rest))
        room -= len(rest)
    if some:
        yield some


def arrival_of(event: Event) -> int:
    """The number that an event came with; 0 where it was stored before any was given."""
    return int(event.item.get("arrival", 0))


@dataclass(frozen=True, slots=True)
class Turn:
    """A number that the next transaction may take."""

    number: int
    reading: int  # of the latest number: turns of one follow each other

    def actions(self, event_ids: Sequence[str]) -> tuple[Put, Update]:
        """What takes the number for these events, with their own inserts."""
        item: Item = {"number": self.number, "eventIds": list(event_ids)}
        before = Compare("number", "=", self.number - 1) if self.number > 1 else Absent("number")
        return Put(ARRIVAL, item), Update(LATEST, set={"number": self.number}, condition=before)


class Arrivals:
    """The arrivals of one catalogue."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._last: int | None = None  # number that was given away; None where the database has to be asked
        self._readings = 0
        self._reading = asyncio.Lock()
        self._one_at_a_time = asyncio.Lock()

    async def latest(self) -> int:
        """The number of the last one; 0 where there is none."""
        state = await self._database.get(LATEST)
        return int(state["number"]) if state else 0

    async def since(self, number: int, most: int) -> list[Arrival]:
        """Those after a number, in order, at most so many."""
        page = await self._database.query(Query(entity=ARRIVAL, between=(number + 1, None), limit=most))
        return list(map(Arrival.of, page.items))

    @asynccontextmanager
    async def turn(self) -> AsyncIterator[Turn]:
        """The next number, for a transaction that is sent at once. `missed` tells if it was not applied.

        Where transactions are applied in the order in which they are sent, several are under way, and committed
        together: if one is not applied, those behind it are not either, and all of them try again. Elsewhere they
        would be in each other's way, so one waits for another.
        """
        async with nullcontext() if self._database.in_order else self._one_at_a_time:
            if self._last is None:
                async with self._reading:
                    if self._last is None:
                        self._last = await self.latest()
                        self._readings += 1
            self._last += 1
            turn = Turn(self._last, self._readings)
            try:
                yield turn
            except BaseException:
                self.missed(turn)
                raise

    def missed(self, turn: Turn) -> None:
        """Note that a transaction was not applied."""
        if turn.reading == self._readings:
            self._last = None
