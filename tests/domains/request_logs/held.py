"""The graph on a real database that a test can hold up: `async with held_graph() as graph`."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import httpx
from starlette import types

from graph.access.callers import Caller
from graph.app import build_entrance
from graph.core.errors import DatabaseUnavailable
from graph.core.services import Services
from graph.domains.request_logs.access_patterns import RequestLogs
from graph.domains.request_logs.model import RequestLog
from graph.store.contract import Database, Put, Update
from graph.store.query import ItemPage, Query
from graph.transport.endpoint import GraphQLEndpoint
from graph.transport.exchange import ExecutionLimits
from graph.transport.request_ids import RequestIds
from tests.bearers import SCOPES
from tests.domains.earthquakes.builders import catalogue_of
from tests.domains.earthquakes.watched_database import WatchedDatabase
from tests.domains.entities import ENTITIES
from tests.domains.request_logs.builders import NOW
from tests.domains.request_logs.recorder import log_buffer, recording_in
from tests.domains.statistics.readers import statistics_of
from tests.processes import TIMEOUT_S
from tests.settings import Settings
from tests.store.engines import empty_database
from tests.store.samples import HeldClock
from tests.transport.processes import a_process


class Gate:
    """Lets work through, unless it is closed, and tells when some came."""

    def __init__(self) -> None:
        self._open = asyncio.Event()
        self._came = asyncio.Event()
        self.open()

    def open(self) -> None:
        self._open.set()

    def close(self) -> None:
        self._open.clear()

    async def passed(self) -> None:
        """Return where the gate is open."""
        self._came.set()
        await self._open.wait()

    async def reached(self) -> None:
        """Return when some work has come since the last time."""
        async with asyncio.timeout(TIMEOUT_S):
            await self._came.wait()
        self._came.clear()


class HeldDatabase(WatchedDatabase):
    """A real database whose queries and writes of many items can be held up, and whose writes can be made to fail."""

    def __init__(self, database: Database) -> None:
        super().__init__(database)
        self.away = False  # whether writes fail
        self.writes, self.queries = Gate(), Gate()
        self.written: list[list[RequestLog]] = []  # what each write took

    async def put_many(self, puts: Sequence[Put]) -> None:
        await self.writes.passed()
        if self.away:
            raise DatabaseUnavailable("the database is away")
        await super().put_many(puts)
        self.written.append([RequestLog(put.item) for put in puts])

    async def update(self, update: Update) -> bool:
        if self.away:
            raise DatabaseUnavailable("the database is away")
        return await super().update(update)

    async def query(self, query: Query) -> ItemPage:
        await self.queries.passed()
        return await super().query(query)


@asynccontextmanager
async def held_database() -> AsyncIterator[HeldDatabase]:
    """An empty one."""
    async with empty_database("sqlite", ENTITIES, clock=lambda: NOW) as database:
        yield HeldDatabase(database)


@dataclass(frozen=True)
class HeldGraph:
    """The graph, as the endpoint serves it, in the event loop of the test."""

    database: HeldDatabase
    clock: HeldClock
    client: httpx.AsyncClient

    async def answer(self, query: str) -> Any:
        """The body of the answer."""
        return (await self.client.post("/graphql", json={"query": query})).json()


@asynccontextmanager
async def held_graph() -> AsyncIterator[HeldGraph]:
    """The graph on an empty database; logs are flushed at the end."""
    endpoint = GraphQLEndpoint(build_entrance(Settings()))
    clock = HeldClock()
    clock.now = NOW
    async with held_database() as database:
        logs = RequestLogs(database, clock)
        async with log_buffer(logs, Settings()) as buffer:
            recording = recording_in(logs, buffer)
            process = a_process(
                services=Services([catalogue_of(database), statistics_of(database), logs]),
                recording=recording,
                clock=clock,
                limits=ExecutionLimits.of(Settings()),
                authenticate=lambda header: Caller("tester", frozenset(SCOPES)),
            )

            async def app(scope: types.Scope, receive: types.Receive, send: types.Send) -> None:
                await RequestIds(endpoint)({**scope, "state": {"process": process}}, receive, send)

            async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://quakegraph") as client:
                yield HeldGraph(database, clock, client)
