"""Wherever a follower breaks off, and however many follow at once: each watch is told of each sighting once."""

from functools import partial
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graph.domains.area_watches import watches as area_watches
from graph.domains.area_watches.model import AreaWatch
from graph.domains.sightings.categories import ALL
from graph.domains.triggers import following
from graph.domains.triggers.endpoints import EndpointChanges
from tests.domains.area_watches.lookouts import (
    ADA,
    BEA,
    FIRE,
    HERE,
    REX,
    SHAKING,
    THERE,
    Lookout,
    a_lookout,
    every,
    lookout_at,
)
from tests.domains.entities import connections
from tests.domains.sightings.in_store import held_clock
from tests.domains.triggers.in_store import URL
from tests.domains.watching import (
    EACH_WAY,
    Told,
    TwoFollowers,
    assert_told_although_another_overtakes,
    assert_told_although_it_breaks_off,
    assert_told_by_several_at_once,
    follower_steps,
    sequences_in,
)
from tests.effort import THOROUGH, rounds


async def reported(lookout: Lookout, watches: list[AreaWatch], number: int = 1) -> Told:
    """So many sightings that these watches have to be told of."""
    return every(watches, *[await lookout.report() for _ in range(number)])


@pytest.mark.repeated
async def test_a_follower_that_breaks_off_at_any_call_of_the_store_repeats_and_leaves_out_nothing(
    lookout: Lookout, engine: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(following, "EVENTS_AT_ONCE", 2)
    monkeypatch.setattr(following, "CHANGES_AT_ONCE", 2)
    monkeypatch.setattr(area_watches, "READ_AT_ONCE", 2)
    await lookout.endpoints().create(ADA, URL, EndpointChanges())
    watches = [await lookout.watch(user, category=category) for user in (ADA, BEA) for category in (ALL, SHAKING)]
    ways, step = (EACH_WAY, 1) if engine == "sqlite" else ([("answer lost", True), ("cancelled", False)], 4)
    step *= 1 if THOROUGH else 3
    happen = partial(reported, lookout, watches, 2)
    wanted = await assert_told_although_it_breaks_off(lookout, happen, ways, step=step)

    assert await sequences_in(lookout.database) == list(range(1, wanted.total() // 2 + 1))


async def test_followers_of_two_processes_at_once_repeat_and_leave_out_nothing(engine: str, tmp_path: Path) -> None:
    clock = held_clock()
    async with connections(engine, tmp_path, 3, clock) as (one, *others), lookout_at(one, clock) as lookout:
        watches = [await lookout.watch(f"u{number}") for number in range(5)]
        happen = partial(reported, lookout, watches)
        await assert_told_by_several_at_once(lookout, others, happen, times=rounds(15, at_least=5))


async def test_a_follower_that_another_overtakes_goes_on_behind_it(lookout: Lookout) -> None:
    await assert_told_although_another_overtakes(lookout, partial(reported, lookout, [await lookout.watch()]))


areas = st.sampled_from([HERE, THERE])
users = st.sampled_from([ADA, BEA, REX])
steps = st.lists(
    st.one_of(
        st.tuples(st.just("report"), st.tuples(areas, st.sampled_from([FIRE, SHAKING]), users)),
        st.tuples(st.just("watch"), st.tuples(users, areas, st.sampled_from([FIRE, ALL]))),
        follower_steps,
    ),
    max_size=16,
)


@settings(max_examples=rounds(100))
@given(steps)
async def test_in_whatever_order_users_watch_and_followers_break_off_each_sighting_is_told_once(
    some: list[tuple[str, Any]],
) -> None:
    async with a_lookout("sqlite") as lookout:
        followers = TwoFollowers(lookout)
        there, wanted = dict[Any, AreaWatch](), Told()
        for step, what in some:
            lookout.clock.now += 1
            if step == "report":
                told = [watch for watch in there.values() if wants(watch, *what)]
                wanted += every(told, await lookout.report(*what))
            elif step == "watch":
                there[what] = await lookout.watch(*what)
            else:
                await followers.do(step, what)
        await followers.catch_up()

        assert await lookout.told() == wanted


def wants(watch: AreaWatch, area: str, category: str, reporter: str) -> bool:
    """Whether a watch has to be told of a report."""
    return watch.area_slug == area and watch.category in (ALL, category) and watch.user_id != reporter
