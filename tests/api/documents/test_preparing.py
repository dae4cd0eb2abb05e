"""Preparing a document takes work in proportion to its size, whatever its parts are made to do to each other."""

import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

import orjson
import pytest

from graph.api.documents.persisted import UnusableList, persisted
from graph.api.documents.prepared import InvalidDocument
from graph.core.errors import GraphError, QueryTooComplex
from tests.api.documents.hostile import MOST_BYTES, MOST_TOKENS, OTHERS, TOO_COMPLEX, multiplied, tokens
from tests.api.documents.test_cost import INTROSPECTION
from tests.api.documents.test_documents import documents
from tests.pages.dashboard.documents import documents as dashboard_documents
from tests.service import Service

MOST_CALLS = 250_000  # of Python functions: 125 for each of 2,000 tokens; an ordinary query takes about 100

FIELDS = (
    "eventId eventTsMs time mag place lat lon depth dayBucket source ingestedAt magType type status updatedAt url sig"
)


def aliases(selection: str) -> str:
    """The same of ten events."""
    return "{" + " ".join(f'a{i}: event(eventId: "x") {{ __typename {selection} }}' for i in range(10)) + "}"


def components(number: int) -> str:
    """A selection that each of many components adds its own to, as Relay's do."""
    spreads, fields = " ".join(f"...F{i}" for i in range(number)), FIELDS.split()
    fragments = [f"fragment F{i} on Event {{ __typename id {' '.join(fields[i % 12 :][:6])} }}" for i in range(number)]
    return f"{{ events {{ nodes {{ __typename {spreads} }} }} }} {' '.join(fragments)}"


ORDINARY = {
    **dashboard_documents(),
    "introspection": INTROSPECTION,
    "ten aliases of twenty fields": aliases(f"{FIELDS} tsunami felt alert"),
    "ten aliases of a fragment": aliases("...F") + f"fragment F on Event {{ __typename {FIELDS} }}",
    "__typename in every selection": "query { __typename events { __typename nodes { __typename id ...F } } } "
    "fragment F on Event { __typename id nearby { __typename nodes { __typename id mag } } }",
    "twenty components": components(20),
}


def calls_of(work: Callable[[], Any]) -> int:
    """How many calls of Python functions the work makes, whether or not it is refused."""
    calls = 0

    def count(frame: FrameType, event: str, argument: object) -> None:
        nonlocal calls
        calls += event == "call"

    before = sys.getprofile()
    sys.setprofile(count)
    try:
        work()
    except (GraphError, InvalidDocument):
        pass
    finally:
        sys.setprofile(before)
    return calls


@pytest.mark.parametrize("name", [*TOO_COMPLEX, *OTHERS])
def test_the_work_is_in_proportion_to_the_greatest_size(name: str) -> None:
    known, text = documents(), (TOO_COMPLEX | OTHERS)[name]
    known.of("{ __typename }")
    assert tokens(text) <= MOST_TOKENS
    assert len(text) <= MOST_BYTES

    assert calls_of(lambda: list(known.of(text).operations())) < MOST_CALLS


@pytest.mark.parametrize("name", TOO_COMPLEX)
def test_documents_that_take_long_to_prepare_are_too_complex(week: Service, name: str) -> None:
    body = {"query": TOO_COMPLEX[name], "operationName": "Q0" if "Q0" in TOO_COMPLEX[name] else None}

    answer = week.http.post("/graphql", json=body).json()

    assert answer.keys() == {"errors"}
    assert [error["extensions"]["code"] for error in answer["errors"]] == ["QUERY_TOO_COMPLEX"]


@pytest.mark.parametrize("name", ORDINARY)
def test_ordinary_documents_are_prepared(name: str) -> None:
    assert list(documents().of(ORDINARY[name]).operations())


def test_an_operation_is_prepared_when_it_is_requested() -> None:
    """Each takes about as much as the other: one of fifty makes no work for the rest."""
    known, text = documents(), OTHERS["fifty operations"]
    known.of("{ __typename }").operation(None)  # some things are made once
    document = known.of(text)

    first = calls_of(lambda: document.operation("Q7"))
    again = calls_of(lambda: document.operation("Q7"))
    others = calls_of(lambda: list(document.operations()))

    assert again == calls_of(lambda: None) + 1
    assert document.operation("Q7") is document.operation("Q7")
    assert others > 40 * (first - again)


def test_one_operation_may_be_too_complex_and_another_not(tmp_path: Path) -> None:
    """A list of documents, though, is prepared as a whole at the start."""
    text = f"query A {{ __typename }} query B {multiplied(5)}"
    document = documents().of(text)

    assert document.operation("A").name == "A"
    with pytest.raises(QueryTooComplex):
        document.operation("B")
    file = tmp_path / "documents.json"
    file.write_bytes(orjson.dumps({"a": text}))
    with pytest.raises(UnusableList, match="has a document that cannot be executed, 'a'"):
        persisted(file, documents())
