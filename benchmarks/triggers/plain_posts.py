"""Posts the same webhooks without any service: no store, no signature, no check of the address.

    python -m benchmarks.triggers.plain_posts aiohttp|httpx URL NUMBER

It keeps as many requests in progress as a deliverer does for an endpoint, and prints the seconds and the seconds of a
processor that they took.
"""

import asyncio
import sys
import time
from collections.abc import Awaitable, Callable

import aiohttp
import httpx
import orjson

from benchmarks.triggers.stores import TYPE, payload
from graph.domains.triggers.delivering.worker import AT_ONCE

Post = Callable[[str, bytes], Awaitable[object]]


async def posted(post: Post, url: str, number: int) -> None:
    """Post so many bodies, some at a time."""
    numbers = iter(range(number))

    async def post_some() -> None:
        for each in numbers:
            await post(url, body(each))

    await asyncio.gather(*[post_some() for _ in range(AT_ONCE)])


def body(number: int) -> bytes:
    """A body like the one that the deliverer sends of an event."""
    said = {"type": TYPE, "timestamp": "2026-11-23T10:00:00.000000Z", "data": payload(number), "sequence": number}
    return orjson.dumps(said)


async def main() -> None:
    """Post, and print."""
    library, url, number = sys.argv[1:]
    began, cpu = time.perf_counter(), time.process_time()
    headers = {"Content-Type": "application/json"}
    if library == "aiohttp":
        async with aiohttp.ClientSession(headers=headers) as session:

            async def post(url: str, body: bytes) -> None:
                async with session.post(url, data=body) as answer:
                    await answer.read()

            await posted(post, url, int(number))
    else:
        async with httpx.AsyncClient(headers=headers, trust_env=False) as client:
            await posted(lambda url, body: client.post(url, content=body), url, int(number))
    print(time.perf_counter() - began, time.process_time() - cpu)


if __name__ == "__main__":
    asyncio.run(main())
