"""Being told of changes to a SQLite file, which tells nobody: its version is asked for again and again."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable

POLL_S = 0.1  # between two questions, of 3 µs each; so it rings ten times a second at most


async def changes(
    revision: Callable[[], Awaitable[object | None]], sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
) -> AsyncGenerator[None, None]:
    """Yields at once, and whenever the revision is another one or cannot be told."""
    seen: object | None = None
    while True:
        found = await revision()
        if found is None or found != seen:
            seen = found  # before the yield, so that what is changed meanwhile rings again
            yield
        await sleep(POLL_S)
