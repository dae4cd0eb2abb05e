"""The reads of one long answer, each limited and charged as an operation of its own.

A read before the answer's head is limited and charged like a query: it can still be refused. A later read waits until
its caller has points again and the service has room.
"""

import asyncio
from collections.abc import Callable, Coroutine, Mapping
from contextlib import ExitStack
from functools import partial
from itertools import count
from sys import maxsize
from typing import Any, TypeVar

from graph.access.rate import Rates
from graph.api.context import Context
from graph.core.errors import Overloaded
from graph.transport.admission import ExecutionLimits
from graph.transport.deadline import run_with_timeout
from graph.transport.streams import Streams
from graph.work.account import Account, Work, charged_to
from graph.work.length import Length
from graph.work.slots import OperationSlots

PAUSE_S = 0.5  # before a later page is tried again while the service has no room
MOST_TRIES = 60

T = TypeVar("T")

AtEnd = Callable[[str], None]
"""Called at the end of an answer with the code of its error, `OK` or `ABANDONED`."""


class Reads:
    """Runs the reads of one answer, one after the other. Each is limited and charged as an operation of its own."""

    def __init__(
        self,
        context: Context,
        spender: str,
        state: Mapping[str, Any],
        limits: ExecutionLimits,
        *,
        pause_s: float = PAUSE_S,
    ) -> None:
        """Prepare to read.

        Args:
            spender: the name that points are charged to.
            state: of the application.
            limits: on each read, and on the points of all reads before the answer is sent.
            pause_s: before a later read is tried again.
        """
        self.context = context
        self.facts: dict[str, Any] = {}  # for the request log; the route's function adds them
        self.at_end: AtEnd = _nothing  # told the outcome before it is logged; may add facts
        self.spent = 0  # points
        self.is_sending = False  # whether the head is sent, so that no refusal is possible
        self.spender = spender
        self._limits = limits
        self._pause_s = pause_s
        self._rates: Rates = state["rates"]
        self._work: Work = state["work"]
        self._slots: OperationSlots = state["operations"][Length.LONG]
        self._downloads: Streams = state["downloads"]
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
            self._counted.enter_context(self._downloads.counted(self.spender))
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

    def close(self) -> None:
        """End the answer."""
        self._counted.close()

    async def run(self, read: Callable[[], Coroutine[Any, Any, T]]) -> T:
        """Read, and write what was read, in a slot and within the time of a query. Nothing may be sent inside.

        Raises:
            GraphError: As a query. Once the answer is being sent or `begin_download` was called, neither for lack of
                points nor at once for lack of room.
        """
        seconds = None if self._never_refused else self._limits.query_seconds
        for tried in count(1):
            account = self._account()
            try:
                with charged_to(account):
                    if self._never_refused:
                        account.begin_heavy_work()  # it would begin on the loop, and again on a thread
                    await self._slots.begin(account)
                    result = await run_with_timeout(seconds, read())
                if self._waits:  # the slot and the time of a query are over, since this may take minutes
                    await self._rates.spend_in_time(self.spender, account.spent)
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
        return self.is_sending or self._never_refused

    def _account(self) -> Account:
        if self._waits:
            return Account(self._work, self.spender, maxsize, _paid_later, self.spent, owed=self._owed)
        most = max(self._limits.cost - self.spent, 0)
        charge = partial(self._rates.spend, self.spender)
        return Account(self._work, self.spender, most, charge, self.spent, owed=self._owed)


async def _paid_later(points: int) -> None:
    """Charge nothing yet."""


def _nothing(code: str) -> None:
    """Do nothing."""
