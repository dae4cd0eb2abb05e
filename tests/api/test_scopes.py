"""Who may do what: each field needs its scope, and of an operation that lacks one nothing is resolved."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from graph.access.callers import Scope
from graph.domains.data_files.scopes import FILES_READ, FILES_WRITE
from graph.domains.earthquakes.ingest.ingest import EVENTS_ROUTE
from graph.domains.earthquakes.scopes import EVENTS_READ, EVENTS_WRITE
from graph.domains.request_logs.scopes import LOGS_READ
from graph.domains.service_logs.scopes import SERVICE_LOGS_READ, SERVICE_LOGS_WRITE
from graph.domains.sightings.scopes import SIGHTINGS_MODERATE, SIGHTINGS_READ, SIGHTINGS_WRITE
from graph.domains.triggers.scopes import TRIGGERS_READ, TRIGGERS_WRITE
from tests.bearers import SCOPES, bearer
from tests.domains.earthquakes.usgs.usgs_server import UsgsServer
from tests.processes import TIMEOUT_S
from tests.service import Service, running, settings

GRAPHQL_JSON = "application/graphql-response+json"

NEEDED: dict[Scope, list[str]] = {
    EVENTS_READ: [
        "{ events { totalCount } }",
        "{ catalogueStatistics { count } }",
        '{ event(eventId: "us1") { id } }',
        "{ ingestStatus { failures } }",
        '{ node(id: "MTpFdmVudDpuYzczOTE5OTg2") { id } }',
        '{ nodes(ids: ["MTpFdmVudDpuYzczOTE5OTg2"]) { id } }',
    ],
    EVENTS_WRITE: [
        "mutation { ingestRecent { fetched } }",
        "mutation { ingestEvents(input: {events: []}) { fetched } }",
    ],
    LOGS_READ: [
        "{ requestLogs { nodes { id } } }",
        "{ popularFilters { totalRequests } }",
        '{ node(id: "MTpSZXF1ZXN0TG9nOjE3MDAwMDAwMDAwMDAjeQ") { id } }',
    ],
    SIGHTINGS_READ: [
        "{ sightings { nodes { id } } }",
        '{ sighting(id: "00000000-0000-7000-8000-000000000000") { id } }',
        "{ sightingCategories }",
        "{ trending { count } }",
        "{ areas { nodes { slug } } }",
    ],
    SIGHTINGS_WRITE: [
        'mutation { reportSighting(input: {category: SHAKING, area: "Downtown"}) { created } }',
        'mutation { watchArea(input: {area: "Downtown"}) { watch { id } } }',
        "{ profile { reports } }",
        "{ areaWatches { nodes { id } } }",
    ],
    FILES_READ: [
        '{ dataFile(name: "l1a.nc") { id } }',
        "{ dataFiles { nodes { id } } }",
        "{ calibrations { nodes { calibrates } } }",
        '{ run(runId: "00000000-0000-7000-8000-000000000000") { id } }',
        '{ node(id: "MTpEYXRhRmlsZTpsMWEubmM") { id } }',
        '{ nodes(ids: ["MTpEYXRhRmlsZVJldmlzaW9uOmwxYS5uY0Ax", "MTpSdW46eA"]) { id } }',  # pragma: allowlist secret
    ],
    FILES_WRITE: [
        "mutation { registerFiles(input: {files: []}) { registered } }",
        'mutation { recordRun(input: {algorithm: "l1a"}) { run { id } } }',
    ],
}
NEEDS = [(scope, query) for scope, queries in NEEDED.items() for query in queries]


@pytest.fixture(scope="module")
def private(tmp_path_factory: pytest.TempPathFactory, _usgs: UsgsServer) -> Iterator[Service]:
    """A service that shows nothing to those whom it does not know."""
    store = tmp_path_factory.mktemp("private") / "private.db"
    with running(settings(store, _usgs, public_read=False)) as service:
        yield service


def answered(
    service: Service, query: str, headers: dict[str, str] | None, variables: dict[str, Any] | None = None
) -> httpx.Response:
    """The answer to a caller with just these headers."""
    with httpx.Client(base_url=service.http.base_url, headers=headers, timeout=TIMEOUT_S) as client:
        body = {"query": query, "variables": variables}
        return client.post("/graphql", json=body, headers={"Accept": GRAPHQL_JSON})


def code_of(answer: httpx.Response) -> str | None:
    errors = answer.json().get("errors")
    return errors[0]["extensions"]["code"] if errors else None


@pytest.mark.parametrize(("scope", "query"), NEEDS)
def test_a_field_needs_its_scope_and_no_other(private: Service, scope: Scope, query: str) -> None:
    others = [other for other in SCOPES if other is not scope]

    assert code_of(answered(private, query, bearer(scope))) is None
    forbidden, nobody = answered(private, query, bearer(*others)), answered(private, query, None)
    assert (code_of(forbidden), code_of(nobody)) == ("FORBIDDEN", "UNAUTHENTICATED")
    for refused in (forbidden, nobody):
        assert f"`{scope}`" in refused.json()["errors"][0]["message"]
        assert not any((refused.json().get("data") or {}).values())


@pytest.mark.parametrize("query", [query for scope, query in NEEDS if scope is not EVENTS_READ])
def test_scopes_are_checked_before_any_field_is_resolved(private: Service, query: str) -> None:
    nobody, forbidden = answered(private, query, None), answered(private, query, bearer(EVENTS_READ))

    assert (nobody.status_code, nobody.headers["WWW-Authenticate"]) == (401, "Bearer")
    assert (forbidden.status_code, forbidden.headers.get("WWW-Authenticate")) == (403, None)
    assert nobody.json().keys() == forbidden.json().keys() == {"errors"}


def test_reading_is_open_unless_it_is_closed(week: Service, private: Service) -> None:
    for query in NEEDED[EVENTS_READ] + NEEDED[SIGHTINGS_READ] + NEEDED[FILES_READ]:
        assert code_of(answered(week, query, None)) is None
        assert code_of(answered(week, query, bearer(LOGS_READ))) is None
        assert code_of(answered(private, query, None)) == "UNAUTHENTICATED"


def test_one_forbidden_field_forbids_its_whole_operation(service: Service) -> None:
    """Wherever the field stands: behind an alias, in a fragment, beside what is allowed, behind `@skip`."""
    write = 'ingestEvents(input: {events: [{eventId: "us1", eventTsMs: 0, mag: 1, lat: 0, lon: 0}]}) { upserted }'
    reader = bearer(EVENTS_READ, LOGS_READ)
    for query in (
        f"mutation {{ a: {write} }}",
        f"mutation {{ ...F }} fragment F on Mutation {{ ...G }} fragment G on Mutation {{ {write} }}",
        f"mutation {{ ... on Mutation {{ ... @include(if: true) {{ {write} }} }} }}",
        f"mutation {{ __typename {write} }}",
        f"mutation {{ {write.replace('{ upserted }', '@skip(if: true) { upserted }')} }}",
    ):
        assert code_of(answered(service, query, reader)) == "FORBIDDEN"
    mixed = "{ events { totalCount } popularFilters { totalRequests } }"
    assert answered(service, mixed, bearer(EVENTS_READ)).json().keys() == {"errors"}

    routes = service.ask("{ requestLogs { nodes { route } } }")["requestLogs"]["nodes"]
    assert routes == []  # nothing of all that was begun
    assert service.ask("{ events { totalCount } }") == {"events": {"totalCount": 0}}


def test_only_the_executed_operation_needs_a_scope(service: Service) -> None:
    document = "query Read { events { totalCount } } mutation Write { ingestEvents(input: {events: []}) { fetched } }"
    with httpx.Client(base_url=service.http.base_url, timeout=TIMEOUT_S) as client:
        read = client.post("/graphql", json={"query": document, "operationName": "Read"})
        write = client.post("/graphql", json={"query": document, "operationName": "Write"})

    assert (code_of(read), code_of(write)) == (None, "UNAUTHENTICATED")


def test_a_node_of_another_type_takes_that_types_scope(service: Service) -> None:
    service.ask("mutation { ingestEvents(input: {events: []}) { fetched } }")
    (log,) = service.ask("{ requestLogs { nodes { id route } } }")["requestLogs"]["nodes"]
    assert log["route"] == EVENTS_ROUTE

    for query in (f'{{ node(id: "{log["id"]}") {{ id }} }}', f'{{ nodes(ids: ["{log["id"]}"]) {{ id }} }}'):
        assert code_of(answered(service, query, None)) == "UNAUTHENTICATED"
        assert code_of(answered(service, query, bearer(EVENTS_WRITE))) == "FORBIDDEN"
        data: dict[str, Any] = answered(service, query, bearer(LOGS_READ)).json()["data"]
        assert log["id"] in str(data)


AN_EVENT, A_LOG = "MTpFdmVudDpuYzczOTE5OTg2", "MTpSZXF1ZXN0TG9nOjE3MDAwMDAwMDAwMDAjeQ"
READ = 'a: event(eventId: "us1") { mag }'

# A query that names a log beside what anybody may read, and its variables.
NAMING_A_LOG: dict[str, tuple[str, dict[str, Any] | None]] = {
    "a literal": (f'{{ {READ} b: node(id: "{A_LOG}") {{ id }} }}', None),
    "literals": (f'{{ {READ} b: nodes(ids: ["{AN_EVENT}", "{A_LOG}"]) {{ id }} }}', None),
    "a literal for a list": (f'{{ {READ} b: nodes(ids: "{A_LOG}") {{ id }} }}', None),
    "a variable": (f"query ($id: ID!) {{ {READ} b: node(id: $id) {{ id }} }}", {"id": A_LOG}),
    "a variable of a list": (f"query ($ids: [ID!]!) {{ {READ} b: nodes(ids: $ids) {{ id }} }}", {"ids": [A_LOG]}),
    "one value for a list": (f"query ($ids: [ID!]!) {{ {READ} b: nodes(ids: $ids) {{ id }} }}", {"ids": A_LOG}),
    "a variable in a list": (
        f'query ($id: ID!) {{ {READ} b: nodes(ids: ["{AN_EVENT}", $id]) {{ id }} }}',
        {"id": A_LOG},
    ),
    "a default": (f'query ($id: ID! = "{A_LOG}") {{ {READ} b: node(id: $id) {{ id }} }}', None),
    "a default of a list": (f'query ($ids: [ID!]! = ["{A_LOG}"]) {{ {READ} b: nodes(ids: $ids) {{ id }} }}', {}),
    "a fragment": (f'{{ {READ} ...F }} fragment F on Query {{ ... {{ b: node(id: "{A_LOG}") {{ id }} }} }}', None),
    "what may be left out": (
        f'query ($no: Boolean!) {{ {READ} b: node(id: "{A_LOG}") @include(if: $no) {{ id }} }}',
        {"no": False},
    ),
    "beside what is no id": (f'{{ {READ} b: node(id: "x") {{ id }} c: node(id: "{A_LOG}") {{ id }} }}', None),
}


@pytest.mark.parametrize("name", NAMING_A_LOG)
def test_an_operation_with_a_forbidden_node_resolves_nothing(service: Service, name: str) -> None:
    query, variables = NAMING_A_LOG[name]
    for headers, code in ((None, "UNAUTHENTICATED"), (bearer(EVENTS_READ), "FORBIDDEN")):
        refused = answered(service, query, headers, variables)
        assert (code_of(refused), refused.json().keys()) == (code, {"errors"})
        assert f"`{LOGS_READ}`" in refused.json()["errors"][0]["message"]

    assert service.ask("{ requestLogs { nodes { route } } }") == {"requestLogs": {"nodes": []}}
    assert answered(service, query, bearer(EVENTS_READ, LOGS_READ), variables).json()["data"].keys() >= {"a"}


def test_ids_that_name_what_is_allowed_or_nothing_need_no_scope_more(service: Service) -> None:
    query = (
        f'query ($id: ID! = "x", $ids: [ID!]! = []) {{ {READ} b: node(id: $id) {{ id }} c: nodes(ids: $ids) {{ id }} }}'
    )
    a_place = "MTpQbGFjZTp1czE"

    def codes(**variables: Any) -> set[str]:
        errors = answered(service, query, bearer(EVENTS_READ), variables).json().get("errors", [])
        return {error["extensions"]["code"] for error in errors}

    assert codes(id=AN_EVENT, ids=[AN_EVENT]) == set()
    for variables in ({"ids": ["y"]}, {"id": a_place}, {"id": None}, {"id": 5}, {"id": [A_LOG]}, {"ids": [[A_LOG]]}):
        assert codes(**variables) == {"BAD_USER_INPUT"}
    assert codes(id=AN_EVENT, ids=[A_LOG] * 101) == {"BAD_USER_INPUT"}  # more than one may ask for, and none is read


def test_an_invalid_token_is_refused_even_if_none_is_needed(week: Service) -> None:
    forged = {"Authorization": bearer()["Authorization"][:-2] + "xx"}

    answer = answered(week, "{ __typename }", forged)

    assert (answer.status_code, code_of(answer), answer.json().keys()) == (401, "UNAUTHENTICATED", {"errors"})


def test_the_schema_says_which_scope_a_field_needs(week: Service) -> None:
    roots = {EVENTS_READ: "Query", EVENTS_WRITE: "Mutation", LOGS_READ: "Query", SIGHTINGS_READ: "Query"}
    for scope, root in roots.items():
        fields = week.ask(f'{{ __type(name: "{root}") {{ fields {{ name description }} }} }}')["__type"]["fields"]
        told = {field["name"] for field in fields if f"Needs the scope `{scope}`" in field["description"]}
        named = {query.split("{")[1].split("(")[0].strip(" }") for query in NEEDED[scope]} - {"node", "nodes"}
        assert told == named


def test_the_printed_schema_has_the_scopes() -> None:
    printed = (Path(__file__).parents[2] / "schema.graphql").read_text()

    numbers = {
        EVENTS_READ: 6,
        EVENTS_WRITE: 2,
        FILES_READ: 7,
        FILES_WRITE: 2,
        LOGS_READ: 3,
        SERVICE_LOGS_READ: 5,
        SERVICE_LOGS_WRITE: 1,
        SIGHTINGS_READ: 8,
        SIGHTINGS_WRITE: 6,
        SIGHTINGS_MODERATE: 1,
        TRIGGERS_READ: 6,
        TRIGGERS_WRITE: 12,
    }
    for scope, fields in numbers.items():
        assert printed.count(f'@requiresScope(scope: "{scope}")') == fields
