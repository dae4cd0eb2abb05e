"""Results as server-sent events: `next` for each, `complete` at the end, and comments as heart beats.

sse-starlette streams the same bytes. With it, a thousand subscribers take 53 MB of the server instead of 33 MB,
since each has five tasks and a scope around every `send`, and an event takes a fifth more CPU time. It also
replaces uvicorn's signal handler, which the drain needs.

    python -m benchmarks.subscribers

Source: https://github.com/enisdenjo/graphql-sse/blob/master/PROTOCOL.md, its mode of distinct
connections, and https://html.spec.whatwg.org/multipage/server-sent-events.html
"""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import orjson
from starlette.types import Receive, Send

from graph.transport.deadline import wait_for_disconnect
from graph.transport.errors import format_refusal
from graph.transport.request import EVENT_STREAM

HEART_BEAT_S = 12.0  # proxies close silent connections, after half a minute at the earliest

HEADERS = [
    (b"content-type", f"{EVENT_STREAM}; charset=utf-8".encode()),
    (b"vary", b"Accept"),
    (b"cache-control", b"no-store"),
    (b"x-accel-buffering", b"no"),  # nginx would wait until a buffer is full
]
COMPLETE = b"event: complete\ndata:\n\n"
HEART_BEAT = b":\n\n"


async def as_json(results: AsyncIterator[dict[str, Any]], request_id: str) -> AsyncIterator[bytes]:
    """Results as JSON. A failure ends them, and is the last."""
    try:
        async for result in results:
            yield orjson.dumps(result)
    except Exception as error:
        yield orjson.dumps({"errors": format_refusal(error, request_id)})


def next_event(result: bytes) -> bytes:
    """A result, as JSON in one line."""
    return b"event: next\ndata: " + result + b"\n\n"


async def send_events(
    results: AsyncIterator[bytes], receive: Receive, send: Send, *, lasts_s: float | None, heart_beat_s: float
) -> None:
    """Send results until they end, the client disconnects or the time is over.

    Args:
        results: JSON of one line each. They are produced no faster than the client reads.
        receive: the request's channel, after its body was read.
        send: waits while the client does not read.
        lasts_s: the longest that the stream may last; None for no limit.
        heart_beat_s: the longest silence.
    """
    await send({"type": "http.response.start", "status": 200, "headers": HEADERS})
    # The first bytes tell a client that it is connected.
    await send({"type": "http.response.body", "body": HEART_BEAT, "more_body": True})
    loop = asyncio.get_running_loop()
    end = None if lasts_s is None else loop.time() + lasts_s
    gone = asyncio.ensure_future(wait_for_disconnect(receive))
    coming = asyncio.ensure_future(anext(results, None))
    try:
        while end is None or loop.time() < end:
            left_s = heart_beat_s if end is None else end - loop.time()
            silent_s = min(heart_beat_s, left_s)
            await asyncio.wait((coming, gone), timeout=silent_s, return_when=asyncio.FIRST_COMPLETED)
            if gone.done():
                return
            if coming.done():
                if (result := coming.result()) is None:
                    break
                await send({"type": "http.response.body", "body": next_event(result), "more_body": True})
                coming = asyncio.ensure_future(anext(results, None))
            elif left_s < heart_beat_s:
                break
            else:
                await send({"type": "http.response.body", "body": HEART_BEAT, "more_body": True})
    finally:
        for task in (coming, gone):
            task.cancel()
        await asyncio.wait((coming, gone))
    await send({"type": "http.response.body", "body": COMPLETE})
