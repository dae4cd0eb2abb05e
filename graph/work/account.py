"""The account of the operation in progress: its caller, its remaining points, its share of heavy work.

The account is a context variable, so that access patterns and stores charge for what they are about
to read without passing it along. Work without an account, such as polling and the commands, belongs
to the service itself: its reading is not limited, and it waits in queues as one more caller.
"""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable
from contextvars import ContextVar
from dataclasses import dataclass

from graph.core.errors import Overloaded, QueryTooComplex
from graph.work.length import Length
from graph.work.pace import Pace

ROWS_TESTED_PER_POINT = 100  # by the store's own filter; SQLite takes some 0.2 µs for a row of an index
ROWS_READ_PER_POINT = 10  # decoded, and perhaps tested in Python; some 3 µs each
HEAVY_POINTS = 500  # an operation that spends more on reading counts as heavy
SERVICE = ""  # the caller of work without an account

Charge = Callable[[int], Awaitable[None]]
"""Charges the caller for so many points. Raises `RateLimited` if too few are left."""


@dataclass(frozen=True, slots=True)
class WorkLimits:
    """How many operations may have heavy work in progress."""

    process: int = 32
    caller: int = 8

    @classmethod
    def of(cls, caller: int) -> "WorkLimits":
        """Limits of so many for each caller, and four times as many for all."""
        return cls(4 * caller, caller)


class Work:
    """What the operations of one process share: their limits, their pace, the count of heavy ones."""

    def __init__(self, limits: WorkLimits | None = None, pace: Pace | None = None) -> None:
        self.limits = limits or WorkLimits()
        self.pace = pace or Pace()
        self._heavy: Counter[str] = Counter()  # operations, by caller

    @property
    def heavy_operations(self) -> int:
        """Operations that have heavy work in progress."""
        return self._heavy.total()

    def enter(self, caller: str) -> None:
        """Count an operation with heavy work.

        Raises:
            Overloaded: This caller, or all together, have too many.
        """
        if self._heavy[caller] >= self.limits.caller or self.heavy_operations >= self.limits.process:
            raise Overloaded
        self._heavy[caller] += 1

    def leave(self, caller: str) -> None:
        """Count one operation with heavy work less."""
        self._heavy[caller] -= 1
        if not self._heavy[caller]:
            del self._heavy[caller]


@dataclass(eq=False, slots=True)
class Account:
    """One operation's account."""

    work: Work
    caller: str  # the name that points are charged to and queues rotate by
    most: int  # points that the operation may spend on reading
    charge: Charge
    price: int = 0  # points that were charged before it began
    spent: int = 0  # points
    owed: float = 0.0  # part of a point that is not charged yet
    is_heavy: bool = False

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
            self.begin_heavy_work()
        await self.charge(whole)

    def begin_heavy_work(self) -> None:
        """Count the operation among those with heavy work, once."""
        if not self.is_heavy:
            self.work.enter(self.caller)
            self.is_heavy = True

    def close(self) -> None:
        """End the operation."""
        if self.is_heavy:
            self.work.leave(self.caller)
            self.is_heavy = False


_current: ContextVar[Account | None] = ContextVar("account", default=None)


class charged_to:  # noqa: N801 — it stands behind `with`
    """Charge the work inside to an account, and close the account at the end."""

    __slots__ = ("_account", "_token")

    def __init__(self, account: Account) -> None:
        self._account = account

    def __enter__(self) -> Account:
        self._token = _current.set(self._account)
        return self._account

    def __exit__(self, *raised: object) -> None:
        _current.reset(self._token)
        self._account.close()


def current_caller() -> str:
    """The caller of the operation in progress."""
    account = _current.get()
    return account.caller if account else SERVICE


def is_heavy() -> bool:
    """Whether the operation in progress does heavy work."""
    account = _current.get()
    return account is not None and account.is_heavy


def begin_heavy_work() -> None:
    """Count the operation in progress among those with heavy work.

    Raises:
        Overloaded: There are too many.
    """
    if account := _current.get():
        account.begin_heavy_work()


async def charge_rows(*, tested: int = 0, read: int = 0) -> None:
    """Charge the operation in progress for the most rows that its next step may test or read.

    Raises:
        QueryTooComplex: The operation may not read so many.
        RateLimited: Its caller has too few points left.
        Overloaded: Too many operations have heavy work in progress.
    """
    if account := _current.get():
        await account.spend(tested / ROWS_TESTED_PER_POINT + read / ROWS_READ_PER_POINT)


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
