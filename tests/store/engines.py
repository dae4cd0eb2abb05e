"""Empty tables on either engine: `async with empty_database(engine, entities) as database`."""

import asyncio
import os
from collections import defaultdict
from collections.abc import AsyncIterator, Callable, Collection, Iterator
from contextlib import asynccontextmanager, closing, contextmanager
from dataclasses import replace
from functools import cache, partial
from http.client import HTTPConnection
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from urllib.parse import urlsplit
from uuid import uuid4

import orjson

from graph.core.clock import Clock, now_ms
from graph.store import dynamodb
from graph.store.choices import AS_DESIGNED, TableChoices
from graph.store.contract import Database
from graph.store.design import TableDesign, table_name
from graph.store.dynamodb import RetryPolicy
from graph.store.dynamodb.declaration import STREAM_VIEW_TYPE, attribute_definitions, global_secondary_index, key_schema
from graph.store.dynamodb.engine import ANYWHERE
from graph.store.dynamodb.signing import API
from graph.store.entity import Entity
from graph.store.location import ENVIRONMENT, StoreLocation
from graph.store.policy import Job
from graph.store.sqlite import open_sqlite
from tests.processes import TIMEOUT_S
from tests.store.one_entity import OneEntity
from tests.store.samples import SAMPLE

UNHURRIED = RetryPolicy(connect_seconds=TIMEOUT_S, read_seconds=TIMEOUT_S, direct_seconds=TIMEOUT_S)
"""No limit of time that a busy machine reaches. A test that is about one sets that one."""

open_dynamodb = partial(dynamodb.open_dynamodb, retry_policy=UNHURRIED)


async def create_tables(entities: Collection[Entity], **options: Any) -> list[str]:
    """Create tables in DynamoDB. Returns what was said of it."""
    _, said = await administer(entities, Job.CREATE, **options)
    return said


async def administer(
    entities: Collection[Entity], job: Job, *, prefix: str = "", choices: TableChoices = AS_DESIGNED, **options: Any
) -> tuple[bool, list[str]]:
    """Create, check or adopt tables in DynamoDB. Returns whether the service can run on them, and what was said."""
    said: list[str] = []
    usual = {"retry_policy": UNHURRIED, "say": said.append, "progress": [].append}
    can_run = await dynamodb.administer(entities, job, choices=replace(choices, prefix=prefix), **{**usual, **options})
    return can_run, said


@asynccontextmanager
async def open_samples(prefix: str, **options: Any) -> AsyncIterator[OneEntity]:
    """The table of samples in DynamoDB behind a prefix, which `create_tables([SAMPLE], prefix=…)` makes."""
    async with open_dynamodb([SAMPLE], **{"prefix": prefix, **options}) as database:
        yield OneEntity(database, SAMPLE)


_spare: defaultdict[tuple[frozenset[Entity], bool], list[str]] = defaultdict(list)
"""Prefixes of empty tables in DynamoDB."""
MOST_REMOVED = 50  # items; to remove more of them takes longer than to remove and make a table

Call = Callable[..., Any]
"""Sends an operation with its parameters. Returns the answer."""

STREAM = {"StreamEnabled": True, "StreamViewType": STREAM_VIEW_TYPE}


@asynccontextmanager
async def empty_database(
    engine: str, entities: Collection[Entity], *, clock: Clock = now_ms, stream: bool = False
) -> AsyncIterator[Database]:
    """Tables that nobody else has: a new file, or names of their own behind the fixture `dynamodb_endpoint`.

    With `stream`, DynamoDB's have one, so that whoever waits for a change is told at once, and not within a second.
    It doubles the price of each write.
    """
    if engine == "sqlite":
        with TemporaryDirectory() as folder:
            async with open_sqlite(Path(folder) / "table.db", entities, clock=clock) as database:
                yield database
    else:
        async with (
            empty_tables(entities, stream=stream) as prefix,
            open_dynamodb(entities, prefix=prefix, clock=clock) as database,
        ):
            yield database


@asynccontextmanager
async def empty_tables(entities: Collection[Entity], *, stream: bool = False) -> AsyncIterator[str]:
    """The prefix of empty tables in DynamoDB, which others get later. All connections must be closed by then."""
    spare = _spare[frozenset(entities), stream]
    prefix = spare.pop() if spare else make_tables(entities, stream=stream)
    yield prefix
    # Tables that a test failed on are left as they are.
    if await asyncio.to_thread(_emptied, entities, prefix, stream=stream):
        spare.append(prefix)
    else:
        await asyncio.to_thread(remove_tables, entities, prefix)


@asynccontextmanager
async def empty_store(
    engine: str, folder: Path, entities: Collection[Entity], *, stream: bool = False
) -> AsyncIterator[str]:
    """The URL of a store with empty tables, for several connections or processes. They must have ended by then."""
    if engine == "dynamodb":
        async with empty_tables(entities, stream=stream) as prefix:
            yield f"dynamodb://{prefix}"
    else:
        yield await new_store(engine, folder, entities)


async def new_store(engine: str, folder: Path, entities: Collection[Entity]) -> str:
    """The URL of a store with empty tables, for several connections or processes. It is left behind."""
    if engine == "dynamodb":
        return f"dynamodb://{make_tables(entities)}"
    url = f"sqlite:///{folder / 'table.db'}"
    async with StoreLocation.of(url).open(entities):
        pass
    return url


def make_tables(entities: Collection[Entity], *, stream: bool = False, endpoint: str | None = None) -> str:
    """Make empty tables in DynamoDB, without expiry and safeguards. Returns the new prefix of their names.

    The endpoint is by default that of the fixture `dynamodb_endpoint` which the process has used first.

    Readers leave out what has expired. `create_tables` makes the rest too, and in an emulator with hundreds of tables
    it takes thirty times as much of a processor. It also fails in an emulator that removes tables meanwhile: see
    `administered_dynamodb`.
    """
    prefix = f"{uuid4().hex}-"
    with emulator_calls(endpoint) as call:
        for design, name in _names_of(entities, prefix).items():
            indexes = [global_secondary_index(index) for index in design.indexes]
            made = call(
                "CreateTable",
                TableName=name,
                BillingMode="PAY_PER_REQUEST",
                AttributeDefinitions=attribute_definitions(*design.key_attributes),
                KeySchema=key_schema(design.primary),
                **({"GlobalSecondaryIndexes": indexes} if indexes else {}),
                **({"StreamSpecification": STREAM} if stream else {}),
            )
            assert made["TableDescription"]["TableStatus"] == "ACTIVE"
            if stream:
                _begin_stream(call, design, name)
    return prefix


def _begin_stream(call: Call, design: TableDesign, table: str) -> None:
    """Write the first records to a table's stream.

    At each write to a table, the emulator looks for the first record of its stream, and has no index of them: it reads
    all records of all streams up to that one. So a table whose first record is late, or missing, makes each write slow.
    """
    key = {each.name: ANYWHERE[each.type] for each in (design.partition_key, design.sort_key)}
    call("PutItem", TableName=table, Item=key)
    call("DeleteItem", TableName=table, Key=key)


def _names_of(entities: Collection[Entity], prefix: str) -> dict[TableDesign, str]:
    designs = {entity.table for entity in entities}
    return {design: table_name(design, prefix=prefix, environment=ENVIRONMENT) for design in designs}


def remove_tables(entities: Collection[Entity], prefix: str) -> None:
    """Remove what `make_tables` made: whatever an emulator does with its tables, it does with each that it has."""
    with emulator_calls() as call:
        for table in _names_of(entities, prefix).values():
            call("DeleteTable", TableName=table)


def _emptied(entities: Collection[Entity], prefix: str, *, stream: bool) -> bool:
    """Remove all items, unless a table without a stream has more than `MOST_REMOVED`. Returns whether all are empty.

    A table with a stream is kept in any case, for the sake of its stream's first record: see `_begin_stream`.
    """
    with emulator_calls() as call:
        return all(
            _table_emptied(call, design, table, stream=stream) for design, table in _names_of(entities, prefix).items()
        )


def _table_emptied(call: Call, design: TableDesign, table: str, *, stream: bool) -> bool:
    names = {"#p": design.partition_key.name, "#s": design.sort_key.name}
    read: dict[str, Any] = {"ProjectionExpression": "#p, #s", "ExpressionAttributeNames": names, "ConsistentRead": True}
    while True:
        found = call("Scan", TableName=table, Limit=MOST_REMOVED, **read)
        more = "LastEvaluatedKey" in found
        if more and not stream:
            return False
        for at in range(0, len(found["Items"]), 25):
            removed = [{"DeleteRequest": {"Key": key}} for key in found["Items"][at : at + 25]]
            call("BatchWriteItem", RequestItems={table: removed})
        if not more:
            return True


NAMED = "AWS4-HMAC-SHA256 Credential=local/20000101/us-east-1/dynamodb/aws4_request, SignedHeaders=host, Signature=none"
"""A signature that an emulator does not check."""


@contextmanager
def emulator_calls(endpoint: str | None = None) -> Iterator[Call]:
    """A connection to an emulator, by default to the one of the fixture `dynamodb_endpoint`.

    To prepare a call, botocore takes longer than the emulator takes to answer it.
    """
    connection = HTTPConnection(urlsplit(endpoint or _shared_endpoint()).netloc, timeout=TIMEOUT_S)

    def call(operation: str, **parameters: Any) -> Any:
        headers = {
            "Authorization": NAMED,
            "Content-Type": "application/x-amz-json-1.0",
            "X-Amz-Target": f"{API}.{operation}",
        }
        connection.request("POST", "/", orjson.dumps(parameters), headers)
        answer = connection.getresponse()
        body = answer.read()
        assert answer.status == 200, body
        return orjson.loads(body)

    with closing(connection):
        yield call


@cache
def _shared_endpoint() -> str:
    """Read while nothing but the fixture `dynamodb_endpoint` has set AWS's configuration."""
    return os.environ["AWS_ENDPOINT_URL"]
