"""Time that a test controls: a clock and sleepers that wake when it is moved, and pauses that take no time."""

import asyncio
from collections.abc import Callable

from tests.processes import TIMEOUT_S

NOW = 1_691_118_537_000  # epoch milliseconds: 2023-08-04T03:08:57Z


class Pauses(list[float]):
    """Seconds of pauses, none of which takes any time."""

    async def sleep(self, seconds: float) -> None:
        self.append(seconds)


class HeldTime:
    """A clock that only a test moves, and its sleepers."""

    def __init__(self) -> None:
        self.now = NOW
        self._sleepers: list[tuple[int, asyncio.Future[None]]] = []
        self._changed = asyncio.Condition()

    def __call__(self) -> int:
        return self.now

    @property
    def passed_s(self) -> float:
        """Seconds since the beginning."""
        return (self.now - NOW) / 1000

    async def sleep(self, seconds: float) -> None:
        """Wait until the clock was moved by this time."""
        woken: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        async with self._changed:
            self._sleepers.append((self.now + round(seconds * 1000), woken))
            self._changed.notify_all()
        await woken

    async def all_asleep(self, sleepers: int | Callable[[], int] = 1) -> None:
        """Wait until this number of sleepers sleep. Each has then done its work between two pauses.

        Args:
            sleepers: a function if their number depends on what they do. It is called when one falls asleep.
        """
        number = sleepers if callable(sleepers) else lambda: sleepers
        async with asyncio.timeout(TIMEOUT_S), self._changed:
            await self._changed.wait_for(lambda: len(self._asleep()) == number())

    def move(self, seconds: float) -> None:
        """Move the clock, and wake the sleepers that are due."""
        self.now += round(seconds * 1000)
        for due, woken in self._asleep():
            if due <= self.now:
                woken.set_result(None)

    def _asleep(self) -> list[tuple[int, asyncio.Future[None]]]:
        """The sleepers that neither woke nor were cancelled."""
        return [(due, woken) for due, woken in self._sleepers if not woken.done()]
