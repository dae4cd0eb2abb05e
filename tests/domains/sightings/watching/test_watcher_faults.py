"""Wherever a follower breaks off, and however many follow at once: each watch is told of each sighting once."""

import asyncio
from collections import Counter
from contextlib import AsyncExitStack
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graph.domains.sightings.categories import ALL
from graph.domains.sightings.model import AreaWatch
from graph.domains.sightings.watching import area_watches
from graph.domains.triggers import following
from graph.domains.triggers.endpoints import EndpointChanges
from graph.domains.triggers.entities import DELIVERY
from graph.store.entity import Item
from graph.store.location import StoreLocation
from tests.domains.earthquakes.watched_database import WatchedDatabase
from tests.domains.entities import ENTITIES
from tests.domains.sightings.in_store import held_clock
from tests.domains.sightings.watching.lookouts import (
    ADA,
    BEA,
    FIRE,
    HERE,
    REX,
    SHAKING,
    THERE,
    Lookout,
    Told,
    a_lookout,
    every,
    lookout_at,
)
from tests.domains.triggers.in_store import URL
from tests.domains.triggers.watching.cuts import Cut, cut_off
from tests.effort import rounds
from tests.processes import TIMEOUT_S
from tests.store.engines import new_store


@pytest.mark.parametrize("restarts", [False, True], ids=["goes on", "another process"])
@pytest.mark.parametrize("way", Cut.WAYS)
async def test_a_follower_that_breaks_off_at_any_call_of_the_store_repeats_and_leaves_out_nothing(
    lookout: Lookout, engine: str, monkeypatch: pytest.MonkeyPatch, way: str, restarts: bool
) -> None:
    monkeypatch.setattr(following, "EVENTS_AT_ONCE", 2)
    monkeypatch.setattr(following, "CHANGES_AT_ONCE", 2)
    monkeypatch.setattr(area_watches, "READ_AT_ONCE", 2)
    await lookout.endpoints().create(ADA, URL, EndpointChanges())
    watches = [await lookout.watch(user, category=category) for user in (ADA, BEA) for category in (ALL, SHAKING)]
    wanted = Counter[Told]()
    database = Cut(lookout.database, way)
    follower = lookout.follower(database)
    for failing in count(1, 1 if engine == "sqlite" else 3):
        wanted += every(watches, *[await lookout.report() for _ in range(2)])
        database.left = failing
        await cut_off(follower.catch_up())
        broke_off, database.left = database.left <= 0, 0
        if restarts:
            follower = lookout.follower(database)
        await follower.catch_up()
        if not broke_off:
            break

    assert failing > 12
    assert await lookout.told() == wanted
    sequences = sorted([item["sequence"] async for item in lookout.database.scan(DELIVERY)])
    assert sequences == list(range(1, wanted.total() // 2 + 1))


async def test_followers_of_two_processes_at_once_repeat_and_leave_out_nothing(engine: str, tmp_path: Path) -> None:
    location = StoreLocation.of(await new_store(engine, tmp_path, ENTITIES))
    clock = held_clock()
    async with AsyncExitStack() as stack:
        opening = [location.open(ENTITIES, timeout_s=TIMEOUT_S, clock=clock) for _ in range(3)]
        one, *others = [await stack.enter_async_context(database) for database in opening]
        lookout = await stack.enter_async_context(lookout_at(one, clock))
        followers = [lookout.follower(database) for database in others]
        watches = [await lookout.watch(f"u{number}") for number in range(5)]
        sightings = list[Item]()

        async def report() -> None:
            sightings.append(await lookout.report())

        for _ in range(rounds(15, at_least=5)):
            await asyncio.gather(report(), *[follower.catch_up() for follower in followers])
        await asyncio.gather(*[follower.catch_up() for follower in followers])

        assert await lookout.told() == every(watches, *sightings)


async def test_a_follower_that_another_overtakes_goes_on_behind_it(lookout: Lookout) -> None:
    class Overtaken(WatchedDatabase):
        """Before the first event is stored, another process stores it."""

        overtaken = False

        async def transact(self, actions: Any) -> tuple[int, ...]:
            if not self.overtaken:
                self.overtaken = True
                await lookout.follower().catch_up()
                sightings.append(await lookout.report())
            return await super().transact(actions)

    watch = await lookout.watch()
    sightings = [await lookout.report()]
    await lookout.follower(Overtaken(lookout.database)).catch_up()

    assert len(sightings) == 2
    assert await lookout.told() == every([watch], *sightings)


users, areas, categories = (
    st.sampled_from([ADA, BEA, REX]),
    st.sampled_from([HERE, THERE]),
    st.sampled_from([FIRE, ALL]),
)
steps = st.lists(
    st.one_of(
        st.tuples(st.just("report"), st.tuples(areas, st.sampled_from([FIRE, SHAKING]), users)),
        st.tuples(st.just("watch"), st.tuples(users, areas, st.sampled_from([FIRE, ALL]))),
        st.tuples(st.just("follow"), st.integers(0, 1)),
        st.tuples(st.just("break off"), st.tuples(st.integers(0, 1), st.integers(1, 20), st.sampled_from(Cut.WAYS))),
        st.tuples(st.just("restart"), st.integers(0, 1)),
    ),
    max_size=16,
)


@settings(max_examples=rounds(100))
@given(steps)
async def test_in_whatever_order_users_watch_and_followers_break_off_each_sighting_is_told_once(
    some: list[tuple[str, Any]],
) -> None:
    async with a_lookout("sqlite") as lookout:
        databases = [Cut(lookout.database, "refused") for _ in range(2)]
        followers = [lookout.follower(database) for database in databases]
        there, wanted = dict[Any, AreaWatch](), Counter[Told]()
        for step, what in some:
            lookout.clock.now += 1
            match step:
                case "report":
                    area, category, user_id = what
                    watches = [
                        watch
                        for watch in there.values()
                        if watch.area_slug == area and watch.category in (ALL, category) and watch.user_id != user_id
                    ]
                    wanted += every(watches, await lookout.report(*what))
                case "watch":
                    there[what] = await lookout.watch(*what)
                case "follow":
                    await followers[what].catch_up()
                case "break off":
                    at, databases[what[0]].left, databases[what[0]].way = what
                    await cut_off(followers[at].catch_up())
                    databases[at].left = 0
                case "restart":
                    followers[what] = lookout.follower(databases[what])
        for follower in followers:
            await follower.catch_up()

        assert await lookout.told() == wanted
