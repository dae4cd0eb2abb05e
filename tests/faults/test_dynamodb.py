"""The network between the service and DynamoDB fails, and DynamoDB itself: nothing is lost, doubled or half done.

The whole service runs against DynamoDB Local. Which fault comes when is drawn from a fixed seed.
Where nothing ever answers, only a timeout ends the wait, so a second service with short timeouts
is asked then. All else is asked of one whose timeouts no busy machine reaches.
"""

import asyncio
import random
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, replace
from functools import partial
from itertools import count
from typing import Any, TypeVar

import httpx
import pytest
from pydantic import SecretStr

from graph.app import create_app
from graph.domains import DOMAINS
from tests.bearers import SECRET, bearer
from tests.domains.entities import ENTITIES
from tests.faults.ingests import INGEST, check_summaries, events
from tests.faults.tcp_proxy import Fault, Proxy, proxy
from tests.processes import TIMEOUT_S
from tests.service import serving
from tests.settings import Settings
from tests.store.engines import make_tables
from tests.store.fault_proxy import Answer, Forward, Rule, pass_on, processing_at_most, proxying

T = TypeVar("T")

PAGE = "{ events(first: 1000, orderBy: TIME_ASC) { nodes { eventId } } }"
UNAVAILABLE = "DATABASE_UNAVAILABLE"
SHORT_S = 0.3
# So that only what a test asks calls the store.
WITHOUT_TASKS = [replace(domain, tasks=(), adoptions=()) for domain in DOMAINS]


@dataclass(frozen=True)
class UnreliableService:
    """A service whose store is out of reach at times."""

    client: httpx.AsyncClient
    prefix: str
    environment: pytest.MonkeyPatch
    endpoint: str  # of DynamoDB itself

    async def ask(self, query: str, **variables: Any) -> dict[str, Any]:
        answer = await self.client.post("/graphql", json={"query": query, "variables": variables})
        body: dict[str, Any] = answer.json()
        return body

    async def ingest(self, first: int, number: int) -> dict[str, int] | None:
        """The counts of an ingest; None where it was refused."""
        answer = await self.ask(INGEST, events=events(first, number))
        if "errors" in answer:
            assert [error["extensions"]["code"] for error in answer["errors"]] == [UNAVAILABLE], answer
            return None
        counts: dict[str, int] = answer["data"]["ingestEvents"]
        assert counts["fetched"] == counts["upserted"] + counts["skipped"] == number
        return counts

    async def ids(self) -> list[str] | None:
        """The ids of all events; None where the reading was refused."""
        answer = await self.ask(PAGE)
        if "errors" in answer:
            assert {error["extensions"]["code"] for error in answer["errors"]} == {UNAVAILABLE}, answer
            return None
        return [node["eventId"] for node in answer["data"]["events"]["nodes"]]

    async def check_summaries(self) -> None:
        """That each event is counted once, as the table itself has it."""
        self.environment.setenv("AWS_ENDPOINT_URL", self.endpoint)
        await check_summaries(f"dynamodb://{self.prefix}")


Serve = Callable[..., AbstractAsyncContextManager[UnreliableService]]


@pytest.fixture
def serve(dynamodb_endpoint: str, monkeypatch: pytest.MonkeyPatch) -> Serve:
    return partial(unreliable_service, dynamodb_endpoint, monkeypatch)


@asynccontextmanager
async def unreliable_service(
    endpoint: str, monkeypatch: pytest.MonkeyPatch, through: str, *, prefix: str | None = None, **limits: Any
) -> AsyncIterator[UnreliableService]:
    """A service on a table, its own unless one is named, which it reaches through something that fails."""
    if prefix is None:
        prefix = make_tables(ENTITIES)
    monkeypatch.setenv("AWS_ENDPOINT_URL", through)
    settings = Settings(
        store=f"dynamodb://{prefix}", usgs_url="http://127.0.0.1:9", jwt_secret=SecretStr(SECRET), **limits
    )
    service = serving(create_app(settings, domains=WITHOUT_TASKS))
    url = await asyncio.to_thread(service.__enter__)
    try:
        async with httpx.AsyncClient(base_url=url, headers=bearer(), timeout=TIMEOUT_S) as client:
            await client.get("/healthz")  # which answers once the service has started
            yield UnreliableService(client, prefix, monkeypatch, endpoint)
    finally:
        await asyncio.to_thread(service.__exit__, None, None, None)


@pytest.fixture
async def between(dynamodb_endpoint: str) -> AsyncIterator[Proxy]:
    async with proxy(dynamodb_endpoint) as between:
        yield between


@pytest.fixture
async def on_tcp(serve: Serve, between: Proxy) -> AsyncIterator[UnreliableService]:
    async with serve(between.url) as service:
        yield service
        between.fault = Fault.NONE


@pytest.fixture
async def impatient_service(
    serve: Serve, on_tcp: UnreliableService, between: Proxy
) -> AsyncIterator[UnreliableService]:
    """A service on the same tables, which does not wait for long."""
    async with serve(between.url, prefix=on_tcp.prefix, store_timeout=SHORT_S) as service:
        yield service


BREAKING = [fault for fault in Fault if fault not in (Fault.NONE, Fault.LATENCY)]


async def test_a_broken_network_is_an_unavailable_database_until_it_is_mended(
    on_tcp: UnreliableService, impatient_service: UnreliableService, between: Proxy
) -> None:
    for first, fault in zip(count(step=40), BREAKING, strict=False):
        assert await on_tcp.ingest(first, 20) is not None
        between.fault = fault
        between.cut_all()

        service = impatient_service if fault is Fault.HALF_OPEN else on_tcp
        assert await service.ids() is None, fault
        assert await service.ingest(first + 20, 20) is None, fault
        ready = await service.client.get("/readyz")
        assert (ready.status_code, ready.json()["store"]) == (503, "unreachable"), fault
        assert (await service.client.get("/healthz")).status_code == 200

        between.fault = Fault.NONE
        async with asyncio.timeout(TIMEOUT_S):
            while await impatient_service.ids() is None:  # on a busy machine, its time may be over before an answer
                pass
        finished = await on_tcp.ingest(first, 40)
        assert finished is not None
        assert finished["skipped"] >= 20  # and those too whose insertion was heard, though its answer was lost
        assert await on_tcp.ids() == [f"us{n}" for n in reversed(range(first + 40))]
    await on_tcp.check_summaries()


async def test_latency_and_connections_that_break_now_and_then_change_no_answer(
    on_tcp: UnreliableService, between: Proxy
) -> None:
    for first in range(0, 80, 20):
        between.fault = Fault.LATENCY if first < 40 else Fault.NONE
        between.cut_all()
        assert await on_tcp.ingest(first, 20) == {"fetched": 20, "upserted": 20, "skipped": 0, "rejected": 0}
        between.cut_all()
        assert await on_tcp.ids() == [f"us{n}" for n in reversed(range(first + 20))]
    await on_tcp.check_summaries()


async def test_under_faults_of_all_kinds_nothing_is_lost_and_nothing_is_counted_twice(
    on_tcp: UnreliableService, impatient_service: UnreliableService, between: Proxy
) -> None:
    """Ingests and readings at once, while the network fails as the seed has it."""
    chosen = random.Random(20230803)
    acknowledged: set[str] = set()
    offered: set[str] = set()

    async def ingest(first: int) -> None:
        ids = {event["eventId"] for event in events(first, 10)}
        offered.update(ids)
        if await service.ingest(first, 10) is not None:
            acknowledged.update(ids)

    async def read() -> None:
        before = set(acknowledged)
        found = await service.ids()
        assert found is None or before <= set(found) <= offered
        assert found is None or len(found) == len(set(found))

    for number in range(12):
        between.fault = chosen.choice([Fault.NONE, Fault.NONE, Fault.LATENCY, *BREAKING])
        service = impatient_service if between.fault is Fault.HALF_OPEN else on_tcp
        work = [ingest(number * 10), ingest(chosen.randrange(number + 1) * 10), read()]
        await asyncio.gather(*work)
        if chosen.random() < 0.5:
            between.cut_all()
    between.fault = Fault.NONE

    found = await on_tcp.ids()
    assert found is not None
    assert acknowledged <= set(found) <= offered
    assert 0 < len(acknowledged) < len(offered)  # so some of both
    await on_tcp.ingest(0, 120)
    assert await on_tcp.ids() == [f"us{n}" for n in reversed(range(120))]
    await on_tcp.check_summaries()


async def hangs(between: Proxy, work: Callable[[], Coroutine[Any, Any, T]]) -> tuple[asyncio.Task[T], asyncio.Event]:
    """Work that waits for DynamoDB in vain, and the end of the connection that it waits on."""
    between.fault = Fault.HALF_OPEN
    between.cut_all()
    between.arrived.clear()
    arriving = asyncio.create_task(between.arrived.wait())
    async with asyncio.timeout(TIMEOUT_S):
        while not arriving.done():  # on a busy machine, the time of an operation may be over before it asks the store
            working = asyncio.create_task(work())
            await asyncio.wait({working, arriving}, return_when=asyncio.FIRST_COMPLETED)
    return working, list(between.open.values())[-1]


@pytest.mark.parametrize(("query", "variables"), [(PAGE, {}), (INGEST, {"events": events(0, 1)})])
async def test_a_timeout_ends_an_operation_and_its_store_calls(
    serve: Serve, between: Proxy, query: str, variables: dict[str, Any]
) -> None:
    async with serve(between.url, store_timeout=5, execution_timeout=0.3, ingest_timeout=0.3) as service:
        body = {"query": query, "variables": variables}
        asking, ended = await hangs(between, lambda: service.client.post("/graphql", json=body))
        answer = await asking
        between.fault = Fault.NONE

        assert answer.status_code == 504
        assert answer.json().keys() == {"errors"}
        assert [error["extensions"] for error in answer.json()["errors"]] == [{"code": "TIMEOUT"}]
        async with asyncio.timeout(TIMEOUT_S):
            await ended.wait()
            while "errors" in (answer_again := await service.ask(PAGE)):
                assert answer_again["errors"][0]["extensions"] == {"code": "TIMEOUT"}
        assert answer_again["data"]["events"]["nodes"] == []


async def test_a_query_whose_client_has_gone_ends_with_it(serve: Serve, between: Proxy) -> None:
    async with serve(between.url, store_timeout=60, execution_timeout=600) as service:
        asking, ended = await hangs(between, lambda: service.ask(PAGE))
        asking.cancel()  # by which the client closes its connection
        async with asyncio.timeout(30):  # half of what the store has to answer
            await ended.wait()
        between.fault = Fault.NONE
        between.cut_all()
        assert await service.ids() == []


# What DynamoDB answers itself

REFUSALS: dict[str, Answer | None] = {
    "throughput": Answer.error("ProvisionedThroughputExceededException"),
    "throttling": Answer.error("ThrottlingException"),
    "limit": Answer.error("RequestLimitExceeded"),
    "internal": Answer.error("InternalServerError", 500),
    "away": Answer.error("ServiceUnavailable", 503),
    "unprocessed": None,
}


def now_and_then(answer: Answer | None, seed: int) -> Rule:
    """One in three requests is answered so; for None, the rest of a batch stays unprocessed."""
    chosen = random.Random(seed)

    async def rule(operation: str, request: dict[str, Any], forward: Forward) -> Answer | bytes | None:
        if chosen.random() > 1 / 3:
            return await forward(request)
        if answer is not None:
            return answer
        return await processing_at_most(1)(operation, request, forward)

    return rule


async def test_occasional_refusals_of_dynamodb_are_retried_or_reported(dynamodb_endpoint: str, serve: Serve) -> None:
    async with proxying(dynamodb_endpoint) as fault_proxy, serve(fault_proxy.url) as service:
        for begin, (refusal, answer) in zip(count(step=60), REFUSALS.items(), strict=False):
            fault_proxy.rule = now_and_then(answer, seed=20230803)
            acknowledged: set[str] = set()
            for first in (begin, begin + 20):
                if await service.ingest(first, 20) is not None:
                    acknowledged.update(event["eventId"] for event in events(first, 20))
                found = await service.ids()
                assert found is None or acknowledged <= set(found), refusal

            fault_proxy.rule = pass_on
            assert await service.ingest(begin, 60) is not None
            assert await service.ids() == [f"us{n}" for n in reversed(range(begin + 60))]
            assert acknowledged, refusal
        await service.check_summaries()
