"""Events are numbered in the order of storing, and subscribers get each of their versions so, once, from anywhere."""

import asyncio
from contextlib import aclosing

import pytest
from hypothesis import given, settings

from graph.core.errors import InvalidCursor
from graph.domains.earthquakes.entities import EVENT, EVENT_SEQUENCE
from graph.domains.earthquakes.magnitudes import MagnitudeRange
from graph.domains.earthquakes.model import Event
from graph.domains.earthquakes.revisions.live import EventBroadcast, event_sequence
from graph.domains.earthquakes.revisions.model import EventRevision
from graph.domains.earthquakes.revisions.versions import RevisionKind
from graph.domains.earthquakes.selection import Selection
from graph.feed.broadcast import SubscriberMessage
from graph.feed.sequence import STATE_BYTES
from graph.store.contract import Database
from tests.domains.earthquakes.builders import an_event, catalogue_of, events_at, ids, ingest
from tests.domains.earthquakes.oracle import selects
from tests.domains.earthquakes.revisions.histories import Source, a_record
from tests.domains.earthquakes.strategies import catalogues, selections
from tests.domains.entities import documented
from tests.effort import rounds
from tests.feed.notes import some


@settings(max_examples=rounds(200))
@given(catalogues, selections)
def test_a_selection_admits_what_a_query_would_find(events: list[Event], selection: Selection) -> None:
    admitted = [event for event in events if selection.admits(event.item)]
    assert ids(admitted) == ids([event for event in events if selects(selection, event)])


async def test_each_transaction_has_the_next_number_and_its_events_have_it_too(database: Database) -> None:
    sequence = event_sequence(database)
    assert await sequence.latest() == 0

    await ingest(database, events_at(30, 10, 20))
    assert await ingest(database, events_at(30, 10)) == 0, "a stored event gets no second number"
    await ingest(database, [an_event("late", 5), an_event("e001", 10)])

    changes = await sequence.since(0, 10_000)
    assert [(each.number, each.keys) for each in changes] == [(1, ("e001", "e002", "e000")), (2, ("late",))]
    events = await catalogue_of(database).events(["e000", "late"])
    assert [EVENT_SEQUENCE.number_of(events[name].item) for name in ("e000", "late")] == [1, 2]
    assert EVENT_SEQUENCE.number_of(an_event().item) == 0, "of an older table: stored before all that are numbered"

    items = [documented(EVENT_SEQUENCE.change, item) async for item in database.scan(EVENT_SEQUENCE.change)]
    (late,) = [item for item in items if item["eventIds"] == ["late"]]
    payload = late["payload"]
    index = {"gsi1pk": f"PAYLOAD#{payload}", "gsi1sk": 2}
    key = {"pk": "ARRIVALS", "sk": "000000000002", "entity": "ARRIVAL"}
    assert late == {**key, **index, "eventIds": ["late"], "payload": payload}
    latest = documented(EVENT_SEQUENCE.latest, await database.get(EVENT_SEQUENCE.latest.key_for()) or {})
    assert len(latest.pop("state")) == 2 * STATE_BYTES
    assert latest == {"pk": "ARRIVALS#LATEST", "sk": "STATE", "entity": "ARRIVAL", "number": 2}
    stored = await database.get(EVENT.key_for("late"))
    assert stored
    assert stored["arrival"] == 2


# Versions

CREATED, REVISED, DELETED = RevisionKind.CREATED, RevisionKind.REVISED, RevisionKind.DELETED


def told(notices: list[SubscriberMessage[EventRevision]]) -> list[tuple[str, RevisionKind, float]]:
    return [(each.record.event.event_id, each.record.kind, each.record.event.mag) for each in notices if each.record]


async def test_each_version_of_the_chosen_kinds_is_sent_with_what_changed(
    database: Database, broadcast: EventBroadcast
) -> None:
    source = Source(database)
    async with (
        aclosing(await broadcast.events(Selection())) as notices,
        aclosing(await broadcast.events(Selection(), kinds=[DELETED])) as deletions,
    ):
        first = asyncio.gather(some(notices, 3), some(deletions, 1))
        await source.say(a_record(mag=4.5))
        await source.say(a_record(mag=4.75, status="reviewed", updated=2))
        await source.say({"event_id": "us1", "status": "deleted", "updated": 3})
        found, deleted = await first

    assert told(found) == [("us1", CREATED, 4.5), ("us1", REVISED, 4.75), ("us1", DELETED, 4.75)]
    assert told(deleted) == told(found)[2:]
    assert [
        [(change.field, change.before, change.after) for change in each.record.changes] for each in found if each.record
    ] == [[], [("mag", 4.5, 4.75), ("status", None, "reviewed")], [("status", "reviewed", "deleted")]]


async def test_a_cursor_of_any_version_resumes_behind_it_and_of_none_is_refused(
    database: Database, broadcast: EventBroadcast
) -> None:
    source = Source(database)
    for version in range(1, 4):
        await source.say(a_record("us1", mag=4.0 + version, updated=version), a_record(f"other{version}"))
    edge = await catalogue_of(database).event("us1")
    assert edge
    async with aclosing(await broadcast.events(Selection(), edge.cursor)) as notices:
        replayed = await some(notices, 5)
    assert told(replayed) == [
        ("other1", CREATED, 4.5),
        *(("us1", REVISED, 6.0), ("other2", CREATED, 4.5)),
        *(("us1", REVISED, 7.0), ("other3", CREATED, 4.5)),
    ]

    async with aclosing(await broadcast.events(Selection(), replayed[1].cursor)) as notices:
        assert told(await some(notices, 3)) == told(replayed[2:])
    with pytest.raises(InvalidCursor):
        await broadcast.events(Selection(), EventRevision({"eventId": "us1", "revision": 4}).cursor)


async def test_who_selects_hears_that_an_event_is_no_longer_selected(
    database: Database, broadcast: EventBroadcast
) -> None:
    """Whether by a revision, a merge or a deletion. A replayed version says so too of what it was, as it is now."""
    source = Source(database)
    strong = Selection(magnitudes=MagnitudeRange(5.0))
    steps = (
        [a_record("us1", mag=5.1), a_record("us2", mag=5.2), a_record("weak", mag=4.0)],
        [a_record("weak", mag=4.1, updated=2), a_record("us1", mag=4.9, updated=2)],
        [{"event_id": each, "status": "deleted", "updated": 3} for each in ("weak", "us1", "us2")],
        [a_record("us3", mag=5.5), a_record("us4", mag=5.6)],
        [a_record("us3", mag=5.5, ids=["us3", "us4"], updated=4)],
    )
    found = []
    async with aclosing(await broadcast.events(strong)) as notices:
        for records, number in zip(steps, (2, 1, 1, 2, 1), strict=True):
            await source.say(*records)
            found += await some(notices, number)
    expected = [
        *(("us1", CREATED, True), ("us2", CREATED, True), ("us1", REVISED, False), ("us2", DELETED, False)),
        *(("us3", CREATED, True), ("us4", CREATED, True), ("us4", RevisionKind.MERGED, False)),
    ]
    assert [(each.record.event.event_id, each.record.kind, each.matches) for each in found if each.record] == expected

    async with aclosing(await broadcast.events(strong, found[0].cursor)) as notices:
        replayed = await some(notices, 6)
    now = {"us1": False, "us2": False, "us3": True, "us4": False}
    assert [(each.record.event.event_id, each.record.kind, each.matches) for each in replayed if each.record] == [
        (event_id, kind, now[event_id]) for event_id, kind, _ in expected[1:]
    ]
    assert [each.record.present.revision for each in replayed if each.record and each.record.number == 1] == [2, 1, 2]


async def test_a_deletion_reaches_who_was_sent_the_event_before_an_untracked_value_changed(
    database: Database, broadcast: EventBroadcast
) -> None:
    source = Source(database)
    some_of = Selection(min_felt=10, none_of=Selection(max_sig=100))
    async with aclosing(await broadcast.events(Selection(any_of=(some_of,)))) as notices:
        await source.say(a_record("us1", felt=20, sig=200))
        created = await some(notices, 1)
        await source.say(a_record("us1", felt=5, sig=50, updated=2))
        await source.say(a_record("us1", felt=5, sig=50, mag=4.6, updated=3))
        await source.say({"event_id": "us1", "status": "deleted", "updated": 4})
        deleted = await some(notices, 1)
    assert [(each.matches, *told([each])) for each in created + deleted] == [
        (True, ("us1", CREATED, 4.5)),
        (False, ("us1", DELETED, 4.6)),
    ]


async def test_a_filter_of_ids_admits_an_event_by_each_of_its_aliases(
    database: Database, broadcast: EventBroadcast
) -> None:
    source = Source(database)
    by_alias = Selection(event_ids=("nc1",))
    async with (
        aclosing(await broadcast.events(by_alias)) as notices,
        aclosing(await broadcast.events(Selection(none_of=by_alias))) as others,
    ):
        await source.say(a_record("us2"), a_record("us1", ids=["us1", "nc1"]))
        found = told(await some(notices, 1)), told(await some(others, 1))
    assert found == ([("us1", CREATED, 4.5)], [("us2", CREATED, 4.5)])
