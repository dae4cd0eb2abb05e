"""The present time, as a function that is passed in, so that a test can set it."""

import time
from collections.abc import Callable

Clock = Callable[[], int]
"""Returns the present time in epoch milliseconds, UTC."""


def now_ms() -> int:
    """The system's time in epoch milliseconds, UTC."""
    return time.time_ns() // 1_000_000
