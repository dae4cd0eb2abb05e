"""An empty table on either engine: `async with empty_table(engine, design) as table`."""

import asyncio
from collections import defaultdict
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import cache, partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from uuid import uuid4

import botocore.session

from graph.core.clock import Clock, now_ms
from graph.store import dynamodb
from graph.store.contract import Table
from graph.store.design import TableDesign
from graph.store.dynamodb import RetryPolicy
from graph.store.sqlite import open_sqlite
from tests.processes import PATIENCE_S

UNHURRIED = RetryPolicy(connect_seconds=PATIENCE_S, read_seconds=PATIENCE_S, direct_seconds=PATIENCE_S)
"""No limit of time that a busy machine reaches. A test that is about one sets that one."""

open_dynamodb = partial(dynamodb.open_dynamodb, retry_policy=UNHURRIED)
create_table = partial(dynamodb.create_table, retry_policy=UNHURRIED)

_spare: defaultdict[tuple[TableDesign, bool], list[str]] = defaultdict(list)
"""Names of empty tables in DynamoDB: to empty one takes a tenth of the time that a new one takes."""


@asynccontextmanager
async def empty_table(
    engine: str, design: TableDesign, *, clock: Clock = now_ms, stream: bool = False
) -> AsyncIterator[Table]:
    """A table that nobody else has: a new file, or a name of its own behind the fixture `dynamodb_endpoint`.

    With `stream`, DynamoDB's has one. At each write to such a table, the emulator may search all records
    of all streams that it has, so whatever stores many events does without.
    """
    if engine == "sqlite":
        with TemporaryDirectory() as folder:
            async with open_sqlite(Path(folder) / "table.db", design, clock=clock) as table:
                yield table
    else:
        name = _spare[design, stream].pop() if _spare[design, stream] else await _created(design, stream)
        async with open_dynamodb(name, design, clock=clock) as table:
            yield table
        # A table that a test failed on is left as it is, and not used again.
        await asyncio.to_thread(_empty, name, design)
        _spare[design, stream].append(name)


async def _created(design: TableDesign, stream: bool) -> str:
    name = f"{design.name}-{uuid4().hex}"
    await create_table(name, design, stream=stream)
    return name


def _empty(name: str, design: TableDesign) -> None:
    names = {"#p": design.partition_key.name, "#s": design.sort_key.name}
    pages = (
        _client()
        .get_paginator("scan")
        .paginate(TableName=name, ProjectionExpression="#p, #s", ExpressionAttributeNames=names, ConsistentRead=True)
    )
    keys = [key for page in pages for key in page["Items"]]
    for at in range(0, len(keys), 25):
        removed = [{"DeleteRequest": {"Key": key}} for key in keys[at : at + 25]]
        _client().batch_write_item(RequestItems={name: removed})


@cache
def _client() -> Any:
    """Made while nothing but the fixture `dynamodb_endpoint` has set AWS's configuration."""
    return botocore.session.get_session().create_client("dynamodb")
