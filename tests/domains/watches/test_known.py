"""The watches in memory are those in the store, whatever changes were seen or have expired."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graph.domains.earthquakes.schema.filter_json import selection_of_json
from graph.domains.watches import known as knowing
from graph.domains.watches import watches as storing
from graph.domains.watches.known import KnownWatches
from graph.domains.watches.watches import CHANGES_KEPT_S
from graph.store.contract import Database
from tests.domains.watches.cuts import Cut, cut_off
from tests.domains.watches.stations import USER, Station, a_station, watches_in
from tests.effort import rounds
from tests.turns import turns_counted

WEEK_S = CHANGES_KEPT_S


def known_of(station: Station, database: Database | None = None) -> KnownWatches:
    """Watches of a process that has read none yet."""
    watches = watches_in(database or station.database, station.endpoints, station.clock)
    return KnownWatches(watches, selection_of_json)


def is_whole(known: KnownWatches, *watch_ids: str) -> bool:
    """Whether these are the known watches."""
    return set(known.by_id) == set(watch_ids) and len(known.index) == len(watch_ids)


async def test_watches_are_read_again_if_their_changes_have_expired(station: Station) -> None:
    known = known_of(station)
    kept, deleted = await station.watch(), await station.watch()
    await known.update()
    there = [kept, await station.watch()]
    await station.watches.delete(USER, deleted.watch_id)
    for later in range(2):  # all have expired, or some
        station.clock.now += 1000 * (WEEK_S + 1)
        there += [await station.watch() for _ in range(later)]
        await known.update()
        assert is_whole(known, *[watch.watch_id for watch in there])


async def test_watches_are_read_again_if_a_change_between_others_is_missing(station: Station) -> None:
    known = known_of(station)
    await known.update()
    watches = []
    for later_s in (0, -3600, 0):  # the clock of the process that makes the second one is slow
        station.clock.now += 1000 * later_s
        watches.append(await station.watch())
        station.clock.now -= 1000 * later_s
    station.clock.now += 1000 * (WEEK_S - 1800)
    await known.update()

    assert is_whole(known, *[watch.watch_id for watch in watches])


@pytest.mark.parametrize("expired", [False, True], ids=["changes", "all watches"])
async def test_a_failure_of_the_store_at_any_reading_loses_no_watch(
    monkeypatch: pytest.MonkeyPatch, expired: bool
) -> None:
    monkeypatch.setattr(storing, "READ_AT_ONCE", 2)
    monkeypatch.setattr(knowing, "CHANGES_AT_ONCE", 2)
    failing, broke_off = 0, True
    while broke_off:
        failing += 1
        async with a_station("sqlite") as station:
            there = [await station.watch() for _ in range(3)]
            database = Cut(station.database, "refused")
            known = known_of(station, database)
            await known.update()
            await station.watches.delete(USER, there.pop().watch_id)
            there += [await station.watch() for _ in range(3)]
            station.clock.now += 1000 * (WEEK_S + 1) * expired
            database.left = failing
            await cut_off(known.update())
            broke_off, database.left = database.left <= 0, 0
            await known.update()

            assert is_whole(known, *[watch.watch_id for watch in there])
    assert failing > 4


steps = st.lists(st.sampled_from(["make", "delete", "learn", "wait"]), max_size=12)


@settings(max_examples=rounds(40))
@given(steps)
async def test_watches_that_are_learned_at_any_times_are_those_of_the_store(some: list[str]) -> None:
    async with a_station("sqlite") as station:
        known, there = known_of(station), list[str]()
        for step in some:
            match step:
                case "make":
                    there.append((await station.watch()).watch_id)
                case "delete" if there:
                    await station.watches.delete(USER, there.pop(0))
                case "learn":
                    await known.update()
                case "wait":
                    station.clock.now += 1000 * (WEEK_S // 2 + 1)
        await known.update()
        assert is_whole(known, *there)


async def test_the_loop_goes_on_while_many_watches_are_read() -> None:
    async with a_station("sqlite") as station:
        for _ in range(40):
            await station.watch({"minMagnitude": 5})
        async with turns_counted() as turns:
            await known_of(station).update()
        assert turns.number >= 40
