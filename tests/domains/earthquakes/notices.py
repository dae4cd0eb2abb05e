"""Subscriptions to stored events: a broadcast that must end without any, and the next notices of one."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from graph.domains.earthquakes.live import EventBroadcast
from graph.domains.earthquakes.revisions.model import EventRevision
from graph.feed.broadcast import Notice
from graph.store.contract import Database
from tests.processes import TIMEOUT_S


@asynccontextmanager
async def broadcasting(database: Database) -> AsyncIterator[EventBroadcast]:
    """A broadcast of what is stored, whose subscriptions all end before it does."""
    broadcast = EventBroadcast(database)
    yield broadcast
    await broadcast.close()
    assert broadcast.subscriptions == 0


async def some(notices: AsyncIterator[Notice[EventRevision]], number: int) -> list[Notice[EventRevision]]:
    """The next of them, so many."""
    async with asyncio.timeout(TIMEOUT_S):
        return [await anext(notices) for _ in range(number)]
