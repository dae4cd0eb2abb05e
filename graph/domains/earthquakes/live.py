"""Events as they are stored: first those that came since, then those that come, to everybody who subscribes.

    table.changes() → new arrivals → their events, read once in a process → each subscriber's queue

Arrivals are numbered without a gap, so there is no seam where one could be lost or come twice: a
subscriber reads them by itself until it has seen as many as this process has, and from that very
moment on is handed each further one.
"""

import asyncio
from collections import deque
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable, Sequence
from contextlib import aclosing, suppress
from dataclasses import dataclass, field

from graph.core.errors import DatabaseUnavailable, InvalidCursor
from graph.core.paging import Position
from graph.domains.earthquakes.arrivals import Arrival, Arrivals, arrival_of, sliced
from graph.domains.earthquakes.catalogue import Catalogue
from graph.domains.earthquakes.model import EVENTS, Event
from graph.domains.earthquakes.selection import Selection
from graph.observability.logs import get_logger
from graph.store.contract import Database
from graph.store.entity import Item

ARRIVALS_AT_ONCE = 4  # of up to a thousand events each
ARRIVALS_REPLAYED_AT_ONCE = 32  # of which a poll makes many with few events
REPLAYED_AT_ONCE = 200  # events; a slice of them is read in some milliseconds
REPLAYS_AT_ONCE = 2  # that read a slice
TOLD_AT_ONCE = 10  # subscribers, before others have their turn
QUEUED = 2000  # events that wait for one subscriber at most; an arrival finds room where no more than half are left
PATIENCE_S = 0.5  # for a subscriber to take half of what waits for it, before the others are told more
RETRY_S = 1.0

logger = get_logger(__name__)


Charge = Callable[[int, int], Awaitable[None]]
"""Charges a subscriber for events of the past, and waits until it can: how many are read, and how many told."""


async def nothing(read: int, told: int) -> None:
    """Charge nothing."""


@dataclass(frozen=True, slots=True)
class Notice:
    """A word to a subscriber: an event, or how many there was no room for."""

    cursor: str  # of the last event that was handed over: what to go on behind
    event: Event | None = None
    lost: int = 0


@dataclass(eq=False, slots=True)
class Subscriber:
    """Somebody who is told."""

    wants: Callable[[Item], bool]
    number: int  # of the last arrival that was seen
    queue: deque[Event] = field(default_factory=deque)
    lost: int = 0  # since the queue was full
    woken: asyncio.Event = field(default_factory=asyncio.Event)
    roomy: asyncio.Event = field(default_factory=asyncio.Event)
    failure: Exception | None = None  # of its filter, which ends it
    slow: bool = False  # not worth waiting for, until it has taken everything

    def __post_init__(self) -> None:
        self.roomy.set()

    def wanted(self, events: Iterable[Event]) -> list[Event]:
        """Those of the events that are meant."""
        return [event for event in events if self.wants(event.item)]

    def tell(self, events: Sequence[Event]) -> int:
        """Hand over events; how many were lost. Once something is lost, so is the rest, until that is known."""
        room = 0 if self.lost else QUEUED - len(self.queue)
        self.queue.extend(events[:room])
        lost = max(len(events) - room, 0)
        self.lost += lost
        self.woken.set()
        if len(self.queue) > QUEUED // 2:
            self.roomy.clear()
        return lost

    def take(self) -> Event:
        """The next event."""
        event = self.queue.popleft()
        if len(self.queue) <= QUEUED // 2:
            self.roomy.set()
        if not self.queue:
            self.slow = False
        return event


class Live:
    """What arrives at one catalogue, as long as anybody subscribes."""

    def __init__(self, database: Database, catalogue: Catalogue) -> None:
        self.told = 0  # events, to all subscribers
        self.lost = 0
        self._database = database
        self._catalogue = catalogue
        self._arrivals = Arrivals(database)
        self._number = 0  # of the last arrival that was handed to subscribers
        self._subscribers: set[Subscriber] = set()
        self._open = 0  # subscriptions, those that read what came before included
        self._following: asyncio.Task[None] | None = None  # while any is open
        self._tasks: set[asyncio.Task[None]] = set()  # that one, and any that is about to end
        self._ended = asyncio.Event()
        self._none_open = asyncio.Event()
        self._replaying = asyncio.Semaphore(REPLAYS_AT_ONCE)

    async def subscribe(
        self, selection: Selection, after: str | None, charge: Charge = nothing
    ) -> AsyncGenerator[Notice, None]:
        """What is selected of all that is stored behind an event, or from now on; until `end`.

        Args:
            after: the cursor of an event.
            charge: called before events of the past are read, and before they are told. What it raises ends the
                iteration.

        Raises:
            InvalidCursor: It is none, or of an event that this catalogue does not have.
            DatabaseUnavailable: The store does not answer. The iteration may raise it too.
        """
        latest = await self._arrivals.latest()
        subscriber, missed = Subscriber(selection.admits, latest), None
        if after is not None:
            event = await self._catalogue.event(Position.of_cursor(EVENTS, after, "after").key)
            if event is None:
                raise InvalidCursor("after")
            subscriber.number = arrival_of(event)
            if subscriber.number:
                (arrival,) = await self._arrivals.since(subscriber.number - 1, 1)
                missed = arrival.behind(event.event_id)
        return self._notices(subscriber, missed, latest, charge)

    async def end(self, seconds: float) -> None:
        """Complete all subscriptions, and wait until they are, but no longer than so many seconds."""
        self._ended.set()
        for subscriber in self._subscribers:
            subscriber.woken.set()
        if self._open:
            with suppress(TimeoutError):
                async with asyncio.timeout(seconds):
                    await self._none_open.wait()

    async def close(self) -> None:
        """Let go of the store."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    @property
    def subscriptions(self) -> int:
        """How many are open."""
        return self._open

    async def _notices(
        self, subscriber: Subscriber, missed: Arrival | None, latest: int, charge: Charge
    ) -> AsyncGenerator[Notice, None]:
        self._enter(latest)
        try:
            async with aclosing(self._replayed(subscriber, missed, charge)) as replayed:
                async for notice in replayed:
                    yield notice
            # No other task had a turn since all was seen.
            self._subscribers.add(subscriber)
            cursor = ""
            while True:
                while subscriber.queue:
                    event = subscriber.take()
                    cursor = event.cursor
                    yield Notice(cursor, event)
                if subscriber.lost:
                    lost, subscriber.lost = subscriber.lost, 0
                    yield Notice(cursor, lost=lost)
                elif subscriber.failure:
                    raise subscriber.failure
                elif self._ended.is_set():
                    break
                else:
                    subscriber.woken.clear()
                    await subscriber.woken.wait()
        finally:
            self._subscribers.discard(subscriber)
            subscriber.roomy.set()
            self._leave()

    async def _replayed(
        self, subscriber: Subscriber, missed: Arrival | None, charge: Charge
    ) -> AsyncGenerator[Notice, None]:
        """What the subscriber has not seen of what all others have, slice by slice."""
        arrivals = [missed] if missed else []
        while not self._ended.is_set():
            for some in sliced(arrivals, REPLAYED_AT_ONCE):
                if self._ended.is_set():
                    return
                await self._unless_ended(charge(sum(len(arrival.event_ids) for arrival in some), 0))
                async with self._replaying:
                    read = await self._read(some)
                for number, events in read:
                    for event in subscriber.wanted(events):
                        await self._unless_ended(charge(0, 1))
                        if self._ended.is_set():
                            return
                        self.told += 1
                        yield Notice(event.cursor, event)
                    subscriber.number = number
            if subscriber.number >= self._number:
                break
            arrivals = await self._arrivals.since(subscriber.number, ARRIVALS_REPLAYED_AT_ONCE)

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
            self._following = asyncio.create_task(self._follow())
            self._tasks.add(self._following)
            self._following.add_done_callback(self._tasks.discard)

    def _leave(self) -> None:
        self._open -= 1
        if not self._open and self._following:
            self._following.cancel()
            self._following = None
            self._none_open.set()

    async def _follow(self) -> None:
        """Hand over what arrives."""
        async with aclosing(self._database.changes()) as changes:
            async for _ in changes:
                behind = True
                while behind:
                    try:
                        await self._catch_up()
                        behind = False
                    except Exception as error:  # a defect too must not end what subscribers wait for
                        known = isinstance(error, DatabaseUnavailable)
                        cause = error.detail if isinstance(error, DatabaseUnavailable) else None
                        logger.warning("Subscribers wait for the store", cause=cause, exc_info=not known)
                        await asyncio.sleep(RETRY_S)

    async def _catch_up(self) -> None:
        while arrivals := await self._arrivals.since(self._number, ARRIVALS_AT_ONCE):
            for number, events in await self._read(arrivals):
                self._number = number
                await self._tell_all(number, events)
                await self._for_room()

    async def _tell_all(self, number: int, events: Sequence[Event]) -> None:
        """Hand over an arrival. Who subscribes meanwhile has seen it."""
        for told, subscriber in enumerate(list(self._subscribers)):
            if subscriber.number < number:
                subscriber.number = number
                self._tell(subscriber, events)
            if told % TOLD_AT_ONCE == TOLD_AT_ONCE - 1:
                await asyncio.sleep(0)

    async def _for_room(self) -> None:
        """Wait for those who have much to take, but not long: others want to know what comes next."""
        crowded = [each for each in self._subscribers if not each.slow and not each.roomy.is_set()]
        try:
            async with asyncio.timeout(PATIENCE_S):
                for subscriber in crowded:
                    await subscriber.roomy.wait()
        except TimeoutError:
            for subscriber in crowded:
                subscriber.slow = not subscriber.roomy.is_set()

    def _tell(self, subscriber: Subscriber, events: Sequence[Event]) -> None:
        try:
            wanted = subscriber.wanted(events)
        except Exception as defect:  # which must not lose anything for the others
            self._subscribers.discard(subscriber)
            subscriber.failure = defect
            subscriber.woken.set()
            return
        if wanted:
            lost = subscriber.tell(wanted)
            self.told += len(wanted) - lost
            self.lost += lost

    async def _read(self, arrivals: Sequence[Arrival]) -> list[tuple[int, list[Event]]]:
        """Number and events of each arrival."""
        ids = [event_id for arrival in arrivals for event_id in arrival.event_ids]
        await asyncio.sleep(0)  # neither the store nor a quick client need let others have their turn
        events = await self._catalogue.events(ids)
        return [
            (arrival.number, [events[event_id] for event_id in arrival.event_ids if event_id in events])
            for arrival in arrivals
        ]
