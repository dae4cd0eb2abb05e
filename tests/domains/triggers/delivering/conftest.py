"""A workshop for deliveries."""

from collections.abc import AsyncIterator

import pytest

from tests.domains.triggers.delivering.workshop import Workshop, a_workshop


@pytest.fixture
async def shop() -> AsyncIterator[Workshop]:
    """A workshop on SQLite: how a worker works does not depend on the store."""
    async with a_workshop() as workshop:
        yield workshop


@pytest.fixture
async def any_shop(engine: str) -> AsyncIterator[Workshop]:
    """A workshop on each engine in turn, for what its queries and transactions have to hold."""
    async with a_workshop(engine) as workshop:
        yield workshop
