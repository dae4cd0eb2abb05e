"""For each argument of the schema and each route: the largest values that are taken hold the event loop for few steps.

The cases are generated, so a new argument is tested from its first day. A step is a call of a function, in Python or
in C: so many take some 15 ms.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import httpx
import orjson
import pytest
from google.protobuf.json_format import ParseDict
from graphql import (
    GraphQLField,
    GraphQLInputObjectType,
    GraphQLInputType,
    GraphQLList,
    GraphQLScalarType,
    get_nullable_type,
    is_required_argument,
)
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from pydantic import SecretStr

from graph.app import create_app
from graph.domain import scopes_of
from graph.domains import DOMAINS
from graph.domains.fdsn.parameters import PARAMETERS
from graph.store.values import VALUES
from graph.transport.request import MOST_VALUES
from tests.attacks.steps import Steps
from tests.bearers import SECRET, bearer
from tests.contracts.documents import OPERATIONS, leaves, value_of
from tests.domains.earthquakes.usgs.usgs_server import UsgsServer
from tests.domains.otlp.messages import PROTOBUF
from tests.effort import THOROUGH, rounds
from tests.processes import TIMEOUT_S
from tests.schemas import schema
from tests.service import serving, settings

MOST_STEPS = 100_000
MOST_STEPS_TO_SUBSCRIBE = 120_000  # some 18 ms: Strawberry converts the 1,000 values of a list, each in 115 steps
EVENT_STREAM = "text/event-stream"
MANY = MOST_VALUES - 100
LONG = 900_000  # characters

LONGEST_PARAMETER = 20_000  # characters; the head of a request has 64 kB at most, encoded

Build = Callable[[Any], Any]
"""A value at a place in an argument → the argument."""
Place = tuple[str, GraphQLInputType, Build]
"""A place within an argument: its path, its type, and what builds the argument around a value there."""


def places(type_: GraphQLInputType, build: Build, place: str, met: set[str]) -> Iterator[Place]:
    """Each place within an argument.

    Args:
        met: names of input objects, within which the places are the same again.
    """
    named: Any = get_nullable_type(type_)
    yield place, named, build
    if isinstance(named, GraphQLList):
        yield from places(named.of_type, lambda value: build([value]), place, met)
    elif isinstance(named, GraphQLInputObjectType) and named.name not in met:
        met.add(named.name)
        for name, field in named.fields.items():
            base = {} if named.is_one_of else value_of(named)
            yield from places(field.type, partial(_with_field, build, base, name), f"{place}.{name}", met)


def _with_field(build: Build, base: Mapping[str, Any], name: str, value: Any) -> Any:
    return build({**base, name: value})


def large_values(type_: Any) -> Iterator[Any]:
    """Values of a type that are as large as a request may have."""
    if isinstance(type_, GraphQLList):
        element = value_of(type_.of_type)
        size = len(orjson.dumps(element)) + 1
        each = 1 + orjson.dumps(element).count(b",") + orjson.dumps(element).count(b"{")
        for number in (min(MANY // each, LONG // size), 1000, *((100,) if THOROUGH else ())):
            yield [element] * number
    elif isinstance(type_, GraphQLInputObjectType):
        yield {f"a{number}": 1 for number in range(MANY)}
    elif isinstance(type_, GraphQLScalarType) and type_.name == "JSON":
        for number in (MANY, VALUES - 10):
            yield {"a": [1.5] * number}
            yield {f"a{at}": {"b": [1]} for at in range(number // 4)}
        yield {"a": "é" * (LONG // 2)}
        yield {"a": "x" * 250_000, "b": [0.1] * 9_000}
    elif isinstance(type_, GraphQLScalarType) and type_.name in ("Int", "Float", "EpochMillis", "Boolean"):
        yield from (2**31 - 1, 1e308)
    else:
        yield from ("1." * (LONG // 2), "é" * (LONG // 3))[: rounds(2, at_least=1)]


def arguments() -> Iterator[Any]:
    """The arguments of the root fields, and the places in them. A quick run tries those of an input object once."""
    for parent, operation in OPERATIONS.items():
        met: set[str] = set()
        for name, field in schema.type_map[parent].fields.items():  # type: ignore[attr-defined]
            for each, of in field.args.items():
                tried = list(places(of.type, lambda value: value, each, set() if THOROUGH else met))
                yield pytest.param(operation, field, name, each, tried, id=f"{operation} {name}.{each}")


@dataclass(frozen=True)
class Counted:
    """A service whose steps are counted."""

    steps: Steps
    http: httpx.Client

    def send(self, place: str, method: str, path: str, **request: Any) -> None:
        """Send a request, which must hold the loop for few steps. It is taken, or refused by a code."""
        with self.steps.counted(), self.http.stream(method, path, **request) as answer:
            is_stream = answer.headers.get("content-type", "").startswith(EVENT_STREAM)
            if is_stream:
                self.http.get("/healthz")  # behind which the subscription has begun
            else:
                answer.read()
        assert answer.status_code < 500, place
        assert self.steps.most <= (MOST_STEPS_TO_SUBSCRIBE if is_stream else MOST_STEPS), place


@pytest.fixture(scope="module")
def counted(tmp_path_factory: pytest.TempPathFactory, _usgs: UsgsServer) -> Iterator[Counted]:
    given = settings(tmp_path_factory.mktemp("large") / "large.db", _usgs, jwt_secret=SecretStr(SECRET), max_cost=10**6)
    steps = Steps(create_app(given))
    headers = bearer(*scopes_of(DOMAINS), subject="anna")
    with serving(steps) as url, httpx.Client(base_url=url, headers=headers, timeout=TIMEOUT_S) as http:
        http.get("/healthz")
        yield Counted(steps, http)


@pytest.mark.repeated
@pytest.mark.parametrize(("operation", "field", "name", "argument", "tried"), list(arguments()))
def test_the_largest_values_of_an_argument_hold_the_loop_for_few_steps(
    counted: Counted, operation: str, field: GraphQLField, name: str, argument: str, tried: list[Place]
) -> None:
    accept = {"accept": EVENT_STREAM} if operation == "subscription" else {}
    required = {each: value_of(of.type) for each, of in field.args.items() if is_required_argument(of)}
    names = {*required, argument}
    declared = ", ".join(f"${each}: {field.args[each].type}" for each in names)
    given = ", ".join(f"{each}: ${each}" for each in names)
    document = f"{operation} ({declared}) {{ {name}({given}){leaves(field.type)} }}"
    for place, type_, build in tried:
        for value in large_values(type_):
            body = {"query": document, "variables": {**required, argument: build(value)}}
            counted.send(f"{name}: {place}", "POST", "/graphql", json=body, headers=accept)


PARAMETERS_OF = {
    "/fdsnws/event/1/query": [each.name for each in PARAMETERS],
    "/export/events.csv": [*schema.type_map["EventFilter"].fields, "orderBy"],  # type: ignore[attr-defined]
}


@pytest.mark.parametrize("path", PARAMETERS_OF)
def test_the_largest_parameters_of_a_download_hold_the_loop_for_few_steps(counted: Counted, path: str) -> None:
    for name in PARAMETERS_OF[path]:
        for text in ("x" * LONGEST_PARAMETER, "a," * (LONGEST_PARAMETER // 2), "1." * (LONGEST_PARAMETER // 2)):
            counted.send(name, "GET", path, params={name: text})


def records(*each: Any) -> Any:
    return {"resourceLogs": [{"scopeLogs": [{"logRecords": each}]}]}


ATTRIBUTE = {"key": "a", "value": {"intValue": 1}}
DATASET: dict[str, Any] = {"namespace": "n", "name": "x"}
EVENT: dict[str, Any] = {
    "schemaURL": "https://x/#",
    "producer": "https://x",
    "eventTime": "2023-08-03T00:00:00Z",
    "job": {"namespace": "n", "name": "x"},
}
RUN: dict[str, Any] = {**EVENT, "eventType": "START", "run": {"runId": "01930c5f-7a3e-7cc4-98a5-3f0d6d1c2b7e"}}
BODIES: dict[str, list[Any]] = {
    "/v1/logs": [
        *(records(*[{}] * 10_000), records(*[{"body": {"stringValue": "x"}, "attributes": [ATTRIBUTE] * 10}] * 5_000)),
        *(records({"attributes": [ATTRIBUTE] * 9_900}), records({"body": {"stringValue": "x" * 4_000_000}})),
        *({"resourceLogs": [{}] * 900_000}, {"resourceLogs": [{"resource": {"attributes": [ATTRIBUTE] * 90_000}}]}),
    ],
    "/api/v1/lineage": [
        *({**RUN, "inputs": [DATASET] * each} for each in (70_000, 1000)),
        *(
            {
                **RUN,
                "outputs": [
                    {**DATASET, "name": f"{at}", "facets": {f"a{n}": {} for n in range(45)}} for at in range(1000)
                ],
            },
            [EVENT] * 1000,
        ),
        {**RUN, "run": {**RUN["run"], "facets": {f"a{at}": {} for at in range(90_000)}}},
        {**EVENT, "dataset": {**DATASET, "facets": {"tags": {"tags": [{"key": "k", "value": "v"}] * 30_000}}}},
    ],
}


@pytest.mark.parametrize("path", BODIES)
def test_the_largest_bodies_of_a_route_hold_the_loop_for_few_steps(counted: Counted, path: str) -> None:
    for number, body in enumerate(BODIES[path]):
        counted.send(f"{number}", "POST", path, json=body)


def test_the_largest_bodies_in_protobuf_hold_the_loop_for_few_steps(counted: Counted) -> None:
    long = records(*[{"body": {"stringValue": "x" * 1_000_000}, "attributes": [ATTRIBUTE] * 120}] * 15)
    for number, body in enumerate([*BODIES["/v1/logs"], long]):
        content = ParseDict(body, ExportLogsServiceRequest()).SerializeToString()
        counted.send(f"{number}", "POST", "/v1/logs", content=content, headers={"content-type": PROTOBUF})
