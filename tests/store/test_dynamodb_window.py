"""Doing things at the same time with the results in order."""

import asyncio
from contextlib import aclosing
from functools import partial

import pytest

from graph.store.dynamodb.window import Work, in_order


async def test_results_come_in_order_whichever_ends_first() -> None:
    done = [asyncio.Event() for _ in range(4)]

    async def work(n: int) -> int:
        if n < 3:
            await done[n + 1].wait()
        done[n].set()
        return n

    assert [n async for n in in_order([partial(work, n) for n in range(4)], 4)] == [0, 1, 2, 3]
    nothing: list[Work[int]] = []
    assert [n async for n in in_order(nothing, 3)] == []


async def test_leaving_early_or_a_failure_cancels_the_calls_in_progress_and_begins_no_more() -> None:
    begun: list[int] = []
    ended: list[int] = []

    async def work(n: int, fails: int | None) -> int:
        begun.append(n)
        try:
            if n == fails:
                raise LookupError(n)
            if n:
                await asyncio.Event().wait()
            return n
        finally:
            ended.append(n)

    async with aclosing(in_order([partial(work, n, None) for n in range(50)], 3)) as results:
        assert await anext(results) == 0
    assert begun == ended == [0, 1, 2]

    begun.clear()
    ended.clear()
    results = in_order([partial(work, n, 1) for n in range(50)], 3)
    assert await anext(results) == 0
    with pytest.raises(LookupError):
        await anext(results)
    assert sorted(begun) == sorted(ended)
    assert set(begun) >= {0, 1, 2}
