"""The checks that public scanners of GraphQL services make, graphql-cop's among them: each is refused."""

from collections.abc import Iterator
from typing import Any

import httpx
import orjson
import pytest
from graphql import get_introspection_query

from tests.attacks.leaks import checked
from tests.domains.earthquakes.usgs.usgs_server import UsgsServer
from tests.service import Service, running, settings

GRAPHQL_JSON = "application/graphql-response+json"


@pytest.fixture(scope="module")
def closed(tmp_path_factory: pytest.TempPathFactory, _usgs: UsgsServer) -> Iterator[Service]:
    """A service that shows neither its schema nor GraphiQL."""
    store = tmp_path_factory.mktemp("closed") / "empty.db"
    with running(settings(store, _usgs, introspection=False, graphiql=False)) as service:
        yield service


def ask(service: Service, query: str, **others: Any) -> httpx.Response:
    body = {"query": query, **others}
    return checked(service.http.post("/graphql", json=body, headers={"Accept": GRAPHQL_JSON}))


def code_of(answer: httpx.Response) -> str:
    assert answer.json().keys() == {"errors"}
    return str(answer.json()["errors"][0]["extensions"]["code"])


def test_a_field_that_is_repeated_is_resolved_once(week: Service) -> None:
    repeated = "bucketsScanned " * 100
    assert ask(week, f"{{ events(first: 0) {{ {repeated} }} }}").json() == {"data": {"events": {"bucketsScanned": 1}}}


def test_fields_are_not_suggested_where_the_schema_is_not_shown(week: Service, closed: Service) -> None:
    for query in (
        "{ evnts { nodes { id } } }",
        "{ events(frst: 1) { totalCount } }",
        "{ events(orderBy: TIME) { edge } }",
    ):
        assert "Did you mean" in ask(week, query).text
        assert "Did you mean" not in ask(closed, query).text
    variables = {"order": "TIME_DES", "filter": {"minMagnitud": 1}}
    with_variables = (
        "query($order: EventOrder!, $filter: EventFilter) { events(orderBy: $order, filter: $filter) { totalCount } }"
    )
    assert "Did you mean" in ask(week, with_variables, variables=variables).text
    assert "Did you mean" not in ask(closed, with_variables, variables=variables).text


def test_the_schema_is_shown_only_where_it_should_be(week: Service, closed: Service) -> None:
    introspection = get_introspection_query()
    shown = week.http.post("/graphql", json={"query": introspection}).json()["data"]["__schema"]
    assert {named["name"] for named in shown["types"]} >= {"Event", "EventConnection"}

    for query in (introspection, "{ __schema { types { name } } }", '{ __type(name: "Event") { name } }'):
        answer = ask(closed, query)
        assert (answer.status_code, code_of(answer)) == (400, "GRAPHQL_VALIDATION_FAILED")
    assert ask(closed, "{ __typename events { __typename } }").status_code == 200


def test_graphiql_is_not_shown_where_it_should_not_be(closed: Service) -> None:
    browser = {"Accept": "text/html,application/xhtml+xml,*/*;q=0.8", "User-Agent": "Mozilla/5.0"}

    answer = checked(closed.http.get("/graphql", headers={**browser, "Authorization": ""}))
    assert (answer.status_code, code_of(answer)) == (400, "CSRF_PREVENTION")
    assert closed.http.get("/packages/graphiql/graphiql-3.8.3.min.js").status_code == 404


def test_the_cost_is_reported_on_request(week: Service) -> None:
    def extensions(query: str, **headers: str) -> Any:
        answer = week.http.post(
            "/graphql", content=orjson.dumps({"query": query}), headers={"Content-Type": "application/json", **headers}
        )
        return answer.json().get("extensions")

    fits = "{ events(first: 10) { nodes { id } } }"
    page = "events(first: 1000) { nodes { id mag lat lon depth place time sig felt url type status } }"
    does_not = f"{{ a: {page} b: {page} }}"
    assert extensions(fits) is None
    assert extensions(fits, **{"GraphQL-Cost": "report"}) == {"cost": {"points": 13, "limit": 20_000}}
    assert extensions(does_not, **{"GraphQL-Cost": "report"}) == {"cost": {"points": 24_204, "limit": 20_000}}
