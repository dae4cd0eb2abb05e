"""Wherever an ingest breaks off, and however many run at once: every event is there once, and counted once."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from graph.core.days import DAY_MS
from graph.core.errors import DatabaseUnavailable
from graph.domains.earthquakes.entities import REVISION
from graph.domains.earthquakes.revisions.live import event_sequence
from graph.domains.earthquakes.usgs.requests import RecentEvents, UsgsFeed
from tests.domains.earthquakes.ingest.ingests import (
    NOW,
    Station,
    a_feature,
    always_now,
    an_ingest,
    counted_in,
    events_in,
    file_of,
    logs_in,
    plain_http,
    recounted,
)
from tests.domains.earthquakes.usgs.usgs_server import UsgsServer, week_features
from tests.domains.entities import connections
from tests.domains.watches.cuts import Cut

EVENTS = 90
STORED = 30  # of them before, in an earlier version


def many_days(*, updated: int) -> list[dict[str, Any]]:
    """Events of many days: half of those that are stored move to the day before, and all get another magnitude."""
    return [
        a_feature(
            f"us{n:02}",
            mag=n % 7 + updated,
            time=NOW - (n % 15 + (n % 2 and updated - 1)) * DAY_MS,
            updated=updated,
            ids=f",us{n:02},ci{n:02},",
        )
        for n in range(EVENTS)
    ]


@pytest.mark.parametrize("way", Cut.WAYS[:2], ids=["refused", "lost"])
async def test_an_ingest_that_breaks_off_leaves_nothing_uncounted_and_is_finished_by_the_next(
    any_station: Station, way: str
) -> None:
    """Its transactions are small. One is refused, or applied and nobody hears of it."""
    station = any_station
    cut = Cut(station.database, way)
    doomed, stored = station.ingest_into(cut), STORED
    await station.ingest.file(file_of(many_days(updated=1)[:STORED]))
    for calls in (4, 5, 8):
        cut.left = calls
        with pytest.raises(DatabaseUnavailable):
            await doomed.file(file_of(many_days(updated=2)))
        for log in await logs_in(station.database):
            assert log["fetched"] == log["upserted"] + log["revised"] + log["skipped"]
        events = await events_in(station.database)
        assert stored <= len(events) < EVENTS
        stored = len(events)
        assert await counted_in(station.database) == await recounted(station.database)

    cut.left = 0
    report = await doomed.file(file_of(many_days(updated=2)))

    assert (report.fetched, report.upserted) == (EVENTS, EVENTS - stored)
    events = await events_in(station.database)
    assert {name: (item["mag"], item["revision"]) for name, item in events.items()} == {
        f"us{n:02}": (n % 7 + 2, 2 if n < STORED else 1) for n in range(EVENTS)
    }
    assert len([item async for item in station.database.scan(REVISION)]) == STORED
    assert await counted_in(station.database) == await recounted(station.database)


# Several at once


async def test_ingests_of_the_same_events_at_once_lose_nothing_and_count_each_insert_once(
    engine: str, usgs: UsgsServer, tmp_path: Path
) -> None:
    """Each has a connection of its own, as several processes have."""
    usgs.forget()
    features, ingests = week_features()[::16], 4
    usgs.hold(features)
    async with connections(engine, tmp_path, ingests, always_now) as databases, plain_http() as http:
        at_once = [
            an_ingest(each, http, usgs.url, []).recent(RecentEvents(feed=UsgsFeed.ALL_WEEK)) for each in databases
        ]
        reports = await asyncio.gather(*at_once)

        assert [report.fetched for report in reports] == [len(features)] * ingests
        assert [report.upserted + report.skipped for report in reports] == [len(features)] * ingests
        assert sum(report.upserted for report in reports) == len(features)
        assert (await events_in(databases[0])).keys() == {feature["id"] for feature in features}
        assert await counted_in(databases[0]) == await recounted(databases[0])
        changes = await event_sequence(databases[0]).since(0, 10_000)
        assert [change.number for change in changes] == list(range(1, len(changes) + 1))
