"""Entries that are written together: what is wrong with one fails its caller alone, unless the store is unavailable."""

import asyncio
from collections.abc import Sequence

from graph.core.errors import DatabaseUnavailable
from graph.work.together import WrittenTogether


async def test_a_bad_entry_fails_alone_and_an_unavailable_store_is_not_asked_again_for_each() -> None:
    calls: list[list[str]] = []

    async def write(some: Sequence[str]) -> Sequence[str]:
        calls.append(list(some))
        await asyncio.sleep(0)  # meanwhile, the other entries come
        if "bad" in some:
            raise ValueError
        if "down" in some:
            raise DatabaseUnavailable("it is down")
        return some

    async def failures(*entries: str) -> list[type]:
        together = WrittenTogether(write, most=9)
        outcomes = await asyncio.gather(*map(together.write, entries), return_exceptions=True)
        return [type(each) for each in outcomes]

    nothing = type(None)
    assert await failures("a", "bad", "b") == [nothing, ValueError, nothing]
    assert await failures("c", "down", "d") == [nothing, DatabaseUnavailable, DatabaseUnavailable]
    assert calls == [["a"], ["bad", "b"], ["bad"], ["b"], ["c"], ["down", "d"]]
