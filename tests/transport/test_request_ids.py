"""Every answer has an id of its own, and headers that keep a browser from misusing it."""

from itertools import islice
from uuid import RFC_4122, UUID

from graph.transport.request_ids import IDS_AT_ONCE, SECURITY_HEADERS, random_ids
from tests.service import Service

EVERY_KIND: list[tuple[str, str, dict[str, str], int]] = [
    ("GET", "/graphql", {"Accept": "text/html"}, 200),
    ("GET", "/graphql?query={__typename}", {}, 200),
    ("GET", "/graphql?query={", {}, 200),
    ("POST", "/graphql", {}, 415),
    *(("GET", path, {}, 200) for path in ("/", "/healthz", "/readyz")),
    *(("GET", path, {}, 404) for path in ("/graphiql/nothing.js", "/nowhere")),
    ("DELETE", "/healthz", {}, 405),
]


def test_every_answer_has_an_id_of_its_own_and_the_security_headers(week: Service) -> None:
    sent = "6f3a8a5e-0b6c-4a39-8f3e-3d6e6d0b1c11"
    ids = {sent}
    for method, path, headers, status in EVERY_KIND:
        answer = week.http.request(method, path, headers={**headers, "X-Request-Id": sent})

        assert answer.status_code == status, path
        ids.add(answer.headers["X-Request-Id"])
        assert UUID(answer.headers["X-Request-Id"]).version == 4
        assert answer.headers.keys() >= {name.lower() for name in SECURITY_HEADERS}
        assert answer.headers["X-Content-Type-Options"] == "nosniff"
        assert "frame-ancestors 'none'" in answer.headers["Content-Security-Policy"]
        assert answer.headers.get_list("Content-Security-Policy") == [answer.headers["Content-Security-Policy"]]
        assert "server" not in answer.headers
        of_graph = "private, no-cache" if "ETag" in answer.headers else "no-store"
        assert "query=" not in path or answer.headers["Cache-Control"] == of_graph
        if status in (404, 405):
            assert answer.headers["Content-Type"] == "application/json"
            (error,) = answer.json()["errors"]
            assert error["extensions"] == {"code": "BAD_REQUEST"}
            assert sorted(answer.headers.get("Allow", "").split(", ")) == (["GET", "HEAD"] if status == 405 else [""])
    assert len(ids) == len(EVERY_KIND) + 1


def test_ids_are_random_uuids_in_their_usual_form() -> None:
    ids = list(islice(random_ids(), 4 * IDS_AT_ONCE))

    assert len(set(ids)) == len(ids)
    assert [str(UUID(each)) for each in ids] == ids
    assert {(UUID(each).version, UUID(each).variant) for each in ids} == {(4, RFC_4122)}
    for digit in range(32):
        kinds = {UUID(each).hex[digit] for each in ids}
        assert len(kinds) == {12: 1, 16: 4}.get(digit, 16)
