"""The subscription of events as a test likes it: it answers before the real service, which has that of sightings.

So a connection can break, fall silent, be refused or be told of losses at the moment that a test chooses. What it says
is sent as it is, to all who listen.
"""

import asyncio
import json
from collections import deque
from collections.abc import Coroutine
from dataclasses import dataclass, field
from threading import Condition
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from tests.acceptance.pages.dashboard.reports import TESTER, People
from tests.processes import TIMEOUT_S
from tests.subscribers import INGEST

_ENDS = ""
_BREAKS = None


@dataclass
class Subscription:
    """An application whose graph has a subscription that does what it is told."""

    app: ASGIApp
    url: str = ""  # where it is served
    asked: list[dict[str, Any]] = field(default_factory=list)  # variables of each connection
    headers: list[dict[str, str]] = field(default_factory=list)
    refusals: deque[tuple[int, dict[str, Any]]] = field(default_factory=deque)  # status and error, one a connection
    _listeners: list[tuple[asyncio.AbstractEventLoop, "asyncio.Queue[str | None]"]] = field(default_factory=list)
    _passed_on: list[tuple[asyncio.AbstractEventLoop, asyncio.Event]] = field(default_factory=list)
    _closed: bool = False
    _changed: Condition = field(default_factory=Condition)  # the number of listeners

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or stream."""
        if scope["type"] != "http" or (b"accept", b"text/event-stream") not in scope["headers"]:
            await self.app(scope, receive, send)
            return
        request = Request(scope, receive)
        body = await request.json()
        if "LiveSightings" in body["query"] and not self._closed:
            await self._pass_on(await request.body(), scope, receive, send)
            return
        self.asked.append(body["variables"])
        self.headers.append(dict(request.headers))
        if self._closed or self.refusals:
            status, error = (503, {"message": "It ends."}) if self._closed else self.refusals.popleft()
            await JSONResponse({"errors": [error]}, status)(scope, receive, send)
            return
        listener = asyncio.get_running_loop(), asyncio.Queue[str | None]()
        with self._changed:
            self._listeners.append(listener)
            self._changed.notify_all()
        try:
            await _stream(listener[1], receive, send)
        finally:
            with self._changed:
                self._listeners.remove(listener)
                self._changed.notify_all()

    async def _pass_on(self, body: bytes, scope: Scope, receive: Receive, send: Send) -> None:
        """Leave it to the real service, until this closes."""
        closing = asyncio.get_running_loop(), asyncio.Event()
        self._passed_on.append(closing)
        try:
            await self.app(scope, _again(body, receive, closing[1]), send)
        finally:
            self._passed_on.remove(closing)

    def has_listeners(self, number: int) -> None:
        """Wait until so many connections are open. Browser and server go on meanwhile."""
        with self._changed:
            assert self._changed.wait_for(lambda: len(self._listeners) == number, TIMEOUT_S)

    def send(self, text: str | None) -> None:
        """Send this to all who listen."""
        for loop, queue in self._listeners:
            loop.call_soon_threadsafe(queue.put_nowait, text)

    def notice(
        self, event: dict[str, Any] | None, *, kind: str = "CREATED", cursor: str = "cursor", lost: int = 0
    ) -> None:
        """Tell of a version of an event, or of a loss."""
        about = {"node": event, "kind": event and kind, "matches": event and kind not in ("DELETED", "MERGED")}
        notice = {**about, "cursor": cursor, "dropped": lost}
        data = {"data": {"events": notice}}
        self.send(f"event: next\ndata: {json.dumps(data, ensure_ascii=False)}\n\n")

    def arrive(self, event: dict[str, Any]) -> None:
        """Store an event, and tell of it."""
        store(self.url, event)
        self.notice(event)

    def complete(self) -> None:
        """End the connections as the protocol has it."""
        self.send("event: complete\ndata:\n\n")
        self.send(_ENDS)

    def close(self) -> None:
        """Let go of who listens, since the server waits for that at its end."""
        self._closed = True
        self.send(_ENDS)
        for loop, closing in self._passed_on:
            loop.call_soon_threadsafe(closing.set)

    def break_off(self) -> None:
        """End the connections as a network has it."""
        self.send(_BREAKS)


def _again(body: bytes, receive: Receive, closing: asyncio.Event) -> Receive:
    """A request's messages, where its body has been read. Its client is gone once this closes."""
    messages: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def received() -> Message:
        if messages:
            return messages.pop()
        await _first_of(_gone(receive), closing.wait())
        return {"type": "http.disconnect"}

    return received


async def _stream(queue: "asyncio.Queue[str | None]", receive: Receive, send: Send) -> None:
    headers = [(b"content-type", b"text/event-stream; charset=utf-8")]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send(_body(":\n\n"))
    await _first_of(_say(queue, send), _gone(receive))


async def _say(queue: "asyncio.Queue[str | None]", send: Send) -> None:
    """Pass on what is sent. A break has no end of the answer, which makes the server close the connection."""
    while (text := await queue.get()) is not _BREAKS:
        await send(_body(text, more=text != _ENDS))
        if text == _ENDS:
            return


async def _first_of(*waits: Coroutine[Any, Any, object]) -> None:
    """Return when one of these has, and cancel the others."""
    tasks = [asyncio.ensure_future(each) for each in waits]
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in tasks:
            task.cancel()


def _body(text: str, *, more: bool = True) -> Message:
    return {"type": "http.response.body", "body": text.encode(), "more_body": more}


async def _gone(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


def an_event(event_id: str, **others: Any) -> dict[str, Any]:
    """An event as the page asks for it: newer than those of the week."""
    return {
        "eventId": event_id,
        "eventTsMs": 1691118000000,  # 2023-08-04 03:00:00
        "mag": 6.3,
        "place": "Brig, Switzerland",
        "lat": 46.3,
        "lon": 8.0,
        "depth": 8.0,
        "type": "earthquake",
        "url": None,
        **others,
    }


def store(url: str, *events: dict[str, Any]) -> None:
    """Store events, of which the subscription does not tell by itself."""
    assert People(url).ask(TESTER, INGEST, events=events) == {"ingestEvents": {"upserted": len(events)}}
