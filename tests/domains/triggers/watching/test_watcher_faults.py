"""Wherever a watcher breaks off, and however many follow at once: each watch is told of each version once."""

import asyncio
from collections import Counter
from contextlib import AsyncExitStack, aclosing
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graph.domains.triggers import following
from graph.domains.triggers.entities import DELIVERY
from graph.domains.triggers.watching import watcher as watching
from graph.store.location import StoreLocation
from tests.domains.earthquakes.revisions.histories import Clock, Record, a_record
from tests.domains.earthquakes.watched_database import WatchedDatabase
from tests.domains.entities import ENTITIES
from tests.domains.triggers.watching.cuts import Cut, cut_off
from tests.domains.triggers.watching.stations import USER, Station, a_station, stationed
from tests.effort import rounds
from tests.processes import TIMEOUT_S
from tests.store.engines import new_store


@pytest.mark.parametrize("restarts", [False, True], ids=["goes on", "another process"])
@pytest.mark.parametrize("way", Cut.WAYS)
async def test_a_watcher_that_breaks_off_at_any_call_of_the_store_repeats_and_leaves_out_nothing(
    station: Station, engine: str, monkeypatch: pytest.MonkeyPatch, way: str, restarts: bool
) -> None:
    monkeypatch.setattr(following, "EVENTS_AT_ONCE", 5)
    monkeypatch.setattr(watching, "VERSIONS_AT_ONCE", 2)
    monkeypatch.setattr(following, "CHANGES_AT_ONCE", 2)
    endpoint_id = await station.endpoint()
    watches = [await station.watch(), await station.watch(endpoint_id=endpoint_id), await station.watch()]
    wanted = Counter[tuple[str, str, int]]()
    database = Cut(station.database, way)
    watcher = station.watcher(database)
    for version, failing in enumerate(count(1, 1 if engine == "sqlite" else 3), 1):
        records = [a_record(event_id, updated=version, mag=1 + version / 100) for event_id in ("us0", "us1", "us2")]
        await station.source.say(*records)
        await station.source.say(a_record("us9", updated=version, mag=1 + version / 100))
        ids = ("us0", "us1", "us2", "us9")
        wanted.update((watch.watch_id, event_id, version) for watch in watches for event_id in ids)
        database.left = failing
        await cut_off(watcher.catch_up())
        broke_off, database.left = database.left <= 0, 0
        if restarts:
            watcher = station.watcher(database)
        await watcher.catch_up()
        if not broke_off:
            break

    assert failing > 12
    assert await station.told() == wanted
    sequences = sorted([item["sequence"] async for item in station.database.scan(DELIVERY)])
    assert sequences == list(range(1, len(wanted) // 3 + 1))


@pytest.mark.repeated
async def test_watchers_of_two_processes_at_once_repeat_and_leave_out_nothing(engine: str, tmp_path: Path) -> None:
    location = StoreLocation.of(await new_store(engine, tmp_path, ENTITIES))
    clock = Clock()
    async with AsyncExitStack() as stack:
        opening = [location.open(ENTITIES, timeout_s=TIMEOUT_S, clock=clock) for _ in range(3)]
        one, *others = [await stack.enter_async_context(database) for database in opening]
        station = await stack.enter_async_context(stationed(one, clock))
        watchers = [station.watcher(database) for database in others]
        watches = []
        for number in range(1, rounds(15, at_least=5) + 1):
            watches.append(await station.watch())
            records = [a_record(f"us{n}", updated=number, mag=1 + number / 100) for n in range(4)]
            await asyncio.gather(station.source.say(*records), *[watcher.catch_up() for watcher in watchers])
        await asyncio.gather(*[watcher.catch_up() for watcher in watchers])

        assert await station.told() == await station.wanted(*watches)
        assert len(await station.versions()) == 4 * len(watches)


async def test_a_watcher_that_another_overtakes_goes_on_behind_it(station: Station) -> None:
    watch = await station.watch()
    await station.source.say(a_record("us1"))

    class Overtaken(WatchedDatabase):
        """Before the first event is stored, another process stores it."""

        overtaken = False

        async def transact(self, actions: Any) -> tuple[int, ...]:
            if not self.overtaken:
                self.overtaken = True
                await station.watcher().catch_up()
                await station.source.say(a_record("us2"))
            return await super().transact(actions)

    await station.watcher(Overtaken(station.database)).catch_up()

    assert await station.told() == Counter([(watch.watch_id, "us1", 1), (watch.watch_id, "us2", 1)])


async def test_a_watcher_that_runs_follows_beyond_failures_of_the_store(station: Station) -> None:
    database = Cut(station.database, "refused")
    pauses = []

    async def sleep(seconds: float) -> None:
        pauses.append(seconds)

    watcher = station.watcher(database, sleep)
    watch = await station.watch()
    running = asyncio.create_task(watcher.run())
    wanted = Counter[tuple[str, str, int]]()
    async with asyncio.timeout(TIMEOUT_S), aclosing(station.database.changes()) as changes:
        for number in range(1, 4):
            database.left = 4
            await station.source.say(a_record(f"us{number}"))
            wanted[watch.watch_id, f"us{number}", 1] += 1
            while await station.told() != wanted:
                await anext(changes)
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)

    assert len(pauses) == 3


# Any order of all that happens

IDS = ("us1", "us2", "us3")

says = st.lists(
    st.tuples(st.sampled_from(IDS), st.sampled_from([4.0, 5.0]), st.sampled_from(["reviewed", "deleted"])),
    min_size=1,
    max_size=3,
    unique_by=lambda each: each[0],
)
filters = st.sampled_from(
    [{}, {"minMagnitude": 4.5}, {"ids": ["us1"]}, {"circle": {"lat": 1, "lon": 2, "radiusKm": 9}}]
)
steps = st.lists(
    st.one_of(
        st.tuples(st.just("say"), says),
        st.tuples(st.just("watch"), filters),
        st.tuples(st.just("delete"), st.integers(0, 3)),
        st.tuples(st.just("follow"), st.integers(0, 1)),
        st.tuples(st.just("break off"), st.tuples(st.integers(0, 1), st.integers(1, 30), st.sampled_from(Cut.WAYS))),
        st.tuples(st.just("restart"), st.integers(0, 1)),
    ),
    max_size=14,
)


@settings(max_examples=rounds(120))
@given(steps)
async def test_in_whatever_order_watches_change_and_watchers_break_off_each_version_is_told_once(
    some: list[tuple[str, Any]],
) -> None:
    async with a_station("sqlite") as station:
        databases = [Cut(station.database, "refused") for _ in range(2)]
        watchers = [station.watcher(database) for database in databases]
        there, wanted = [await station.watch()], Counter[tuple[str, str, int]]()
        for updated, (step, what) in enumerate(some, 1):
            match step:
                case "say":
                    await station.source.say(
                        *[_record(event_id, mag, status, updated) for event_id, mag, status in what]
                    )
                case "watch":
                    there.append(await station.watch(what))
                case "delete" if there:
                    gone = there.pop(what % len(there))
                    for watcher in watchers:
                        await watcher.catch_up()  # they know what it wanted, and forget it below
                    wanted += await station.wanted(gone)
                    await station.watches.delete(USER, gone.watch_id)
                    for watcher in watchers:
                        await watcher.catch_up()
                case "follow":
                    await watchers[what].catch_up()
                case "break off":
                    at, databases[what[0]].left, databases[what[0]].way = what
                    await cut_off(watchers[at].catch_up())
                    databases[at].left = 0
                case "restart":
                    watchers[what] = station.watcher(databases[what])
        for watcher in watchers:
            await watcher.catch_up()

        assert await station.told() == wanted + await station.wanted(*there)


def _record(event_id: str, mag: float, status: str, updated: int) -> Record:
    return a_record(event_id, mag=mag, status=status, updated=updated)
