"""The order in which records were stored, the same for every process and on every store.

Each transaction that stores records takes the next number. It applies only if the number before is the
latest. So a change with a lower number was stored earlier, no number is left out, and no change is ever
inserted before another. A record holds the number of its change. Records without a number are older
than all that have one.

Beside the latest number stands a state, a random text that is new with each change, and with each transaction that
writes without a number what readers of the records see. So two equal states are those of the same records, even if a
store is restored, or begun anew under the same name.
"""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, nullcontext
from dataclasses import dataclass
from secrets import token_hex
from typing import Self

from graph.store.attributes import Attribute, JsonDocument, Text, Whole
from graph.store.conditions import Absent, Compare
from graph.store.contract import Action, Database, Put, Update
from graph.store.design import Index, TableDesign
from graph.store.entity import Entity, Item
from graph.store.query import Query
from graph.store.rounds import until_applied

DIGITS = 12
STATE_BYTES = 12  # random ones; two changes never have the same
MOST_NUMBERS = 1000  # that others may take before a transaction, one after the other


@dataclass(frozen=True, slots=True)
class Origins:
    """What changes may come from, such as a request: an id, by which an index lists the changes."""

    attribute: str  # of a change; its name in capitals begins the partitions of the index
    index: Index
    longest: int = 36  # characters, as of a UUID


@dataclass(frozen=True, slots=True)
class SequenceEntities:
    """The entities of a sequence in a table, with the names that its domain chooses."""

    change: Entity  # `number`, and the keys of the records that were stored with it, in order
    latest: Entity  # `number` of the latest change, if there is any, and the `state` of the records
    keys: str  # attribute of a change: the keys of its records
    number: str  # attribute of a record: the number of its change; the record's entity declares it
    origins: Origins | None = None

    @classmethod
    def of(
        cls,
        table: TableDesign,
        partition: str,
        name: str,
        *,
        keys: str,
        number: str,
        expires: bool = False,
        origins: Origins | None = None,
    ) -> Self:
        """Declare a sequence: its changes are in one partition, the latest number in another.

        Args:
            name: of the entity of a change.
            expires: whether a change expires with its records, by the table's TTL.
            origins: what changes may come from. A change without an origin is in no index.
        """
        attributes: list[Attribute] = [Whole("number", least=1, digits=DIGITS, in_key_alone=True), JsonDocument(keys)]
        indexes = {}
        if expires and table.ttl:
            attributes.append(Whole(table.ttl, unit="epoch seconds", optional=True))
        if origins:
            attributes.append(Text(origins.attribute, shortest=1, longest=origins.longest, optional=True))
            indexes[origins.index] = (f"{origins.attribute.upper()}#{{{origins.attribute}}}", "{number}")
        return cls(
            Entity(name, table, key=(partition, "{number}"), attributes=tuple(attributes), indexes=indexes),
            Entity(
                f"LATEST_{name}",
                table,
                key=(f"{partition}#LATEST", "STATE"),
                attributes=(
                    Whole("number", least=1, optional=True),
                    Text("state", longest=2 * STATE_BYTES, optional=True),
                ),
                label=name,
            ),
            keys,
            number,
            origins,
        )

    def number_of(self, item: Item) -> int:
        """The number of a record's change; 0 for a record older than the sequence."""
        return int(item.get(self.number, 0))

    def new_state(self) -> Update:
        """The action of a transaction without a number that changes what readers of the records see."""
        return Update(self.latest.key_for(), set={"state": token_hex(STATE_BYTES)})


@dataclass(frozen=True, slots=True)
class Change:
    """Some records that were stored together."""

    number: int  # from 1
    keys: tuple[str, ...]

    def behind(self, key: str) -> "Change":
        """The part of the change after one of its records."""
        return Change(self.number, self.keys[self.keys.index(key) + 1 :])


def sliced(changes: Iterable[Change], most: int) -> Iterator[list[Change]]:
    """The changes in lists of at most so many records. Large changes are divided."""
    some: list[Change] = []
    room = most
    for change in changes:
        rest = change.keys
        while len(rest) > room:
            yield [*some, Change(change.number, rest[:room])]
            some, rest, room = [], rest[room:], most
        some.append(Change(change.number, rest))
        room -= len(rest)
    if some:
        yield some


@dataclass(frozen=True, slots=True)
class Reservation:
    """A number that the next transaction may take."""

    number: int
    reading: int  # the read of the latest number that it is based on
    entities: SequenceEntities

    def numbered(self, records: Iterable[Item]) -> list[Item]:
        """The records' items with the number of their change."""
        return [{**record, self.entities.number: self.number} for record in records]

    def actions(self, keys: Sequence[str], *, ttl: int | None = None, origin: str | None = None) -> tuple[Put, Update]:
        """The actions that take the number for these records. They belong into the transaction of the puts.

        Args:
            ttl: when the last of the records expires, epoch seconds; None for never.
            origin: what the change comes from; None if that is unknown.
        """
        of = self.entities
        expiry = {} if ttl is None else {str(of.change.table.ttl): ttl}
        source = {of.origins.attribute: origin} if of.origins and origin else {}
        change = Put(of.change, {"number": self.number, of.keys: list(keys), **expiry, **source})
        before = Compare("number", "=", self.number - 1) if self.number > 1 else Absent("number")
        latest = of.new_state()
        return change, Update(latest.key, set={"number": self.number, **latest.set}, condition=before)


class ChangeSequence:
    """The changes of one sequence, in order."""

    ACTIONS = 2  # the number of actions that a reservation adds to a transaction

    def __init__(self, database: Database, entities: SequenceEntities) -> None:
        self.entities = entities
        self._database = database
        self._last: int | None = None  # the last reserved number; None if it must be read
        self._readings = 0
        self._reading = asyncio.Lock()
        self._one_at_a_time = asyncio.Lock()

    async def latest(self) -> int:
        """The number of the last change; 0 if there is none."""
        state = await self._database.get(self.entities.latest.key_for())
        return int(state.get("number", 0)) if state else 0

    async def since(self, number: int, most: int) -> list[Change]:
        """At most so many changes after a number, in order."""
        return await self._changes(Query(entity=self.entities.change, between=(number + 1, None), limit=most))

    async def origins_of(self, numbers: Iterable[int]) -> dict[int, str]:
        """Number of a change → what it came from. Changes of unknown origin are left out."""
        origins, change = self._origins, self.entities.change
        keys = {change.key_for(number) for number in numbers}
        found = await self._database.get_many(keys, attributes=(origins.attribute,)) if keys else {}
        return {int(key.values[0]): item[origins.attribute] for key, item in found.items() if origins.attribute in item}

    async def changes_from(
        self, origin: str, between: tuple[int | None, int | None], most: int, *, forward: bool = True
    ) -> list[Change]:
        """At most so many changes of one origin with numbers within bounds, both inclusive, in order or in reverse."""
        change, index = self.entities.change, self._origins.index
        query = Query(entity=change, index=index, partitions=((origin,),), between=between, forward=forward, limit=most)
        return await self._changes(query)

    @property
    def _origins(self) -> Origins:
        if self.entities.origins is None:
            raise ValueError(f"changes of {self.entities.change.name} have no origins")
        return self.entities.origins

    async def _changes(self, query: Query) -> list[Change]:
        page = await self._database.query(query)
        return [Change(int(item["number"]), tuple(item[self.entities.keys])) for item in page.items]

    def notifications(self) -> AsyncGenerator[None, None]:
        """Yields soon after there may be new changes, as `Database.changes` does."""
        return self._database.changes()

    @asynccontextmanager
    async def reserve(self) -> AsyncIterator[Reservation]:
        """Reserve the next number for a transaction that is sent at once. Call `missed` if it was not applied.

        If the store applies transactions in the order in which they are sent, several may be in progress and
        committed together: if one is not applied, none behind it is, and all of them are tried again. On other
        stores they would conflict, so each waits for the one before.
        """
        async with nullcontext() if self._database.in_order else self._one_at_a_time:
            if self._last is None:
                async with self._reading:
                    if self._last is None:
                        self._last = await self.latest()
                        self._readings += 1
            self._last += 1
            reservation = Reservation(self._last, self._readings, self.entities)
            try:
                yield reservation
            except BaseException:
                self.missed(reservation)
                raise

    async def store(self, entity: Entity, records: Mapping[str, Item]) -> frozenset[str]:
        """Store new records as the next change, all or none of them.

        Args:
            records: their items by the keys that the change names. As many as a transaction takes beside `ACTIONS`.

        Returns:
            The keys of those that are stored already. Empty: all were stored. Not empty: none was.
        """
        keys = list(records)

        def actions(reservation: Reservation) -> list[Action]:
            puts = [Put(entity, item, if_absent=True) for item in reservation.numbered(records.values())]
            return [*puts, *reservation.actions(keys)]

        return frozenset(keys[at] for at in await self.transact(actions))

    @until_applied("other changes kept taking the next number", MOST_NUMBERS)
    async def transact(self, actions_of: Callable[[Reservation], Sequence[Action]]) -> tuple[int, ...] | None:
        """Apply one transaction as the next change.

        Args:
            actions_of: the actions for a reservation, with the reservation's own at the end.

        Returns:
            The positions of the actions whose condition did not hold. Empty: all were applied. Not empty: none was.
        """
        async with self.reserve() as reservation:
            actions = actions_of(reservation)
            refused = await self._database.transact(actions)
            if refused:
                self.missed(reservation)
        others = tuple(at for at in refused if at < len(actions) - self.ACTIONS)
        return others if others or not refused else None

    def missed(self, reservation: Reservation) -> None:
        """Note that a transaction was not applied."""
        if reservation.reading == self._readings:
            self._last = None
