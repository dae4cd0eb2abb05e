"""An empty database on each engine, and the notes in it."""

from collections.abc import AsyncIterator

import pytest

from graph.feed.broadcast import Broadcast
from graph.store.contract import Database
from tests.feed.notes import ENTITIES, Note, Notebook, broadcasting
from tests.store.engines import empty_database


@pytest.fixture
async def database(engine: str) -> AsyncIterator[Database]:
    async with empty_database(engine, ENTITIES, stream=True) as database:
        yield database


@pytest.fixture
def notes(database: Database) -> Notebook:
    return Notebook(database)


@pytest.fixture
async def broadcast(database: Database) -> AsyncIterator[Broadcast[Note]]:
    async with broadcasting(database) as broadcast:
        yield broadcast
