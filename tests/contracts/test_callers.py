"""Who may ask for what: scopes, and what a user owns, which is not there for anybody else."""

from collections.abc import Mapping
from typing import Any

import pytest
from graphql import get_named_type

from graph.access.callers import Scope
from graph.api.relay import global_id, type_name_of
from graph.api.scopes import required_scope
from graph.domains import DOMAINS
from tests.bearers import SCOPES, bearer
from tests.contracts.connections import CASES, NODES, List, ids_of
from tests.contracts.documents import document, fields, value_with
from tests.contracts.filled import ANNA, BEN, MANY, Filled
from tests.schemas import schema

SHARED = {
    *("Query", "Event", "EventVersion", "EventRevision", "RequestLog", "ServiceLog", "Area", "Sighting"),
    *("DataFile", "DataFileRevision", "Calibration", "Run", "SightingTrend"),
}
"""What everybody with the scope sees. All other connections and nodes are what a user owns."""

NAMES_OF_SHARED = {"confirmSighting.sightingId", "hideSighting.sightingId", "reportSighting.eventId", "recordRun.runId"}
"""Fields of mutations' inputs with the id of something that is shared."""

EXISTS_NOT = "01930c5f-7a3e-7cc4-98a5-3f0d6d1c2b7e"
SCOPED = [(parent, name, scope) for parent, name, field in fields() if (scope := required_scope(field))]
NODE_SCOPES = {type_name_of(node): node.found_by.scope for domain in DOMAINS for node in domain.nodes}


def is_shared(key: str) -> bool:
    return {CASES[key].parent, CASES[key].node.name} <= SHARED


def codes(body: Mapping[str, Any]) -> list[str]:
    return [error["extensions"]["code"] for error in body.get("errors", ())]


def test_each_root_field_and_each_node_has_a_scope() -> None:
    roots = {f"{parent}.{name}" for parent, name, _ in fields() if parent in ("Query", "Mutation", "Subscription")}
    assert roots - {f"{parent}.{name}" for parent, name, _ in SCOPED} == {"Query.node", "Query.nodes"}
    assert {name for name, scope in NODE_SCOPES.items() if scope} == NODES


def test_a_scoped_field_needs_a_token_with_its_scope(on_sqlite: Filled) -> None:
    asked: list[tuple[str, Scope | None]] = [(document(parent, name), scope) for parent, name, scope in SCOPED]
    for node, scope in NODE_SCOPES.items():
        asked.append((f'{{ node(id: "{global_id(node, "x")}") {{ id }} }}', scope))
        asked.append((f'{{ nodes(ids: ["{global_id(node, "x")}"]) {{ id }} }}', scope))

    for text, scope in asked:
        assert codes(on_sqlite.answer_to({}, text)) == ["UNAUTHENTICATED"], text
        others = bearer(*(each for each in SCOPES if each != scope))
        assert codes(on_sqlite.answer_to(others, text)) == ["FORBIDDEN"], text


@pytest.mark.parametrize("key", CASES)
def test_a_list_that_a_user_owns_is_empty_or_not_there_for_another_one(key: str, on_sqlite: Filled) -> None:
    of = List.of(CASES[key], on_sqlite)
    annas, bens = (of.body(user_id, first=MANY) for user_id in (ANNA, BEN))

    assert "errors" not in annas
    if is_shared(key):
        assert bens == annas
    elif codes(bens):
        assert codes(bens) == ["NOT_FOUND"]
        assert of.case.path in on_sqlite.arguments  # it is asked for by an id
    else:
        found = bens["data"]
        for part in of.path:
            found = found and found[part]
        assert found is None or found["edges"] == found["nodes"] == []
        if found and of.case.node.name not in SHARED:
            cursor = of.page(first=1)["edges"][0]["cursor"]
            for paging in ({"first": 1, "after": cursor}, {"last": 1, "before": cursor}):
                assert codes(of.body(BEN, **paging)) == ["INVALID_CURSOR"]


@pytest.mark.parametrize("node", sorted(NODES))
def test_a_node_that_a_user_owns_is_null_for_another_one(node: str, on_sqlite: Filled) -> None:
    text = "query ($id: ID!) { node(id: $id) { __typename id } nodes(ids: [$id]) { id } }"
    for node_id in ids_of(node, on_sqlite)[:2]:
        annas, bens = (on_sqlite.answer(text, {"id": node_id}, user_id) for user_id in (ANNA, BEN))
        assert annas == {"data": {"node": {"__typename": node, "id": node_id}, "nodes": [{"id": node_id}]}}
        assert bens == (annas if node in SHARED else {"data": {"node": None, "nodes": [None]}})


def test_a_mutation_does_nothing_to_what_another_user_owns(on_sqlite: Filled) -> None:
    """It answers as it does for what is not there."""
    owned = [List.of(case, on_sqlite) for key, case in CASES.items() if not is_shared(key)]
    before = [of.body(first=1000) for of in owned]
    assert schema.mutation_type
    asked = 0

    for name, field in schema.mutation_type.fields.items():
        given: Any = get_named_type(field.args["input"].type)
        for each, of in given.fields.items():
            if get_named_type(of.type).name == "ID" and (path := f"{name}.{each}") not in NAMES_OF_SHARED:
                annas = on_sqlite.owned.get(path) or on_sqlite.owned[each]
                nobodys = [global_id("TriggerEvent", "x")] if isinstance(annas, list) else EXISTS_NOT
                theirs, nothing = (
                    on_sqlite.answer(
                        document("Mutation", name, {"input": value_with(given, [each], value)}), user_id=BEN
                    )
                    for value in (annas, nobodys)
                )
                assert repr(theirs).replace(repr(annas), "") == repr(nothing).replace(repr(nobodys), ""), path
                asked += 1

    assert asked >= len(on_sqlite.owned)
    assert [of.body(first=1000) for of in owned] == before
