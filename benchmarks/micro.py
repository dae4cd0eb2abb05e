"""Measures each step of a query, and the ordinary way to do the same. It takes a minute and needs no server.

    python -m benchmarks.micro

prints the median of seven runs of each way, in microseconds, and the ratio of the two. It shows changes of single
steps that a load test would not show.
"""

import asyncio
import gc
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any

import orjson
from aiobotocore.parsers import AioJSONParser
from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import ReadOnlyCredentials
from botocore.session import Session
from graphql import execute, parse, validate
from graphql.execution.values import get_variable_values
from strawberry.execution import optimized_is_awaitable
from yarl import URL

from benchmarks.markdown import table
from graph.access.callers import Caller
from graph.api.context import Context
from graph.api.documents.prepared import Documents
from graph.api.fast import execution
from graph.api.fast.execution import Request
from graph.api.recording import Recording
from graph.app import schema_of
from graph.core import garbage
from graph.core.clock import now_ms
from graph.core.paging import PageSizes, Paging
from graph.domain import Services
from graph.domains import DOMAINS
from graph.domains.earthquakes.catalogue import Catalogue
from graph.domains.earthquakes.ingest.ingest import Ingest
from graph.domains.earthquakes.magnitudes import MagnitudeRange
from graph.domains.earthquakes.scopes import EVENTS_READ
from graph.domains.earthquakes.selection import Selection
from graph.observability.metrics import Metrics
from graph.opening import open_services, read_settings
from graph.store.dynamodb.codec import encode_item
from graph.store.dynamodb.parsing import PlainParser
from graph.store.dynamodb.signing import CONTENT_TYPE, SERVICE, Signer
from graph.transport.deadline import Deadlines

RUNS = 7
SECONDS_A_RUN = 0.3
EVENTS = 3000
START_MS = 1_700_000_000_000

PAGE = """query ($first: Int, $filter: EventFilter) {
  events(first: $first, filter: $filter) {
    edges { cursor node { eventId eventTsMs mag place lat lon depth source ingestedAt dayBucket } }
    pageInfo { hasNextPage endCursor }
  }
}"""
INGEST = "mutation ($events: [EventInput!]!) { ingestEvents(input: {events: $events}) { upserted } }"

Step = Callable[[], Awaitable[object]]


async def microseconds(step: Step) -> float:
    """The median time of a step over several runs, each of which repeats it for a while."""
    await step()
    runs = []
    for _ in range(RUNS):
        done, began = 0, perf_counter()
        while (passed := perf_counter() - began) < SECONDS_A_RUN or not done:
            await step()
            done += 1
        runs.append(passed / done * 1e6)
    return median(runs)


def as_step(function: Callable[[], object]) -> Step:
    """A function as a step."""

    async def step() -> object:
        return function()

    return step


SCHEMA = schema_of(DOMAINS).graphql
RECORDING = Recording(Metrics())  # it has no recorder, so nothing is stored


@dataclass(frozen=True, slots=True)
class Bench:
    """The service over a small store, and a query for a page of 100."""

    services: Services
    documents: Documents
    variables: dict[str, Any]

    def context(self) -> Context:
        """The context of resolvers. No request logs are stored."""
        return Context(
            services=self.services,
            recording=RECORDING,
            page_sizes=PageSizes(),
            clock=now_ms,
            caller=Caller(None, frozenset({EVENTS_READ})),
            request_id="benchmark",
        )

    async def by_graphql_core(self) -> object:
        """Execute the query with graphql-core's own executor."""
        document = self.documents.of(PAGE).operation(None).plan.document
        result: Any = execute(
            SCHEMA,
            document,
            context_value=self.context(),
            variable_values=self.variables,
            is_awaitable=optimized_is_awaitable,  # type: ignore[arg-type]  # it says bool where a guard is meant
        )
        return await result

    async def compiled(self) -> object:
        """Execute the query as the service does."""
        plan = self.documents.of(PAGE).operation(None).plan
        variables = plan.variables(self.variables, max_errors=1)
        assert not isinstance(variables, list)
        return await execution.execute(plan, Request(variables, self.context()))


def events(number: int) -> list[dict[str, Any]]:
    """Events as a client sends them, one for each minute."""
    return [
        {
            "eventId": f"bench{at:06}",
            "eventTsMs": START_MS + at * 60_000,
            "mag": at % 50 / 10,
            "depth": 8.25,
            "place": "10 km S of Here",
            "lat": 35.6,
            "lon": -117.6,
            "source": "USGS",
        }
        for at in range(number)
    ]


def answer_of_dynamodb() -> tuple[dict[str, Any], Any]:
    """DynamoDB's answer with a page of 100, and botocore's shape of it."""
    items = [encode_item({**event, "pk": f"EVENT#{event['eventId']}", "sk": "EVENT"}) for event in events(100)]
    body = orjson.dumps({"Items": items, "Count": 100, "ScannedCount": 100})
    model = Session().get_service_model("dynamodb")
    return {"status_code": 200, "headers": {}, "body": body}, model.operation_model("Query").output_shape


def signing() -> tuple[Step, Step]:
    """Two steps that sign a request to DynamoDB: by the service, and by botocore alone."""
    url, region = "http://127.0.0.1:8000/", "eu-central-1"
    credentials = ReadOnlyCredentials("AKIDEXAMPLE", "secret", None)
    body = orjson.dumps({"TableName": "earthquake-events", "Key": {"pk": {"S": "EVENT#us1"}, "sk": {"S": "EVENT"}}})
    signer = Signer.of(URL(url), region)

    def ordinary() -> None:
        headers = {"content-type": CONTENT_TYPE, "x-amz-target": "DynamoDB_20120810.GetItem"}
        SigV4Auth(credentials, SERVICE, region).add_auth(AWSRequest("POST", url, headers, body))

    return as_step(lambda: signer.headers("GetItem", body, credentials)), as_step(ordinary)


async def stay_connected() -> Any:
    """The channel of a client that stays connected."""
    await asyncio.Event().wait()


async def nothing() -> None:
    """Work that never waits."""


async def within_deadline(deadlines: Deadlines) -> None:
    """Run work with a deadline, while its client stays connected."""
    with deadlines.within(30.0, stay_connected):
        await nothing()


async def with_timeout() -> None:
    """Run work with a timeout and a task that watches the client."""
    watching = asyncio.ensure_future(stay_connected())
    try:
        async with asyncio.timeout(30.0):
            await nothing()
    finally:
        watching.cancel()
        await asyncio.wait((watching,))


async def measured(bench: Bench) -> list[tuple[str, float, float | None]]:
    """Each step with its time in the service, and in the ordinary way if there is one."""
    operation = bench.documents.of(INGEST).operation(None)
    sent = {"events": events(500)}
    definitions = operation.plan.operation.variable_definitions or ()
    answer, shape = answer_of_dynamodb()
    strong = Selection(magnitudes=MagnitudeRange(4.5))
    catalogue = bench.services.of(Catalogue)

    async def compared(step: str, ours: Step, ordinary: Step) -> tuple[str, float, float]:
        return step, await microseconds(ours), await microseconds(ordinary)

    async def measured_alone(step: str, ours: Step) -> tuple[str, float, None]:
        return step, await microseconds(ours), None

    return [
        await compared("execute a page of 100, its rows in memory", bench.compiled, bench.by_graphql_core),
        await compared(
            "find a document",
            as_step(lambda: bench.documents.of(PAGE)),
            as_step(lambda: validate(SCHEMA, parse(PAGE))),
        ),
        await compared(
            "coerce the variables of an ingest of 500",
            as_step(lambda: operation.plan.variables(sent, max_errors=1)),
            as_step(lambda: get_variable_values(SCHEMA, definitions, sent)),
        ),
        await compared(
            "parse 100 items of DynamoDB",
            lambda: PlainParser().parse(answer, shape),
            lambda: AioJSONParser().parse(answer, shape),
        ),
        await compared("sign a request of DynamoDB", *signing()),
        await compared(
            "run with a timeout what never waits",
            partial(within_deadline, Deadlines()),
            with_timeout,
        ),
        await measured_alone("look up an event", lambda: catalogue.event("bench001000")),
        await measured_alone("read a page of 100", lambda: catalogue.page(Selection(), Paging(100))),
        await measured_alone("read the strongest hundred", lambda: catalogue.page(strong, Paging(100))),
        await measured_alone("count the strong ones", lambda: catalogue.total(strong)),
    ]


async def main() -> None:
    """Measure and print."""
    with TemporaryDirectory() as folder:
        settings = read_settings(DOMAINS, store=f"sqlite:///{Path(folder) / 'micro.db'}")
        async with open_services(settings, DOMAINS) as services:
            for at in range(0, EVENTS, 1000):
                given = [
                    {"event_id": e["eventId"], "event_ts_ms": e["eventTsMs"], **{n: e[n] for n in list(e)[2:]}}
                    for e in events(EVENTS)[at : at + 1000]
                ]
                await services.of(Ingest).events(given)
            documents = Documents(SCHEMA, settings)
            garbage.settle()
            found = await measured(Bench(services, documents, {"first": 100}))
    rows = [
        [step, f"{ours:,.1f}", f"{ordinary:,.1f}" if ordinary else "", f"{ordinary / ours:,.1f}" if ordinary else ""]
        for step, ours, ordinary in found
    ]
    print(table(["step", "µs", "ordinary µs", "ratio"], rows))


if __name__ == "__main__":
    gc.collect()
    asyncio.run(main())
