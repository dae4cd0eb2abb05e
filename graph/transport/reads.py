"""The reads of one long answer, each limited and charged as an operation of its own.

A read before the answer's head is limited and charged like a query: it can still be refused. A later read waits until
its caller has points again and the service has room.
"""

import asyncio
from collections.abc import Callable, Coroutine
from contextlib import ExitStack
from itertools import count
from sys import maxsize
from typing import Any, Self, TypeVar

from graph.core.errors import Overloaded
from graph.transport.exchange import Exchange
from graph.work.account import Account
from graph.work.length import Length

PAUSE_S = 0.5  # before a later page is tried again while the service has no room
MOST_TRIES = 60

T = TypeVar("T")


class Reads:
    """Runs the reads of one answer, one after the other. Each is limited and charged as an operation of its own."""

    def __init__(self, exchange: Exchange, *, pause_s: float = PAUSE_S) -> None:
        """Prepare to read.

        Args:
            exchange: the admitted request. The limits of an operation are those of each read, and of the points of all
                reads before the answer is sent.
            pause_s: before a later read is tried again.
        """
        self.context = exchange.context
        self.facts = exchange.facts  # for the request log; the route's function adds them
        self.spent = 0  # points
        self.exchange = exchange
        self._pause_s = pause_s
        self._counted = ExitStack()
        self._is_long = False
        self._never_refused = False
        self._owed = 0.0  # part of a point

    def count(self) -> None:
        """Count the answer against its caller's limit of downloads, once.

        Raises:
            TooManySubscriptions: The caller has reached the limit.
        """
        if not self._is_long:
            self._counted.enter_context(self.exchange.process.downloads.counted(self.exchange.spender, "downloads"))
            self._is_long = True

    def begin_download(self) -> None:
        """Count the answer, and refuse none of its reads: they wait for points and for room, and have no time limit.

        An answer to any filter needs this, since a page of rare rows may take longer than a query. Reads that take so
        long are counted as heavy work, which leaves room for others.

        Raises:
            TooManySubscriptions: The caller has reached the limit of downloads.
        """
        self.count()
        self._never_refused = True

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *raised: object) -> None:
        self._counted.close()
        self.exchange.answer.points = 1 + self.spent

    async def run(self, read: Callable[[], Coroutine[Any, Any, T]]) -> T:
        """Read, and write what was read, in a slot and within the time of a query. Nothing may be sent inside.

        Raises:
            GraphError: As a query. Once the answer is being sent or `begin_download` was called, neither for lack of
                points nor at once for lack of room.
        """
        process = self.exchange.process
        seconds = None if self._never_refused else process.limits.query_seconds
        for tried in count(1):
            account = self._account()
            try:
                with account:
                    if self._never_refused:
                        account.begin_heavy_work()  # it would begin on the loop, and again on a thread
                    if granted := account.begin(process.work.operations[Length.LONG]):
                        await granted
                    with process.deadlines.within(seconds):
                        result = await read()
                if self._waits:  # the slot and the time of a query are over, since this may take minutes
                    await process.rates.spend_in_time(self.exchange.spender, account.spent)
                return result
            except Overloaded:
                if not self._waits or (tried == MOST_TRIES and not self._never_refused):
                    raise
                await asyncio.sleep(self._pause_s)
            finally:
                self.spent += account.spent
                self._owed = account.owed
        raise AssertionError("the tries do not end")

    @property
    def _waits(self) -> bool:
        """Whether a read waits for points and for room."""
        return self.exchange.is_sending or self._never_refused

    def _account(self) -> Account:
        if self._waits:
            return self.exchange.account(maxsize, price=self.spent, owed=self._owed, charge=_pay_later)
        most = max(self.exchange.process.limits.cost - self.spent, 0)
        return self.exchange.account(most, price=self.spent, owed=self._owed)


def _pay_later(points: int) -> None:
    """Charge nothing yet."""
