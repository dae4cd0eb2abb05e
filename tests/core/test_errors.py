"""Each code of the error contract, caused for real: what a client is told, what is logged, and what stays inside."""

import asyncio
import logging
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from graph.core.errors import GraphError
from tests.domains.earthquakes.usgs.usgs_server import UsgsServer, status
from tests.domains.entities import ENTITIES
from tests.service import Service, running, settings
from tests.settings import Settings
from tests.store.engines import make_tables
from tests.store.fault_proxy import Answer, always, proxying

DOCUMENTED = {
    200: {"PERSISTED_QUERY_NOT_FOUND", "PERSISTED_QUERY_NOT_SUPPORTED"},
    400: {
        "ALREADY_GENERATED",
        "BAD_REQUEST",
        "BAD_USER_INPUT",
        "CSRF_PREVENTION",
        "ENDPOINT_REFUSED",
        "GRAPHQL_PARSE_FAILED",
        "GRAPHQL_VALIDATION_FAILED",
        "HISTORY_UNAVAILABLE",
        "INVALID_CURSOR",
        "OPERATION_RESOLUTION_FAILURE",
        "PROVENANCE_CYCLE",
        "QUERY_TOO_COMPLEX",
        "TOO_MANY",
    },
    401: {"UNAUTHENTICATED"},
    403: {"FORBIDDEN", "PERSISTED_QUERY_NOT_IN_LIST"},
    404: {"NOT_FOUND"},
    409: {"CONFLICT", "IDEMPOTENCY_KEY_REUSED"},
    422: {"INVALID_EVENT"},
    429: {"RATE_LIMITED", "TOO_MANY_SUBSCRIPTIONS"},
    500: {"INTERNAL_SERVER_ERROR"},
    501: {"FORMAT_UNAVAILABLE"},
    502: {"INVALID_UPSTREAM_RESPONSE"},
    503: {"DATABASE_UNAVAILABLE", "KEY_SET_UNAVAILABLE", "OVERLOADED", "PAYLOAD_NOT_KEPT", "UPSTREAM_UNAVAILABLE"},
    504: {"TIMEOUT"},
}
"""Statuses that a log records → codes that the design names."""
LATEST = "{ events(first: 1) { nodes { place } } }"
INGEST = "mutation { ingestRecent { upserted } }"

INSIDE = (
    *("Traceback", 'File "', ".py", "site-packages", "Exception", "KeyError", "OperationalError", "DatabaseError"),
    *("SELECT", "no such table", "malformed", "not a database", "sqlite", "SQLite", "earthquake-events"),
    *("botocore", "aiohttp", "ClientError", "DynamoDB", "AWS", "arn:aws", "ResourceNotFound", "Could not connect"),
    *("127.0.0.1", "localhost", "httpx", "Connection refused", "All connection attempts failed", str(Path.cwd())),
)
"""What may stand in a log, and in no answer."""


def refusal(service: Service, query: str, variables: dict[str, Any] | None = None) -> tuple[str, str]:
    """The code and the message of the one error that a client is told."""
    answer = service.http.post("/graphql", json={"query": query, "variables": variables})
    (error,) = answer.json()["errors"]
    assert error.keys() <= {"message", "locations", "path", "extensions"}
    assert error["extensions"].keys() <= {"code", "classification", "earliest"}
    assert [word for word in INSIDE if word in answer.text] == []
    return error["extensions"]["code"], error["message"]


FAULTS: list[tuple[str, str]] = [
    ("{", "GRAPHQL_PARSE_FAILED"),
    ("{ nothing }", "GRAPHQL_VALIDATION_FAILED"),
    ("query A { __typename } query B { __typename }", "OPERATION_RESOLUTION_FAILURE"),
    ("{ events(filter: {minMagnitude: 5, maxMagnitude: 4}) { totalCount } }", "BAD_USER_INPUT"),
    ('{ node(id: "x") { id } }', "BAD_USER_INPUT"),
    ("{ popularFilters(windowDays: 8) { totalRequests } }", "BAD_USER_INPUT"),
    ("mutation { ingestRecent(input: {limit: 0}) { fetched } }", "BAD_USER_INPUT"),
    ("mutation { ingestRecent(input: {feed: ALL_DAY, limit: 1}) { fetched } }", "BAD_USER_INPUT"),
    ('{ events(after: "x") { totalCount } }', "INVALID_CURSOR"),
    ('{ eventVersions(asOf: {published: "1990-08-03T00:00:00Z"}) { totalCount } }', "HISTORY_UNAVAILABLE"),
]
# Numbers that overflow, or that a store could not compare with.
FAULTS += [
    (f"{{ events(filter: {{{bound}: {number}}}) {{ totalCount nodes {{ id }} }} }}", "BAD_USER_INPUT")
    for number in ("1e400", "-1e400", "1e200")
    for bound in ("minMagnitude", "maxMagnitude", "minDepth", "maxDepth")
]
FAULTS += [
    (f"{{ events(filter: {{circle: {{lat: 0, lon: 0, radiusKm: {number}}}}}) {{ totalCount }} }}", "BAD_USER_INPUT")
    for number in ("1e400", "1e200")
]


def test_each_fault_of_a_request_has_its_code(week: Service) -> None:
    for query, code in FAULTS:
        assert refusal(week, query)[0] == code, query


def test_null_in_a_variable_for_an_argument_that_must_not_be_null_is_the_callers_mistake(week: Service) -> None:
    code, message = refusal(week, 'query($id: ID = "x") { node(id: $id) { id } }', {"id": None})

    assert code == "BAD_USER_INPUT"
    assert message.startswith("Argument 'id' has invalid value")


def test_a_refusal_of_usgs_has_another_code_than_an_outage(service: Service, usgs: UsgsServer) -> None:
    usgs.answer_next(status(503, retry_after="3600"), status(404))

    assert refusal(service, INGEST) == (
        "UPSTREAM_UNAVAILABLE",
        "USGS is overloaded (status 503): try again in 3600 seconds, as it asks.",
    )
    code, message = refusal(service, INGEST)
    assert (code, message[:41]) == ("INVALID_UPSTREAM_RESPONSE", "USGS refused the request with status 404:")


def test_an_error_hides_the_address_of_usgs(tmp_path: Path) -> None:
    nowhere = Settings(store=f"sqlite:///{tmp_path}/empty.db", usgs_url="http://127.0.0.1:9")
    with running(nowhere) as service:
        assert refusal(service, INGEST) == ("UPSTREAM_UNAVAILABLE", "USGS cannot be reached: try again later.")


def test_a_store_that_loses_its_tables_under_the_service_is_an_unavailable_database(
    tmp_path: Path, week_file: Path, usgs: UsgsServer, caplog: pytest.LogCaptureFixture
) -> None:
    """`tests.faults.test_damage` has files that are damaged in other ways."""
    file = tmp_path / "broken.db"
    file.write_bytes(week_file.read_bytes())
    queries = (LATEST, "{ requestLogs { nodes { id } } }", '{ event(eventId: "us1") { id } }', INGEST)
    with running(settings(file, usgs)) as service:
        assert service.ask("{ __typename }") == {"__typename": "Query"}
        with closing(sqlite3.connect(file)) as db:
            for entity in ENTITIES:
                db.execute(f'DROP TABLE "{entity.table.name}.{entity.name}"')
        for query in queries:
            assert refusal(service, query) == (
                "DATABASE_UNAVAILABLE",
                "The store does not answer at the moment. No change was made in part: try again.",
            )
        answer = service.http.get("/readyz")
        assert (answer.status_code, answer.json()) == (503, {"status": "unavailable", "store": "unreachable"})
        assert service.http.get("/healthz").status_code == 200

    told = [record.__dict__["keywords"] for record in caplog.records if record.name == "graph.transport.errors"]
    assert [each["code"] for each in told] == ["DATABASE_UNAVAILABLE"] * len(queries)
    assert all("SQLite cannot read: " in each["cause"] for each in told)


ARN = "arn:aws:dynamodb:us-east-1:123456789012:table/earthquake-events"
TABLE_IS_GONE = Answer.error(
    "ResourceNotFoundException", message=f"Requested resource not found: Table: {ARN} not found"
)


async def test_a_deleted_table_is_an_unavailable_database_whose_cause_only_the_log_is_told(
    dynamodb_endpoint: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """`tests.store.test_dynamodb_errors` has the other causes."""
    prefix = make_tables(ENTITIES)
    async with proxying(dynamodb_endpoint) as fault_proxy:
        monkeypatch.setenv("AWS_ENDPOINT_URL", fault_proxy.url)

        def scenario() -> None:
            """All that waits for the service, from its start to its end: the loop must be free for the proxy."""
            with running(Settings(store=f"dynamodb://{prefix}", usgs_url="http://127.0.0.1:9")) as service:
                assert service.ask("{ events { totalCount } }") == {"events": {"totalCount": 0}}
                fault_proxy.rule = always(TABLE_IS_GONE)
                assert refusal(service, LATEST)[0] == "DATABASE_UNAVAILABLE"

        await asyncio.to_thread(scenario)
    told = " ".join(str(getattr(record, "keywords", {}).get("cause")) for record in caplog.records)
    assert f"table {prefix}earthquake-events does not exist: run `quakegraph tables create`" in told


def test_an_unexpected_error_is_logged_with_its_trace_and_the_clients_request_id(
    tmp_path: Path, week_file: Path, usgs: UsgsServer, caplog: pytest.LogCaptureFixture
) -> None:
    file = tmp_path / "odd.db"
    file.write_bytes(week_file.read_bytes())
    with closing(sqlite3.connect(file)) as db, db:  # an event without a place, as no version ever wrote one
        db.execute('UPDATE "earthquake-events.EVENT" SET place = NULL')
    with running(settings(file, usgs)) as service:
        answer = service.http.post("/graphql", json={"query": LATEST})
        code, message = refusal(service, LATEST)

    request_id = answer.headers["X-Request-Id"]
    assert answer.json()["errors"][0]["message"] == (
        f"The service failed unexpectedly. Report it with the request id {request_id}."
    )
    assert (answer.status_code, answer.json()["data"], code) == (200, {"events": None}, "INTERNAL_SERVER_ERROR")
    assert request_id not in message  # the second request has another one
    told = [record for record in caplog.records if record.name == "graph.transport.errors"]
    (logged,) = [record for record in told if record.__dict__["keywords"]["request_id"] == request_id]
    assert len(told) == 2
    assert logged.levelno == logging.ERROR
    assert logged.exc_info is not None
    assert repr(logged.exc_info[1]) == "KeyError('place')"
    assert logged.exc_info[2] is not None


def test_each_cause_has_a_documented_code_and_status_of_its_own() -> None:
    causes = [kind for kind in subclasses(GraphError) if "code" in vars(kind)]

    assert len({kind.code for kind in causes}) == len(causes)
    of_documents = {"GRAPHQL_PARSE_FAILED": 400, "GRAPHQL_VALIDATION_FAILED": 400}  # raised by graphql-core
    documented = {code: status for status, codes in DOCUMENTED.items() for code in codes}
    assert {kind.code: kind.status for kind in causes} | of_documents == documented


def subclasses(kind: type[GraphError]) -> Iterator[type[GraphError]]:
    for subclass in kind.__subclasses__():
        yield subclass
        yield from subclasses(subclass)
