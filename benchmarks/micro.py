"""What the steps of a query take, each beside the ordinary way to do it. In a minute, without a server.

    python -m benchmarks.micro

Prints the median of seven runs of each way, in microseconds, and how often the first goes into the
second. What takes less than it did is seen here before any load shows it.
"""

import asyncio
import gc
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any

import orjson
from aiobotocore.parsers import AioJSONParser
from botocore.session import Session
from graphql import execute, parse, validate
from graphql.execution.values import get_variable_values
from strawberry.execution import optimized_is_awaitable

from benchmarks.markdown import table
from graph.access.callers import Caller, Scope
from graph.api.context import Context
from graph.api.documents.limits import Limits
from graph.api.documents.prepared import Documents
from graph.api.fast.executor import PlainExecutor
from graph.api.schema import schema
from graph.app import Parts, open_parts
from graph.core import garbage
from graph.core.clock import now_ms
from graph.core.paging import PageSizes, Paging
from graph.domains.earthquakes.ingest.status import Upkeep
from graph.domains.earthquakes.live import EventBroadcast
from graph.domains.earthquakes.magnitudes import MagnitudeRange
from graph.domains.earthquakes.selection import Selection
from graph.domains.request_logs.budget import LogBudget, LogLimits
from graph.domains.request_logs.buffer import LogBuffer
from graph.settings import Settings
from graph.store.dynamodb.codec import encode_item
from graph.store.dynamodb.parsing import PlainParser

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
    """The median of what the step takes, of runs that each do it for a while."""
    await step()
    runs = []
    for _ in range(RUNS):
        done, began = 0, perf_counter()
        while (passed := perf_counter() - began) < SECONDS_A_RUN or not done:
            await step()
            done += 1
        runs.append(passed / done * 1e6)
    return median(runs)


def at_once(function: Callable[[], object]) -> Step:
    """A function as a step."""

    async def step() -> object:
        return function()

    return step


@dataclass(frozen=True, slots=True)
class Bench:
    """The service's parts over a small store, and a query of a page of a hundred."""

    parts: Parts
    documents: Documents
    variables: dict[str, Any]

    def context(self) -> Context:
        """What resolvers get. Logs go nowhere."""
        return Context(
            catalogue=self.parts.catalogue,
            ingest=self.parts.ingest,
            live=EventBroadcast(self.parts.database, self.parts.catalogue),
            upkeep=Upkeep(self.parts.database, self.parts.catalogue, now_ms, polls=False),
            request_logs=self.parts.request_logs,
            log_buffer=LogBuffer(self.parts.request_logs, LogBudget(LogLimits.of(Settings())), capacity=0),
            page_sizes=PageSizes(),
            clock=now_ms,
            caller=Caller(None, frozenset({Scope.EVENTS_READ})),
            request_id="benchmark",
        )

    async def ordinarily(self) -> object:
        """The page by graphql-core's own executor."""
        document = self.documents.of(PAGE).operation(None).plan.document
        result: Any = execute(
            schema,
            document,
            context_value=self.context(),
            variable_values=self.variables,
            is_awaitable=optimized_is_awaitable,  # type: ignore[arg-type]  # it says bool where a guard is meant
        )
        return await result

    async def compiled(self) -> object:
        """The page as the service executes it."""
        plan = self.documents.of(PAGE).operation(None).plan
        variables = plan.variables(self.variables, max_errors=1, hide_suggestions=False)
        assert not isinstance(variables, list)
        return await PlainExecutor(plan, variables, self.context(), hide_suggestions=False).execute()


def events(number: int) -> list[dict[str, Any]]:
    """Events as a client gives them, one a minute."""
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
    """A page of a hundred as DynamoDB answers it, and the shape that botocore has of it."""
    items = [encode_item({**event, "pk": f"EVENT#{event['eventId']}", "sk": "EVENT"}) for event in events(100)]
    body = orjson.dumps({"Items": items, "Count": 100, "ScannedCount": 100})
    model = Session().get_service_model("dynamodb")
    return {"status_code": 200, "headers": {}, "body": body}, model.operation_model("Query").output_shape


async def measured(bench: Bench) -> list[tuple[str, float, float | None]]:
    """Step, and what it takes here and in the ordinary way, where there is one."""
    operation = bench.documents.of(INGEST).operation(None)
    sent = {"events": events(500)}
    definitions = operation.plan.operation.variable_definitions or ()
    answer, shape = answer_of_dynamodb()
    strong = Selection(magnitudes=MagnitudeRange(4.5))
    catalogue = bench.parts.catalogue

    async def twice(step: str, ours: Step, ordinary: Step) -> tuple[str, float, float]:
        return step, await microseconds(ours), await microseconds(ordinary)

    async def once(step: str, ours: Step) -> tuple[str, float, None]:
        return step, await microseconds(ours), None

    return [
        await twice("execute a page of 100, its rows read lately", bench.compiled, bench.ordinarily),
        await twice(
            "find a document",
            at_once(lambda: bench.documents.of(PAGE)),
            at_once(lambda: validate(schema, parse(PAGE))),
        ),
        await twice(
            "coerce the variables of an ingest of 500",
            at_once(lambda: operation.plan.variables(sent, max_errors=1, hide_suggestions=False)),
            at_once(lambda: get_variable_values(schema, definitions, sent)),
        ),
        await twice(
            "parse 100 items of DynamoDB",
            lambda: PlainParser().parse(answer, shape),
            lambda: AioJSONParser().parse(answer, shape),
        ),
        await once("look up an event", lambda: catalogue.event("bench001000")),
        await once("read a page of 100", lambda: catalogue.page(Selection(), Paging(100))),
        await once("read the strongest hundred", lambda: catalogue.page(strong, Paging(100))),
        await once("count the strong ones", lambda: catalogue.total(strong)),
    ]


async def main() -> None:
    """Measure and print."""
    with TemporaryDirectory() as folder:
        settings = Settings(store=f"sqlite:///{Path(folder) / 'micro.db'}")
        async with open_parts(settings) as parts:
            for at in range(0, EVENTS, 1000):
                given = [
                    {"event_id": e["eventId"], "event_ts_ms": e["eventTsMs"], **{n: e[n] for n in list(e)[2:]}}
                    for e in events(EVENTS)[at : at + 1000]
                ]
                await parts.ingest.events(given)
            documents = Documents(schema, Limits.of(settings), PageSizes(), introspection=True)
            garbage.settle()
            found = await measured(Bench(parts, documents, {"first": 100}))
    rows = [
        [step, f"{ours:,.1f}", f"{ordinary:,.1f}" if ordinary else "", f"{ordinary / ours:,.1f}" if ordinary else ""]
        for step, ours, ordinary in found
    ]
    print(table(["step", "µs", "ordinary µs", "ratio"], rows))


if __name__ == "__main__":
    gc.collect()
    asyncio.run(main())
