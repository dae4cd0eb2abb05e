"""Subscribers get each event and each of its versions once, in the order of storing, from wherever they begin."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import aclosing

import pytest
from hypothesis import given, settings

from graph.core.errors import InvalidCursor
from graph.domains.earthquakes.areas import Circle
from graph.domains.earthquakes.entities import EVENT
from graph.domains.earthquakes.live import EventBroadcast
from graph.domains.earthquakes.magnitudes import MagnitudeRange
from graph.domains.earthquakes.model import Event
from graph.domains.earthquakes.revisions.model import EventRevision
from graph.domains.earthquakes.revisions.versions import RevisionKind
from graph.domains.earthquakes.selection import Selection
from graph.feed.broadcast import Notice
from graph.store.contract import Database, Put
from tests.domains.earthquakes.builders import NOON, an_event, catalogue_of, events_at, ids, ingest
from tests.domains.earthquakes.oracle import selects
from tests.domains.earthquakes.revisions.histories import Source, a_record
from tests.domains.earthquakes.strategies import catalogues, selections
from tests.effort import rounds
from tests.processes import TIMEOUT_S

ALL = Selection()


async def some(notices: AsyncIterator[Notice[EventRevision]], number: int) -> list[Notice[EventRevision]]:
    """The next of them, so many."""
    async with asyncio.timeout(TIMEOUT_S):
        return [await anext(notices) for _ in range(number)]


def sent(notices: list[Notice[EventRevision]]) -> list[str]:
    """The ids of the events, of which none was dropped."""
    assert [notice.dropped for notice in notices] == [0] * len(notices)
    assert [notice.cursor for notice in notices] == [notice.record.notice_cursor for notice in notices if notice.record]
    return [notice.record.event.event_id for notice in notices if notice.record]


async def test_only_records_stored_after_subscribing_are_sent_in_order(
    database: Database, broadcast: EventBroadcast
) -> None:
    await ingest(database, [an_event("old")])
    async with aclosing(await broadcast.events(ALL, None)) as notices:
        first = asyncio.ensure_future(some(notices, 2))
        await ingest(database, [an_event("b", NOON), an_event("a", NOON - 1)])
        assert sent(await first) == ["a", "b"]  # one transaction, in order of time

        await ingest(database, [an_event("much older", 0)])
        await ingest(database, [an_event("old"), an_event("newer", NOON + 1)])
        assert sent(await some(notices, 2)) == ["much older", "newer"]


async def test_the_cursor_of_an_event_without_a_number_replays_all_and_one_of_no_event_is_refused(
    database: Database, broadcast: EventBroadcast
) -> None:
    unnumbered = an_event("old")
    await database.put(Put(EVENT, unnumbered.item))
    await ingest(database, events_at(10, 20))

    async with aclosing(await broadcast.events(ALL, unnumbered.cursor)) as notices:
        replayed = await some(notices, 2)
        assert sent(replayed) == ["e000", "e001"]
        assert replayed[1].cursor == events_at(10, 20)[1].cursor, "as of an edge of a page"
    for cursor in ("", "nonsense", an_event("unknown").cursor):
        with pytest.raises(InvalidCursor):
            await broadcast.events(ALL, cursor)


async def test_only_what_is_selected_is_sent(database: Database, broadcast: EventBroadcast) -> None:
    near = Selection(magnitudes=MagnitudeRange(4.5, None), circle=Circle(35.6, -117.6, 100))
    events = [
        *(an_event("small", mag=4.4), an_event("far", lat=0), an_event("it", mag=4.5)),
        *(an_event("too", mag=9, lat=35.5), an_event("end", mag=8)),
    ]
    await ingest(database, [an_event("before", 0)])
    async with (
        aclosing(await broadcast.events(near, an_event("before", 0).cursor)) as replayed,
        aclosing(await broadcast.events(near, None)) as joined,
    ):
        first = asyncio.ensure_future(some(joined, 3))
        await ingest(database, events)
        assert sent(await first) == sent(await some(replayed, 3)) == ["it", "too", "end"]


@settings(max_examples=rounds(200))
@given(catalogues, selections)
def test_a_selection_admits_what_a_query_would_find(events: list[Event], selection: Selection) -> None:
    admitted = [event for event in events if selection.admits(event.item)]
    assert ids(admitted) == ids([event for event in events if selects(selection, event)])


# Versions

CREATED, REVISED, DELETED = RevisionKind.CREATED, RevisionKind.REVISED, RevisionKind.DELETED


def told(notices: list[Notice[EventRevision]]) -> list[tuple[str, RevisionKind, float]]:
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
    ] == [
        [],
        [("mag", 4.5, 4.75), ("status", None, "reviewed")],
        [("status", "reviewed", "deleted")],
    ]


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
    source = Source(database)
    strong = Selection(magnitudes=MagnitudeRange(5.0))
    async with aclosing(await broadcast.events(strong)) as notices:
        first = asyncio.ensure_future(some(notices, 2))
        await source.say(a_record("us1", mag=5.1), a_record("weak", mag=4.0))
        await source.say(a_record("weak", mag=4.1, updated=2))
        await source.say(a_record("us1", mag=4.9, updated=2))
        assert told(await first) == [("us1", CREATED, 5.1), ("us1", REVISED, 4.9)]
