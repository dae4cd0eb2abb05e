"""A workshop for deliveries on each engine."""

from collections.abc import AsyncIterator

import pytest

from tests.domains.triggers.delivering.workshop import Workshop, a_workshop


@pytest.fixture
async def shop(engine: str) -> AsyncIterator[Workshop]:
    """An empty store of each engine in turn, with a receiver."""
    async with a_workshop(engine) as workshop:
        yield workshop
