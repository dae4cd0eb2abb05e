"""A field that fails ends what waits beside it: nothing goes on after the answer, and nothing is dropped unawaited."""

import asyncio
import gc
import warnings
from collections.abc import Iterator
from typing import Any

import pytest
import strawberry
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from strawberry.schema.config import StrawberryConfig

from graph.api.fast.resolvers import replace_slow_resolvers
from tests.api.fast.stones import execute, plan_of
from tests.effort import rounds


@strawberry.type
class Branch:
    @strawberry.field
    async def waits(self) -> int:
        return await asyncio.get_running_loop().create_future()  # type: ignore[no-any-return]  # it never comes

    @strawberry.field
    async def yields(self) -> int:
        await asyncio.sleep(0)
        return 1

    @strawberry.field
    async def breaks(self) -> int:
        raise RuntimeError("broken")

    @strawberry.field
    async def breaks_later(self) -> int:
        await asyncio.sleep(0)
        raise RuntimeError("broken later")

    @strawberry.field
    def breaks_at_once(self) -> int:
        raise RuntimeError("broken at once")

    @strawberry.field
    async def branches(self) -> "list[Branch]":
        return [Branch(), Branch()]

    @strawberry.field
    def twigs(self) -> "list[Branch]":
        return [Branch(), Branch()]

    @strawberry.field
    async def perhaps(self) -> "Branch | None":
        await asyncio.sleep(0)
        return Branch()


@strawberry.type
class Query(Branch):
    pass


SCHEMA = strawberry.Schema(Query, config=StrawberryConfig(auto_camel_case=False))._schema
replace_slow_resolvers(SCHEMA.type_map.values())

LEAVES = st.sampled_from(["waits", "yields", "breaks", "breaks_later", "breaks_at_once"])
SELECTIONS = st.recursive(
    LEAVES,
    lambda inner: st.builds(
        "{} {{ {} }}".format,
        st.sampled_from(["branches", "twigs", "perhaps"]),
        st.lists(inner, min_size=1, max_size=3).map(" ".join),
    ),
    max_leaves=8,
)


async def turns(number: int) -> None:
    for _ in range(number):
        await asyncio.sleep(0)


async def given_up(text: str) -> list[Any]:
    """What is still under way once an operation has been answered or, if it waits for what never comes, cancelled."""
    work = asyncio.create_task(execute(plan_of(text, SCHEMA), None))
    await turns(30)
    work.cancel()
    await turns(50)  # each level of what was cancelled takes some
    return [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]


@pytest.fixture
def quick_collection() -> Iterator[None]:
    """The garbage collector looks at what a test makes, and no longer at all that was there before."""
    gc.collect()
    gc.freeze()
    yield
    gc.unfreeze()


@pytest.mark.usefixtures("quick_collection")
@settings(
    max_examples=rounds(300),
    derandomize=True,
    deadline=None,
    database=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(st.lists(SELECTIONS, min_size=1, max_size=4))
def test_nothing_of_an_operation_is_left_when_it_ends(selections: list[str]) -> None:
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        left = asyncio.run(given_up(f"{{ {' '.join(selections)} }}"))
        gc.collect()
    assert (left, [str(warning.message) for warning in warned]) == ([], [])
