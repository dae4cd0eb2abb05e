"""Who may do what: each field needs its scope, and of an operation that lacks one nothing is resolved."""

from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from graph.api.scopes import required_scope
from graph.domains.earthquakes.scopes import EVENTS_READ
from graph.domains.request_logs.scopes import LOGS_READ
from tests.bearers import bearer
from tests.domains.earthquakes.usgs.usgs_server import UsgsServer
from tests.processes import TIMEOUT_S
from tests.schemas import printed, schema
from tests.service import Service, running, settings

GRAPHQL_JSON = "application/graphql-response+json"

OPEN = ["{ events { totalCount } }", "{ sightings { nodes { id } } }", "{ dataFiles { nodes { id } } }"]
"""What anybody may read, unless the operator closes it."""


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


def test_a_refusal_names_the_scope_and_comes_before_any_field_is_resolved(private: Service) -> None:
    """`tests.contracts` asks for every field of the schema."""
    for query in ("{ requestLogs { nodes { id } } }", "{ events { totalCount } popularFilters { totalRequests } }"):
        anonymous, forbidden = answered(private, query, None), answered(private, query, bearer(EVENTS_READ))

        assert (anonymous.status_code, anonymous.headers["WWW-Authenticate"]) == (401, "Bearer")
        assert (forbidden.status_code, forbidden.headers.get("WWW-Authenticate")) == (403, None)
        assert anonymous.json().keys() == forbidden.json().keys() == {"errors"}
        assert f"`{LOGS_READ}`" in forbidden.json()["errors"][0]["message"]
        assert f"`{LOGS_READ}`" in anonymous.json()["errors"][0]["message"]


def test_reading_is_open_unless_it_is_closed(week: Service, private: Service) -> None:
    for query in OPEN:
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
    assert service.ask("{ events { totalCount } }") == {"events": {"totalCount": 0}}


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


def test_an_operation_with_a_forbidden_node_resolves_nothing(service: Service) -> None:
    for name, (query, variables) in NAMING_A_LOG.items():
        for headers, code in ((None, "UNAUTHENTICATED"), (bearer(EVENTS_READ), "FORBIDDEN")):
            refused = answered(service, query, headers, variables)
            assert (code_of(refused), refused.json().keys()) == (code, {"errors"}), name
            assert f"`{LOGS_READ}`" in refused.json()["errors"][0]["message"]

    for name, (query, variables) in NAMING_A_LOG.items():
        answer = answered(service, query, bearer(EVENTS_READ, LOGS_READ), variables).json()
        assert answer["data"].keys() >= {"a"}, name


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


def test_the_schema_says_which_scope_a_field_needs() -> None:
    said = 0
    for of in map(schema.type_map.get, ("Query", "Mutation", "Subscription")):
        for field in of.fields.values():  # type: ignore[union-attr]
            if scope := required_scope(field):
                unless = ", unless public reading is on" if scope.public else ""
                assert str(field.description).endswith(f" Needs the scope `{scope}`{unless}.")
                said += 1
    assert printed().count('@requiresScopes(scopes: [["') >= said > 50
