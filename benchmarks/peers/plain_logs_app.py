"""A plain log server: OTLP in protobuf, parsed as a whole, into one SQLite table with an index for each way to read it.

It keeps no documented keys, checks nothing, counts nothing, knows no subscriptions, and stores a log that is sent twice
twice. Its commits are as durable as ours.
"""

import asyncio
import os
import sqlite3
from typing import Any

import orjson
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

COLUMNS = "id, service, type, level, message, metadata, time_ns, trace_id, span_id"

db = sqlite3.connect(os.environ["LOGS_DB"], isolation_level=None, check_same_thread=False)
for statement in (
    "PRAGMA journal_mode = WAL",
    "PRAGMA synchronous = FULL",
    "CREATE TABLE IF NOT EXISTS logs (id INTEGER PRIMARY KEY, service TEXT, type TEXT, level INTEGER, message TEXT, "
    "metadata TEXT, time_ns INTEGER, trace_id TEXT, span_id TEXT)",
    "CREATE INDEX IF NOT EXISTS by_service ON logs (service, time_ns)",
    "CREATE INDEX IF NOT EXISTS by_type ON logs (type, time_ns)",
    "CREATE INDEX IF NOT EXISTS by_time ON logs (time_ns)",
):
    db.execute(statement)


def rows(body: bytes) -> list[tuple[Any, ...]]:
    """The rows of a request."""
    found = []
    for resource in ExportLogsServiceRequest.FromString(body).resource_logs:
        names = {each.key: each.value.string_value for each in resource.resource.attributes}
        service = names.pop("service.name", "")
        for scope in resource.scope_logs:
            for record in scope.log_records:
                metadata = names | {
                    each.key: each.value.string_value or each.value.int_value for each in record.attributes
                }
                found.append(
                    (
                        service,
                        metadata.pop("log.type", "application"),
                        record.severity_number,
                        record.body.string_value,
                        orjson.dumps(metadata).decode(),
                        record.time_unix_nano,
                        record.trace_id.hex(),
                        record.span_id.hex(),
                    )
                )
    return found


def store(body: bytes) -> None:
    """Store the logs of a request."""
    db.execute("BEGIN")
    db.executemany(f"INSERT INTO logs ({COLUMNS.removeprefix('id, ')}) VALUES (?, ?, ?, ?, ?, ?, ?, ?)", rows(body))
    db.execute("COMMIT")


writing = asyncio.Lock()


async def ingest(request: Request) -> Response:
    """Take in a request's logs."""
    body = await request.body()
    async with writing:
        await asyncio.to_thread(store, body)
    return Response(b"", media_type="application/x-protobuf")


async def page(request: Request) -> Response:
    """A page before a time, newest first."""
    wanted, values = ["time_ns <= ?"], [int(request.query_params["before"])]
    for name in ("service", "type"):
        if (value := request.query_params.get(name)) is not None:
            wanted.insert(0, f"{name} = ?")
            values.insert(0, value)  # type: ignore[arg-type]
    sql = f"SELECT {COLUMNS} FROM logs WHERE {' AND '.join(wanted)} ORDER BY time_ns DESC LIMIT ?"
    found = db.execute(sql, (*values, int(request.query_params["first"]))).fetchall()
    return Response(orjson.dumps(found), media_type="application/json")


app = Starlette(routes=[Route("/v1/logs", ingest, methods=["POST"]), Route("/logs", page)])
