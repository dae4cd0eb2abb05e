"""Many versions and many watches: each is told once, in pieces that hold neither memory nor the loop."""

from collections import Counter
from collections.abc import Awaitable, Callable
from copy import deepcopy
from typing import Any, TypeVar

import pytest

from graph.domains.triggers import following
from graph.domains.triggers.watching import watcher as watching
from tests.domains.earthquakes.ingest.ingests import NOW, file_of
from tests.domains.earthquakes.revisions.histories import a_record
from tests.domains.earthquakes.usgs.usgs_server import week_features
from tests.domains.earthquakes.watched_database import CountingDatabase
from tests.domains.triggers.watching.cuts import Intercepted
from tests.domains.triggers.watching.stations import Station, a_station, a_watch, told_by
from tests.turns import turns_counted

T = TypeVar("T")


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


class Noted(Intercepted):
    """Keeps the names of its calls."""

    methods = ""

    async def around(self, method: str, asked: Any, call: Callable[[], Awaitable[T]]) -> T:
        self.methods += f"{method} "
        return await call()


async def test_events_are_stored_before_further_versions_are_read_while_the_loop_goes_on(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(following, "EVENTS_AT_ONCE", 50)
    monkeypatch.setattr(watching, "VERSIONS_AT_ONCE", 5)
    async with a_station("sqlite") as station:
        watches = [a_watch(number, user_id=f"u{number % 7}") for number in range(40)]
        await station.fill(*watches)
        await station.source.say(*[a_record(f"us{number}") for number in range(20)])
        database = Noted(station.database)
        async with turns_counted() as turns:
            await station.follower(database).catch_up()

        assert await station.told() == Counter((each.watch_id, f"us{n}", 1) for each in watches for n in range(20))
        stored = [part.count("transact") for part in database.methods.split("get_many")]
        assert [number for number in stored if number] == [4, 4, 4, 4]  # of 200 events each
        assert turns.number > 16


async def test_a_watcher_reads_a_long_backlog_in_small_parts(station: Station, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(following, "CHANGES_AT_ONCE", 4)
    await station.fill(a_watch(0, {"minMagnitude": 9}))
    for number in range(1, 11):
        await station.source.say(a_record("us1", mag=4 + number / 100, updated=number))
    database = CountingDatabase(station.database)
    await station.follower(database).catch_up()

    assert database.most == 4
    assert database.items < 20


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


async def test_watches_of_all_kinds_are_told_of_real_events_as_a_loop_over_all_finds() -> None:
    async with a_station("sqlite") as station:
        station.clock.now = NOW
        watches = [a_watch(number, filter_, user_id=f"u{number % 3}") for number, filter_ in enumerate(FILTERS)]
        await station.fill(*watches)
        features = [each for at, each in enumerate(week_features()) if at % 10 == 0 or each["id"] in FILTERS[-1]["ids"]]
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
        assert by_watch[watches[0].watch_id] == len(features) + len(revised)
        assert len(by_watch) == len(FILTERS)
        assert {event.payload["kind"] for event in await station.events()} >= {"CREATED", "REVISED", "DELETED"}
