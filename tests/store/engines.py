"""Empty tables on either engine: `async with empty_database(engine, entities) as database`."""

import asyncio
from collections import defaultdict
from collections.abc import AsyncIterator, Collection
from contextlib import asynccontextmanager
from functools import cache, partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from uuid import uuid4

import botocore.session

from graph.core.clock import Clock, now_ms
from graph.store import dynamodb
from graph.store.contract import Database
from graph.store.design import TableDesign, table_name
from graph.store.dynamodb import RetryPolicy
from graph.store.dynamodb.declaration import (
    STREAM_VIEW_TYPE,
    attribute_definitions,
    global_secondary_index,
    key_schema,
)
from graph.store.entity import Entity
from graph.store.location import ENVIRONMENT, StoreLocation
from graph.store.sqlite import open_sqlite
from tests.processes import TIMEOUT_S
from tests.store.one_entity import OneEntity
from tests.store.samples import SAMPLE

UNHURRIED = RetryPolicy(connect_seconds=TIMEOUT_S, read_seconds=TIMEOUT_S, direct_seconds=TIMEOUT_S)
"""No limit of time that a busy machine reaches. A test that is about one sets that one."""

open_dynamodb = partial(dynamodb.open_dynamodb, retry_policy=UNHURRIED)
create_tables = partial(dynamodb.create_tables, retry_policy=UNHURRIED)


@asynccontextmanager
async def open_samples(prefix: str, **options: Any) -> AsyncIterator[OneEntity]:
    """The table of samples in DynamoDB behind a prefix, which `create_tables([SAMPLE], prefix=…)` makes."""
    async with open_dynamodb([SAMPLE], **{"prefix": prefix, **options}) as database:
        yield OneEntity(database, SAMPLE)


_spare: defaultdict[tuple[frozenset[Entity], bool], list[str]] = defaultdict(list)
"""Prefixes of empty tables in DynamoDB. The emulator keeps the records of a stream even without its table."""
MOST_REMOVED = 50  # items; to remove more of them takes longer than to remove and make a table

STREAM = {"StreamEnabled": True, "StreamViewType": STREAM_VIEW_TYPE}


@asynccontextmanager
async def empty_database(
    engine: str, entities: Collection[Entity], *, clock: Clock = now_ms, stream: bool = False
) -> AsyncIterator[Database]:
    """Tables that nobody else has: a new file, or names of their own behind the fixture `dynamodb_endpoint`.

    With `stream`, DynamoDB's have one. At each write to such a table, the emulator may search all records
    of all streams that it has, so whatever stores many events does without.
    """
    if engine == "sqlite":
        with TemporaryDirectory() as folder:
            async with open_sqlite(Path(folder) / "table.db", entities, clock=clock) as database:
                yield database
    else:
        spare = _spare[frozenset(entities), stream]
        prefix = spare.pop() if spare else make_tables(entities, stream=stream)
        async with open_dynamodb(entities, prefix=prefix, clock=clock) as database:
            yield database
        # Tables that a test failed on are left as they are.
        if await asyncio.to_thread(_emptied, entities, prefix):
            spare.append(prefix)
        else:
            await asyncio.to_thread(remove_tables, entities, prefix)


async def new_store(engine: str, folder: Path, entities: Collection[Entity], *, stream: bool = False) -> str:
    """The URL of a store with empty tables, for several connections or processes. It is left behind."""
    if engine == "dynamodb":
        return f"dynamodb://{make_tables(entities, stream=stream)}"
    url = f"sqlite:///{folder / 'table.db'}"
    await StoreLocation.of(url).create(entities)
    return url


def make_tables(entities: Collection[Entity], *, stream: bool = False) -> str:
    """Make empty tables in DynamoDB, without expiry and safeguards. Returns the new prefix of their names.

    Readers leave out what has expired. `create_tables` makes the rest too, and in an emulator with hundreds of tables
    it takes thirty times as much of a processor. It also fails in an emulator that removes tables meanwhile: see
    `administered_dynamodb`.
    """
    prefix = f"{uuid4().hex}-"
    for design, name in _names_of(entities, prefix).items():
        indexes = [global_secondary_index(index) for index in design.indexes]
        made = _client().create_table(
            TableName=name,
            BillingMode="PAY_PER_REQUEST",
            AttributeDefinitions=attribute_definitions(design),
            KeySchema=key_schema(design.primary),
            **({"GlobalSecondaryIndexes": indexes} if indexes else {}),
            **({"StreamSpecification": STREAM} if stream else {}),
        )
        assert made["TableDescription"]["TableStatus"] == "ACTIVE"
    return prefix


def _names_of(entities: Collection[Entity], prefix: str) -> dict[TableDesign, str]:
    designs = {entity.table for entity in entities}
    return {design: table_name(design, prefix=prefix, environment=ENVIRONMENT) for design in designs}


def remove_tables(entities: Collection[Entity], prefix: str) -> None:
    """Remove what `make_tables` made: whatever an emulator does with its tables, it does with each that it has."""
    for table in _names_of(entities, prefix).values():
        _client().delete_table(TableName=table)


def _emptied(entities: Collection[Entity], prefix: str) -> bool:
    """Remove all items, unless a table has more than `MOST_REMOVED`. Returns whether all tables are empty."""
    return all(_table_emptied(design, table) for design, table in _names_of(entities, prefix).items())


def _table_emptied(design: TableDesign, table: str) -> bool:
    names = {"#p": design.partition_key.name, "#s": design.sort_key.name}
    read: dict[str, Any] = {"ProjectionExpression": "#p, #s", "ExpressionAttributeNames": names, "ConsistentRead": True}
    found = _client().scan(TableName=table, Limit=MOST_REMOVED, **read)
    if "LastEvaluatedKey" in found:
        return False
    for at in range(0, len(found["Items"]), 25):
        removed = [{"DeleteRequest": {"Key": key}} for key in found["Items"][at : at + 25]]
        _client().batch_write_item(RequestItems={table: removed})
    return True


@cache
def _client() -> Any:
    """Made while nothing but the fixture `dynamodb_endpoint` has set AWS's configuration."""
    return botocore.session.get_session().create_client("dynamodb")
