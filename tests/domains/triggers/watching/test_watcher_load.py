"""Many versions and many watches: each is told once, in pieces that hold neither memory nor the loop."""

import gc
from collections import Counter
from collections.abc import Sequence
from copy import deepcopy
from typing import Any

import pytest

from graph.domains.triggers import following
from graph.domains.triggers.following import EVENTS_AT_ONCE, Wanted
from graph.store.contract import Action, Database
from tests.domains.earthquakes.ingest.ingests import NOW, file_of
from tests.domains.earthquakes.revisions.histories import a_record
from tests.domains.earthquakes.usgs.usgs_server import week_features
from tests.domains.earthquakes.watched_database import CountingDatabase, WatchedDatabase
from tests.domains.triggers.watching.stations import Station, a_station, a_watch, told_by
from tests.turns import turns_counted


async def test_each_of_a_thousand_events_of_one_ingest_is_told_to_each_watch_once() -> None:
    async with a_station("sqlite") as station:
        watches = [await station.watch(), await station.watch({"minMagnitude": 5})]
        await station.source.say(*[a_record(f"us{number:04}", mag=number % 8) for number in range(1000)])
        await station.follower().catch_up()

        told = await station.told()
        assert told == await station.wanted(*watches)
        assert told.total() == 1000 + 375


async def test_more_events_than_a_transaction_takes_are_stored_in_the_order_of_versions_and_watches(
    station: Station,
) -> None:
    watches = [a_watch(number) for number in range(70)]  # with the events of both versions, more than 100
    await station.fill(*watches)
    await station.source.say(a_record("us1"), a_record("us2"))
    await station.follower().catch_up()

    told = [told_by(event) for event in await station.events()]
    versions = [version.event.event_id for _, version in await station.versions()]
    assert told == [(watch.watch_id, event_id, 1) for event_id in versions for watch in watches]


async def test_thousands_of_watches_that_want_a_version_are_told_of_it_once_while_the_loop_goes_on() -> None:
    async with a_station("sqlite") as station:
        watches = [
            a_watch(number, {"minMagnitude": number % 100 / 100}, user_id=f"u{number % 7}") for number in range(2000)
        ]
        await station.fill(*watches)
        watcher = station.follower()
        await watcher.catch_up()
        await station.source.say(a_record("us1"))
        async with turns_counted() as turns:
            await watcher.catch_up()

        assert await station.told() == Counter((watch.watch_id, "us1", 1) for watch in watches)
        assert turns.number > 2000 / EVENTS_AT_ONCE


class Alive(WatchedDatabase):
    """Counts what a watcher holds when it stores events."""

    def __init__(self, database: Database) -> None:
        super().__init__(database)
        self.most = 0

    async def transact(self, actions: Sequence[Action]) -> tuple[int, ...]:
        self.most = max(self.most, sum(type(each) is Wanted for each in gc.get_objects()))
        return await super().transact(actions)


async def test_a_watcher_holds_few_events_at_a_time_however_many_versions_and_watches_there_are(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(following, "EVENTS_AT_ONCE", 50)
    async with a_station("sqlite") as station:
        await station.fill(*[a_watch(number) for number in range(20)])
        await station.source.say(*[a_record(f"us{number}") for number in range(20)])
        database = Alive(station.database)
        await station.follower(database).catch_up()

        assert (await station.told()).total() == 400
        assert 0 < database.most <= 51


async def test_a_watcher_reads_a_long_backlog_in_small_parts(station: Station) -> None:
    await station.fill(a_watch(0, {"minMagnitude": 9}))
    for number in range(1, 71):
        await station.source.say(a_record("us1", mag=4 + number / 100, updated=number))
    database = CountingDatabase(station.database)
    await station.follower(database).catch_up()

    assert database.most == following.CHANGES_AT_ONCE
    assert database.items < 80


FILTERS: tuple[dict[str, Any], ...] = (
    *({}, {"minMagnitude": 2.5}, {"minMagnitude": 1, "maxMagnitude": 1.5}, {"maxDepth": 3}, {"place": "california"}),
    *(
        {"circle": {"lat": 35.6, "lon": -117.6, "radiusKm": 300}},
        {"types": ["quarry blast"]},
        {"networks": ["ak", "nc"]},
    ),
    {"box": {"minLat": 50, "maxLat": 72, "minLon": 170, "maxLon": -130}, "minMagnitude": 2},
    {"startTime": "2023-08-01", "endTime": "2023-08-02"},
    {"ids": ["us7000kjkj", "nc73919986"]},
)


async def test_watches_of_all_kinds_are_told_of_the_real_week_as_a_loop_over_all_finds() -> None:
    async with a_station("sqlite") as station:
        station.clock.now = NOW
        watches = [a_watch(number, filter_, user_id=f"u{number % 3}") for number, filter_ in enumerate(FILTERS)]
        await station.fill(*watches)
        features = week_features()
        await station.source.ingest.file(file_of(features))
        watcher = station.follower()
        await watcher.catch_up()
        for feature in (revised := deepcopy(features[::5])):  # other tests read the same features
            feature["properties"] |= {"mag": feature["properties"]["mag"] + 0.4, "updated": NOW + 1}
        for feature in revised[::3]:
            feature["properties"]["status"] = "deleted"
        station.clock.now = NOW + 60_000
        await station.source.ingest.file(file_of(revised))
        await watcher.catch_up()

        told = await station.told()
        assert told == await station.wanted(*watches)
        by_watch = Counter(watch_id for watch_id, _, _ in told)
        assert by_watch[watches[0].watch_id] == 2124 + len(revised)
        assert len(by_watch) == len(FILTERS)
        assert {event.payload["kind"] for event in await station.events()} >= {"CREATED", "REVISED", "DELETED"}
