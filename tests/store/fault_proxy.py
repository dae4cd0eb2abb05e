"""A fault proxy before the emulator: it may answer in its place, so that rare answers come when a test wants them."""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from io import BytesIO
from typing import Any

from aiohttp import ClientSession, web

from tests.store.one_entity import OneEntity

JSON = "application/x-amz-json-1.0"


@dataclass(frozen=True, slots=True)
class Answer:
    """Status and body, as DynamoDB gives them."""

    status: int
    body: dict[str, Any]
    headers: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def error(cls, code: str, status: int = 400, **details: Any) -> "Answer":
        """An error by its name."""
        return cls(status, {"__type": f"com.amazonaws.dynamodb.v20120810#{code}", "message": "as told", **details})


Forward = Callable[[dict[str, Any]], Awaitable[Answer]]
Rule = Callable[[str, dict[str, Any], Forward], Awaitable[Answer | bytes | None]]
"""Operation, request and the way to the emulator → the answer, or the body of a good one, or None to hang up."""


async def pass_on(operation: str, request: dict[str, Any], forward: Forward) -> Answer | None:
    """The rule of a proxy that breaks nothing."""
    return await forward(request)


def first(rule: Rule) -> Rule:
    """`rule` for the first request, then none."""
    rules = [rule]

    async def once(operation: str, request: dict[str, Any], forward: Forward) -> Answer | bytes | None:
        return await (rules.pop() if rules else pass_on)(operation, request, forward)

    return once


def always(answer: Answer | bytes | None) -> Rule:
    """The same answer to everything."""

    async def fixed(operation: str, request: dict[str, Any], forward: Forward) -> Answer | bytes | None:
        return answer

    return fixed


def held_until(going_on: asyncio.Event, *operations: str) -> Rule:
    """Passes operations on, all of them unless they are named, only once the event is set."""

    async def rule(operation: str, request: dict[str, Any], forward: Forward) -> Answer:
        if not operations or operation in operations:
            await going_on.wait()
        return await forward(request)

    return rule


def processing_at_most(written: int) -> Rule:
    """Leaves the rest of a batch unprocessed, as DynamoDB does when it is short of capacity."""

    async def rule(operation: str, request: dict[str, Any], forward: Forward) -> Answer | None:
        if not operation.startswith("Batch"):
            return await forward(request)
        ((name, wanted),) = request["RequestItems"].items()
        if operation == "BatchWriteItem":
            answer = await forward({"RequestItems": {name: wanted[:written]}}) if written else Answer(200, {})
            left: Any = wanted[written:]
            return Answer(200, {**answer.body, "UnprocessedItems": {name: left} if left else {}})
        read = {**wanted, "Keys": wanted["Keys"][:written]}
        answer = await forward({"RequestItems": {name: read}}) if written else Answer(200, {"Responses": {}})
        left = {**wanted, "Keys": wanted["Keys"][written:]}
        return Answer(200, {**answer.body, "UnprocessedKeys": {name: left} if left["Keys"] else {}})

    return rule


@dataclass
class FaultProxy:
    """What came by, and the rule for what comes."""

    rule: Rule = pass_on
    url: str = ""
    requests: list[tuple[str, dict[str, Any]]] = field(default_factory=list)
    heads: list[Mapping[str, str]] = field(default_factory=list)  # of the requests
    connections: set[object] = field(default_factory=set)  # the ports of the client's side
    most_at_once: int = 0
    _at_once: int = 0

    def of(self, operation: str) -> list[dict[str, Any]]:
        """The requests for one operation."""
        return [request for name, request in self.requests if name == operation]

    async def handle(self, emulator: str, session: ClientSession, request: web.Request) -> web.StreamResponse:
        """Answer one request by the rule."""
        operation = request.headers["X-Amz-Target"].partition(".")[2]
        sent = json.loads(await request.read())
        self.requests.append((operation, sent))
        self.heads.append(request.headers)
        assert request.transport is not None
        self.connections.add(request.transport.get_extra_info("peername"))

        async def forward(body: dict[str, Any]) -> Answer:
            passed = {name: request.headers[name] for name in ("X-Amz-Target", "Authorization", "X-Amz-Date")}
            data = BytesIO(json.dumps(body).encode())
            async with session.post(emulator, data=data, headers={**passed, "Content-Type": JSON}) as answer:
                return Answer(answer.status, json.loads(await answer.read()))

        self._at_once += 1
        self.most_at_once = max(self.most_at_once, self._at_once)
        try:
            answer = await self.rule(operation, sent, forward)
        finally:
            self._at_once -= 1
        if answer is None:
            request.transport.abort()
            raise asyncio.CancelledError
        if isinstance(answer, bytes):
            return web.Response(body=answer, content_type=JSON)
        written = BytesIO(json.dumps(answer.body).encode())
        return web.Response(status=answer.status, body=written, headers={"Content-Type": JSON, **answer.headers})


@dataclass(frozen=True)
class Proxied(OneEntity):
    """A table in DynamoDB that the engine reaches through a fault proxy. The engine's pauses take no time."""

    proxy: FaultProxy
    pauses: list[float]


@asynccontextmanager
async def proxying(emulator: str) -> AsyncIterator[FaultProxy]:
    """A proxy on a free port of the loopback interface."""
    fault_proxy = FaultProxy()
    async with ClientSession() as session:
        application = web.Application(client_max_size=2**25)
        application.router.add_post("/", partial(fault_proxy.handle, emulator, session))
        runner = web.AppRunner(application)
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        host, port = runner.addresses[0]
        fault_proxy.url = f"http://{host}:{port}"
        yield fault_proxy
        await runner.cleanup()
