"""The account of the operation in progress: its caller, its remaining points, its share of heavy work.

The account is a context variable, so that access patterns and stores charge for what they are about
to read without passing it along. Work without an account, such as polling and the commands, belongs
to the service itself: its reading is not limited, and it waits in queues as one more caller.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar, Token
from dataclasses import dataclass, field
from typing import Self

from graph.core.errors import Overloaded, QueryTooComplex
from graph.work.length import Length
from graph.work.pace import Pace
from graph.work.slots import Slots

ROWS_TESTED_PER_POINT = 100  # by the store's own filter; SQLite takes some 0.2 µs for a row of an index
ROWS_READ_PER_POINT = 10  # decoded, and perhaps tested in Python; some 3 µs each
HEAVY_POINTS = 500  # an operation that spends more on reading counts as heavy
WAITING_OF_CALLER = 1000  # operations; most are light
SERVICE = ""  # the caller of work without an account

Charge = Callable[[int], Awaitable[None] | None]
"""Charges the caller for so many points, and returns what to wait for. Raises `RateLimited` if too few are left."""


@dataclass(frozen=True, slots=True)
class WorkLimits:
    """How many operations may have heavy work in progress. The same number may wait."""

    process: int = 32
    caller: int = 8

    @classmethod
    def of(cls, caller: int) -> "WorkLimits":
        """Limits of so many for each caller, and four times as many for all."""
        return cls(4 * caller, caller)


class Work:
    """What the operations of one process share: their slots, their pace, the count of heavy ones."""

    def __init__(self, limits: WorkLimits | None = None, pace: Pace | None = None) -> None:
        limits = limits or WorkLimits()
        self.pace = pace or Pace()
        self.heavy = Slots(
            limits.process, of_caller=limits.caller, most_waiting=limits.process, most_waiting_of_caller=limits.caller
        )
        self.operations = {
            length: Slots(2 * limits.process, of_caller=2 * limits.caller, most_waiting_of_caller=WAITING_OF_CALLER)
            for length in Length
        }
        """The slots of whole operations. None waits for a slot that a longer one holds, and light ones find room."""


_current: "ContextVar[Account | None]" = ContextVar("account", default=None)
_part: "ContextVar[Part | None]" = ContextVar("part", default=None)


@dataclass(eq=False, slots=True)
class Account:
    """One operation's account. Work within its `with` is charged to it.

    An operation with a slot can wait until others have ended their heavy work. Meanwhile it gives the slot to a light
    one. An operation without a slot is bounded by nothing else, and may hold what others need: it is refused at once.
    """

    work: Work
    caller: str  # the name that points are charged to and queues rotate by
    most: int  # points that the operation may spend on reading
    charge: Charge
    price: int = 0  # points that were charged before it began
    spent: int = 0  # points
    owed: float = 0.0  # part of a point that is not charged yet
    is_heavy: bool = False
    is_current: bool = True  # whether all that it has read was the newest, as far as the engine can tell
    _slots: Slots | None = None  # of which it has one
    _entering: asyncio.Lock | None = None  # of an operation with a slot; its parts may read at the same time
    _holds_slot: bool = False
    _token: "Token[Account | None]" = field(init=False)

    def __enter__(self) -> Self:
        self._token = _current.set(self)
        return self

    def __exit__(self, *raised: object) -> None:
        _current.reset(self._token)
        self._give_slot_back()
        if self.is_heavy:
            self.work.heavy.release(self.caller)
            self.is_heavy = False

    @property
    def length(self) -> Length:
        """The length of the operation, as far as is known. It grows with what is read."""
        return Length.of(self.price + self.spent)

    async def spend(self, points: float) -> None:
        """Spend points on reading, before it begins.

        Raises:
            QueryTooComplex: The operation may not spend so many.
            RateLimited: The caller has too few left.
            Overloaded: Too many operations have heavy work in progress.
        """
        if self.spent + self.owed + points > self.most:
            raise QueryTooComplex(
                "The operation would read too much data: narrow its time range, or ask for less at once."
            )
        self.owed += points
        whole = int(self.owed)
        if not whole:
            return
        self.owed -= whole
        self.spent += whole
        if self.spent > HEAVY_POINTS:
            await self.wait_for_heavy_work()
        if charged := self.charge(whole):
            await charged

    def begin(self, slots: Slots) -> Awaitable[None] | None:
        """Take a slot, which the operation holds until its end. Returns what to wait for, if none is free.

        Raises:
            Overloaded: Too many operations of the caller wait already.
        """
        if not slots.take(self.caller):
            return self._begin_later(slots, slots.wait(self.caller))
        self._hold(slots)
        return None

    async def _begin_later(self, slots: Slots, granted: Awaitable[None]) -> None:
        await granted
        self._hold(slots)

    def _hold(self, slots: Slots) -> None:
        self._slots, self._holds_slot = slots, True
        self._entering = asyncio.Lock()

    def begin_heavy_work(self) -> None:
        """Count the operation among those with heavy work at once.

        Raises:
            Overloaded: There are too many.
        """
        if not self.is_heavy:
            if not self.work.heavy.take(self.caller):
                raise Overloaded
            self.is_heavy = True

    async def wait_for_heavy_work(self) -> None:
        """Count the operation among those with heavy work, as soon as it may have some.

        Raises:
            Overloaded: There are too many.
        """
        if self.is_heavy:
            return
        if self._entering is None:
            self.begin_heavy_work()
            return
        async with self._entering:
            if not self.is_heavy:
                if not self.work.heavy.take(self.caller):
                    granted = self.work.heavy.wait(self.caller)
                    self._give_slot_back()
                    await granted
                self.is_heavy = True
                if self._slots and not self._holds_slot:
                    self._slots.take_back(self.caller)
                    self._holds_slot = True

    def _give_slot_back(self) -> None:
        if self._slots and self._holds_slot:
            self._slots.release(self.caller)
            self._holds_slot = False


@dataclass(slots=True)
class Part:
    """A part of an operation, which may read less than the whole."""

    left: float  # points

    def spend(self, points: float) -> None:
        """Spend points on reading, before it begins. Raises `QueryTooComplex` if the part may not spend so many."""
        if points > self.left:
            raise QueryTooComplex("This part of the operation would read too much data.")
        self.left -= points


@contextmanager
def reading_at_most(rows: int) -> Iterator[None]:
    """Refuse to read more rows in this part of the operation in progress, whatever the operation may read."""
    token = _part.set(Part(rows / ROWS_READ_PER_POINT))
    try:
        yield
    finally:
        _part.reset(token)


def current_caller() -> str:
    """The caller of the operation in progress."""
    account = _current.get()
    return account.caller if account else SERVICE


def is_heavy() -> bool:
    """Whether the operation in progress does heavy work."""
    account = _current.get()
    return account is not None and account.is_heavy


async def slot_of(slots: Slots) -> str:
    """Wait for a slot for a piece of work of the operation in progress. Returns the caller, for `release`.

    If the operation is bounded by no slot of its own, it counts as heavy while it waits.

    Raises:
        Overloaded: No slot is free, and too many operations have heavy work in progress.
    """
    account = _current.get()
    caller = account.caller if account else SERVICE
    if not slots.take(caller):
        if account and account._entering is None:
            account.begin_heavy_work()
        await slots.wait(caller)
    return caller


async def charge_rows(*, tested: int = 0, read: int = 0) -> None:
    """Charge the operation in progress for the most rows that its next step may test or read.

    Raises:
        QueryTooComplex: The operation may not read so many.
        RateLimited: Its caller has too few points left.
        Overloaded: Too many operations have heavy work in progress.
    """
    points = tested / ROWS_TESTED_PER_POINT + read / ROWS_READ_PER_POINT
    if part := _part.get():
        part.spend(points)
    if account := _current.get():
        await account.spend(points)


def note_lagging_read() -> None:
    """Note that what the operation in progress reads may be older than the last completed write."""
    if account := _current.get():
        account.is_current = False


def charge_time(seconds: float) -> None:
    """Charge a thread's CPU time to the caller of the operation in progress."""
    if account := _current.get():
        account.work.pace.charge(account.caller, seconds)


async def give_way() -> None:
    """Let other work run between two pieces of work, if this one has run for long enough."""
    if account := _current.get():
        await account.work.pace.give_way(account.caller, account.length)
    else:
        await asyncio.sleep(0)
