"""Whoever iterates over a table's changes is told of each of them, whoever makes it."""

import asyncio
import gc
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from contextlib import aclosing
from pathlib import Path

import pytest

from graph.store.contract import Delete, Put, Update
from graph.store.location import StoreLocation
from tests.processes import TIMEOUT_S
from tests.store.engines import empty_store
from tests.store.one_entity import OneEntity
from tests.store.samples import SAMPLE, key, sample

Rings = AsyncGenerator[None, None]


@pytest.fixture
async def url(engine: str, tmp_path: Path) -> AsyncIterator[str]:
    """The store URL of tables with one item."""
    async with empty_store(engine, tmp_path, [SAMPLE], stream=True) as url:
        async with StoreLocation.of(url).open([SAMPLE], timeout_s=TIMEOUT_S) as database:
            await database.put(Put(SAMPLE, sample(n=1)))
        yield url


@pytest.fixture
async def table(url: str) -> AsyncIterator[OneEntity]:
    async with StoreLocation.of(url).open([SAMPLE], timeout_s=TIMEOUT_S) as database:
        yield OneEntity(database, SAMPLE)


@pytest.fixture
async def rings(table: OneEntity) -> AsyncIterator[Rings]:
    """The table's changes, after the first ring, which tells that the iteration has begun."""
    async with aclosing(table.changes()) as rings:
        await next_of(rings)
        yield rings


async def next_of(rings: Rings) -> None:
    async with asyncio.timeout(TIMEOUT_S):
        await anext(rings)


async def until(rings: Rings, holds: Callable[[], Awaitable[bool]]) -> None:
    """Look on each ring, as all do who want to be told of changes, and only then."""
    async with asyncio.timeout(TIMEOUT_S):
        while not await holds():
            await anext(rings)


CHANGES: dict[str, Callable[[OneEntity], Awaitable[object]]] = {
    "put": lambda table: table.put(sample("q")),
    "put, if absent": lambda table: table.put(sample("q"), if_absent=True),
    "put over another": lambda table: table.put(sample(n=2)),
    "put many": lambda table: table.put_many([sample("q"), sample("r")]),
    "update": lambda table: table.update(Update(key("p", "s"), add={"n": 1})),
    "delete": lambda table: table.delete(Delete(key("p", "s"))),
    "transact": lambda table: table.transact([Put(SAMPLE, sample("q")), Delete(key("p", "s"))]),
}


@pytest.mark.parametrize("change", CHANGES)
async def test_each_kind_of_change_rings(table: OneEntity, rings: Rings, change: str) -> None:
    await CHANGES[change](table)

    await next_of(rings)


async def test_a_change_by_another_that_has_the_table_open_rings(url: str, table: OneEntity, rings: Rings) -> None:
    async with StoreLocation.of(url).open([SAMPLE], timeout_s=TIMEOUT_S) as other:
        await other.put(Put(SAMPLE, sample("q")))

    async def seen() -> bool:
        return await table.get(("q", "s")) is not None

    await next_of(rings)
    await until(rings, seen)


async def test_reading_at_every_ring_misses_no_last_change(table: OneEntity, rings: Rings) -> None:
    async def write() -> None:
        for n in range(100):
            await table.put(sample(n=n))

    async def seen() -> bool:
        return await table.get(("p", "s")) == sample(n=99)

    writing = asyncio.create_task(write())
    await until(rings, seen)
    await writing


async def test_each_iteration_of_changes_rings(table: OneEntity, rings: Rings) -> None:
    async with aclosing(table.changes()) as others:
        await next_of(others)
        await table.put(sample("q"))

        await asyncio.gather(next_of(rings), next_of(others))


async def test_a_cancelled_or_closed_iteration_leaves_no_tasks(table: OneEntity) -> None:
    before, rung = asyncio.all_tasks(), asyncio.Event()

    async def iterate() -> None:
        async for _ in table.changes():
            rung.set()

    iterating = asyncio.create_task(iterate())
    async with asyncio.timeout(TIMEOUT_S):
        await rung.wait()
    iterating.cancel()
    with pytest.raises(asyncio.CancelledError):
        await iterating
    async with aclosing(table.changes()) as rings:
        await next_of(rings)
    async with aclosing(table.changes()):
        pass

    assert asyncio.all_tasks() == before
    gc.collect()  # an open session would complain, and any warning is an error
