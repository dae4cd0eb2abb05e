"""Great numbers of messages of graphql-transport-ws, none of which waits: other clients are served in between."""

import asyncio
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import orjson
import pytest
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from graph.app import create_app
from graph.transport.websocket import MESSAGES_PER_ITERATION
from tests.domains.earthquakes.usgs.usgs_server import UsgsServer
from tests.service import settings
from tests.settings import Settings
from tests.subscribers import Socket, in_thread, initialised, live_service

NUMBER = 5000
GO = "go"  # the payload of the ping behind which the server below has many messages at once


@dataclass
class Full:
    """The service behind a server that has very many messages to hand over, none of which it waits for."""

    app: ASGIApp
    message: dict[str, Any]
    handed: int = 0
    most_a_turn: int = 0
    looking: list[asyncio.Task[None]] = field(default_factory=list)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def full() -> Message:
            if not self.looking:
                message = await receive()
                if GO in message.get("text", ""):
                    self.looking.append(asyncio.create_task(self._look()))
                return message
            if self.handed == NUMBER:
                return await receive()
            self.handed += 1
            return {"type": "websocket.receive", "text": orjson.dumps(self.message).decode()}

        await self.app(scope, full if scope["type"] == "websocket" else receive, send)

    async def _look(self) -> None:
        before = self.handed
        while self.handed < NUMBER:
            await asyncio.sleep(0)
            self.most_a_turn = max(self.most_a_turn, self.handed - before)
            before = self.handed


@pytest.fixture
def plain(tmp_path: Path, usgs: UsgsServer) -> Settings:
    return settings(tmp_path / "live.db", usgs, jwt_secret="x" * 32)


async def pongs(client: Socket, number: int) -> None:
    for _ in range(number):
        assert (await client.next_message())["type"] == "pong"


@pytest.mark.parametrize("message", [{"type": "ping"}, {"type": "pong"}, {"type": "complete", "id": "unknown"}])
async def test_other_clients_are_served_after_a_few_messages(plain: Settings, message: dict[str, Any]) -> None:
    app = Full(create_app(plain), message)
    with in_thread(app, plain) as (_, url):
        async with initialised(url) as client:
            await client.send_message("ping", payload=GO)
            await pongs(client, 1 + NUMBER * (message["type"] == "ping"))
            await client.quiet()

    assert app.handed == NUMBER
    assert 0 < app.most_a_turn <= MESSAGES_PER_ITERATION


async def test_a_flood_is_answered_whole_and_in_order(tmp_path: Path, usgs: UsgsServer) -> None:
    with live_service(settings(tmp_path / "live.db", usgs)) as service:
        async with initialised(service.url, max_queue=None) as client:
            for number in range(NUMBER):
                await client.send_message("complete", id="unknown")
                await client.send_message("ping", payload=number)
                await client.send_message("pong")
            for number in range(NUMBER):
                assert await client.next_message() == {"type": "pong", "payload": number}
            await client.quiet()
        await service.has_no_socket()
