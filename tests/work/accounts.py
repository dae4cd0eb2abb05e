"""Accounts and slots for tests: `with an_account() as account`."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from graph.work.account import Account, Work, slot_of
from graph.work.slots import Slots


async def free(points: int) -> None:
    """Charge nothing."""


def an_account(work: Work | None = None, caller: str = "a", most: int = 1_000_000) -> Account:
    """An account of one operation."""
    return Account(work or Work(), caller, most, free)


async def settled() -> None:
    """Return once every task has gone as far as it can."""
    for _ in range(20):
        await asyncio.sleep(0)


@asynccontextmanager
async def one_of(slots: Slots) -> AsyncIterator[None]:
    """Hold a slot of the operation in progress."""
    caller = await slot_of(slots)
    try:
        yield
    finally:
        slots.release(caller)
