"""Distinct documents leave nothing in memory but what is remembered, and that has its bound.

The garbage collector is off here, as it nearly is in the service: what only a collection could
free would count.
"""

import gc
import shutil
from asyncio import TimerHandle
from collections.abc import AsyncIterator, Iterator
from contextvars import Context
from pathlib import Path
from typing import Any
from weakref import ReferenceType

import pytest

from graph.api.documents.prepared import REMEMBERED_BYTES, Documents
from graph.api.recording import RecordedWork
from graph.domains.request_logs.model import RequestLog
from tests.acceptance.memory import traced
from tests.api.documents.hostile import OTHERS, TOO_COMPLEX
from tests.api.documents.test_preparing import FIELDS
from tests.application import Ask, application
from tests.domains.earthquakes.usgs.usgs_server import UsgsServer
from tests.effort import rounds
from tests.schemas import schema
from tests.service import settings
from tests.settings import Settings

PAGE = "nodes { id mag place time depth } pageInfo { hasNextPage endCursor }"

EXECUTED: dict[str, tuple[str, dict[str, Any]]] = {
    "a constant": ("{ __typename }", {}),
    "a page": (f"{{ events(first: 2) {{ {PAGE} }} }}", {}),
    "edges in fragments": (
        "{ events(first: 2) { ...F totalCount } } fragment F on EventConnection { edges { cursor node { ...G } } } "
        "fragment G on Event { id mag ... on Node { id } }",
        {},
    ),
    "several fields that wait": (
        f"{{ a: events(first: 1) {{ {PAGE} }} "
        f'b: event(eventId: "us6000kxfl") {{ mag nearby(first: 1) {{ {PAGE} }} }} }}',
        {},
    ),
    "variables and directives": (
        "query ($first: Int!, $no: Boolean!, $filter: EventFilter) "
        "{ events(first: $first, filter: $filter) { nodes { id mag @include(if: $no) } } }",
        {"first": 2, "no": False, "filter": {"minMagnitude": 1.5}},
    ),
    "statistics": ("{ catalogueStatistics { count magnitudeFrequency { magnitude count } } }", {}),
    "statistics of events": (
        "{ catalogueStatistics(filter: {minMagnitude: 4.5, maxDepth: 50}) { bPositive { b } depths { unknown } "
        "gutenbergRichter { reason networks { events } } grid { cells { count } } } }",
        {},
    ),
    "introspection": ("{ __schema { types { name fields { name type { name ofType { name } } } } } }", {}),
    "a mutation": (
        'mutation { ingestEvents(input: {events: [{eventId: "", eventTsMs: 1, mag: 1, lat: 0, lon: 0}]}) '
        "{ rejections { code } } }",
        {},
    ),
    "an error of some nodes": ('{ nodes(ids: ["x", "MTpFdmVudDpuYzczOTE5OTg2"]) { id } }', {}),
    "an error of a field": ('{ node(id: "x") { id } __typename }', {}),
    "an error that leaves no data": ("{ events(first: -1) { totalCount } }", {}),
    "errors beside fields that wait": (
        '{ a: events(after: "x") { totalCount } b: event(eventId: "us6000kxfl") { mag } }',
        {},
    ),
    "a variable of another type": ("query ($first: Int!) { events(first: $first) { totalCount } }", {"first": "x"}),
    "null for an argument": ('query ($id: ID = "x") { node(id: $id) { id } __typename }', {"id": None}),
    "null for a directive": ("query ($no: Boolean = true) { __typename @skip(if: $no) }", {"no": None}),
}

REFUSED = {
    "no document": "{ events(",
    "no document after comments": "# a\n{ # b\n} }",
    "no field": "{ nothing events { nowhere } }",
    "no value": '{ events(first: "x", filter: {minMagnitude: "y"}) { totalCount } }',
    "a value that is no number": f"{{ events(first: {'9' * 5000}) {{ totalCount }} }}",
    "a circle": "{ ...A } fragment A on Query { ...A }",
    "too deep": "{a" * 900,
    "a conflict": "{ events { nodes { mag } } events(first: 2) { nodes { mag } } }",
    "several operations": "query A { __typename } query B { __typename }",
    "too expensive": "{ events(first: 1000) { nodes { nearby { nodes { id } } } } }",
    "a subscription that cannot begin": 'subscription { events(after: "x") { cursor } }',
    "a document that is too long": "{ __typename }" + "#" * 20_000,
    **TOO_COMPLEX,
}

ASKED = {**EXECUTED, **{name: (text, {}) for name, text in (REFUSED | OTHERS).items()}}


@pytest.fixture
async def ask(tmp_path: Path, week_file: Path, usgs: UsgsServer) -> AsyncIterator[Ask]:
    shutil.copy(week_file, tmp_path / "week.db")
    async with application(settings(tmp_path / "week.db", usgs)) as ask:
        yield ask


@pytest.fixture
def no_collections() -> Iterator[None]:
    """Objects with cycles stay, as they do for long in the service. Those of the tests before are passed over."""
    gc.collect()
    gc.freeze()
    gc.disable()
    yield
    gc.enable()
    gc.unfreeze()


@pytest.mark.usefixtures("no_collections")
async def test_documents_leave_nothing_to_the_garbage_collector(ask: Ask) -> None:
    left = {}
    for name, (text, variables) in ASKED.items():
        answer = await ask(f"{text} # once", variables)  # some things are made once
        assert name not in REFUSED or b'"errors"' in answer
        gc.collect()
        for at in range(3):
            await ask(f"{text} # {at}", variables)
        left[name] = gc.collect()

    assert {name: number for name, number in left.items() if number > 2} == {}  # not one for each


MOMENTARY = (RecordedWork, RequestLog, ReferenceType, TimerHandle, Context)
"""Their number is bounded, and differs from moment to moment: request logs wait to be written twice a second, a
connection of SQLite keeps up to two hundred weak references to its past cursors, and asyncio up to a hundred timers
that were cancelled, each with its context."""


def is_momentary(thing: object) -> bool:
    """Whether it is one of these, or a node of a context's values, whose types Python does not name."""
    return isinstance(thing, MOMENTARY) or type(thing).__name__.startswith("hamt")


@pytest.mark.repeated
@pytest.mark.usefixtures("no_collections")
async def test_memory_stays_as_it_is_whatever_documents_come(ask: Ask) -> None:
    """As many as fill all the room for documents, and then as many again, or twice as many.

    Both are whole rounds of all documents: the last ones, which are remembered, are the same each time.
    """
    short = [(text, variables) for text, variables in ASKED.values() if len(text) < 1000]
    fill = 40 * len(short)
    more = rounds(2 * fill, at_least=fill)

    async def objects_after(numbers: range) -> int:
        for number in numbers:
            text, variables = short[number % len(short)]
            await ask(f"{text} # {number}", variables)
        return sum(1 for each in gc.get_objects() if not is_momentary(each))

    first = await objects_after(range(fill))
    last = await objects_after(range(fill, fill + more))

    assert last - first < more / 2  # not one for each


ROOM = {
    **{name: EXECUTED[name][0] for name in ("a constant", "several fields that wait", "an error of a field")},
    "a list": "{ nodes(ids: [" + '"MTpFdmVudDpuYzczOTE5OTg2" ' * 50 + "]) { id } }",
    "many operations": OTHERS["fifty operations"],
    "a long text": "{ __typename } #" + "x" * 16_000,
    "a wide text": "{ __typename } #" + "\N{EARTH GLOBE AMERICAS}" * 4000,
    "a long value": f'{{ event(eventId: "{"x" * 16_000}") {{ id }} }}',
    "many fields": f'{{ event(eventId: "us6000kxfl") {{ {FIELDS} ...F ...G }} }} '
    f"fragment F on Event {{ {FIELDS} nearby(first: 1) {{ nodes {{ {FIELDS} }} edges {{ node {{ {FIELDS} }} }} }} }} "
    f"fragment G on Event {{ {FIELDS} }}",
}


@pytest.mark.parametrize("name", ROOM)
async def test_a_document_takes_no_more_than_the_room_that_it_is_given(ask: Ask, name: str) -> None:
    text = ROOM[name]
    number = 30
    size = Documents(schema, Settings()).of(f"{text} # 10").size

    with traced() as memory:
        taken = []
        for mark in "ab":
            for at in range(number):
                await ask(f"{text} # {mark}{at}", {})
            gc.collect()
            taken.append(memory()[0])
    assert (taken[1] - taken[0]) / number <= size <= REMEMBERED_BYTES / 20


async def test_a_document_with_many_directive_values_takes_bounded_memory(ask: Ask) -> None:
    """What is compiled for the values of directives is kept for a few of them."""
    switches = 5
    names = [f"v{at}" for at in range(switches)]
    skipped = " ".join(f"... @skip(if: ${name}) {{ {FIELDS} }}" for name in names)
    text = (
        f"query ({' '.join(f'${name}: Boolean!' for name in names)}) {{ events(first: 2) {{ nodes {{ {skipped} }} }} }}"
    )
    size = Documents(schema, Settings()).of(text).size

    await ask("{ events(first: 2) { nodes { id } } }", {})
    with traced() as memory:
        before, _ = memory()
        for way in range(2**switches):
            await ask(text, {name: bool(way >> at & 1) for at, name in enumerate(names)})
        gc.collect()
        assert memory()[0] - before <= size
