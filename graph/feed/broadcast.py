"""Sends records to every subscriber as they are stored: first the missed ones, then each new one.

    notifications → new changes → their records, loaded once in a process → each subscriber's backlog

Changes are numbered without gaps, so no record is lost or sent twice between the two phases. A
subscriber reads changes by itself until it has seen as many as the broadcast. From that moment on the
broadcast hands it each further change.
"""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from contextlib import aclosing, suppress
from dataclasses import dataclass
from operator import attrgetter
from typing import Generic, Self, TypeVar

from graph.core.errors import InvalidCursor
from graph.feed.sequence import Change, ChangeSequence, sliced
from graph.feed.subscriber import BACKLOG, Subscriber, Test, always
from graph.store.ordering import Ordering
from graph.store.records import EntityRecord, Record
from graph.work.tasks import BackgroundTasks, Sleep, attempt

CHANGES_AT_ONCE = 4  # of up to a thousand records each
CHANGES_REPLAYED_AT_ONCE = 32  # polling makes many changes with few records
REPLAYED_AT_ONCE = 200  # records of a slice, which is read in some milliseconds
REPLAYS_AT_ONCE = 2  # subscribers that read a slice at the same time
HANDED_AT_ONCE = 10  # subscribers, before other tasks run
WAIT_S = 0.5  # for a subscriber to empty half of its backlog before the others get more
RETRY_S = 1.0

R = TypeVar("R", bound=Record)
Ordered = TypeVar("Ordered", bound=EntityRecord)

Load = Callable[[Sequence[str]], Awaitable[Mapping[str, R]]]
Charge = Callable[[int, int], Awaitable[None]]
"""Charges a subscriber for replayed records (the number read, the number sent), and waits as needed."""


async def free_of_charge(read: int, sent: int) -> None:
    """Charge nothing."""


@dataclass(frozen=True)  # without slots: with them, `Records[Note](…)` cannot be called
class FeedRecords(Generic[R]):
    """How a broadcast loads a domain's records and reads their positions."""

    load: "Load[R]"  # the existing records by their keys
    key_of_cursor: Callable[[str], str]  # may raise InvalidCursor
    cursor_of: Callable[[R], str] = attrgetter("cursor")
    awaits_numbers: bool = False  # whether a record without a number will get one, instead of being older than all

    @classmethod
    def of(cls, ordering: Ordering, load: "Load[Ordered]") -> "FeedRecords[Ordered]":
        """Records that have the cursors of a connection; the key of each is one attribute."""
        (key,) = ordering.entity.key_names
        return FeedRecords[Ordered](
            load=load,
            key_of_cursor=lambda cursor: str(ordering.place_of(cursor, "after")[key]),
            cursor_of=lambda record: ordering.cursor_of(record.item),
        )


@dataclass(frozen=True, slots=True)
class SubscriberMessage(Generic[R]):
    """A message to a subscriber: a record, or the number of dropped ones."""

    cursor: str  # of the last sent record, to resume from
    record: R | None = None
    dropped: int = 0
    matches: bool | None = None  # whether what the record is about passes the filter now


class Broadcast(Generic[R]):
    """Sends the changes of one sequence to all subscribers, while there are any."""

    def __init__(
        self, sequence: ChangeSequence, records: FeedRecords[R], *, backlog: int = BACKLOG, sleep: Sleep = asyncio.sleep
    ) -> None:
        self.sent = 0  # records, to all subscribers
        self.dropped = 0
        self._sequence = sequence
        self._records = records
        self._backlog = backlog  # the most records that wait for one subscriber
        self._sleep = sleep
        self._number = 0  # of the last change that was handed to subscribers
        self._subscribers: set[Subscriber[R]] = set()  # those that have joined
        self._open = 0  # subscriptions, including those that replay
        self._tasks = BackgroundTasks()
        self._following: asyncio.Task[None] | None = None  # while any subscription is open
        self._ended = asyncio.Event()
        self._none_open = asyncio.Event()
        self._replaying = asyncio.Semaphore(REPLAYS_AT_ONCE)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *raised: object) -> None:
        await self.close()

    async def subscribe(
        self,
        wants: Test[R],
        after: str | None = None,
        charge: Charge = free_of_charge,
        *,
        matches: Test[R] = always,
    ) -> AsyncGenerator[SubscriberMessage[R], None]:
        """Subscribe to the records that pass a filter: those stored after a record, or from now on, until `end`.

        Args:
            after: the cursor of a record.
            matches: whether what a sent record is about passes the filter now.
            charge: called before replayed records are read, and before they are sent. Its error ends the iteration.

        Raises:
            InvalidCursor: It is not a cursor, or its record does not exist.
            DatabaseUnavailable: The store does not answer. The iteration may raise it too.
        """
        latest = await self._sequence.latest()
        subscriber, missed = Subscriber(wants, latest, self._backlog, matches), None
        if after is not None:
            key = self._records.key_of_cursor(after)
            if (record := (await self._records.load([key])).get(key)) is None:
                raise InvalidCursor("after")
            subscriber.number = self._sequence.entities.number_of(record.item)
            if not subscriber.number and self._records.awaits_numbers:
                subscriber.number = latest
            elif subscriber.number:
                changes = await self._sequence.since(subscriber.number - 1, 1)
                if changes and changes[0].number == subscriber.number:  # else it has expired just now
                    missed = changes[0].behind(key)
        return self._notices(subscriber, missed, latest, charge)

    async def end(self, seconds: float) -> None:
        """Complete all subscriptions, and wait for that, but no longer than so many seconds."""
        self._ended.set()
        for subscriber in self._subscribers:
            subscriber.woken.set()
        if self._open:
            with suppress(TimeoutError):
                async with asyncio.timeout(seconds):
                    await self._none_open.wait()

    async def close(self) -> None:
        """Stop reading from the store."""
        await self._tasks.close()

    @property
    def subscriptions(self) -> int:
        """The number of open subscriptions."""
        return self._open

    async def _notices(
        self, subscriber: Subscriber[R], missed: Change | None, latest: int, charge: Charge
    ) -> AsyncGenerator[SubscriberMessage[R], None]:
        self._enter(latest)
        try:
            async with aclosing(self._replayed(subscriber, missed, charge)) as replayed:
                async for notice in replayed:
                    yield notice
            # No other task has run since the last change was seen.
            self._subscribers.add(subscriber)
            cursor = ""
            while True:
                while subscriber.backlog:
                    record, matches = subscriber.take()
                    cursor = self._records.cursor_of(record)
                    yield SubscriberMessage(cursor, record, matches=matches)
                if subscriber.dropped:
                    yield SubscriberMessage(cursor, dropped=subscriber.notify())
                elif subscriber.failure:
                    raise subscriber.failure
                elif self._ended.is_set():
                    break
                else:
                    subscriber.woken.clear()
                    await subscriber.woken.wait()
        finally:
            self._subscribers.discard(subscriber)
            subscriber.end()
            self._leave()

    async def _replayed(
        self, subscriber: Subscriber[R], missed: Change | None, charge: Charge
    ) -> AsyncGenerator[SubscriberMessage[R], None]:
        """The records that the broadcast has sent and the subscriber has not seen, slice by slice."""
        changes = [missed] if missed else []
        while not self._ended.is_set():
            for some in sliced(changes, REPLAYED_AT_ONCE):
                if self._ended.is_set():
                    return
                await self._unless_ended(charge(sum(len(change.keys) for change in some), 0))
                async with self._replaying:
                    read = await self._read(some)
                for number, records in read:
                    for record, matches in subscriber.wanted(records):
                        await self._unless_ended(charge(0, 1))
                        if self._ended.is_set():
                            return
                        self.sent += 1
                        yield SubscriberMessage(self._records.cursor_of(record), record, matches=matches)
                    subscriber.number = number
            if subscriber.number >= self._number:
                break
            changes = await self._sequence.since(subscriber.number, CHANGES_REPLAYED_AT_ONCE)

    async def _unless_ended(self, work: Awaitable[None]) -> None:
        """Wait for it, but not beyond the end."""
        working, ending = asyncio.ensure_future(work), asyncio.ensure_future(self._ended.wait())
        try:
            await asyncio.wait((working, ending), return_when=asyncio.FIRST_COMPLETED)
            if working.done():
                working.result()
        finally:
            working.cancel()
            ending.cancel()

    def _enter(self, latest: int) -> None:
        self._open += 1
        self._none_open.clear()
        if self._following is None:
            self._number = latest
            self._following = self._tasks.start("broadcasting", self._follow)

    def _leave(self) -> None:
        self._open -= 1
        if not self._open and self._following:
            self._following.cancel()
            self._following = None
            self._none_open.set()

    async def _follow(self) -> None:
        """Send the changes as they are stored."""
        async with aclosing(self._sequence.notifications()) as notifications:
            async for _ in notifications:
                while not await attempt(self._catch_up, failure="Subscribers wait for the store"):
                    await self._sleep(RETRY_S)

    async def _catch_up(self) -> None:
        while changes := await self._sequence.since(self._number, CHANGES_AT_ONCE):
            for number, records in await self._read(changes):
                self._number = number
                await self._hand_to_all(number, records)
                await self._for_room()

    async def _hand_to_all(self, number: int, records: Sequence[R]) -> None:
        """Hand a change to all subscribers. One that joins meanwhile has already seen it."""
        for handed, subscriber in enumerate(list(self._subscribers)):
            if subscriber in self._subscribers and subscriber.number < number:
                subscriber.number = number
                self._hand(subscriber, records)
            if handed % HANDED_AT_ONCE == HANDED_AT_ONCE - 1:
                await asyncio.sleep(0)

    async def _for_room(self) -> None:
        """Wait a short while for subscribers with a large backlog, before the others get more."""
        crowded = [each for each in self._subscribers if not each.slow and not each.roomy.is_set()]
        try:
            async with asyncio.timeout(WAIT_S):
                for subscriber in crowded:
                    await subscriber.roomy.wait()
        except TimeoutError:
            for subscriber in crowded:
                subscriber.slow = not subscriber.roomy.is_set()

    def _hand(self, subscriber: Subscriber[R], records: Sequence[R]) -> None:
        try:
            wanted = subscriber.wanted(records)
        except Exception as defect:  # the other subscribers must not lose anything
            self._subscribers.discard(subscriber)
            subscriber.fail(defect)
            return
        if wanted:
            dropped = subscriber.hand(wanted)
            self.sent += len(wanted) - dropped
            self.dropped += dropped

    async def _read(self, changes: Sequence[Change]) -> list[tuple[int, list[R]]]:
        """The number and the records of each change."""
        keys = [key for change in changes for key in change.keys]
        await asyncio.sleep(0)  # lets other tasks run, which a store and a fast client may not
        records = await self._records.load(keys)
        return [(change.number, [records[key] for key in change.keys if key in records]) for change in changes]
