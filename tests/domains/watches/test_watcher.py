"""A watch is told of each version that it wants, once: of which kinds, since when, where to, and with which values.

Many versions are told to many watches in pieces that hold neither memory nor the loop.
"""

from collections import Counter
from typing import Any

import pytest

from graph.core.errors import NotThere
from graph.domains.earthquakes.entities import EVENT
from graph.domains.triggers import following
from graph.domains.triggers.entities import DELIVERY, FEED_POSITION
from graph.domains.triggers.model import Delivery, DeliveryState, TriggerEvent
from graph.domains.triggers.statuses import TriggerEventStatus
from graph.domains.watches import watcher as watching
from graph.domains.watches.entities import WATCH
from graph.domains.watches.event_types import CREATED, DELETED, REVISED
from graph.domains.watches.model import ChangeKind, Watch
from graph.domains.watches.watcher import Watcher
from graph.store.contract import Put
from tests.domains.earthquakes.revisions.histories import a_record
from tests.domains.earthquakes.watched_database import CountingDatabase, WatchedDatabase
from tests.domains.watches.cuts import Meanwhile, Noted
from tests.domains.watches.stations import USER, Station, a_station, a_watch, say_every_kind, told_by, watches_in
from tests.turns import turns_counted


def kinds_told(events: list[TriggerEvent]) -> list[tuple[str, str]]:
    """Each event's type, with the kind of version."""
    return [(event.event_type, event.payload["kind"]) for event in events]


EVERY_KIND = [
    (CREATED, "CREATED"),
    (REVISED, "REVISED"),
    (REVISED, "RENAMED"),
    (DELETED, "DELETED"),
    (REVISED, "RESTORED"),
    (CREATED, "CREATED"),
    (DELETED, "MERGED"),
]


VALUES = {"mag_type": "mww", "type": "earthquake", "alert": "green", "tsunami": True, "felt": 3, "sig": 9}


async def test_every_kind_of_version_is_told_as_a_creation_a_revision_or_a_deletion(station: Station) -> None:
    watch = await station.watch()
    of_one_kind = {kind: await station.watch(kinds=(kind,)) for kind in ChangeKind}
    await say_every_kind(station)
    await station.follower().catch_up()

    def told(watch: Watch) -> list[tuple[str, str]]:
        return kinds_told([event for event in events if told_by(event)[0] == watch.watch_id])

    events = await station.events()
    assert told(watch) == EVERY_KIND
    for kind, each in of_one_kind.items():
        assert told(each) == [some for some in EVERY_KIND if some[0] == f"earthquake.{kind.value.lower()}"]
    assert await station.told() == await station.wanted(watch, *of_one_kind.values())


async def test_payloads_are_the_versions_values(station: Station) -> None:
    watch = await station.watch()
    await say_every_kind(station)
    await station.source.say({**a_record("us9", url="https://example.org/us9"), **VALUES})
    await station.follower().catch_up()

    versions = {(version.event.event_id, version.number): version for _, version in await station.versions()}
    for event in (events := await station.events()):
        payload, version = event.payload, versions[told_by(event)[1:]]
        assert (payload["earthquake"]["mag"], payload["earthquake"]["status"]) == (
            version.event.mag,
            version.item.get("status"),
        )
        changes = [(change["field"], change["before"], change["after"]) for change in payload["changes"]]
        assert changes == [(each.field, each.before, each.after) for each in version.changes]
        assert payload["kind"] == version.kind.value
        assert payload["watch"] == {"watchId": watch.watch_id, "name": "A watch"}
    merged, told = events[-2].payload, events[-1].payload
    assert (merged["kind"], merged["mergedInto"], merged["earthquake"]["eventId"]) == ("MERGED", "us1", "nc1")
    assert told["earthquake"] == {
        "eventId": "us9",
        "time": "2023-08-03T00:00:00.000Z",
        "place": "Here",
        "url": "https://example.org/us9",
        "mag": 4.5,
        "magType": "mww",
        "lat": 1.0,
        "lon": 2.0,
        "depth": 3.0,
        "type": "earthquake",
        "status": None,
        "alert": "green",
        "tsunami": True,
        "felt": 3,
        "sig": 9,
    }
    assert told["recordedAt"] == "2023-08-04T00:00:08.000Z"
    assert events[1].payload["changes"] == [{"field": "mag", "before": 4.5, "after": 5.0}]


async def test_the_own_watches_are_told_of_what_is_stored_after_they_were_made_and_until_they_are_deleted(
    station: Station,
) -> None:
    await station.source.say(a_record("us1"))
    first = await station.watch()
    await station.source.say(a_record("us2"))
    second = await station.watch(user_id="bea")
    await station.source.say(a_record("us3"))
    watcher = station.follower()
    await watcher.catch_up()
    await station.source.say(a_record("us4"))
    await station.watches.delete(USER, first.watch_id)
    await watcher.catch_up()

    told = [(event.user_id, *told_by(event)[:2]) for event in await station.events()]
    of_first, of_second = (USER, first.watch_id), ("bea", second.watch_id)
    assert sorted(told) == sorted([(*of_first, "us2"), (*of_first, "us3"), (*of_second, "us3"), (*of_second, "us4")])


async def test_an_endpoint_gets_the_events_of_its_watches_whatever_types_it_wants_which_are_deleted_with_it(
    station: Station,
) -> None:
    asked, other = await station.endpoint("order.completed"), await station.endpoint()
    watch, kept = await station.watch(endpoint_id=asked), await station.watch()
    await station.source.say(a_record("us1"))
    await station.follower().catch_up()

    deliveries = [Delivery(item) async for item in station.database.scan(DELIVERY)]
    by_watch = {told_by(event)[0]: event for event in await station.events()}
    assert [(each.endpoint_id, each.sequence, each.state) for each in deliveries] == [(asked, 1, DeliveryState.WAITING)]
    assert by_watch.pop(watch.watch_id).delivery_keys == [f"{asked}#1"]
    (to_inbox,) = by_watch.values()
    assert to_inbox.delivery_keys == []
    assert to_inbox.status is TriggerEventStatus.RECEIVED

    kept_of_other = await station.watch(endpoint_id=other)
    await station.watches.delete_of_endpoint(USER, asked)
    await station.source.say(a_record("us2"))
    await station.follower().catch_up()
    told = {each: number for each, number in (await station.told()).items() if each[1] == "us2"}
    assert told == {(each.watch_id, "us2", 1): 1 for each in (kept, kept_of_other)}


async def test_no_watch_is_made_of_an_endpoint_that_is_deleted_meanwhile(station: Station) -> None:
    async def delete() -> None:
        await station.endpoints.delete(USER, endpoint_id)

    endpoint_id = await station.endpoint()
    watches = watches_in(Meanwhile(station.database, delete), station.endpoints, station.clock)
    with pytest.raises(NotThere):
        await watches.create(USER, "A watch", {}, (ChangeKind.CREATED,), endpoint_id)

    assert [item async for item in station.database.scan(WATCH)] == []


async def test_a_watch_that_is_made_while_changes_are_read_is_told_of_what_is_stored_behind_it(
    station: Station,
) -> None:
    async def watch() -> None:
        watches.append(await station.watch())
        await station.source.say(a_record("us1"))

    def is_of_feed(method: str, asked: Any) -> bool:
        return bool(method == "query" and asked.entity.name == "ARRIVAL")

    await station.source.say(a_record("us0"))  # so that there is something to read
    watches = [await station.watch()]
    await station.follower(Meanwhile(station.database, watch, is_of_feed)).catch_up()

    assert await station.told() == Counter((watch.watch_id, "us1", 1) for watch in watches)
    assert len(watches) == 2


async def test_a_watch_that_cannot_be_read_keeps_no_other_from_its_events(caplog: pytest.LogCaptureFixture) -> None:
    async with a_station("sqlite") as station:
        watch = await station.watch()
        for broken in ({"filter": {"color": "blue"}}, {"kinds": ["RENUMBERED"]}):
            await station.database.put(Put(WATCH, {**(await station.watch()).item, **broken}))
        await station.source.say(a_record("us1"))
        await station.follower().catch_up()

        assert await station.told() == {(watch.watch_id, "us1", 1): 1}
        assert caplog.text.count("A watch cannot be followed") == 2


async def test_nothing_but_the_number_of_the_watches_changes_is_read_without_watches(station: Station) -> None:
    database = WatchedDatabase(station.database)
    watcher = station.follower(database)
    watch = await station.watch()
    await watcher.catch_up()
    await station.watches.delete(USER, watch.watch_id)  # the only one
    await watcher.catch_up()
    database.gets.clear()
    database.calls.clear()
    await station.source.say(a_record("us1"))
    await watcher.catch_up()

    assert [entity.name for entity, _ in database.gets] == ["LATEST_WATCH_CHANGE"]
    assert database.calls == []


async def test_neither_what_lies_before_the_first_watch_nor_what_no_watch_wanted_is_read_again(
    station: Station, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(following, "CHANGES_AT_ONCE", 2)
    for number in range(1, 6):
        await station.source.say(a_record("us1", mag=4 + number / 10, updated=number))
    await station.watch({"minMagnitude": 9})
    await station.source.say(a_record("us1", mag=5.0, updated=9))
    watcher = station.follower(database := WatchedDatabase(station.database))
    await watcher.catch_up()
    await watcher.catch_up()

    assert [query.entity.name for query in database.calls].count("ARRIVAL") == 2  # what is behind it, and the end
    assert database.gets.count((EVENT, None)) == 1


async def test_the_position_is_kept_on_a_long_way_without_events(
    station: Station, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(following, "KEPT_EVERY", 4)
    monkeypatch.setattr(following, "CHANGES_AT_ONCE", 2)
    watch = await station.watch({"minMagnitude": 9})
    for number in range(1, 8):
        await station.source.say(a_record("us1", mag=4 + number / 10, updated=number))
    await station.follower().catch_up()

    kept = await station.database.get(FEED_POSITION.key_for(Watcher.feed))
    assert kept is not None
    assert kept["number"] == watch.since + 4


async def test_a_user_whose_watches_want_much_delays_no_other_and_gets_all_of_it(
    station: Station, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(following, "TURN", 3)
    watches = [*[a_watch(number) for number in range(4)], a_watch(4, user_id="bea")]
    await station.fill(*watches)
    for change in range(3):
        await station.source.say(*[a_record(f"us{change}{number}") for number in range(3)])
    await station.follower().catch_up()

    events = await station.events()
    assert [event.user_id for event in events][:18] == [*[USER] * 3, *["bea"] * 3] * 3
    assert await station.told() == await station.wanted(*watches)


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
