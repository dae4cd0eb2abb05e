"""A normalising cache, Apollo's, keeps the present of each object, whatever path of the schema it is asked by."""

import json
import shutil
from collections.abc import Iterator
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
from graphql import (
    GraphQLField,
    GraphQLInterfaceType,
    GraphQLObjectType,
    get_named_type,
    is_composite_type,
    is_leaf_type,
    is_required_argument,
)

from tests.acceptance.clients.documented.programs import run
from tests.bearers import bearer
from tests.contracts.connections import NODES
from tests.contracts.filled import ACCEPT, INGEST, RUN_ID, Filled, event, filled
from tests.domains.earthquakes.usgs.usgs_server import UsgsServer
from tests.effort import THOROUGH
from tests.schemas import schema

pytestmark = [pytest.mark.judged, pytest.mark.needs("npm", "Node 20")]

LONGEST = 4 if THOROUGH else 3  # fields that lead to objects, one below the other; a connection and its nodes are one
NOTICES = 40  # of the sixty versions that follow the first event
GIVEN = {
    "Query.event": 'eventId: "ev0"',
    "Query.eventVersion": 'eventId: "ev0", asOf: {first: true}',
    "Query.eventVersions": "asOf: {first: true}",
    "Query.events": "deleted: INCLUDE",
    "Query.dataFile": 'name: "file0"',
    "Query.run": f'runId: "{RUN_ID.format(0)}"',
    "Query.affectedBy": 'calibration: "cal0", version: "1.0.0"',
    "DataFile.lineage": "direction: BOTH",
}
"""Arguments of fields that need some, or lead to more with some. Other fields that need some are left out."""

SAME_AS_NODES = ("edges", "pageInfo")
LIVE = """subscription ($after: String) { events(after: $after) {
  node { __typename id mag revision recordedAt } revision { event { __typename id mag revision recordedAt } }
} }"""


def leaves(of: Any) -> str:
    """What tells an object from others, and its values."""
    named = get_named_type(of)
    fields = named.fields.items() if isinstance(named, GraphQLObjectType | GraphQLInterfaceType) else ()
    plain = [name for name, each in fields if is_leaf_type(get_named_type(each.type)) and not needs_more(each)]
    return " ".join(["__typename", *plain])


def needs_more(field: GraphQLField) -> bool:
    return any(map(is_required_argument, field.args.values()))


def documents(of: Any, path: tuple[str, ...] = ()) -> Iterator[str]:
    """The selections of all paths from a type, each with the values of the objects on the way.

    Args:
        path: the fields that have led here.
    """
    named = get_named_type(of)
    own, below = leaves(named) if path else "", 0
    if isinstance(named, GraphQLObjectType) and len(path) < LONGEST:
        for name, field in named.fields.items():
            coordinate = f"{named.name}.{name}"
            if not is_composite_type(get_named_type(field.type)) or name in SAME_AS_NODES or coordinate in path:
                continue
            if needs_more(field) and coordinate not in GIVEN:
                continue
            given = [GIVEN[coordinate]] if coordinate in GIVEN else []
            given += ["first: 8"] if "first" in field.args else []
            arguments = f"({', '.join(given)})" if given else ""
            step = path[:-1] if named.name.endswith("Connection") else path
            for selected in documents(field.type, (*step, coordinate)):
                below += 1
                yield f"{own} {name}{arguments} {{ {selected} }}"
    if not below:
        yield own


@pytest.fixture(scope="module")
def answers(tmp_path_factory: pytest.TempPathFactory, _usgs: UsgsServer) -> list[dict[str, Any]]:
    """What every path answers, of a service with a revised, a merged and a deleted event; and its nodes by id."""
    with filled("sqlite", tmp_path_factory.mktemp("normalised"), _usgs) as service:
        merged = event(1, updated=2, ids=["ev1", "ev2"])
        service.ask(INGEST, some=[merged, event(3, updated=2, status="deleted")])
        found = [answer(service, f"{{ {each} }}") for each in documents(schema.query_type)]
        for name in sorted(NODES):
            ids = sorted({each["id"] for each in objects_of(found, name)})
            for at in range(0, len(ids), 100):
                selected = f"__typename ... on {name} {{ {leaves(schema.type_map[name])} }}"
                found.append(answer(service, f"{{ nodes(ids: {json.dumps(ids[at : at + 100])}) {{ {selected} }} }}"))
        found += notices(service)
    _usgs.forget()
    return found


def answer(service: Filled, document: str) -> dict[str, Any]:
    body = service.answer(document)
    assert "errors" not in body, (document, body["errors"])
    return {"document": document, "data": body["data"]}


def notices(service: Filled) -> Iterator[dict[str, Any]]:
    """Replayed ones, each written as a cache writes the result of a subscription."""
    first = service.ask("{ events(orderBy: TIME_ASC, first: 1) { edges { cursor } } }")["edges"][0]["cursor"]
    request = {"query": LIVE, "variables": {"after": first}}
    with service.service.http.stream("POST", "/graphql", json=request, headers={**ACCEPT, **bearer()}) as stream:
        told = (json.loads(line[6:]) for line in stream.iter_lines() if line.startswith("data: "))
        for _, each in zip(range(NOTICES), told, strict=False):
            yield {"document": LIVE.replace("subscription", "query"), "data": each["data"]}


def written(answers: list[dict[str, Any]], project: Path) -> dict[str, Any]:
    """What Apollo's cache makes of answers."""
    interfaces = [each for each in schema.type_map.values() if isinstance(each, GraphQLInterfaceType)]
    possible = {each.name: [of.name for of in schema.get_possible_types(each)] for each in interfaces}
    for name, value in (("answers", answers), ("possible_types", possible)):
        (project / f"{name}.json").write_text(json.dumps(value))
    shutil.copy(Path(__file__).with_name("normalising.mjs"), project)
    found: dict[str, Any] = json.loads(
        run("node", "normalising.mjs", "answers.json", "possible_types.json", folder=project).stdout
    )
    return found


def test_no_path_of_the_schema_overwrites_an_object_by_an_older_state(
    answers: list[dict[str, Any]], project: Path
) -> None:
    found = written(answers, project)

    assert found["overwritten"] == []
    assert found["objects"].keys() == NODES
    assert found["objects"]["EventVersion"] > found["objects"]["Event"] > 40


def test_versions_under_their_events_ids_would_overwrite_the_present(
    answers: list[dict[str, Any]], project: Path
) -> None:
    """As they did once, so that the test above can fail."""
    names = {each["eventId"]: each["id"] for each in objects_of(answers, "Event") if "eventId" in each}
    of_events = deepcopy(answers)
    for each in objects_of(of_events, "EventVersion"):
        if each.get("eventId") in names:
            each |= {"__typename": "Event", "id": names[each["eventId"]]}

    assert {(field, before, after) for _, field, before, after, _ in written(of_events, project)["overwritten"]} >= {
        ("mag", "3", "1"),
        ("revision", "6", "1"),
    }


def objects_of(value: Any, type_name: str) -> list[dict[str, Any]]:
    """The objects of a type in some answers."""
    own = [value] if isinstance(value, dict) and value.get("__typename") == type_name else []
    children = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return [*own, *(found for each in children for found in objects_of(each, type_name))]
