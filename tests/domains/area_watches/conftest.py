"""A lookout on each engine."""

from collections.abc import AsyncIterator

import pytest

from tests.domains.area_watches.lookouts import Lookout, a_lookout


@pytest.fixture
async def lookout(engine: str) -> AsyncIterator[Lookout]:
    """An empty store."""
    async with a_lookout(engine) as lookout:
        yield lookout
