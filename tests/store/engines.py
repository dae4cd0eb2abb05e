"""An empty table on either engine: `async with empty_table(engine, design) as table`."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from uuid import uuid4

from graph.clock import Clock, now_ms
from graph.store.contract import Table
from graph.store.design import TableDesign
from graph.store.dynamodb import create_table, open_dynamodb
from graph.store.sqlite import open_sqlite


@asynccontextmanager
async def empty_table(engine: str, design: TableDesign, *, clock: Clock = now_ms) -> AsyncIterator[Table]:
    """A table of its own: a new file, or a new name behind the fixture `dynamodb_endpoint`."""
    if engine == "sqlite":
        with TemporaryDirectory() as folder:
            async with open_sqlite(Path(folder) / "table.db", design, clock=clock) as table:
                yield table
    else:
        name = f"{design.name}-{uuid4().hex}"
        await create_table(name, design)
        async with open_dynamodb(name, design, clock=clock) as table:
            yield table
