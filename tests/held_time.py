"""Time that passes when a test says so: a clock, and sleepers that wake when it is moved."""

import asyncio

from tests.processes import TIMEOUT_S

NOW = 1_691_118_537_000  # epoch milliseconds: 2023-08-04T03:08:57Z


class HeldTime:
    """A clock, and sleepers that wake when a test moves it."""

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
        """Wait until the clock was moved so far."""
        woken: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        async with self._changed:
            self._sleepers.append((self.now + round(seconds * 1000), woken))
            self._changed.notify_all()
        await woken

    async def all_asleep(self, sleepers: int = 1) -> None:
        """Wait until so many sleep: each has done what it does between two pauses."""
        async with asyncio.timeout(TIMEOUT_S), self._changed:
            await self._changed.wait_for(lambda: len(self._asleep()) == sleepers)

    def move(self, seconds: float) -> None:
        """Let time pass."""
        self.now += round(seconds * 1000)
        for due, woken in self._asleep():
            if due <= self.now:
                woken.set_result(None)

    def _asleep(self) -> list[tuple[int, asyncio.Future[None]]]:
        """Those that neither woke nor were cancelled."""
        return [(due, woken) for due, woken in self._sleepers if not woken.done()]
