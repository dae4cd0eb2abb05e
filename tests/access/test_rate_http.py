"""The rate limit as clients meet it: RATE_LIMITED with `Retry-After`, and nothing done."""

from pathlib import Path
from typing import Any

import httpx

from graph.domains.earthquakes.scopes import EVENTS_READ
from tests.bearers import bearer
from tests.domains.earthquakes.usgs.usgs_server import UsgsServer
from tests.service import running, settings

JSON, GRAPHQL_JSON = "application/json", "application/graphql-response+json"
EIGHT_HUNDRED = {"query": "{ events(first: 798) { nodes { id } } }"}


def test_a_caller_without_points_gets_429_until_the_next_minute(tmp_path: Path, usgs: UsgsServer) -> None:
    with running(settings(tmp_path / "empty.db", usgs, rate_limit=1000)) as service:
        ada, bob = bearer(subject="ada"), bearer(subject="bob")

        def ask(headers: dict[str, str], accept: str = JSON) -> httpx.Response:
            return service.http.post("/graphql", json=EIGHT_HUNDRED, headers={**headers, "Accept": accept})

        assert ask(ada).status_code == 200
        for accept in (JSON, GRAPHQL_JSON):
            answer = ask(ada, accept)
            assert answer.status_code == 429
            assert answer.json()["errors"][0]["extensions"] == {"code": "RATE_LIMITED"}
            assert answer.json().keys() == {"errors"}
            assert 1 <= int(answer.headers["Retry-After"]) <= 120
        assert ask(bob).status_code == 200


REFUSED: list[tuple[str, dict[str, str], int]] = [
    ("{", {}, 400),
    ("{ nothing }", {}, 400),
    ("", {}, 400),
    ("{ __typename }", {"Authorization": "Bearer forged"}, 401),
    ("{ requestLogs { nodes { id } } }", bearer(EVENTS_READ), 403),
]


def test_a_refused_request_costs_a_point(tmp_path: Path, usgs: UsgsServer) -> None:
    """So a flood of rubbish has an end; twenty may pass where the minute's window changes."""
    for query, headers, status in REFUSED:
        with running(settings(tmp_path / "empty.db", usgs, rate_limit=10)) as service:
            sent: dict[str, Any] = {"json": {"query": query}, "headers": {"Accept": GRAPHQL_JSON, **headers}}
            statuses = [service.http.post("/graphql", **sent).status_code for _ in range(30)]
        assert set(statuses) == {status, 429}, query
        assert 10 <= statuses.count(status) <= 20, query
