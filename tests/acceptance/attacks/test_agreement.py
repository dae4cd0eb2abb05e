"""Generated queries have the same answers on SQLite and on DynamoDB Local, to the last character.

hypothesis-graphql composes the documents. Of its values, those that would be refused or find
nothing are replaced by such as the real week has. No two events of that week are of one
millisecond, so the order within a tie, which is each store's own, does not come in.
"""

import re
from collections import Counter
from collections.abc import Callable, Mapping
from datetime import timedelta
from functools import cache
from typing import Any

import orjson
import pytest
from graphql import (
    ArgumentNode,
    DocumentNode,
    NameNode,
    ObjectFieldNode,
    ValueNode,
    Visitor,
    parse_value,
    print_ast,
    visit,
)
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from hypothesis_graphql import nodes, queries

from graph.api.relay import global_id
from graph.domains.earthquakes.model import Event
from tests.domains.earthquakes.builders import normalised
from tests.domains.earthquakes.usgs.usgs_server import week_features
from tests.effort import THOROUGH
from tests.schemas import printed
from tests.service import Service
from tests.store.samples import NOON

EXAMPLES = 200 if THOROUGH else 20
Values = st.SearchStrategy[ValueNode]


FIRST = parse_value("{first: true}")
"""The first versions, since the history of the stored week begins much later than the week."""

NORTHERN_PACIFIC = parse_value("[{lat: 30, lon: 130}, {lat: 70, lon: 140}, {lat: 72, lon: -100}, {lat: 30, lon: -105}]")


EITHER = parse_value(f"""[
  {{minMagnitude: 4}}, {{types: ["quarry blast"], not: {{minSig: 20}}}}, {{polygon: {print_ast(NORTHERN_PACIFIC)}}}
]""")
NEITHER = parse_value('{networks: ["ak"], or: [{maxGap: 90}, {circle: {lat: 61, lon: -150, radiusKm: 300}}]}')
"""Filters in a filter, which has more of them than DynamoDB takes if they are composed."""


@cache
def stored() -> list[Event]:
    return [normalised(feature, ingested_at=NOON) for feature in week_features()][::20]


def texts(values: list[str]) -> Values:
    return st.sampled_from(values).map(nodes.String)


def numbers(least: float, greatest: float) -> Values:
    """On tenths, as people write them, and finer."""
    fine = st.floats(least, greatest, allow_nan=False)
    return st.one_of(fine.map(lambda number: round(number, 1)), fine).map(nodes.Float)


@cache
def likely_in_inputs() -> Mapping[str, Values]:
    """Name of an input's field → values that find something. Its ids are those of events."""
    event_ids = texts([event.event_id for event in stored()])
    return {**likely(), "eventIds": st.one_of(st.just(nodes.Null), st.lists(event_ids, max_size=5).map(nodes.List))}


@cache
def likely() -> Mapping[str, Values]:
    """Name of an argument → values that find something."""
    null = st.just(nodes.Null)
    times = [(event.time + timedelta(milliseconds=shift)).isoformat() for event in stored() for shift in (-1, 0, 1)]
    cursors = st.one_of(null, null, texts([str(event.cursor) for event in stored()]))
    ids = texts([global_id("Event", event.event_id) for event in stored()])
    number = st.integers(0, 30).map(lambda each: nodes.Int(each))
    return {
        "eventId": texts([event.event_id for event in stored()]),
        "id": ids,
        "ids": st.lists(ids, max_size=5).map(nodes.List),
        "after": cursors,
        "before": cursors,
        "first": st.one_of(number, null),
        "last": st.one_of(null, null, number),
        "startTime": st.one_of(null, null, texts(times[: len(times) // 2])),
        "endTime": st.one_of(null, null, texts(times[len(times) // 2 :])),
        "minMagnitude": st.one_of(null, numbers(-1, 2)),
        "maxMagnitude": st.one_of(null, numbers(2, 6)),
        "asOf": st.just(FIRST),
        "updatedSince": st.one_of(null, null, texts(["2023-08-01T00:00:00Z"])),
        "minDepth": st.one_of(null, null, numbers(0, 5)),
        "maxDepth": st.one_of(null, null, numbers(5, 700)),
        "minLat": numbers(-90, 0),
        "maxLat": numbers(0, 90),
        "minLon": numbers(-180, 180),
        "maxLon": numbers(-180, 180),
        "lat": numbers(-90, 90),
        "lon": numbers(-180, 180),
        "radiusKm": numbers(500, 20_000),
        "polygon": st.one_of(null, null, st.just(NORTHERN_PACIFIC)),
        "types": some(["earthquake", "Quarry_Blast"]),
        "networks": some(["ak", "NC", "us"]),
        "magTypes": some(["ml", "MD", "mb"]),
        "statuses": some(["REVIEWED", "AUTOMATIC"], of=nodes.Enum),
        "alerts": st.one_of(null, null, null, some(["GREEN"], of=nodes.Enum)),
        "tsunami": st.one_of(null, st.just(nodes.Boolean(False))),
        "minFelt": st.one_of(null, null, null, st.integers(0, 3).map(nodes.Int)),
        "minSig": st.one_of(null, st.integers(-1, 50).map(nodes.Int)),
        "maxGap": st.one_of(null, null, numbers(40, 360)),
        "place": st.one_of(null, null, texts(["alaska", "CA", "km", "Pāhala"])),
        "or": st.one_of(null, null, st.just(EITHER)),
        "not": st.one_of(null, null, st.just(NEITHER)),
    }


def some(values: list[str], of: Callable[[str], ValueNode] = nodes.String) -> Values:
    """Mostly null, since several lists at once leave hardly an event."""
    null = st.just(nodes.Null)
    return st.one_of(
        null, null, null, st.lists(st.sampled_from(values).map(of), min_size=1, max_size=3).map(nodes.List)
    )


@st.composite
def documents(draw: st.DrawFn) -> str:
    """A query of the catalogue."""
    document: DocumentNode = draw(_composed)

    class Likelier(Visitor):
        def leave_argument(self, node: ArgumentNode, *_: Any) -> ArgumentNode:
            return ArgumentNode(name=node.name, value=self._value(likely(), node.name, node.value))

        def leave_object_field(self, node: ObjectFieldNode, *_: Any) -> ObjectFieldNode:
            return ObjectFieldNode(name=node.name, value=self._value(likely_in_inputs(), node.name, node.value))

        def _value(self, values: Mapping[str, Values], name: NameNode, value: ValueNode) -> ValueNode:
            strategy = values.get(name.value)
            return value if strategy is None else draw(strategy)

    return print_ast(visit(document, Likelier()))


_composed: st.SearchStrategy[Any] = queries(
    printed(),
    fields=["event", "eventVersion", "events", "eventVersions", "catalogueStatistics", "node", "nodes"],
    custom_scalars={"DateTime": st.just(nodes.String("2023-08-01T00:00:00Z"))},
    print_ast=lambda document: document,
)


def outcome(answer: str) -> str:
    """What kind of answer it is. A field that is refused leaves what others have found."""
    if any(part in answer.partition('"errors":')[0] for part in (':[{"', '"node":{', '"event":{')):
        return "found"
    return "refused" if '"errors":' in answer else "found nothing"


def same(here: dict[str, Any], there: dict[str, Any]) -> bool:
    """Whether both give the same data, and the same errors in whatever order their fields have failed."""
    ours, theirs = (sorted(map(str, answer.get("errors", []))) for answer in (here, there))
    return orjson.dumps(here.get("data")) == orjson.dumps(there.get("data")) and ours == theirs


def both_refuse(here: dict[str, Any], there: dict[str, Any]) -> bool:
    """Whether neither gives any data. One may be refused before it comes to what the other is refused for besides."""
    ours, theirs = ([str(error) for error in answer.get("errors", [])] for answer in (here, there))
    return here["data"] is there["data"] is None and bool(set(ours) & set(theirs))


REVISIONS = "revisions { edges { cursor node { id generatedBy { id runId } } } }"
PAYLOAD = f"{{ events(first: 1) {{ nodes {{ sourceFile {{ id name {REVISIONS} }} }} }} }}"


def names_of_payload(service: Service) -> list[str]:
    """What names the data file of the week's payload and the run that stored it, which each store does at random."""
    return re.findall(
        r'"(?:id|runId|name|cursor)":"([^"]+)"', service.http.post("/graphql", json={"query": PAYLOAD}).text
    )


@pytest.mark.repeated
def test_both_engines_answer_every_query_alike(week: Service, week_on_dynamodb: Service) -> None:
    outcomes: Counter[str] = Counter()
    names = list(zip(*map(names_of_payload, (week, week_on_dynamodb)), strict=True))
    assert len(names) >= 4, "a file, its revision and the run"

    @settings(
        max_examples=EXAMPLES,
        derandomize=True,
        suppress_health_check=list(HealthCheck),
        database=None,
        phases=[Phase.generate],  # to shrink a document asks both for minutes, and the deadline hides what differed
    )
    @given(documents())
    def agree(document: str) -> None:
        asked = {"query": document}
        answers = [service.http.post("/graphql", json=asked).text for service in (week, week_on_dynamodb)]
        for ours, theirs in names:
            answers[1] = answers[1].replace(theirs, ours)
        here, there = map(orjson.loads, answers)
        assert same(here, there) or both_refuse(here, there), document
        outcomes[outcome(answers[0])] += 1

    agree()
    assert outcomes["found"] > EXAMPLES / 3, outcomes
    assert outcomes["refused"] < EXAMPLES / 3, outcomes
