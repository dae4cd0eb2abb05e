"""What holds of whoever follows a feed for watches, wherever it breaks off and however many follow at once.

A scene is a store in which each watch has to be told once of whatever happens that it wants.
"""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Collection, Sequence
from itertools import product
from typing import Any, Protocol

from hypothesis import strategies as st

from graph.domains.triggers.entities import DELIVERY
from graph.domains.triggers.following import Follower
from graph.store.contract import Database
from tests.domains.watches.cuts import Cut, Meanwhile, cut_off

Told = Counter[Any]
"""How often a watch was told of something, by both."""

Happen = Callable[[], Awaitable[Told]]
"""Lets something happen. Returns what watches have to be told of it."""

EACH_WAY = tuple(product(Cut.WAYS, (False, True)))
"""How a follower breaks off, and whether another process goes on."""


class Scene(Protocol):
    """A store with watches, and something that happens there."""

    @property
    def database(self) -> Database: ...

    def follower(self, database: Database | None = None) -> Follower:
        """A follower as a process makes it that has just begun, perhaps with another connection to the store."""

    async def told(self) -> Told:
        """What all watches were told of so far."""


async def assert_told_although_it_breaks_off(
    scene: Scene, happen: Happen, ways: Collection[tuple[str, bool]] = EACH_WAY, *, step: int = 1
) -> Told:
    """Let a follower break off at its first call of the store, at a later one, and so on. Returns what was told.

    Args:
        step: of how many calls it breaks off at one.
    """
    wanted = Told()
    for way, restarts in ways:
        database = Cut(scene.database, way)
        follower, failing, broke_off = scene.follower(database), 0, True
        while broke_off:
            failing += step
            wanted += await happen()
            database.left = failing
            await cut_off(follower.catch_up())
            broke_off, database.left = database.left <= 0, 0
            if restarts:
                follower = scene.follower(database)
            await follower.catch_up()
        assert failing > 12
    assert await scene.told() == wanted
    return wanted


async def sequences_in(database: Database) -> list[int]:
    """The numbers of all deliveries."""
    return sorted([item["sequence"] async for item in database.scan(DELIVERY)])


async def assert_told_although_another_overtakes(scene: Scene, happen: Happen) -> None:
    """Before a follower stores its first event, another process does, and more happens."""
    wanted = await happen()

    async def overtake() -> None:
        nonlocal wanted
        await scene.follower().catch_up()
        wanted += await happen()

    await scene.follower(Meanwhile(scene.database, overtake)).catch_up()
    assert await scene.told() == wanted


async def assert_told_by_several_at_once(
    scene: Scene, connections: Sequence[Database], happen: Happen, *, times: int
) -> None:
    """Processes with these connections follow while things happen."""
    followers, wanted = [scene.follower(each) for each in connections], Told()

    async def let_happen() -> None:
        nonlocal wanted
        wanted += await happen()

    for _ in range(times):
        await asyncio.gather(let_happen(), *[follower.catch_up() for follower in followers])
    await asyncio.gather(*[follower.catch_up() for follower in followers])
    assert await scene.told() == wanted


_of_two = st.integers(0, 1)
follower_steps = st.one_of(
    st.tuples(st.just("follow"), _of_two),
    st.tuples(st.just("break off"), st.tuples(_of_two, st.integers(1, 30), st.sampled_from(Cut.WAYS))),
    st.tuples(st.just("restart"), _of_two),
)
"""What `TwoFollowers` do."""


class TwoFollowers:
    """Followers of two processes, which break off and begin anew."""

    def __init__(self, scene: Scene) -> None:
        self._scene = scene
        self._databases = [Cut(scene.database, "refused") for _ in range(2)]
        self._followers = [scene.follower(database) for database in self._databases]

    async def do(self, step: str, what: Any) -> None:
        """Do one of `follower_steps`."""
        match step:
            case "follow":
                await self._followers[what].catch_up()
            case "break off":
                at, left, way = what
                self._databases[at].left, self._databases[at].way = left, way
                await cut_off(self._followers[at].catch_up())
                self._databases[at].left = 0
            case "restart":
                self._followers[what] = self._scene.follower(self._databases[what])

    async def catch_up(self) -> None:
        """Let both follow to the end."""
        for follower in self._followers:
            await follower.catch_up()
