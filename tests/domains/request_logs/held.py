"""The graph on a real table that a test can hold up: `async with held_graph() as graph`."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any

import httpx
from starlette import types

from graph.access.callers import Caller
from graph.access.rate import Unlimited
from graph.api.context import Context
from graph.app import admission
from graph.core.errors import DatabaseUnavailable
from graph.core.paging import PageSizes
from graph.core.services import Services
from graph.domains.earthquakes.entities import EARTHQUAKE_EVENTS
from graph.domains.request_logs.access_patterns import RequestLogs
from graph.domains.request_logs.budget import LogLimits
from graph.domains.request_logs.model import RequestLog
from graph.observability.metrics import Metrics
from graph.observability.requests import RequestMetrics, Telemetry
from graph.observability.tracing import Untraced
from graph.store.contract import Item, KeyValue, Page, Table
from graph.store.design import Index
from graph.transport.endpoint import GraphQLEndpoint
from graph.transport.request_ids import RequestIds
from graph.transport.streams import Streams
from graph.work.account import Work
from graph.work.slots import OperationSlots
from graph.work.threads import FairThreads
from tests.bearers import SCOPES
from tests.domains.earthquakes.builders import catalogue_of
from tests.domains.earthquakes.watched_table import WatchedTable
from tests.domains.request_logs.builders import NOW
from tests.domains.request_logs.recorder import log_buffer, recording_in
from tests.processes import PATIENCE_S
from tests.settings import Settings
from tests.store.engines import empty_table
from tests.store.samples import HeldClock


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
        async with asyncio.timeout(PATIENCE_S):
            await self._came.wait()
        self._came.clear()


class HeldTable(WatchedTable):
    """A real table whose queries and writes of many items can be held up, and those writes made to fail."""

    def __init__(self, table: Table) -> None:
        super().__init__(table)
        self.away = False  # whether writes fail
        self.writes, self.queries = Gate(), Gate()
        self.written: list[list[RequestLog]] = []  # what each write took

    async def put_many(self, items: Sequence[Item]) -> None:
        await self.writes.passed()
        if self.away:
            raise DatabaseUnavailable("the table is away")
        await super().put_many(items)
        self.written.append([RequestLog(item) for item in items])

    async def query(self, index: Index, partition: KeyValue, **how: Any) -> Page:
        await self.queries.passed()
        return await super().query(index, partition, **how)


@asynccontextmanager
async def held_table() -> AsyncIterator[HeldTable]:
    """An empty one."""
    async with empty_table("sqlite", EARTHQUAKE_EVENTS, clock=lambda: NOW) as table:
        yield HeldTable(table)


@dataclass(frozen=True)
class HeldGraph:
    """The graph, as the endpoint serves it, in the event loop of the test."""

    table: HeldTable
    clock: HeldClock
    client: httpx.AsyncClient

    async def answer(self, query: str) -> Any:
        """The body of the answer."""
        return (await self.client.post("/graphql", json={"query": query})).json()


async def known(header: str | None) -> Caller:
    """Everybody may do everything."""
    return Caller("tester", frozenset(SCOPES))


@asynccontextmanager
async def held_graph() -> AsyncIterator[HeldGraph]:
    """The graph on an empty table; logs are flushed at the end."""
    endpoint = GraphQLEndpoint(admission(Settings()))
    clock = HeldClock()
    clock.now = NOW
    async with held_table() as table:
        logs = RequestLogs(table, clock)
        async with log_buffer(logs, LogLimits.of(Settings())) as buffer:
            new_context = partial(
                Context,
                services=Services([catalogue_of(table), logs]),
                recording=recording_in(logs, buffer),
                page_sizes=PageSizes(),
                clock=clock,
            )

            work, preparing = Work(), FairThreads(1, "documents")

            async def app(scope: types.Scope, receive: types.Receive, send: types.Send) -> None:
                state = {
                    "new_context": new_context,
                    "authenticate": known,
                    "rates": Unlimited(),
                    "streams": Streams(1, "subscriptions"),
                    "telemetry": Telemetry(RequestMetrics(Metrics()), Untraced()),
                    "work": work,
                    "operations": OperationSlots.beside(work.limits),
                    "preparing": preparing,
                }
                await RequestIds(endpoint)({**scope, "state": state}, receive, send)

            async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://quakegraph") as client:
                yield HeldGraph(table, clock, client)
