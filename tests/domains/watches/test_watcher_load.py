"""Many versions and many watches: each is told once, in pieces that hold neither memory nor the loop."""

from collections import Counter

import pytest

from graph.domains.triggers import following
from graph.domains.watches import watcher as watching
from tests.domains.earthquakes.revisions.histories import a_record
from tests.domains.earthquakes.watched_database import CountingDatabase
from tests.domains.watches.cuts import Noted
from tests.domains.watches.stations import Station, a_station, a_watch, told_by
from tests.turns import turns_counted


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


async def test_events_are_stored_before_further_versions_are_read_while_the_loop_goes_on(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(following, "EVENTS_AT_ONCE", 50)
    monkeypatch.setattr(following, "TURN", 120)  # all that a user wants
    monkeypatch.setattr(watching, "VERSIONS_AT_ONCE", 5)
    async with a_station("sqlite") as station:
        watches = [a_watch(number, user_id=f"u{number % 7}") for number in range(40)]
        await station.fill(*watches)
        await station.source.say(*[a_record(f"us{number}") for number in range(20)])
        database = Noted(station.database)
        async with turns_counted() as turns:
            await station.follower(database).catch_up()

        assert await station.told() == Counter((each.watch_id, f"us{n}", 1) for each in watches for n in range(20))
        stored = [part.count("transact") for part in " ".join(method for method, _ in database.noted).split("get_many")]
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
