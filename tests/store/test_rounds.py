"""Attempts are repeated as long as other writers come in between, but not for ever."""

import pytest

from graph.core.errors import DatabaseUnavailable
from graph.store.rounds import until_applied


@until_applied("others came first", 3)
async def attempt(results: list[int | None]) -> int | None:
    return results.pop()


async def test_an_attempt_is_repeated_until_it_has_a_result() -> None:
    assert await attempt([1, 0, None, None]) == 0

    with pytest.raises(DatabaseUnavailable) as caught:
        await attempt([1, None, None, None])
    assert caught.value.detail == "others came first"
