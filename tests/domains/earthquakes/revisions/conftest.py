"""A database on SQLite, for what depends on no engine, and a source of records."""

from collections.abc import AsyncIterator

import pytest

from graph.store.contract import Database
from tests.domains.earthquakes.revisions.histories import Source
from tests.domains.entities import ENTITIES
from tests.store.engines import empty_database


@pytest.fixture
async def database() -> AsyncIterator[Database]:
    async with empty_database("sqlite", ENTITIES) as database:
        yield database


@pytest.fixture
def source(database: Database) -> Source:
    return Source(database)
