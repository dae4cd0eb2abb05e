"""A query reads the attributes that its selection needs: all of them, and no more."""

import gc
from collections.abc import AsyncIterator
from typing import Any

import pytest
import pytest_asyncio
from graphql import GraphQLObjectType
from strawberry.schema.schema_converter import GraphQLCoreConverter
from strawberry.types.field import StrawberryField

from graph.api.fast import plan
from graph.api.fast.completion import Compiled, compiled
from graph.api.relay import global_id
from graph.api.selected import _NEEDS, _of_nodes
from graph.domains.earthquakes.entities import EVENT
from graph.domains.earthquakes.feature_collection import READ
from graph.domains.earthquakes.model import Event
from graph.domains.request_logs.entities import LOG
from tests.domains.earthquakes.builders import NOON, an_event, ingest
from tests.domains.request_logs.held import HeldGraph, held_graph
from tests.schemas import schema

pytestmark = pytest.mark.asyncio(loop_scope="module")

FULL: dict[str, Any] = {
    "mag_type": "mww",
    "status": "reviewed",
    "updated": 7,
    "url": "u",
    "tsunami": 1,
    "felt": 3,
    "alert": "red",
}
POSITION = {"eventId", "eventTsMs", "dayBucket"}
FIELDS = sorted(
    {"id", "eventId", "eventTsMs", "time", "mag", "place", "lat", "lon", "depth", "dayBucket", "source", "ingestedAt"}
    | {"magType", "type", "status", "updatedAt", "url", "tsunami", "felt", "alert", "sig"}
)
ID = global_id("Event", "full")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def graph() -> AsyncIterator[HeldGraph]:
    """The graph with an event that has all attributes, and one that has none that is optional."""
    async with held_graph() as graph:
        bare = an_event("bare", NOON + 1, depth=None, type=None)
        await ingest(graph.database, [an_event("full", NOON, sig=9, **FULL), bare])
        yield graph


async def read(graph: HeldGraph, query: str) -> set[frozenset[str] | None]:
    """The attributes that the readings of events and logs need beside the position; None for all."""
    graph.database.calls.clear()
    graph.database.gets.clear()
    body = await graph.answer(query)
    assert "errors" not in body, body
    queried = [(call.entity, call.attributes) for call in graph.database.calls]
    return {attributes for entity, attributes in (*queried, *graph.database.gets) if entity in (EVENT, LOG)}


@pytest.mark.parametrize(
    ("selected", "attributes"),
    [
        ("{ events { nodes { eventId } } }", {"eventId"}),
        ("{ events { nodes { id time } edges { cursor } } }", {"eventTsMs"}),
        ("{ events { edges { node { __typename again: mag } } nodes { place } } }", {"mag", "place"}),
        ("{ events { ...page } } fragment page on EventConnection { nodes { ... on Event { depth } } }", {"depth"}),
        ("{ events { ... on EventConnection { nodes { ... { lat } } } } }", {"lat"}),
        ("{ events { nodes { ... on SeismicEvent { lat ... on Node { id } } } } }", {"lat"}),
        ("{ eventVersions(asOf: {first: true}) { nodes { id ... on SeismicEvent { lat } } } }", {"lat", "revision"}),
        ("{ events { nodes { ... on Node { id } } totalCount bucketsScanned pageInfo { endCursor } } }", set()),
        ("{ events { asGeoJson } }", set(READ)),
        ("{ events { nodes { mag @skip(if: true) lon } } }", {"mag", "lon"}),
        ("{ events { nodes { mag } } events { nodes { felt } } }", {"mag", "felt"}),
        ('{ event(eventId: "full") { sig tsunami } }', {"sig", "tsunami"} | POSITION),
        (f'{{ node(id: "{ID}") {{ id ... on Event {{ url }} ... on RequestLog {{ error }} }} }}', {"url"} | POSITION),
        (f'{{ nodes(ids: ["{ID}"]) {{ ... on Node {{ ... on Event {{ alert }} }} }} }}', {"alert"} | POSITION),
        ("{ requestLogs { nodes { route error } } }", {"route", "error"}),
    ],
)
async def test_only_selected_attributes_are_read(graph: HeldGraph, selected: str, attributes: set[str]) -> None:
    assert await read(graph, selected) == {frozenset(attributes)}


@pytest.mark.parametrize(
    ("selected", "attributes"),
    [
        ("largest { place }", {"place", "mag", "type"}),
        ("count series { counts } bPositive { b } seismicMoment { magnitude }", {"mag", "type"}),
        ("depths { unknown }", {"mag", "type", "depth"}),
        ("grid { cells { count } }", {"mag", "type", "lat", "lon"}),
        ("gutenbergRichter { reliability }", {"mag", "type", "net"}),
    ],
)
async def test_statistics_read_no_attribute_that_they_do_not_need(
    graph: HeldGraph, selected: str, attributes: set[str]
) -> None:
    found = await read(graph, f"{{ catalogueStatistics(filter: {{minDepth: -1}}) {{ {selected} }} }}")
    by_time = await read(graph, f"{{ catalogueStatistics {{ {selected} }} }}")

    needed = attributes | POSITION
    assert all(each is not None and each <= needed for each in found | by_time)
    assert attributes <= frozenset().union(*(each or () for each in found))


async def test_events_around_one_need_their_own_selection(graph: HeldGraph) -> None:
    query = '{ event(eventId: "full") { mag nearby { nodes { felt } } } }'
    around = frozenset({"felt", "lat", "lon", "eventId"})  # where it lies, and whether it is the event itself
    assert await read(graph, query) == {frozenset({"mag", "lat", "lon"} | POSITION), around}


async def test_each_field_alone_has_the_value_that_it_has_among_all(graph: HeldGraph) -> None:
    everything = await graph.answer(f"{{ events {{ asGeoJson nodes {{ {' '.join(FIELDS)} }} }} }}")
    for name in FIELDS:
        selected = f"nodes {{ a: {name} }} edges {{ node {{ id ... on Event {{ b: {name} }} }} }}"
        found = (await graph.answer(f"{{ events {{ {selected} }} }}"))["data"]["events"]
        whole = everything["data"]["events"]["nodes"]
        assert found["nodes"] == [{"a": node[name]} for node in whole]
        assert found["edges"] == [{"node": {"id": node["id"], "b": node[name]}} for node in whole]


async def test_an_attribute_that_was_not_read_is_refused_and_never_null(graph: HeldGraph) -> None:
    item = await graph.database.get(EVENT.key_for("full"), attributes=("eventId", "mag", "depth"))
    assert item
    event = Event.reading(frozenset({"mag", "depth"}))(item)

    assert (event.mag, event.depth) == (4.5, 8.0)
    for name in ("felt", "alert", "place"):
        with pytest.raises(KeyError):
            getattr(event, name)
    assert Event.reading(None) is Event
    assert Event.reading(frozenset({"mag", "depth", "place"})) is type(event), "it lacks the same optional attributes"


async def test_every_resolver_of_a_record_says_what_it_needs() -> None:
    """Otherwise whoever selects it reads everything."""
    records = (
        "Event",
        "EventVersion",
        "EventConnection",
        "EventVersionConnection",
        "EventEdge",
        "RequestLog",
        "RequestLogConnection",
        "RequestLogEdge",
    )
    for name in (*records, "PageInfo"):
        of = schema.type_map[name]
        assert isinstance(of, GraphQLObjectType)
        for field_name, definition in of.fields.items():
            field = definition.extensions[GraphQLCoreConverter.DEFINITION_BACKREF]
            assert isinstance(field, StrawberryField)
            assert field.base_resolver is None or _NEEDS in field.metadata, f"{name}.{field_name}"


BEHIND = {
    "pageInfo { hasPreviousPage }": True,
    "info: pageInfo { hasNextPage before: hasPreviousPage }": True,
    "...info": True,
    "... on EventConnection { pageInfo { ... { hasPreviousPage } } }": True,
    "pageInfo { endCursor } pageInfo { hasPreviousPage }": True,
    "pageInfo { hasNextPage endCursor startCursor }": False,
    "hasPreviousPage: pageInfo { hasPreviousPage: hasNextPage }": False,
    "nodes { eventId }": False,
}
"""Selection of a page → whether it takes a look at what lies behind it."""


async def test_what_lies_behind_a_page_is_read_if_it_is_selected(graph: HeldGraph) -> None:
    first = await graph.answer("{ events(first: 1) { edges { cursor } } }")
    cursor = first["data"]["events"]["edges"][0]["cursor"]
    for selected, is_read in BEHIND.items():
        query = f"""{{ events(first: 1, after: "{cursor}") {{ {selected} nodes {{ eventId }} }} }}"""
        info = " fragment info on EventConnection { pageInfo { hasPreviousPage } }" if "...info" in selected else ""
        graph.database.calls.clear()
        body = await graph.answer(query + info)

        assert [node["eventId"] for node in body["data"]["events"]["nodes"]] == ["full"]
        readings = [call for call in graph.database.calls if call.entity is EVENT]
        assert len(readings) == 1 + is_read, selected


async def test_a_page_behind_a_cursor_is_completed_by_functions_that_were_compiled_before(
    graph: HeldGraph, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[Compiled] = []

    def noted(*args: Any) -> Compiled:
        made.append(compiled(*args))
        return made[-1]

    monkeypatch.setattr(plan, "compiled", noted)
    first = await graph.answer("{ events(first: 1) { edges { cursor } } }")
    cursor = first["data"]["events"]["edges"][0]["cursor"]
    selected = f"pageInfo {{ hasNextPage hasPreviousPage endCursor }} edges {{ cursor node {{ {' '.join(FIELDS)} }} }}"
    query = f"""{{ events(first: 1, after: "{cursor}") {{ {selected} }} }}"""
    await graph.answer(query)
    made.clear()
    bodies = [await graph.answer(query) for _ in range(5)]

    assert bodies[0]["data"]["events"]["pageInfo"]["hasPreviousPage"] is True
    assert made == []


async def test_the_selections_of_a_document_are_freed_with_it() -> None:
    gc.collect()  # what tests before have left
    before = len(_of_nodes)
    async with held_graph() as graph:
        for number in range(5):
            await graph.answer(f"{{ events(first: {number}) {{ nodes {{ mag }} }} }}")
        assert len(_of_nodes) == before + 5
    del graph
    gc.collect()
    assert len(_of_nodes) == before
