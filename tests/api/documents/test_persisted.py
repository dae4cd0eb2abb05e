"""Documents that are named instead of sent: kept within a bound, never under a name that is not theirs."""

import sys
from hashlib import sha256
from pathlib import Path
from typing import Any

import httpx
import orjson
import pytest

from graph.api.documents.persisted import KEPT_BYTES, LONGEST_KEPT, AutomaticDocuments
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


def test_a_named_document_takes_variables_and_the_name_of_an_operation(service: Service) -> None:
    document = "query A { a: __typename } query B($id: String!) { event(eventId: $id) { id } }"
    post(service, query=document, extensions=named(document), operationName="A")

    answer = post(service, extensions=named(document), operationName="B", variables={"id": "us1"})

    assert answer.json() == {"data": {"event": None}}


def test_a_document_sent_without_its_hash_is_not_kept(service: Service) -> None:
    post(service, query=QUERY)

    assert code_of(post(service, extensions=named(QUERY))) == "PERSISTED_QUERY_NOT_FOUND"


@pytest.mark.parametrize("document", ["{", "{ nothing }", "{ a: __typename b: __typename c: __typename }"])
def test_a_document_that_cannot_be_executed_is_not_kept(tmp_path: Path, usgs: UsgsServer, document: str) -> None:
    with running(settings(tmp_path / "empty.db", usgs, max_aliases=2)) as service:
        post(service, query=document, extensions=named(document))

        assert code_of(post(service, extensions=named(document))) == "PERSISTED_QUERY_NOT_FOUND"


def test_a_document_is_kept_only_under_its_own_hash(service: Service) -> None:
    other = "{ events { totalCount } }"

    refused = post(service, query=QUERY, extensions=named(other))

    assert (refused.status_code, code_of(refused)) == (400, "BAD_REQUEST")
    assert code_of(post(service, extensions=named(other))) == "PERSISTED_QUERY_NOT_FOUND"


@pytest.mark.parametrize(
    ("extension", "code"),
    [
        ("x", "BAD_REQUEST"),
        (1, "BAD_REQUEST"),
        ([], "BAD_REQUEST"),
        ({}, "PERSISTED_QUERY_NOT_SUPPORTED"),
        ({"version": 2, "sha256Hash": hash_of(QUERY)}, "PERSISTED_QUERY_NOT_SUPPORTED"),
        ({"version": 1}, "BAD_REQUEST"),
        ({"version": 1, "sha256Hash": None}, "BAD_REQUEST"),
        ({"version": 1, "sha256Hash": 7}, "BAD_REQUEST"),
        ({"version": 1, "sha256Hash": ""}, "BAD_REQUEST"),
        ({"version": 1, "sha256Hash": "../../etc/passwd"}, "BAD_REQUEST"),
        ({"version": 1, "sha256Hash": "f" * 63}, "BAD_REQUEST"),
        ({"version": 1, "sha256Hash": "f" * 100_000}, "BAD_REQUEST"),
    ],
)
def test_a_malformed_persisted_query_is_refused(service: Service, extension: Any, code: str) -> None:
    answer = post(service, extensions={"persistedQuery": extension})

    assert code_of(answer) == code
    assert len(answer.content) < 300


def test_no_name_at_all_is_as_if_there_were_none(service: Service) -> None:
    assert post(service, query=QUERY, extensions={"persistedQuery": None}).json() == {"data": {"__typename": "Query"}}
    assert code_of(post(service, extensions={"persistedQuery": None})) == "BAD_REQUEST"


@pytest.mark.parametrize(
    ("filler", "number_kept"),
    [
        ("", 1024),  # short ones take room too: for their hashes, and for being found
        ("x" * 2000, 507),
        ("\N{EARTH GLOBE EUROPE-AFRICA}" * 500, 489),  # four bytes each
    ],
)
def test_the_number_of_kept_documents_is_bounded(filler: str, number_kept: int) -> None:
    kept = AutomaticDocuments()
    for number in range(10_000):
        text = f"{{__typename}}#{number:04}{filler}"
        kept.remember(text, named(text))
    longest = "{ __typename } #" + "x" * LONGEST_KEPT
    kept.remember(longest, named(longest))

    assert len(kept._kept) == number_kept
    assert sum(map(sys.getsizeof, kept._kept.values())) <= KEPT_BYTES
    assert kept.text(None, named(text)) == text
    assert hash_of(longest) not in kept._kept


# Listed

LISTED = "query Latest { events(first: 1) { nodes { id } } }"
MANIFEST = {
    "format": "apollo-persisted-query-manifest",
    "version": 1,
    "operations": [{"id": hash_of(LISTED), "name": "Latest", "type": "query", "body": LISTED}],
}


@pytest.mark.parametrize("said", [MANIFEST, {hash_of(LISTED): LISTED}, {"latest": LISTED}])
def test_only_the_documents_of_the_list_are_executed(tmp_path: Path, usgs: UsgsServer, said: Any) -> None:
    file = tmp_path / "documents.json"
    file.write_bytes(orjson.dumps(said))
    with running(settings(tmp_path / "empty.db", usgs, allowed_documents=file)) as service:
        assert post(service, query=LISTED).json() == {"data": {"events": {"nodes": []}}}
        assert post(service, extensions=named(LISTED)).json() == {"data": {"events": {"nodes": []}}}
        assert post(service, query=LISTED, extensions=named(LISTED)).json() == {"data": {"events": {"nodes": []}}}
        for refused in (
            post(service, query=QUERY),
            post(service, query=QUERY, extensions=named(QUERY)),
            post(service, query=f"{LISTED} "),
            post(service, extensions=named(QUERY)),
            post(service, query="{ __schema { types { name } } }"),
        ):
            assert (refused.status_code, code_of(refused)) == (403, "PERSISTED_QUERY_NOT_IN_LIST")


def test_a_listed_document_has_the_name_that_the_list_gives_it(tmp_path: Path, usgs: UsgsServer) -> None:
    file = tmp_path / "documents.json"
    file.write_bytes(orjson.dumps({"latest": LISTED}))
    with running(settings(tmp_path / "empty.db", usgs, allowed_documents=file)) as service:
        by_name = post(service, extensions={"persistedQuery": {"version": 1, "sha256Hash": "latest"}})
    assert by_name.json() == {"data": {"events": {"nodes": []}}}


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (None, "documents.json cannot be read: No such file or directory"),
        ("{", "documents.json is not JSON"),
        ("[]", "documents.json is neither a manifest nor an object"),
        ('{"format": "apollo-persisted-query-manifest"}', "documents.json is neither a manifest nor an object"),
        ('{"a": 1}', "documents.json has no text under 'a': give a document there"),
        ('{"a": "{"}', "documents.json has an invalid document, 'a': Syntax Error"),
        ('{"a": "{ nothing }"}', "documents.json has an invalid document, 'a': Cannot query field 'nothing'"),
    ],
)
def test_a_list_that_cannot_be_served_ends_the_start_with_a_line(tmp_path: Path, text: str | None, says: str) -> None:
    file = tmp_path / "documents.json"
    if text is not None:
        file.write_text(text)
    given = {"GRAPH_ALLOWED_DOCUMENTS": str(file)}
    status, said = ended("serve", "--port", "0", folder=tmp_path, settings=given)

    assert status == 1
    assert says in said
    assert said.startswith("Error: ")
    assert said.count("\n") == 1
