"""The service as a subgraph: what composition reads, and entities by their keys."""

import json
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from graphql import build_client_schema, build_schema, get_introspection_query, parse

from graph.api.federation import SDL, subgraph
from graph.api.relay import global_id, type_name_of
from graph.app import schema_of
from graph.domains import DOMAINS
from graph.domains.earthquakes.scopes import EVENTS_READ
from graph.domains.request_logs.scopes import LOGS_READ
from graph.domains.triggers.scopes import TRIGGERS_READ
from tests.bearers import bearer
from tests.domains.earthquakes.usgs.usgs_server import UsgsServer
from tests.domains.request_logs.test_logged import logged
from tests.schemas import printed
from tests.service import Service, running, settings
from tests.store.samples import HeldClock

SUBGRAPH = schema_of(DOMAINS, federation=True)
COMPOSED = SUBGRAPH.graphql.extensions[SDL]
NODES = [node for domain in DOMAINS for node in domain.nodes]
PANAMA, NEWEST = "us6000kxfl", "nc73919986"
ENTITIES = """query Entities($representations: [_Any!]!) {
  _entities(representations: $representations) { ... on Event { eventId } ... on RequestLog { requestId } __typename }
}"""


@pytest.fixture(scope="module", params=[True, False], ids=["compiled", "interpreted"])
def service(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, week_file: Path, _usgs: UsgsServer
) -> Iterator[Service]:
    copied = tmp_path_factory.mktemp("subgraph") / "week.db"
    shutil.copy(week_file, copied)
    with running(settings(copied, _usgs, federation=True, compiled=request.param), clock=HeldClock()) as service:
        yield service


def an_event(**key: Any) -> dict[str, Any]:
    return {"__typename": "Event", **key}


def entities(service: Service, *representations: Any, headers: dict[str, str] | None = None) -> dict[str, Any]:
    """The body of the answer."""
    variables = {"representations": representations}
    answer = service.http.post("/graphql", json={"query": ENTITIES, "variables": variables}, headers=headers)
    body: dict[str, Any] = answer.json()
    return body


def test_entities_come_in_the_order_of_their_representations_by_either_key(service: Service) -> None:
    panama, newest = ({"eventId": each, "__typename": "Event"} for each in (PANAMA, NEWEST))
    by_id = an_event(id=global_id("Event", NEWEST))

    found = entities(service, an_event(eventId=PANAMA), an_event(eventId="us1"), by_id, an_event(eventId=PANAMA))

    assert found == {"data": {"_entities": [panama, None, newest, panama]}}
    literal = (
        f'{{ _entities(representations: {{__typename: "Event", eventId: "{NEWEST}"}}) {{ ... on Event {{ mag }} }} }}'
    )
    assert service.ask(literal) == service.ask(
        f'{{ _entities: nodes(ids: "{by_id["id"]}") {{ ... on Event {{ mag }} }} }}'
    )
    assert entities(service) == {"data": {"_entities": []}}


BROKEN = (
    *("Event", 1, [], {}, {"eventId": PANAMA}, {"__typename": 1, "id": "x"}, {"__typename": ["Event"]}),
    *({"__typename": name, "id": global_id("Event", PANAMA)} for name in ("PageInfo", "Query", "Run", "Nothing")),
    *(an_event(), an_event(mag=5), an_event(eventId=1), an_event(eventId=None), an_event(eventId={"a": 1})),
    *(an_event(eventId=""), an_event(eventId="x" * 501), an_event(eventId="\n"), an_event(id="x"), an_event(id=PANAMA)),
)


def test_a_broken_representation_loses_only_itself(service: Service) -> None:
    answer = entities(service, *BROKEN, an_event(eventId=PANAMA))

    assert answer["data"]["_entities"] == [*(None for _ in BROKEN), {"eventId": PANAMA, "__typename": "Event"}]
    errors = [(each["path"], each["extensions"]["code"]) for each in answer["errors"]]
    assert errors == [(["_entities", at], "BAD_USER_INPUT") for at in range(len(BROKEN))]
    assert [each["message"] for each in answer["errors"][-3:]] == [
        f"`{key}` of a representation names no Event." for key in ("eventId", "id", "id")
    ]


def test_a_request_takes_at_most_a_hundred_representations(service: Service) -> None:
    assert len(entities(service, *[an_event(eventId=PANAMA)] * 100)["data"]["_entities"]) == 100

    (error,) = entities(service, *[an_event(eventId=PANAMA)] * 101)["errors"]

    assert error["extensions"]["code"] == "BAD_USER_INPUT"
    assert error["message"] == "`representations` takes at most 100 keys: ask for shorter lists."


def test_an_entity_needs_the_scope_of_its_type(service: Service) -> None:
    a_log = {"__typename": "RequestLog", "id": global_id("RequestLog", "1700000000000#y")}

    for headers, code in ((bearer(EVENTS_READ), "FORBIDDEN"), ({"Authorization": ""}, "UNAUTHENTICATED")):
        answer = entities(service, a_log, an_event(eventId=PANAMA), headers=headers)
        assert [each["extensions"]["code"] for each in answer["errors"]] == [code]
        assert "data" not in answer

    assert entities(service, a_log, headers=bearer(LOGS_READ)) == {"data": {"_entities": [None]}}


def test_an_entity_of_another_user_is_not_there(service: Service) -> None:
    (made,) = service.ask('mutation { createWatch(input: {name: "M 5"}) { watch { watchId } } }').values()
    mine = {"__typename": "Watch", **made["watch"]}

    assert entities(service, mine) == {"data": {"_entities": [{"__typename": "Watch"}]}}
    assert entities(service, mine, headers=bearer(TRIGGERS_READ, subject="other")) == {"data": {"_entities": [None]}}


def test_entities_are_priced_as_other_lists_are(service: Service) -> None:
    def points(number: int) -> int:
        json = {"query": ENTITIES, "variables": {"representations": [an_event(eventId=PANAMA)] * number}}
        answer = service.http.post("/graphql", json=json, headers={"GraphQL-Cost": "report"}).json()
        return int(answer["extensions"]["cost"]["points"])

    assert points(100) - points(1) == 99 * (points(2) - points(1)) > 0


def test_a_gateway_that_asks_again_by_get_gets_a_304_until_something_is_stored(service: Service) -> None:
    def status(query: str, tag: str = "") -> tuple[int, str]:
        answer = service.http.get("/graphql", params={"query": query}, headers={"If-None-Match": tag})
        return answer.status_code, answer.headers.get("ETag", "")

    one = f'{{ _entities(representations: {{__typename: "Event", eventId: "{PANAMA}"}}) {{ ... on Event {{ mag }} }} }}'
    sdl, broken = "{ _service { sdl } }", "{ _entities(representations: [1]) { __typename } }"
    tags = {query: status(query)[1] for query in (one, sdl)}

    assert {query: status(query, tag) for query, tag in tags.items()} == {query: (304, tags[query]) for query in tags}
    assert status(broken) == (200, "")
    event = '{eventId: "us0", time: "2023-11-14", mag: 1, lat: 1, lon: 1}'
    service.ask(f"mutation {{ ingestEvents(input: {{events: [{event}]}}) {{ upserted }} }}")
    assert {query: status(query, tag)[0] for query, tag in tags.items()} == {one: 200, sdl: 304}


def test_the_schema_of_a_subgraph_is_as_dear_as_it_is_long(service: Service) -> None:
    cost = {"GraphQL-Cost": "report"}
    answer = service.http.post("/graphql", json={"query": "{ _service { sdl } }"}, headers=cost).json()

    assert answer["extensions"]["cost"]["points"] == 101


def test_composition_reads_the_schema_also_where_introspection_is_off(tmp_path: Path, usgs: UsgsServer) -> None:
    with running(settings(tmp_path / "own.db", usgs, federation=True, introspection=False)) as service:
        assert service.ask("{ _service { sdl } }") == {"_service": {"sdl": COMPOSED}}
        assert service.http.get("/schema.graphql").status_code == 404
        refused = service.http.post("/graphql", json={"query": "{ __schema { queryType { name } } }"})
    assert refused.json()["errors"][0]["extensions"]["code"] == "GRAPHQL_VALIDATION_FAILED"


def test_a_list_of_documents_has_those_of_a_gateway_too(tmp_path: Path, usgs: UsgsServer) -> None:
    listed = tmp_path / "list.json"
    listed.write_text(json.dumps({"entities": ENTITIES}))
    with running(settings(tmp_path / "own.db", usgs, federation=True, allowed_documents=listed)) as service:
        assert entities(service, an_event(eventId=PANAMA)) == {"data": {"_entities": [None]}}
        others = service.http.post("/graphql", json={"query": "{ _service { sdl } }"}).json()["errors"]
    assert [each["extensions"]["code"] for each in others] == ["PERSISTED_QUERY_NOT_IN_LIST"]


def test_a_gateways_request_is_recorded(tmp_path: Path, usgs: UsgsServer) -> None:
    with running(settings(tmp_path / "events.db", usgs, federation=True), clock=HeldClock()) as service:
        entities(service, an_event(eventId=PANAMA))

    assert [(log["route"], log["status"]) for log in logged(tmp_path / "events.db")] == [("/_entities", 200)]


def test_composition_reads_the_printed_schema_and_clients_one_that_is_whole(service: Service) -> None:
    served = service.http.get("/schema.graphql").text
    assert served == SUBGRAPH.printed
    introspected: Any = service.ask(get_introspection_query())
    assert build_client_schema(introspected).type_map.keys() == build_schema(served).type_map.keys()
    assert service.ask("{ _service { sdl } }") == {"_service": {"sdl": COMPOSED}}
    assert {each.name.value for each in parse(COMPOSED).definitions[1:]}.isdisjoint(  # type: ignore[attr-defined]
        {"_Any", "_Entity", "_Service", "key", "shareable", "cost", "listSize", "requiresScopes"}
    )
    assert "_service" not in COMPOSED
    assert str(SUBGRAPH.graphql.query_type.fields["_entities"].type) == "[_Entity]!"  # type: ignore[union-attr]


def test_every_object_has_keys_or_may_be_shared() -> None:
    marks = dict(re.findall(r"^type (\w+)(?: implements \w+(?: & \w+)*)?(.*) \{$", COMPOSED, re.MULTILINE))

    own = {name: re.findall(r' @key\(fields: "(?!id")(\w+)"\)', found) for name, found in marks.items()}
    keyed = {name for name, found in marks.items() if found.startswith(' @key(fields: "id")')}
    assert keyed == {type_name_of(node) for node in NODES}
    assert {key for name, keys in own.items() for key in keys} >= {"eventId", "endpointId", "runId", "watchId", "name"}
    assert own["Event"] == ["eventId"]
    assert {name for name in marks.keys() - keyed if marks[name] != " @shareable"} == {
        "Query",
        "Mutation",
        "Subscription",
    }
    for name, keys in own.items():
        of: Any = SUBGRAPH.graphql.type_map[name]
        assert {str(of.fields[key].type) for key in keys} <= {"ID!", "String!"}


def test_composition_gets_the_directives_that_it_takes() -> None:
    assert '@listSize(slicingArguments: ["ids"]' in printed()
    assert '["ids"]' not in COMPOSED
    assert 'sizedFields: ["edges", "nodes", "asGeoJson"]' in printed()
    assert 'asGeoJson"' not in COMPOSED
    assert "requiresScopes" not in COMPOSED
    assert "@cost(weight: 10)" in COMPOSED


def test_a_schema_without_federation_has_nothing_of_it() -> None:
    assert schema_of(DOMAINS).printed == printed()
    assert "_entities" not in printed()


def test_fields_of_interfaces_have_no_costs() -> None:
    text = "directive @cost(weight: Int!) on FIELD_DEFINITION interface Sized { size: Int @cost(weight: 2) }"

    assert subgraph(text, ()).endswith("\ninterface Sized {\n  size: Int\n}\n")
