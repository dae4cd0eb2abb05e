"""Documents: bounded before they are read, remembered where they are valid, and only as many as fit."""

from typing import Any

import pytest

from graph.api.documents.prepared import Documents, InvalidDocument
from graph.core.errors import QueryTooComplex
from graph.domains.earthquakes.scopes import EVENTS_READ
from graph.domains.request_logs.scopes import LOGS_READ
from tests.schemas import schema
from tests.settings import Settings

ROOM = 2**20


def documents(**limits: Any) -> Documents:
    return Documents(schema, Settings(**limits), remembered_bytes=ROOM)


def test_a_valid_document_is_read_once() -> None:
    known = documents()

    assert known.of("{ __typename }") is known.of("{ __typename }")
    assert known.of("{ __typename }") is not known.of("{  __typename }")


def test_an_invalid_document_is_not_remembered() -> None:
    known = documents()

    for text, code in (("{", "GRAPHQL_PARSE_FAILED"), ("{ nothing }", "GRAPHQL_VALIDATION_FAILED")):
        for _ in range(2):
            with pytest.raises(InvalidDocument) as caught:
                known.of(text)
            assert caught.value.code == code


def test_no_more_is_remembered_than_there_is_room_for() -> None:
    known = documents()
    remembered = known._remembered
    for number in range(200):
        known.of(f"{{ __typename }} #{number} {'x' * 2000}")
        assert remembered.currsize <= remembered.maxsize == ROOM

    assert 50 < len(remembered) < 200
    assert remembered.currsize == sum(document.size for document in remembered.values())


def test_a_document_larger_than_the_cache_is_executed() -> None:
    known = documents(max_document_bytes=1_000_000)

    assert known.of("{ __typename } #" + "x" * (ROOM - 100_000)).operation(None).name is None

    assert len(known._remembered) == 0


def test_a_document_beyond_the_limits_is_refused_before_it_is_parsed() -> None:
    beyond: list[tuple[str, dict[str, int]]] = [
        ("{ __typename } #" + "é" * 50, {"max_document_bytes": 100}),
        ("{" + " __typename" * 99 + "}", {"max_tokens": 100}),
        ("{a" * 900, {}),
        ("{ a(b: " + "[" * 1900, {}),
        ("query($a: " + "[" * 1900, {}),
        ("{ a(b: " + "{c:" * 600, {}),
    ]
    for text, limit in beyond:
        with pytest.raises(QueryTooComplex):
            documents(**limit).of(text)


def test_the_scopes_of_an_operation_are_those_of_its_fields_and_of_its_fragments() -> None:
    document = documents().of(
        """
        query A { ...F events { totalCount } }
        query B { ... { popularFilters { totalRequests } } }
        query C { ...F }
        fragment F on Query { __typename ...G }
        fragment G on Query { event(eventId: "us1") { id } }
        """
    )

    assert document.operation("A").scopes({}) == document.operation("C").scopes({}) == {EVENTS_READ}
    assert document.operation("B").scopes({}) == {LOGS_READ}
