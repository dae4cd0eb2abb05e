"""Notices changes of a SQLite file by polling its version, since SQLite sends no notifications."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable

POLL_S = 0.1  # between two polls of 3 µs each; so it yields at most ten times a second


async def changes(
    revision: Callable[[], Awaitable[object | None]], sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
) -> AsyncGenerator[None, None]:
    """Yields at once, and whenever the revision has changed or is unknown."""
    seen: object | None = None
    while True:
        found = await revision()
        if found is None or found != seen:
            seen = found  # before the yield, so that a change meanwhile is noticed too
            yield
        await sleep(POLL_S)
