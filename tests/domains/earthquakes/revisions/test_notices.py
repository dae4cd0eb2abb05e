"""Subscribers hear of every version once, from wherever they begin."""

import asyncio
from contextlib import aclosing

import pytest

from graph.core.errors import InvalidCursor
from graph.domains.earthquakes.live import EventBroadcast
from graph.domains.earthquakes.magnitudes import MagnitudeRange
from graph.domains.earthquakes.revisions.model import EventRevision
from graph.domains.earthquakes.revisions.versions import RevisionKind
from graph.domains.earthquakes.selection import Selection
from graph.feed.broadcast import Notice
from graph.store.contract import Database
from tests.domains.earthquakes.builders import catalogue_of
from tests.domains.earthquakes.notices import some
from tests.domains.earthquakes.revisions.histories import Source, a_record

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
    async with aclosing(await broadcast.events(Selection(), await edge(database))) as notices:
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


async def edge(database: Database) -> str:
    event = await catalogue_of(database).event("us1")
    assert event is not None
    return event.cursor


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
