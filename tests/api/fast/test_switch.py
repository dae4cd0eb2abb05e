"""`GRAPH_COMPILED=false` leaves everything to graphql-core and Strawberry, and answers alike."""

from pathlib import Path
from typing import Any

import pytest
import strawberry
from strawberry import relay

from graph.api.fast.plan import OperationPlan
from graph.api.fast.resolvers import replace_slow_resolvers
from graph.app import schema_of
from graph.domains import DOMAINS
from tests.service import running
from tests.settings import Settings

QUERIES = (
    "{ events(first: 3) { nodes { id eventId time mag place nearby(first: 2) { nodes { id } } } totalCount } }",
    '{ event(eventId: "us1") { mag depth } events(filter: {minMagnitude: 5}) { edges { cursor node { url } } } }',
    '{ events(after: "x") { nodes { mag } } }',
    "query ($n: Int) { events(first: $n) { pageInfo { hasNextPage endCursor } } }",
    "{ eventVersions(asOf: {first: true}) { totalCount } }",
)


@pytest.mark.parametrize("compiled", [True, False])
def test_compiled_functions_are_made_only_where_they_are_switched_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, compiled: bool
) -> None:
    plans: list[OperationPlan] = []
    made = OperationPlan.__post_init__

    def noted(plan: OperationPlan) -> None:
        made(plan)
        plans.append(plan)

    monkeypatch.setattr(OperationPlan, "__post_init__", noted)
    with running(Settings(store=f"sqlite:///{tmp_path}/quakes.db", compiled=compiled)) as service:
        service.ask(QUERIES[0])
        service.http.post("/graphql", json={"query": QUERIES[3], "variables": {"n": 2}})

    assert {plan.compiled for plan in plans} == {compiled}
    assert any(plan._functions for plan in plans) is compiled
    assert any(plan._resolutions for plan in plans) is compiled
    assert any("_variables" in vars(plan) for plan in plans) is compiled


def test_the_schema_keeps_strawberrys_resolvers_where_it_is_switched_off() -> None:
    ordinary, quick = (schema_of(DOMAINS, compiled=compiled).graphql for compiled in (False, True))
    before = {name: field.resolve for name, field in ordinary.query_type.fields.items()}  # type: ignore[union-attr]

    replace_slow_resolvers(ordinary.type_map.values())

    after = {name: field.resolve for name, field in ordinary.query_type.fields.items()}  # type: ignore[union-attr]
    assert before["events"] is not after["events"]
    schema_of.cache_clear()
    assert quick.query_type is not None
    assert quick.query_type.fields["events"].resolve is not before["events"]


async def test_an_argument_may_have_any_name_but_no_value_that_only_strawberry_makes() -> None:
    def of(argument: Any) -> strawberry.Schema:
        @strawberry.type
        class Query:
            @strawberry.field
            async def told(self, source: argument, raw: int = 1) -> int:
                return raw if source is None else source.raw

        schema = strawberry.Schema(Query)
        replace_slow_resolvers(schema._schema.type_map.values())
        return schema

    @strawberry.input
    class Numbered:
        raw: int = 3

    @strawberry.input
    class Unsaid:
        raw: strawberry.Maybe[int]

    @strawberry.input
    class Filled:
        raw: Numbered = strawberry.field(default_factory=Numbered)

    assert (await of(Numbered | None).execute("{ a: told(source: {}) b: told(source: null, raw: 2) }")).data == {
        "a": 3,
        "b": 2,
    }
    for refused in (Unsaid, Filled, relay.GlobalID, relay.GlobalID | None):
        with pytest.raises(TypeError, match=r"is a Maybe or a GlobalID|has an object by default"):
            of(refused)


UNTIMELY = '{eventId: "a", time: "x", mag: 1, lat: 1, lon: 1}'
PLACED = {
    "{ events(first: -1) { nodes { id } } }": 3,
    "{ events(first: 2, last: 2) { nodes { id } } }": 3,
    "{ events(filter: {minMagnitude: 5, maxMagnitude: 3}) { nodes { id } } }": 3,
    '{ events(after: "bad") { nodes { id } } }': 3,
    "{ events(first: 1) { nodes { id } } a: events(last: -1) { nodes { id } } }": 37,
    '{ event(eventId: "us1") { nearby(days: -1) { nodes { id } } } }': 27,
    "{ eventVersions(asOf: {}) { totalCount } }": 3,
    '{ node(id: "x") { id } }': 3,
    '{ events(filter: {startTime: "nonsense"}) { totalCount } }': 30,
    '{ events(filter: {types: ["a", 7]}) { totalCount } }': 32,
    f"mutation {{ ingestEvents(input: {{events: [{UNTIMELY}]}}) {{ upserted }} }}": 63,
    f"mutation {{ ingestEvents(input: {{events: {UNTIMELY}}}) {{ upserted }} }}": 62,
}
"""Documents with a wrong argument, and the column of the field or of the literal."""
ONE_OF = ("{}", "{first: null}", '{first: true, recorded: "2023-08-03T00:00:00Z"}')  # no values of a `@oneOf` input
EVENTS = [
    {"eventId": f"us{number}", "eventTsMs": 1_690_000_000_000 + number, "mag": number, "lat": 1, "lon": 2}
    for number in range(1, 8)
]


def test_compiled_and_ordinary_execution_give_the_same_answer(tmp_path: Path) -> None:
    """Also at a second time, when what is compiled is kept."""
    refused = [f"{{ eventVersions(asOf: {given}) {{ totalCount }} }}" for given in ONE_OF]
    asked = [*QUERIES, *refused, *PLACED] * 2
    found = []
    for compiled in (True, False):
        store = f"sqlite:///{tmp_path}/{compiled}.db"
        with running(Settings(store=store, compiled=compiled), clock=lambda: 1_700_000_000_000) as service:
            ingest = "mutation ($e: [EventInput!]!) { ingestEvents(input: {events: $e}) { upserted } }"
            assert service.ask(ingest, {"e": EVENTS}) == {"ingestEvents": {"upserted": len(EVENTS)}}
            bodies = [{"query": query, "variables": {"n": 2}} for query in asked]
            found.append([service.http.post("/graphql", json=body).json() for body in bodies])

    assert found[0] == found[1]
    for query, answer in zip(asked, found[0], strict=True):
        if query in refused:
            (error,) = answer["errors"]
            assert error["extensions"]["code"] in ("GRAPHQL_VALIDATION_FAILED", "BAD_USER_INPUT"), query
        if query in PLACED:
            (error,) = answer["errors"]
            assert error["locations"] == [{"line": 1, "column": PLACED[query]}], query
