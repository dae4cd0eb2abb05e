"""An empty table on each engine, and the notes in it."""

from collections.abc import AsyncIterator

import pytest

from graph.feed.broadcast import Broadcast
from graph.store.contract import Table
from tests.feed.notes import Note, Notebook, broadcasting
from tests.store.engines import empty_table
from tests.store.samples import SAMPLES


@pytest.fixture
async def table(engine: str) -> AsyncIterator[Table]:
    async with empty_table(engine, SAMPLES, stream=True) as table:
        yield table


@pytest.fixture
def notes(table: Table) -> Notebook:
    return Notebook(table)


@pytest.fixture
async def broadcast(table: Table) -> AsyncIterator[Broadcast[Note]]:
    async with broadcasting(table) as broadcast:
        yield broadcast
