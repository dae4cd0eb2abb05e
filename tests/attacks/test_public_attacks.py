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
FORM, TEXT = "application/x-www-form-urlencoded", "text/plain"
MUTATION = (
    'mutation { ingestEvents(input: {events: [{eventId: "x", eventTsMs: 0, mag: 1, lat: 0, lon: 0}]}) { fetched } }'
)


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


def test_an_overload_of_aliases_is_refused(week: Service) -> None:
    answer = ask(week, "{" + " ".join(f"alias{number}: __typename" for number in range(101)) + "}")

    assert (answer.status_code, code_of(answer)) == (400, "QUERY_TOO_COMPLEX")


def test_a_batch_is_refused(week: Service) -> None:
    batch = [{"query": "{ __typename }"}] * 10
    answer = checked(week.http.post("/graphql", json=batch))

    assert (answer.status_code, code_of(answer)) == (400, "BAD_REQUEST")


def test_an_overload_of_directives_is_refused(week: Service) -> None:
    for directive in ("@aa", "@skip(if: false)", "@include(if: true)"):
        answer = ask(week, "{ __typename " + directive * 60 + " }")
        assert (answer.status_code, code_of(answer)) == (400, "QUERY_TOO_COMPLEX")
    assert code_of(ask(week, "{ __typename @aa@aa }")) == "GRAPHQL_VALIDATION_FAILED"


def test_circular_introspection_is_refused(week: Service) -> None:
    circle = "name"
    for level in range(1, 13):
        circle = f"fields {{ type {{ {circle} }} }}"
        if level >= 3:
            answer = ask(week, f"{{ __schema {{ types {{ {circle} }} }} }}")
            assert answer.status_code == 400
            assert code_of(answer) in {"QUERY_TOO_COMPLEX", "GRAPHQL_VALIDATION_FAILED"}


def test_a_field_that_is_repeated_is_resolved_once(week: Service) -> None:
    assert code_of(ask(week, "{ " + "__typename " * 500 + "}")) == "QUERY_TOO_COMPLEX"
    repeated = "{{ events(first: 0) {{ {} }} }}"
    assert ask(week, repeated.format("bucketsScanned " * 100)).json() == {"data": {"events": {"bucketsScanned": 1}}}
    assert code_of(ask(week, repeated.format("bucketsScanned " * 480))) == "QUERY_TOO_COMPLEX"


def test_pages_cannot_be_multiplied_by_aliases(week: Service) -> None:
    pages = " ".join(f"p{number}: events(first: 1000) {{ nodes {{ id mag place }} }}" for number in range(10))

    assert code_of(ask(week, f"{{ {pages} }}")) == "QUERY_TOO_COMPLEX"


def test_root_fields_cannot_be_multiplied_by_fragments(week: Service) -> None:
    fields = " ".join(f'e{number}: event(eventId: "x") {{ id }}' for number in range(11))

    assert code_of(ask(week, f"{{ ...F }} fragment F on Query {{ {fields} }}")) == "QUERY_TOO_COMPLEX"


def test_a_mutation_by_get_is_refused(week: Service) -> None:
    answer = checked(week.http.get("/graphql", params={"query": MUTATION}))

    assert (answer.status_code, code_of(answer), answer.headers["Allow"]) == (405, "BAD_REQUEST", "POST")


def test_a_post_that_a_form_could_send_is_refused(week: Service) -> None:
    for content_type in (FORM, TEXT, "multipart/form-data; boundary=x", "application/graphql", ""):
        for body in (b"query=%7B__typename%7D", b'{"query": "{ __typename }"}', b"{ __typename }", b"--x--\r\n"):
            answer = checked(week.http.post("/graphql", content=body, headers={"Content-Type": content_type}))
            assert (answer.status_code, code_of(answer)) == (415, "BAD_REQUEST"), (content_type, body)


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


def test_graphiql_is_shown_only_where_it_should_be(week: Service, closed: Service) -> None:
    browser = {"Accept": "text/html,application/xhtml+xml,*/*;q=0.8", "User-Agent": "Mozilla/5.0"}

    assert 'id="graphiql"' in week.http.get("/graphql", headers=browser).text
    answer = checked(closed.http.get("/graphql", headers={**browser, "Authorization": ""}))
    assert (answer.status_code, code_of(answer)) == (400, "CSRF_PREVENTION")
    assert closed.http.get("/packages/graphiql/graphiql-3.8.3.min.js").status_code == 404


def test_nothing_is_traced_for_a_client(week: Service) -> None:
    for headers in ({"X-Apollo-Tracing": "1"}, {"Apollo-Federation-Include-Trace": "ftv1"}, {"X-Debug": "1"}):
        answer = week.http.post(
            "/graphql", json={"query": "{ __typename }", "extensions": {"tracing": True}}, headers=headers
        )
        assert answer.json() == {"data": {"__typename": "Query"}}


def test_a_malformed_document_is_a_parse_error(week: Service) -> None:
    unclosed = '{ events(after: """) }'
    for query in ("qwerty { abc }", "{", "}", "{ __typename(a: ) }", unclosed, "query ($) { a }", "\ufeff{"):
        assert code_of(ask(week, query)) == "GRAPHQL_PARSE_FAILED", query


def test_the_paths_of_other_consoles_are_not_there(week: Service) -> None:
    for path in ("graphql/console", "playground", "altair", "voyager", "graphql/schema", ".env", "admin", "docs"):
        assert checked(week.http.get(f"/{path}")).status_code == 404


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
