"""Every answer has an id of its own, and headers that keep a browser from misusing it."""

from itertools import islice
from uuid import RFC_4122, UUID

import pytest

from graph.transport.request_ids import IDS_AT_ONCE, SECURITY_HEADERS, random_ids
from tests.service import Service

EVERY_KIND = [
    ("GET", "/graphql", {"Accept": "text/html"}, 200),
    ("GET", "/graphql?query={__typename}", {}, 200),
    ("GET", "/graphql?query={", {}, 200),
    ("POST", "/graphql", {}, 415),
    ("GET", "/", {}, 200),
    ("GET", "/healthz", {}, 200),
    ("GET", "/readyz", {}, 200),
    ("GET", "/graphiql/nothing.js", {}, 404),
    ("GET", "/nowhere", {}, 404),
    ("DELETE", "/healthz", {}, 405),
]


@pytest.mark.parametrize(("method", "path", "headers", "status"), EVERY_KIND)
def test_every_answer_has_an_id_and_the_security_headers(
    week: Service, method: str, path: str, headers: dict[str, str], status: int
) -> None:
    answer = week.http.request(method, path, headers=headers)

    assert answer.status_code == status
    assert UUID(answer.headers["X-Request-Id"]).version == 4
    assert answer.headers.keys() >= {name.lower() for name in SECURITY_HEADERS}
    assert answer.headers["X-Content-Type-Options"] == "nosniff"
    assert "frame-ancestors 'none'" in answer.headers["Content-Security-Policy"]
    assert answer.headers.get_list("Content-Security-Policy") == [answer.headers["Content-Security-Policy"]]
    assert "server" not in answer.headers


def test_each_request_gets_a_new_id_whatever_it_sends(week: Service) -> None:
    sent = "6f3a8a5e-0b6c-4a39-8f3e-3d6e6d0b1c11"
    ids = {week.http.get("/healthz", headers={"X-Request-Id": sent}).headers["X-Request-Id"] for _ in range(3)}

    assert len(ids | {sent}) == 4


def test_ids_are_random_uuids_in_their_usual_form() -> None:
    ids = list(islice(random_ids(), 4 * IDS_AT_ONCE))

    assert len(set(ids)) == len(ids)
    assert [str(UUID(each)) for each in ids] == ids
    assert {(UUID(each).version, UUID(each).variant) for each in ids} == {(4, RFC_4122)}
    for digit in range(32):
        kinds = {UUID(each).hex[digit] for each in ids}
        assert len(kinds) == {12: 1, 16: 4}.get(digit, 16)


def test_answers_of_the_graph_are_not_cached(week: Service) -> None:
    assert week.http.get("/graphql?query={__typename}").headers["Cache-Control"] == "no-store"


@pytest.mark.parametrize(("method", "path"), [("GET", "/nowhere"), ("DELETE", "/healthz"), ("GET", "/graphiql/x.js")])
def test_a_missing_path_gets_a_graphql_error(week: Service, method: str, path: str) -> None:
    answer = week.http.request(method, path)

    assert answer.headers["Content-Type"] == "application/json"
    (error,) = answer.json()["errors"]
    assert error["extensions"] == {"code": "BAD_REQUEST"}
    assert sorted(answer.headers.get("Allow", "").split(", ")) == (["GET", "HEAD"] if method == "DELETE" else [""])
