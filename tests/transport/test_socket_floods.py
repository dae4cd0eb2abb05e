"""Great numbers of messages of graphql-transport-ws, none of which waits: other clients are served in between."""

import asyncio
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import orjson
import pytest
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from graph.app import create_app
from graph.serving.drain import DrainingServer
from graph.serving.server import configuration
from graph.transport.websocket import MESSAGES_PER_ITERATION
from tests.domains.earthquakes.usgs.usgs_server import UsgsServer
from tests.server_thread import in_thread
from tests.service import settings
from tests.settings import Settings
from tests.subscribers import initialised

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
            return {
                "type": "websocket.receive",
                "text": orjson.dumps({**self.message, "payload": self.handed}).decode(),
            }

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


@pytest.mark.parametrize("message", [{"type": "ping"}, {"type": "pong"}, {"type": "complete", "id": "unknown"}])
async def test_messages_are_answered_in_order_and_other_clients_after_a_few(
    plain: Settings, message: dict[str, Any]
) -> None:
    app = Full(create_app(plain), message)
    with in_thread(DrainingServer(configuration(app, plain), 0)) as url:
        async with initialised(url) as client:
            await client.send_message("ping", payload=GO)
            for payload in (GO, *range(1, 1 + NUMBER * (message["type"] == "ping"))):
                assert await client.next_message() == {"type": "pong", "payload": payload}
            await client.quiet()

    assert app.handed == NUMBER
    assert 0 < app.most_a_turn <= MESSAGES_PER_ITERATION
