"""Wherever a watcher breaks off, and however many follow at once: each watch is told of each version once."""

import asyncio
from collections import Counter
from contextlib import aclosing
from itertools import count
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graph.domains.triggers import following
from graph.domains.watches import watcher as watching
from tests.domains.earthquakes.revisions.histories import Clock, a_record
from tests.domains.entities import connections
from tests.domains.watches.cuts import Cut
from tests.domains.watches.stations import USER, Station, a_station, stationed
from tests.domains.watching import (
    EACH_WAY,
    Happen,
    Told,
    TwoFollowers,
    assert_told_although_another_overtakes,
    assert_told_although_it_breaks_off,
    assert_told_by_several_at_once,
    follower_steps,
    sequences_in,
)
from tests.effort import THOROUGH, rounds
from tests.held_time import Pauses
from tests.processes import TIMEOUT_S


async def revisions_of(station: Station, number: int) -> Happen:
    """Three watches, of which one has an endpoint, and versions of so many earthquakes, and of another one alone."""
    endpoint_id = await station.endpoint()
    watches = [await station.watch(), await station.watch(endpoint_id=endpoint_id), await station.watch()]
    versions = count(1)

    async def happen() -> Told:
        version = next(versions)
        *together, alone = [a_record(f"us{n}", updated=version, mag=1 + version / 1000) for n in range(number + 1)]
        await station.source.say(*together)
        await station.source.say(alone)
        return Told((watch.watch_id, f"us{n}", version) for watch in watches for n in range(number + 1))

    return happen


@pytest.mark.repeated
async def test_a_watcher_that_breaks_off_at_any_call_of_the_store_repeats_and_leaves_out_nothing(
    station: Station, engine: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(following, "EVENTS_AT_ONCE", 4)
    monkeypatch.setattr(following, "TURN", 5)  # of the six that the user wants of a change
    monkeypatch.setattr(watching, "VERSIONS_AT_ONCE", 2)
    monkeypatch.setattr(following, "CHANGES_AT_ONCE", 2)
    happen = await revisions_of(station, 2)
    ways, step = (EACH_WAY, 1) if engine == "sqlite" else ([("answer lost", True), ("cancelled", False)], 4)
    step *= 1 if THOROUGH else 3
    wanted = await assert_told_although_it_breaks_off(station, happen, ways, step=step)

    assert await sequences_in(station.database) == list(range(1, wanted.total() // 3 + 1))


@pytest.mark.repeated
async def test_watchers_of_two_processes_at_once_repeat_and_leave_out_nothing(
    engine: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(following, "TURN", 3)
    clock = Clock()
    async with connections(engine, tmp_path, 3, clock) as (one, *others), stationed(one, clock) as station:
        happen = await revisions_of(station, 3)
        await assert_told_by_several_at_once(station, others, happen, times=rounds(15, at_least=5))


async def test_a_watcher_that_another_overtakes_goes_on_behind_it(station: Station) -> None:
    await assert_told_although_another_overtakes(station, await revisions_of(station, 1))


async def test_a_watcher_that_runs_follows_beyond_failures_of_the_store() -> None:
    pauses = Pauses()
    async with a_station("sqlite") as station:
        database = Cut(station.database, "refused")
        watch = await station.watch()
        running = asyncio.create_task(station.follower(database, pauses.sleep).run())
        async with asyncio.timeout(TIMEOUT_S), aclosing(station.database.changes()) as changes:
            for number in range(1, 4):
                database.left = 4
                await station.source.say(a_record(f"us{number}"))
                while await station.told() != Counter((watch.watch_id, f"us{n}", 1) for n in range(1, number + 1)):
                    await anext(changes)
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)

    assert len(pauses) == 3


# Any order of all that happens

records = st.tuples(
    st.sampled_from(["us1", "us2", "us3"]), st.sampled_from([4.0, 5.0]), st.sampled_from(["reviewed", "deleted"])
)
filters = st.sampled_from(
    [{}, {"minMagnitude": 4.5}, {"eventIds": ["us1"]}, {"circle": {"lat": 1, "lon": 2, "radiusKm": 9}}]
)
steps = st.lists(
    st.one_of(
        st.tuples(st.just("say"), st.lists(records, min_size=1, max_size=3, unique_by=lambda each: each[0])),
        st.tuples(st.just("watch"), filters),
        st.tuples(st.just("delete"), st.integers(0, 3)),
        follower_steps,
    ),
    max_size=14,
)


@settings(max_examples=rounds(120))
@given(steps)
async def test_in_whatever_order_watches_change_and_watchers_break_off_each_version_is_told_once(
    some: list[tuple[str, Any]],
) -> None:
    with patch.object(following, "TURN", 1):
        await follow_steps(some)


async def follow_steps(some: list[tuple[str, Any]]) -> None:
    """Do one after the other, and compare at the end."""
    async with a_station("sqlite") as station:
        watchers = TwoFollowers(station)
        there, wanted = [await station.watch()], Told()
        for updated, (step, what) in enumerate(some, 1):
            match step:
                case "say":
                    await station.source.say(
                        *[a_record(each, mag=mag, status=status, updated=updated) for each, mag, status in what]
                    )
                case "watch":
                    there.append(await station.watch(what))
                case "delete" if there:
                    gone = there.pop(what % len(there))
                    await watchers.catch_up()  # they know what it wanted, and forget it below
                    wanted += await station.wanted(gone)
                    await station.watches.delete(USER, gone.watch_id)
                    await watchers.catch_up()
                case _:
                    await watchers.do(step, what)
        await watchers.catch_up()

        assert await station.told() == wanted + await station.wanted(*there)
