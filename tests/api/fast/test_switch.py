"""`GRAPH_COMPILED=false` leaves everything to graphql-core and Strawberry, and answers alike."""

from pathlib import Path

import pytest

from graph.api.fast.plan import Plan
from graph.api.fast.resolvers import shorten
from graph.app import schema_of
from graph.domains import DOMAINS
from tests.service import running
from tests.settings import Settings

QUERIES = (
    "{ events(first: 3) { nodes { id eventId time mag place nearby(first: 2) { nodes { id } } } totalCount } }",
    '{ event(eventId: "us1") { mag depth } events(filter: {minMagnitude: 5}) { edges { cursor node { url } } } }',
    '{ events(after: "x") { nodes { mag } } }',
    "query ($n: Int) { events(first: $n) { pageInfo { hasNextPage endCursor } } }",
    "{ events(asOf: {first: true}) { totalCount } }",
)
REFUSED = ("{}", "{first: null}", '{first: true, recorded: "2023-08-03T00:00:00Z"}')  # values of a `@oneOf` input


@pytest.mark.parametrize("compiled", [True, False])
def test_compiled_functions_are_made_only_where_they_are_switched_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, compiled: bool
) -> None:
    plans: list[Plan] = []
    made = Plan.__post_init__

    def noted(plan: Plan) -> None:
        made(plan)
        plans.append(plan)

    monkeypatch.setattr(Plan, "__post_init__", noted)
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

    shorten(ordinary.type_map.values())

    after = {name: field.resolve for name, field in ordinary.query_type.fields.items()}  # type: ignore[union-attr]
    assert before["events"] is not after["events"]
    schema_of.cache_clear()
    assert quick.query_type is not None
    assert quick.query_type.fields["events"].resolve is not before["events"]


def test_compiled_and_ordinary_execution_give_the_same_answer(tmp_path: Path) -> None:
    answers = []
    for compiled in (True, False):
        store = f"sqlite:///{tmp_path}/{compiled}.db"
        with running(Settings(store=store, compiled=compiled), clock=lambda: 1_700_000_000_000) as service:
            events = [
                {"eventId": f"us{number}", "eventTsMs": 1_690_000_000_000 + number, "mag": number, "lat": 1, "lon": 2}
                for number in range(1, 8)
            ]
            service.ask(
                "mutation ($e: [EventInput!]!) { ingestEvents(input: {events: $e}) { upserted } }", {"e": events}
            )
            answers.append(
                [
                    service.http.post("/graphql", json={"query": query, "variables": {"n": 2}}).json()
                    for query in QUERIES
                ]
            )

    assert answers[0] == answers[1]


@pytest.mark.parametrize("compiled", [True, False])
def test_a_one_of_input_needs_exactly_one_field(tmp_path: Path, compiled: bool) -> None:
    with running(Settings(store=f"sqlite:///{tmp_path}/quakes.db", compiled=compiled)) as service:
        for given in REFUSED:
            query = f"{{ events(asOf: {given}) {{ totalCount }} }}"
            (error,) = service.http.post("/graphql", json={"query": query}).json()["errors"]
            assert error["extensions"]["code"] in ("GRAPHQL_VALIDATION_FAILED", "BAD_USER_INPUT"), given


INLINE = (
    ("{ events(first: -1) { nodes { id } } }", 3),
    ("{ events(first: 2, last: 2) { nodes { id } } }", 3),
    ("{ events(filter: {minMagnitude: 5, maxMagnitude: 3}) { nodes { id } } }", 3),
    ('{ events(after: "bad") { nodes { id } } }', 3),
    ("{ events(first: 1) { nodes { id } } a: events(last: -1) { nodes { id } } }", 37),
    ('{ event(eventId: "us1") { nearby(days: -1) { nodes { id } } } }', 27),
    ("{ events(asOf: {}) { totalCount } }", 3),
    ('{ node(id: "x") { id } }', 3),
    ('{ events(filter: {startTime: "nonsense"}) { totalCount } }', 30),
    ('{ events(filter: {types: ["a", 7]}) { totalCount } }', 32),
    (
        'mutation { ingestEvents(input: {events: [{eventId: "a", time: "x", mag: 1, lat: 1, lon: 1}]}) { upserted } }',
        63,
    ),
    ('mutation { ingestEvents(input: {events: {eventId: "a", time: "x", mag: 1, lat: 1, lon: 1}}) { upserted } }', 62),
)
"""A document with a wrong argument, and the column of the field or of the literal."""


def test_an_error_of_an_argument_in_the_document_has_its_place(tmp_path: Path) -> None:
    """The same, compiled or not, and also at a second time, when what is compiled is kept."""
    for compiled in (True, False):
        store = f"sqlite:///{tmp_path}/{compiled}.db"
        with running(Settings(store=store, compiled=compiled), clock=lambda: 1_700_000_000_000) as service:
            event = '{eventId: "us1", eventTsMs: 1, mag: 1, lat: 1, lon: 1}'
            service.ask(f"mutation {{ ingestEvents(input: {{events: [{event}]}}) {{ upserted }} }}")
            for query, column in INLINE * 2:
                (error,) = service.http.post("/graphql", json={"query": query}).json()["errors"]
                assert error["locations"] == [{"line": 1, "column": column}], (compiled, query)
