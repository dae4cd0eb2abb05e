"""Which deliveries of an endpoint are due, and when the next one will be.

Deliveries that were never attempted are read in order of their sequence numbers, from the queue's head on. Those that
are attempted again are found by the index of due times. It may lag, so each of them is read again by its key.

What was read is claimed until its attempt has ended. By then, the store may have shown its next attempt already, and
another lane may have claimed that: a claim is of one reading, and only that reading gives it up.

An ordered endpoint has one delivery at a time, and no further one before that has ended.
"""

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass

from graph.domains.triggers.delivering.recent import RecentRetries
from graph.domains.triggers.entities import DELIVERY, DUE_INDEX
from graph.domains.triggers.model import Delivery, DeliveryState
from graph.domains.triggers.queues import IDLE
from graph.store.conditions import Compare
from graph.store.contract import Database
from graph.store.entity import Item
from graph.store.query import Query

AT_ONCE = 50  # deliveries of a reading
LAG_MS = 100  # until an index is read again that does not show what is due
LONG_LAG_MS = 10_000  # likewise, if it has not shown it for long


@dataclass(frozen=True, slots=True)
class DueReading:
    """What a reading found."""

    deliveries: list[Delivery]
    more: bool  # whether more may be due


class DueDeliveries:
    """The deliveries of one endpoint, as one worker sees them."""

    def __init__(self, database: Database, recent: RecentRetries, endpoint_id: str) -> None:
        self.endpoint_id = endpoint_id
        self._database = database
        self._recent = recent
        self._user_id = ""
        self._ordered = False
        self._cursor = 0  # the next sequence number to read
        self._is_lowered = False  # whether the cursor was moved back, since the last reading began
        self._fresh: dict[int, Delivery] = {}  # what was read in order, and has not ended, by sequence number
        self._again: dict[int, Delivery] = {}  # what was found by the index, likewise
        self._before: deque[int] = deque()  # of an ordered endpoint, what is attempted again before the cursor
        self._blocked_until: int | None = None  # epoch milliseconds, when an ordered endpoint's delivery is due

    @property
    def head(self) -> int:
        """The first sequence number that may never have been attempted."""
        return min([self._cursor, *self._fresh])

    def follow(self, queue: Item) -> None:
        """Take note of the queue as it is stored."""
        self._user_id, self._cursor = queue["user_id"], self._cursor or queue["head"]

    async def read(self, now: int, *, ordered: bool, whenever: bool = False) -> DueReading:
        """The next deliveries that are due, without those that were read before and have not ended.

        Args:
            whenever: also those that are due later.
        """
        self._blocked_until, self._ordered = None, ordered
        reading = await (self._read_one(now) if ordered else self._read_some(IDLE if whenever else now))
        if reading.deliveries:
            self._recent.found(self.endpoint_id)
        return reading

    async def next(self, now: int, *, waiting: int) -> int:
        """When the next delivery is due, epoch milliseconds. Call it when nothing is in progress.

        Args:
            waiting: how many deliveries have not ended, as the queue says.
        """
        if self._blocked_until is not None:
            return self._blocked_until
        page = await self._database.query(self._by_due(None, 1))
        times = [item["due"] for item in page.items]
        if (recent := self._recent.earliest(self.endpoint_id, now)) is not None:
            times.append(recent)
        if times or not waiting:
            self._recent.found(self.endpoint_id)
            return max(min(times), now + LAG_MS) if times else IDLE
        if self._recent.may_lag(self.endpoint_id, now):
            return now + LAG_MS
        of_state = Compare("state", "=", DeliveryState.WAITING.value)
        all_waiting = Query(entity=DELIVERY, partitions=((self.endpoint_id, self._user_id),), where=of_state)
        return now + LONG_LAG_MS if await self._database.count(all_waiting) else IDLE  # what waited has expired

    def end(self, delivery: Delivery) -> None:
        """Note that a delivery has ended."""
        self._release(delivery)
        self._recent.forget(self.endpoint_id, delivery.sequence)

    def postpone(self, delivery: Delivery, due: int, now: int) -> None:
        """Note that a delivery is attempted again at a time, in an ordered queue before any other."""
        if self._ordered:
            self._read_from(delivery.sequence)
        self._release(delivery)
        if delivery.sequence not in self._again:
            self._recent.add(self.endpoint_id, delivery.sequence, due, now)

    def give_back(self, deliveries: Iterable[Delivery]) -> None:
        """Take back deliveries that were not attempted."""
        for delivery in deliveries:
            if self._fresh.get(delivery.sequence) is delivery:
                self._read_from(delivery.sequence)
            self._release(delivery)

    def _read_from(self, sequence: int) -> None:
        """Read a delivery again, unless it is read anyway."""
        self._cursor, self._is_lowered = min(self._cursor, sequence), True

    def _release(self, delivery: Delivery) -> None:
        for claims in (self._fresh, self._again):
            if claims.get(delivery.sequence) is delivery:
                del claims[delivery.sequence]

    async def _read_some(self, until: int) -> DueReading:
        """The next deliveries in order, and those that are attempted again until then."""
        again = await self._read_again(until)
        claimed = set(self._fresh)  # some may end while this reads them as they were before
        fresh, more = await self._read_fresh()
        fresh = [each for each in fresh if "due" not in each.item and each.sequence not in claimed]
        self._fresh.update((each.sequence, each) for each in fresh)
        return DueReading([*again, *fresh], more or len(again) == AT_ONCE)

    async def _read_fresh(self) -> tuple[list[Delivery], bool]:
        """The next waiting deliveries in order, and whether more may follow."""
        self._is_lowered = False
        query = Query(
            entity=DELIVERY,
            partitions=((self.endpoint_id, self._user_id),),
            between=(self._cursor, None),
            limit=AT_ONCE,
        )
        page = await self._database.query(query)
        if page.items and not self._is_lowered:
            self._cursor = page.items[-1]["sequence"] + 1
        waiting = [each for each in map(Delivery, page.items) if each.state is DeliveryState.WAITING]
        return waiting, page.last_key is not None

    async def _read_again(self, until: int) -> list[Delivery]:
        """The next waiting deliveries that have a due time until then."""
        page = await self._database.query(self._by_due(until, AT_ONCE + len(self._again)))
        found = [item for item in page.items if item["sequence"] not in self._again][:AT_ONCE]
        stored = await self._database.get_many([DELIVERY.key_of(item) for item in found]) if found else {}
        due = [each for each in map(Delivery, stored.values()) if each.item.get("due", IDLE) <= until]
        for each in due:
            self._again[each.sequence] = each
            self._recent.forget(self.endpoint_id, each.sequence)
        return due

    async def _read_one(self, now: int) -> DueReading:
        """The first delivery that has not ended, if it is due."""
        if self._fresh or self._again or (first := await self._first_waiting()) is None:
            return DueReading([], more=False)
        due: int = first.item.get("due", 0)
        if due > now:
            self._blocked_until = due
            self._cursor = min(self._cursor, first.sequence)  # it is read again then
            return DueReading([], more=False)
        self._fresh[first.sequence] = first
        return DueReading([first], more=True)

    async def _first_waiting(self) -> Delivery | None:
        """The first delivery that has not ended: one before the cursor that was replayed, or the next one."""
        if not self._before:
            page = await self._database.query(self._by_due(None, None))
            self._before.extend(sorted(item["sequence"] for item in page.items if item["sequence"] < self._cursor))
        while self._before:
            item = await self._database.get(DELIVERY.key_for(self.endpoint_id, self._user_id, self._before[0]))
            if item and (first := Delivery(item)).state is DeliveryState.WAITING:
                return first
            self._before.popleft()
        more = True
        while more:
            waiting, more = await self._read_fresh()
            if waiting:
                self._cursor = waiting[0].sequence + 1
                return waiting[0]
        return None

    def _by_due(self, until: int | None, limit: int | None) -> Query:
        return Query(
            entity=DELIVERY,
            index=DUE_INDEX,
            partitions=((self.endpoint_id,),),
            between=(None, until),
            limit=limit,
            attributes=frozenset(),
        )
