"""Documents that are named instead of sent: kept within a bound, never under a name that is not theirs."""

import sys
from hashlib import sha256
from pathlib import Path
from typing import Any

import httpx
import orjson
import pytest

from graph.api.documents.persisted import (
    KEPT_BYTES,
    LEAST_BYTES,
    LONGEST_KEPT,
    AutomaticDocuments,
    UnusableList,
    persisted,
)
from tests.api.documents.test_documents import documents
from tests.domains.earthquakes.usgs.usgs_server import UsgsServer
from tests.forking import ended
from tests.service import Service, running, settings

JSON, GRAPHQL_JSON = "application/json", "application/graphql-response+json"
QUERY = "{ __typename }"


def hash_of(text: str) -> str:
    return sha256(text.encode()).hexdigest()


def named(text: str, **others: Any) -> dict[str, Any]:
    """The `extensions` that name a document."""
    return {"persistedQuery": {"version": 1, "sha256Hash": hash_of(text), **others}}


def post(service: Service, **parameters: Any) -> httpx.Response:
    return service.http.post("/graphql", json=parameters, headers={"Accept": JSON})


def code_of(answer: httpx.Response) -> str:
    (error,) = answer.json()["errors"]
    assert answer.json().keys() == {"errors"}
    return str(error["extensions"]["code"])


# Automatic


def test_a_document_is_sent_once_and_named_from_then_on(service: Service) -> None:
    unknown = post(service, extensions=named(QUERY))
    assert (unknown.status_code, code_of(unknown)) == (200, "PERSISTED_QUERY_NOT_FOUND")
    assert unknown.json()["errors"][0]["message"] == "PersistedQueryNotFound"  # which Apollo's clients look for
    assert unknown.headers["Cache-Control"] == "private, no-cache, must-revalidate"

    sent = post(service, query=QUERY, extensions=named(QUERY))
    again = post(service, extensions=named(QUERY))
    by_get = service.http.get("/graphql", params={"extensions": orjson.dumps(named(QUERY)).decode()})

    for answer in (sent, again, by_get):
        assert (answer.status_code, answer.json()) == (200, {"data": {"__typename": "Query"}})

    document = "query A { a: __typename } query B($id: ID!) { event(eventId: $id) { id } }"
    post(service, query=document, extensions=named(document), operationName="A")
    other = post(service, extensions=named(document), operationName="B", variables={"id": "us1"})
    assert other.json() == {"data": {"event": None}}


def test_a_document_that_cannot_be_executed_is_not_kept(tmp_path: Path, usgs: UsgsServer) -> None:
    with running(settings(tmp_path / "empty.db", usgs, max_aliases=2)) as service:
        for document in ("{", "{ nothing }", "{ a: __typename b: __typename c: __typename }"):
            post(service, query=document, extensions=named(document))

            assert code_of(post(service, extensions=named(document))) == "PERSISTED_QUERY_NOT_FOUND"


def test_a_document_is_kept_only_under_its_own_hash(service: Service) -> None:
    other = "{ events { totalCount } }"

    assert post(service, query=QUERY).status_code == 200
    assert code_of(post(service, extensions=named(QUERY))) == "PERSISTED_QUERY_NOT_FOUND"
    refused = post(service, query=QUERY, extensions=named(other))
    assert (refused.status_code, code_of(refused)) == (400, "BAD_REQUEST")
    assert code_of(post(service, extensions=named(other))) == "PERSISTED_QUERY_NOT_FOUND"
    none = {"persistedQuery": None}  # which is as if there were no name at all
    assert post(service, query=QUERY, extensions=none).json() == {"data": {"__typename": "Query"}}
    assert code_of(post(service, extensions=none)) == "BAD_REQUEST"


MALFORMED: list[Any] = ["x", 1, [], {"version": 1}]
MALFORMED += [{"version": 1, "sha256Hash": each} for each in (None, 7, "", "../../etc/passwd", "f" * 63, "f" * 100_000)]


def test_a_malformed_persisted_query_is_refused(service: Service) -> None:
    unsupported: list[Any] = [{}, {"version": 2, "sha256Hash": hash_of(QUERY)}]
    for extension in (*MALFORMED, *unsupported):
        answer = post(service, extensions={"persistedQuery": extension})

        assert code_of(answer) == ("PERSISTED_QUERY_NOT_SUPPORTED" if extension in unsupported else "BAD_REQUEST")
        assert len(answer.content) < 300


def test_the_memory_of_kept_documents_is_bounded() -> None:
    for filler in ("", "x" * 2000, "\N{EARTH GLOBE EUROPE-AFRICA}" * 500):  # four bytes each
        kept = AutomaticDocuments()
        for number in range(1500):
            text = f"{{__typename}}#{number:04}{filler}"
            kept.remember(text, named(text))
        longest = "{ __typename } #" + "x" * LONGEST_KEPT
        kept.remember(longest, named(longest))

        room = max(sys.getsizeof(text), LEAST_BYTES)  # short ones take room too: for their hashes, and for being found
        assert len(kept._kept) == KEPT_BYTES // room
        assert kept.text(None, named(text)) == text
        assert hash_of(longest) not in kept._kept


# Listed

LISTED = "query Latest { events(first: 1) { nodes { id } } }"
MANIFEST = {
    "format": "apollo-persisted-query-manifest",
    "version": 1,
    "operations": [{"id": hash_of(LISTED), "name": "Latest", "type": "query", "body": LISTED}],
}


@pytest.mark.parametrize(
    "said", [MANIFEST, {hash_of(LISTED): LISTED}, {"latest": LISTED}], ids=["manifest", "hashes", "names"]
)
def test_only_the_documents_of_the_list_are_executed(tmp_path: Path, usgs: UsgsServer, said: Any) -> None:
    file = tmp_path / "documents.json"
    file.write_bytes(orjson.dumps(said))
    with running(settings(tmp_path / "empty.db", usgs, allowed_documents=file)) as service:
        assert post(service, query=LISTED).json() == {"data": {"events": {"nodes": []}}}
        assert post(service, extensions=named(LISTED)).json() == {"data": {"events": {"nodes": []}}}
        assert post(service, query=LISTED, extensions=named(LISTED)).json() == {"data": {"events": {"nodes": []}}}
        for name in said if said is not MANIFEST else [hash_of(LISTED)]:
            by_name = post(service, extensions={"persistedQuery": {"version": 1, "sha256Hash": name}})
            assert by_name.json() == {"data": {"events": {"nodes": []}}}
        for refused in (
            post(service, query=QUERY),
            post(service, query=QUERY, extensions=named(QUERY)),
            post(service, query=f"{LISTED} "),
            post(service, extensions=named(QUERY)),
            post(service, query="{ __schema { types { name } } }"),
        ):
            assert (refused.status_code, code_of(refused)) == (403, "PERSISTED_QUERY_NOT_IN_LIST")


UNSERVABLE = [
    (None, "documents.json cannot be read: No such file or directory"),
    ("{", "documents.json is not JSON"),
    ("[]", "documents.json is neither a manifest nor an object"),
    ('{"format": "apollo-persisted-query-manifest"}', "documents.json is neither a manifest nor an object"),
    ('{"a": 1}', "documents.json has no text under 'a': give a document there"),
    ('{"a": "{"}', "documents.json has an invalid document, 'a': Syntax Error"),
    ('{"a": "{ nothing }"}', "documents.json has an invalid document, 'a': Cannot query field 'nothing'"),
]


def test_a_list_that_cannot_be_served_ends_the_start_with_a_line(tmp_path: Path) -> None:
    file = tmp_path / "documents.json"
    for text, says in UNSERVABLE:
        if text is not None:
            file.write_text(text)
        with pytest.raises(UnusableList) as refused:
            persisted(file, documents())
        assert says in str(refused.value)
    status, said = ended("serve", "--port", "0", folder=tmp_path, settings={"GRAPH_ALLOWED_DOCUMENTS": str(file)})

    assert (status, said.startswith("Error: "), said.count("\n")) == (1, True, 1)
    assert says in said
