"""A GET whose answer has not changed is a 304, and no other one is, whatever the domains store."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import httpx
import pytest
from hypothesis import settings as effort
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, rule, run_state_machine_as_test

from graph.api.relay import global_id
from graph.core.days import DAY_MS
from graph.domain import ORIGIN
from graph.domains import DOMAINS
from tests.contracts.filled import CREATE_EVENT, INGEST, REGISTER, REPORT, WRITE_LOGS, event
from tests.domains.entities import ENTITIES
from tests.domains.noon import held_clock
from tests.effort import rounds
from tests.service import Service, running
from tests.settings import Settings
from tests.store.engines import new_store

EVENT = '{ event(eventId: "ev1") { mag felt revision deletion { recordedAt } revisions { nodes { number } } } }'
COUNTED = "{ events(first: 1, filter: {minMagnitude: 4}) { totalCount } }"
TOTAL = "{ events { totalCount } catalogueStatistics { count magnitudeFrequency { count } } }"
LIST = "{ events(first: 3, deleted: INCLUDE) { edges { cursor node { id mag felt } } pageInfo { hasNextPage } } }"
NODES = ("Event", "ev1"), ("EventVersion", "ev1:1")
FELT = (
    '{ event(eventId: "ev1") { felt } }',
    *(f'{{ node(id: "{global_id(*node)}") {{ ... on SeismicEvent {{ felt }} }} }}' for node in NODES),
)
BY_KEYS = (
    *(EVENT, COUNTED, TOTAL, *FELT, "{ __typename }"),
    '{ eventVersion(eventId: "ev1", asOf: {first: true}) { mag felt } }',
)
"""Documents whose answers depend on the catalogue alone, and that read no index, which may lag on DynamoDB."""

DEPENDENT = (
    *(*BY_KEYS, LIST, "{ eventVersions(asOf: {first: true}) { nodes { eventId mag felt event { felt } } } }"),
    '{ event(eventId: "ev2") { nearby { nodes { eventId felt } } aliases { eventId } mergedInto { eventId felt } } }',
    "{ events(orderBy: MAGNITUDE_DESC) { nodes { eventId felt } } }",
    "{ catalogueStatistics { largest { eventId felt } depths { unknown } rates { events } grid { cells { count } } } }",
)
"""Documents whose answers depend on the catalogue alone, by whatever they read."""

OTHERS = (
    *('{ event(eventId: "ev1") { mag sightings { nodes { category } } } }', "{ ingestStatus { __typename } }"),
    *("{ serviceLogs { nodes { message } } }", "{ sightings { nodes { category } } }", "{ profile { __typename } }"),
    *("{ triggerEvents { nodes { payload } } }", "{ dataFiles { nodes { name } } }", "{ requestLogs { __typename } }"),
    *('{ dataFile(name: "file1") { revision checksum } }', "{ trending { category } }"),
)
"""Documents whose answers depend on the clock too, on what has no feed, or on what expires."""

OTHER_WRITES: Any = (
    (WRITE_LOGS, {"some": [{"service": "api", "message": "1"}]}),
    (REPORT, {"one": {"category": "SHAKING", "area": "Area 1", "eventId": "ev1"}}),
    (CREATE_EVENT, {"one": {"type": "a.b", "payload": {"n": 1}}}),
    (REGISTER, {"some": [{"name": "file1", "checksum": f"{1:032}"}]}),
)

OF_JSON = {"Accept": "application/graphql-response+json"}


@contextmanager
def two_processes(
    engine: str, folder: Path, origin: str = ORIGIN, **others: Any
) -> Iterator[tuple[Service, Service, Any]]:
    """A service that writes, another one on the same store that reads, and their clock."""
    store, clock = asyncio.run(new_store(engine, folder, ENTITIES)), held_clock()
    usual: Any = {"sole_writer": True, "deliver": False, "max_logs": 0}
    settings = Settings(store=store, **{**usual, **others})
    process: Any = partial(running, settings, clock=clock, domains=[replace(each, origin=origin) for each in DOMAINS])
    with process() as writer, process() as reader:
        yield writer, reader, clock


def got(service: Service, document: str, tag: str | None = None, **headers: str) -> httpx.Response:
    """The answer to a GET, on the condition that it has another tag."""
    given = {"If-None-Match": tag} if tag else {}
    return service.http.get("/graphql", params={"query": document}, headers={**OF_JSON, **given, **headers})


def test_no_answer_that_would_differ_is_a_304(engine: str, tmp_path: Path) -> None:
    documents = DEPENDENT if engine == "sqlite" else BY_KEYS
    with two_processes(engine, tmp_path) as (writer, reader, clock):

        class Interleaved(RuleBasedStateMachine):
            """Writes of every domain by one process, and conditional requests to the other one."""

            kept: dict[str, httpx.Response] = {}  # noqa: RUF012 - the store is shared by all examples, too

            @rule(document=st.sampled_from(documents))
            def ask(self, document: str) -> None:
                before = self.kept.get(document)
                answer = got(reader, document, before.headers["ETag"] if before else None)
                if before and answer.status_code == 304:
                    assert got(reader, document).content == before.content, document
                elif "ETag" in answer.headers:
                    self.kept[document] = answer

            @rule(
                number=st.integers(0, 3),
                mag=st.sampled_from([3.9, 4.0, 5.0]),
                felt=st.integers(0, 3),
                status=st.sampled_from(["automatic", "automatic", "reviewed", "deleted"]),
                also=st.sampled_from([None, None, None, "ev2", "ev3"]),
            )
            def ingest(self, number: int, mag: float, felt: int, status: str, also: str | None) -> None:
                clock.now += 1
                known = {"ids": [f"ev{number}", also]} if also else {}
                some = [event(number, mag=mag, felt=felt, status=status, updated=clock.now, **known)]
                assert "errors" not in writer.answer(INGEST, {"some": some})

            @rule(felt=st.integers(4, 9))
            def update_in_place(self, felt: int) -> None:
                for document in FELT:
                    self.ask(document)
                clock.now += 1
                stored = reader.ask('{ event(eventId: "ev1") { mag status deletion { __typename } } }')["event"]
                if stored and not stored["deletion"]:
                    some = [event(1, mag=stored["mag"], status=stored["status"], felt=felt, updated=clock.now)]
                    writer.ask(INGEST, {"some": some})
                for document in FELT:
                    self.ask(document)

            @rule(write=st.sampled_from(OTHER_WRITES))
            def write_to_another_domain(self, write: tuple[str, Any]) -> None:
                writer.answer(*write)

            @rule()
            def wait(self) -> None:
                clock.now += DAY_MS // 2

        few = effort(max_examples=rounds(24), stateful_step_count=40, deadline=None)
        for document in documents:
            Interleaved().ask(document)
        run_state_machine_as_test(Interleaved, settings=few)
        for document in documents:
            Interleaved().ask(document)
        assert Interleaved.kept.keys() == {*documents}


@pytest.fixture(scope="module")
def sqlite(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Service, Service]]:
    """Two processes with a few events, for tests that leave them as they are."""
    with two_processes("sqlite", tmp_path_factory.mktemp("few")) as (writer, reader, _):
        writer.ask(INGEST, {"some": [event(number) for number in range(4)]})
        yield writer, reader


Processes = tuple[Service, Service]


def test_an_answer_that_has_not_changed_is_not_sent_again(sqlite: Processes) -> None:
    for document in DEPENDENT:
        first, tag = got(sqlite[0], document), ""
        for tag in (first.headers["ETag"], f'"other", {first.headers["ETag"].removeprefix("W/")}'):
            again = got(sqlite[1], document, tag)

            assert (again.status_code, again.content) == (304, b"")
            for name in ("ETag", "Cache-Control", "X-Content-Type-Options"):
                assert again.headers[name] == first.headers[name]
            assert {"Accept", "Authorization"} <= set(again.headers["Vary"].split(", "))
        assert first.headers["Cache-Control"] == "private, no-cache"
        assert [got(sqlite[1], document, each).status_code for each in ("*", '"*"', tag[:-1])] == [304, 200, 200]
        head = sqlite[1].http.head("/graphql", params={"query": document}, headers={**OF_JSON, "If-None-Match": tag})
        assert head.status_code == 304


def test_what_anybody_may_read_may_be_kept_for_all(sqlite: Processes) -> None:
    of_anybody = httpx.get(f"{sqlite[0].url}/graphql", params={"query": EVENT}, headers=OF_JSON)

    assert of_anybody.headers["Cache-Control"] == "no-cache"
    assert of_anybody.headers["ETag"] != got(sqlite[0], EVENT).headers["ETag"]


def test_the_tag_is_that_of_one_request(sqlite: Processes) -> None:
    """Of its caller, document, variables, operation and media type."""
    two = "query A { a: __typename } query B { b: __typename }"
    requests: list[tuple[dict[str, str], dict[str, str]]] = [
        ({"query": two, "operationName": "A"}, OF_JSON),
        ({"query": two, "operationName": "B"}, OF_JSON),
        ({"query": two, "operationName": "B", "variables": '{"a": 1}'}, OF_JSON),
        ({"query": f"{two} ", "operationName": "B"}, OF_JSON),
        ({"query": two, "operationName": "B"}, {"Accept": "application/json", "Content-Type": "application/json"}),
    ]
    tags = {sqlite[0].http.get("/graphql", params=each, headers=headers).headers["ETag"] for each, headers in requests}
    tags.add(httpx.get(f"{sqlite[0].url}/graphql", params=requests[0][0], headers=OF_JSON).headers["ETag"])

    assert len(tags) == len(requests) + 1


def no_tag(answer: httpx.Response) -> bool:
    return "ETag" not in answer.headers and answer.headers["Cache-Control"] == "no-store"


def test_an_answer_that_may_change_by_itself_has_no_tag(sqlite: Processes) -> None:
    failing = '{ event(eventId: "ev1") { mag } events(after: "nonsense") { totalCount } }'
    for document in (*OTHERS, failing, "{ nothing }", '{ node(id: "MTpTaWdodGluZzox") { id } }'):
        assert no_tag(got(sqlite[0], document, "*")), document
    assert no_tag(got(sqlite[0], EVENT, **{"GraphQL-Cost": "1"}))
    assert no_tag(sqlite[0].http.post("/graphql", json={"query": EVENT}))


def test_a_tag_is_of_no_other_store_or_distribution(tmp_path: Path) -> None:
    """Not even of a store with the same number of changes, or of another version of a domain with the same schema."""
    tags = []
    for store, origin in (("1", ORIGIN), ("2", ORIGIN), ("2", ORIGIN), ("2", "quakes 2")):
        (tmp_path / store).mkdir(exist_ok=True)
        with two_processes("sqlite", tmp_path / store, origin) as (writer, _, _):
            writer.ask(INGEST, {"some": [event(1)]})
            tags.append(got(writer, EVENT).headers["ETag"])

    assert tags[1] == tags[2]
    assert len({*tags}) == 3


def test_a_known_answer_costs_a_point_and_is_recorded(tmp_path: Path) -> None:
    with two_processes("sqlite", tmp_path, rate_limit=60, max_logs=1000) as (service, _, _):
        first = got(service, COUNTED, **{"GraphQL-Cost": "1"}).json()
        left = 60 - 2 * first["extensions"]["cost"]["points"]
        tag = got(service, COUNTED).headers["ETag"]
        statuses = [got(service, COUNTED, tag).status_code for _ in range(left + 1)]

    assert statuses == [304] * left + [429]
    with two_processes("sqlite", tmp_path) as (service, _, _):
        logs = '{ requestLogs(filter: {routes: ["/graphql"]}, first: 100) { nodes { status error logType } } }'
        known = service.ask(logs)["requestLogs"]["nodes"]
    assert known == [{"status": 304, "error": None, "logType": "QUERY"}] * left


@pytest.mark.parametrize("is_sole", [True, False])
def test_on_dynamodb_an_answer_has_a_tag_if_nobody_else_writes_and_no_index_is_read(
    is_sole: bool, dynamodb_endpoint: str, tmp_path: Path
) -> None:
    with two_processes("dynamodb", tmp_path, sole_writer=is_sole) as (service, _, _):
        service.ask(INGEST, {"some": [event(1), event(2)]})
        tagged = [document for document in DEPENDENT if "ETag" in got(service, document).headers]

    assert {*tagged} == ({*BY_KEYS} if is_sole else {"{ __typename }"})
