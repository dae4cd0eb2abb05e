"""Notifications of tables' changes, by their streams. Without a readable stream, they come once a second.

A false alarm costs one empty read, but a change without a notification is never read. So no failure ends the
notifications: it only makes them slower.
"""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import AsyncExitStack, aclosing

from graph.store.dynamodb.client import Connected, Streams, open_streams
from graph.store.dynamodb.errors import NETWORK, OUTAGE, OVERLOAD
from graph.store.dynamodb.retry_policy import RetryPolicy
from graph.store.dynamodb.shards import Shards, stream_of, warn_once

ROUND_S = 0.25  # between two reads of a shard; each read is charged
SWEEP_S = 1.0  # between two notifications while the stream cannot be read
MOST_SWEEPS = 10  # between two attempts to read the stream; one after the first failure
GAP_S = 0.1  # between two notifications of several tables
PASSING = frozenset({OVERLOAD, OUTAGE, NETWORK})
"""After these errors the reading goes on at its place; after any other it begins again."""

Notifications = AsyncGenerator[None, None]


async def changes(tables: Sequence[str], connection: Connected, retry_policy: RetryPolicy) -> Notifications:
    """Yields soon after any of the tables may have changed."""
    async with AsyncExitStack() as stack:
        opening, opened = asyncio.Lock(), list[Streams]()

        async def streams() -> Streams:
            """The client for the streams of all tables, opened when the first of them is read."""
            async with opening:
                if not opened:
                    opened.append(await stack.enter_async_context(open_streams(connection, retry_policy)))
                return opened[0]

        each = [_changes_of(table, connection, streams, retry_policy) for table in tables]
        for notifications in each:
            await stack.enter_async_context(aclosing(notifications))
        notifications = each[0] if len(each) == 1 else _any_of(each, retry_policy)
        async with aclosing(notifications):
            async for _ in notifications:
                yield


async def _any_of(each: Sequence[Notifications], retry_policy: RetryPolicy) -> Notifications:
    """Yields after any of them has yielded, once for all that yield meanwhile."""
    waiting = {asyncio.create_task(_next(notifications)): notifications for notifications in each}
    try:
        while True:
            done, _ = await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
            for task in done:
                notifications = waiting.pop(task)
                await task
                waiting[asyncio.create_task(_next(notifications))] = notifications
            yield
            await retry_policy.sleep(GAP_S)
    finally:
        for task in waiting:
            task.cancel()
        await asyncio.gather(*waiting, return_exceptions=True)


async def _next(notifications: Notifications) -> None:
    await anext(notifications)


async def _changes_of(
    table: str, connection: Connected, streams: Callable[[], Awaitable[Streams]], retry_policy: RetryPolicy
) -> Notifications:
    """Yields after the first read, and after each read that found records, failed, or succeeded after a failure."""
    shards: Shards | None = None
    failures, warned = 0, set[str]()
    while True:
        try:
            client = await streams()
            shards = shards or Shards(client, await stream_of(table, connection))
            changed = await shards.read() or failures > 0
            failures = 0
        except Exception as error:
            failures += 1
            if warn_once("The service polls for changes once a second", table, error, warned) not in PASSING:
                shards = None
        if not failures:
            if changed:
                yield
            await retry_policy.sleep(ROUND_S)
        for _ in range(min(failures, MOST_SWEEPS)):
            yield
            await retry_policy.sleep(SWEEP_S)
