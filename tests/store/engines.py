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
from graph.store.design import TableDesign
from graph.store.dynamodb import RetryPolicy
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
"""Prefixes of empty tables in DynamoDB: to empty one takes a tenth of the time that a new one takes."""
MOST_REMOVED = 300  # items; to remove more of them takes longer than to make a new table


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
        prefix = spare.pop() if spare else await _created(entities, stream)
        async with open_dynamodb(entities, prefix=prefix, clock=clock) as database:
            yield database
        # A table that a test failed on, or that holds many items, is left as it is, and not used again.
        designs = {entity.table for entity in entities}
        if all([await asyncio.to_thread(_emptied, prefix, design) for design in designs]):
            spare.append(prefix)


async def new_store(engine: str, folder: Path, entities: Collection[Entity], *, stream: bool = False) -> str:
    """The URL of a store with empty tables, for several connections or processes. It is left behind."""
    if engine == "dynamodb":
        return f"dynamodb://{await _created(entities, stream)}"
    url = f"sqlite:///{folder / 'table.db'}"
    await StoreLocation.of(url).create(entities)
    return url


async def _created(entities: Collection[Entity], stream: bool) -> str:
    prefix = f"{uuid4().hex}-"
    await create_tables(entities, prefix=prefix, stream=stream)
    return prefix


def _emptied(prefix: str, design: TableDesign) -> bool:
    """Remove all items of a table, unless they are more than `MOST_REMOVED`. Returns whether it is empty."""
    table = prefix + design.name.replace("{env}", ENVIRONMENT)
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
