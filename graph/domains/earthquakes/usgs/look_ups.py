"""The pace of look-ups at USGS: a few at once, and no more a minute than USGS's own client does."""

import asyncio
import time
from collections.abc import Callable

from graph.work.tasks import Sleep

LOOK_UPS_AT_ONCE = 4
LOOK_UPS_A_MINUTE = 100  # what libcomcat, USGS's own client, allows itself


class LookUpPace:
    """Spreads look-ups over time, after a first few at once."""

    def __init__(
        self,
        a_minute: float = LOOK_UPS_A_MINUTE,
        *,
        at_once: int = 20,
        sleep: Sleep = asyncio.sleep,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._every_s = 60 / a_minute
        self._ahead_s = at_once * self._every_s
        self._sleep = sleep
        self._clock = clock  # seconds
        self._due = clock() - self._ahead_s

    async def take_turn(self) -> None:
        """Wait until the next look-up may begin."""
        now = self._clock()
        self._due = max(self._due + self._every_s, now - self._ahead_s)
        if self._due > now:
            await self._sleep(self._due - now)
