"""The service's application in the test's event loop, without a server or client, which would keep memory."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, MutableMapping
from contextlib import asynccontextmanager
from typing import Any

import orjson
from pydantic import SecretStr

from graph.app import create_app
from tests.bearers import SECRET, bearer
from tests.settings import Settings

Ask = Callable[[str, Mapping[str, Any]], Awaitable[bytes]]
"""(query, variables) → the body of the answer: JSON, or events of a subscription."""


@asynccontextmanager
async def application(settings: Settings) -> AsyncIterator[Ask]:
    """Run the application from its start to the end of its shutdown. Requests have a token with every scope."""
    app = create_app(settings.model_copy(update={"jwt_secret": SecretStr(SECRET)}))
    state: dict[str, Any] = {}
    events: asyncio.Queue[dict[str, str]] = asyncio.Queue()
    begun = asyncio.Event()

    async def started(message: Mapping[str, Any]) -> None:
        begun.set()

    async def run() -> None:
        await app({"type": "lifespan", "state": state}, events.get, started)

    lifespan = asyncio.create_task(run())
    await events.put({"type": "lifespan.startup"})
    await begun.wait()
    headers = {"content-type": "application/json", "accept": "application/json, text/event-stream", **bearer()}
    raw = [(name.lower().encode(), value.encode()) for name, value in headers.items()]

    async def ask(query: str, variables: Mapping[str, Any]) -> bytes:
        body = orjson.dumps({"query": query, "variables": variables})
        requests = [{"type": "http.request", "body": body}]
        answer = b""

        async def receive() -> dict[str, Any]:
            return requests.pop() if requests else await asyncio.get_running_loop().create_future()

        async def send(message: MutableMapping[str, Any]) -> None:
            nonlocal answer
            answer += message.get("body", b"")

        scope = {"type": "http", "method": "POST", "path": "/graphql", "query_string": b"", "headers": raw}
        await app({**scope, "client": ("127.0.0.1", 1), "state": dict(state)}, receive, send)
        return answer

    try:
        yield ask
    finally:
        await events.put({"type": "lifespan.shutdown"})
        await lifespan
