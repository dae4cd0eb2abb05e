"""What operations cost: as the directives of the schema say, and never less than what is resolved."""

from collections.abc import Sequence
from math import ceil
from pathlib import Path
from typing import Any

import pytest
from graphql import (
    DocumentNode,
    FragmentDefinitionNode,
    GraphQLObjectType,
    OperationDefinitionNode,
    get_introspection_query,
    get_named_type,
    is_leaf_type,
    parse,
    validate,
)
from strawberry.types.field import StrawberryField

from graph.api.documents.cost import MOST_FIELDS_VISITED, Pricing
from graph.api.sizes import Cost, ListSize
from graph.core.errors import QueryTooComplex
from graph.core.paging import PageSizes
from tests.domains.earthquakes.usgs.usgs_server import UsgsServer
from tests.schemas import schema
from tests.service import Service, running, settings
from tests.settings import Settings

PRICING = Pricing(schema, PageSizes(default=50, most=1000))
LIMIT = Settings().max_cost
TEN = "eventId eventTsMs time mag place lat lon depth dayBucket source"
INTROSPECTION = get_introspection_query(
    descriptions=True,
    specified_by_url=True,
    directive_is_repeatable=True,
    schema_description=True,
    input_value_deprecation=True,
)


def cost(text: str, **variables: Any) -> int:
    """What the document's only operation costs."""
    document = parse(text)
    assert validate(schema, document) == []
    return priced(document, **variables)


def priced(document: DocumentNode, **variables: Any) -> int:
    return PRICING.price(*parts(document))(variables)


def parts(document: DocumentNode) -> tuple[OperationDefinitionNode, dict[str, FragmentDefinitionNode]]:
    """The document's only operation, and its fragments."""
    fragments = {node.name.value: node for node in document.definitions if isinstance(node, FragmentDefinitionNode)}
    (operation,) = (node for node in document.definitions if isinstance(node, OperationDefinitionNode))
    return operation, fragments


@pytest.mark.parametrize(
    ("text", "points"),
    [
        ("{ __typename }", 1),
        ('{ event(eventId: "x") { id mag } }', 3),
        ("{ events { nodes { id } } }", 1 + 1 + 50 + 5),
        ("{ events(first: 7) { nodes { id mag } } }", 1 + 1 + 7 * 2 + 1),
        ("{ events(last: 7) { edges { cursor node { id } } } }", 1 + 1 + 7 * 3 + 1),
        ("{ events(first: 7, last: 3) { nodes { id } } }", 1 + 1 + 7 + 1),
        ("{ events(first: 0) { totalCount } }", 1 + 10),
        ("{ events(first: 7) { nodes { id } pageInfo { hasNextPage } bucketsScanned } }", 1 + 1 + 7 + 2 + 1 + 1),
        ("{ events(first: 7) { nodes { id } edges { node { id } } } }", 1 + 1 + 7 + 1 + 7 * 2 + 1),
        ("{ events(first: 2000) { nodes { id } } }", 1 + 1 + 1000 + 100),
        ("{ events(first: -1) { nodes { id } } }", 1 + 1),
        ("{ events(first: null) { nodes { id } } }", 1 + 1 + 50 + 5),
        ("{ events(first: 7) { asGeoJson } }", 1 + 7 * 16 + 1),
        ('{ event(eventId: "x") { nearby(first: 7) { nodes { id } } } }', 1 + 10 + 1 + 7 + 1),
        ("{ catalogueStatistics { count magnitudeFrequency { count } } }", 10 + 1 + 1 + 121),
        ("{ catalogueStatistics { series { startsAt counts } } }", 10 + 10 + 1 + 40_000 // 50),
        ("{ catalogueStatistics { gutenbergRichter { b reason networks { network } } } }", 10 + 1 + 1 + 10 + 110),
        ("{ catalogueStatistics { grid { cells { lat lon count } } } }", 10 + 10 + 1 + 10_000 * 3 // 16),
        ("{ catalogueStatistics { depths { bins { depth count } unknown } } }", 10 + 10 + 1 + 1000 * 0.2 + 1),
        ("{ catalogueStatistics { rates { perYear } } }", 10 + 10 + 13),
        ("{ catalogueStatistics { rates(magnitudes: [1, 2]) { perYear low } } }", 10 + 10 + 2 * 2),
        (
            "{ catalogueStatistics { interEventTimes(quantiles: [0.5]) { quantiles { seconds } } } }",
            10 + 10 + 1 + 1 + 1,
        ),
        ("{ requestLogs(first: 3) { nodes { id } } }", 1 + 1 + 3 + 1),
        ("{ popularFilters { filters { hits } } }", 10 + 1 + 10 + 1),
        ("{ popularFilters(limit: 3) { filters { hits } } }", 10 + 1 + 3 + 1),
        ('{ nodes(ids: ["a", "b"]) { id } }', 1 + 2),
        ('{ nodes(ids: "a") { id } }', 1 + 1),
        ("mutation { ingestRecent { fetched } }", 100 + 1 + 100),
        ("mutation { ingestRecent { rejections { code } } }", 100 + 1 + 1000 + 100),
        ("mutation { ingestEvents(input: {events: []}) { fetched } }", 1 + 1),
        ('{ event(eventId: "x") { id @skip(if: true) mag @include(if: false) } }', 1 + 2),  # as if none were skipped
        ('{ node(id: "x") { id ... on Event { mag place } ... on RequestLog { route } } }', 1 + 4),
        (
            '{ node(id: "x") { ...F } } fragment F on Event { mag nearby(first: 7) { nodes { id } } }',
            1 + 1 + 10 + 1 + 7 + 1,
        ),
    ],
)
def test_a_field_costs_a_point_times_the_size_of_its_list(text: str, points: int) -> None:
    assert cost(text) == points


@pytest.mark.parametrize(
    ("variables", "size"),
    [
        ({"n": 7}, 7),
        ({"n": 7.0}, 7),
        ({"n": 10**30}, 1000),
        ({"n": -7}, 0),
        ({}, 20),
        ({"n": None}, 50),
        ({"n": "many"}, 1),  # which is refused before anything is executed
        ({"n": {"a": 1}}, 1),
        ({"other": 7}, 20),
    ],
)
def test_a_size_may_come_in_a_variable(variables: dict[str, Any], size: int) -> None:
    assert cost("query($n: Int = 20) { events(first: $n) { nodes { id } } }", **variables) == 2 + size + ceil(size / 10)


@pytest.mark.parametrize(
    ("variables", "events"),
    [
        ({"input": {"events": [{}] * 500}}, 500),
        ({"input": {"events": {}}}, 1),
        ({"input": {"events": [{}] * 5000}}, 1000),
        ({"input": {}}, 50),
        ({"input": "x"}, 50),
        ({}, 50),
    ],
)
def test_events_that_are_given_cost_a_point_each_and_so_do_their_rejections(
    variables: dict[str, Any], events: int
) -> None:
    mutation = "mutation($input: IngestEventsInput!) { ingestEvents(input: $input) { fetched %s } }"

    assert cost(mutation % "", **variables) == 2 + events
    assert cost(mutation % "rejections { code message }", **variables) == 3 + 3 * events
    part = "mutation($events: [EventInput!]!) { ingestEvents(input: {events: $events}) { fetched } }"
    assert cost(part, events=[{}] * 30) == 32


def test_a_field_that_is_selected_twice_is_resolved_and_paid_once() -> None:
    once = "{ events(first: 10) { nodes { id mag } } }"
    twice = "{ events(first: 10) { nodes { id } ...F } ...G } fragment F on EventConnection { nodes { mag id } }"

    assert cost(twice + " fragment G on Query { events(first: 10) { nodes { id } } }") == cost(once) == 23
    spread = "...F " * (MOST_FIELDS_VISITED // 10 + 1)  # which is followed once
    assert cost(f"{{ events(first: 10) {{ nodes {{ {spread} }} }} }} fragment F on Event {{ {TEN} }}") == 103
    assert cost("{ events(first: 10) { nodes { id x: id } } }") == 23
    assert cost("{ a: events(first: 10) { nodes { id } } b: events(first: 10) { nodes { id } } }") == 26


def every_value(of: GraphQLObjectType) -> str:
    """The fields of a type that are values and take no arguments, which are most of its fields."""
    names = [name for name, each in of.fields.items() if is_leaf_type(get_named_type(each.type)) and not each.args]
    assert 2 * len(names) > len(of.fields)
    return " ".join(names)


def test_a_page_of_a_thousand_with_every_value_of_an_event_fits_and_two_do_not(week: Service) -> None:
    event, info = (schema.type_map[name] for name in ("Event", "PageInfo"))
    assert isinstance(event, GraphQLObjectType)
    assert isinstance(info, GraphQLObjectType)
    selected = f"edges {{ cursor node {{ {every_value(event)} }} }} pageInfo {{ {every_value(info)} }} totalCount"
    page = f"events(first: 1000) {{ {selected} }}"

    assert LIMIT / 2 < cost(f"{{ {page} }}") < LIMIT
    assert len(week.ask(f"{{ {page} }}")["events"]["edges"]) == 1000
    assert week.codes(f"{{ a: {page} b: {page} }}") == ["QUERY_TOO_COMPLEX"]


def test_further_values_of_an_object_cost_a_tenth_and_those_of_each_object_count_alone() -> None:
    twelve = f"{TEN} url sig"
    more = "felt alert status type magType rms gap dmin nst mmi"

    assert cost(f'{{ event(eventId: "x") {{ {twelve} }} }}') == 1 + 12
    assert cost(f'{{ event(eventId: "x") {{ {twelve} {more} }} }}') == 1 + 12 + 1
    assert cost(f'{{ event(eventId: "x") {{ {twelve} ids types }} }}') == 1 + 12 + 1  # five of each
    assert cost(f'{{ event(eventId: "x") {{ {twelve} mergedInto {{ {twelve} }} }} }}') == 1 + 12 + 10 + 12
    merged = f"mergedInto {{ {twelve} ids types }}"
    assert cost(f'{{ event(eventId: "x") {{ {twelve} ids types {merged} }} }}') == 1 + 13 + 10 + 13
    assert cost(f"{{ events(first: 10) {{ nodes {{ {twelve} {more} }} asGeoJson }} }}") == 2 + 10 * 13 + 160 + 1


def test_the_introspection_of_tools_fits_whatever_the_limit_is_and_circles_do_not() -> None:
    document = parse(INTROSPECTION)
    limit = PRICING.least_limit(*parts(document))
    assert limit / 2 < priced(document) < limit
    level = "fields { type { name %s } }"
    circle = "name"
    for _ in range(5):
        circle = level % circle
    document = parse(f"{{ __schema {{ types {{ {circle} }} }} }}")
    assert priced(document) > PRICING.least_limit(*parts(document)) == limit
    for text in (  # an operation of more than introspection has the ordinary limit
        "{ events { totalCount } }",
        "{ __schema { types { name } } events { totalCount } }",
        "{ __schema { types { name } } ...F } fragment F on Query { ... { events { totalCount } } }",
        "mutation { __typename ingestRecent { fetched } }",
    ):
        assert PRICING.least_limit(*parts(parse(text))) == 0


def test_introspection_is_answered_where_the_limit_is_low(tmp_path: Path, usgs: UsgsServer) -> None:
    with running(settings(tmp_path / "events.db", usgs, max_cost=100)) as service:
        answer = service.http.post("/graphql", json={"query": INTROSPECTION}, headers={"GraphQL-Cost": "1"}).json()

        assert answer["data"]["__schema"]["queryType"]["name"] == "Query"
        assert 100 < answer["extensions"]["cost"]["points"] < answer["extensions"]["cost"]["limit"]
        assert service.codes("{ events(first: 100) { nodes { id } } }") == ["QUERY_TOO_COMPLEX"]


def test_multiplying_fragments_are_refused() -> None:
    """Two in two, and so on, each under a name of its own: more fields than are ever counted."""
    fragments = [
        f"fragment F{i} on __Type {{ a: ofType {{ ...F{i + 1} }} b: ofType {{ ...F{i + 1} }} }}" for i in range(40)
    ]
    text = '{ __type(name: "Event") { ...F0 } }' + "".join(fragments) + "fragment F40 on __Type { name }"

    with pytest.raises(QueryTooComplex):
        cost(text)
    assert MOST_FIELDS_VISITED < 2**40


def test_every_list_of_the_schema_has_a_size() -> None:
    """Of its own, or from the fields above it: else a list would cost as if it had one element."""
    fields = {
        f"{named.name}.{name}": field
        for named in schema.type_map.values()
        if isinstance(named, GraphQLObjectType) and not named.name.startswith("__")
        for name, field in named.fields.items()
    }
    sizes = {path: size for path, field in fields.items() for size in declared(field) if isinstance(size, ListSize)}
    fields_of: dict[str, list[str]] = {}  # type → the fields that answer it
    for path, field in fields.items():
        fields_of.setdefault(get_named_type(field.type).name, []).append(path)

    def is_sized(path: str) -> bool:
        owner, name = path.split(".")
        own = sizes.get(path)
        if own and (own.assumed_size or own.slicing_arguments):
            return True
        return all(each in sizes and name in (sizes[each].sized_fields or ()) for each in fields_of[owner])

    unsized = [path for path, field in fields.items() if "[" in str(field.type) and not is_sized(path)]
    assert unsized == ["TriggerEndpoint.types", "Watch.kinds"]  # short texts that the same user has given


def declared(field: Any) -> Sequence[object]:
    """The directives of a field."""
    definition = field.extensions.get("strawberry-definition")
    return definition.directives if isinstance(definition, StrawberryField) else ()


def test_a_value_that_is_awaited_declares_its_cost() -> None:
    """It may read or compute much."""
    undeclared = {
        f"{named.name}.{name}"
        for named in schema.type_map.values()
        if isinstance(named, GraphQLObjectType)
        for name, field in named.fields.items()
        for definition in [field.extensions.get("strawberry-definition")]
        if is_leaf_type(get_named_type(field.type)) and isinstance(definition, StrawberryField) and definition.is_async
        if not any(isinstance(each, Cost) for each in declared(field))
    }

    assert undeclared == set()
