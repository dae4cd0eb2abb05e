"""Recorders of other domains are told of each payload before its records are stored, and when its ingest has ended."""

import asyncio
from collections.abc import Mapping
from io import BytesIO
from pathlib import Path

import pytest

from graph.core.errors import BadUserInput, DatabaseUnavailable
from graph.domains.earthquakes.entities import EVENT
from graph.domains.earthquakes.ingest.ingest import EVENTS_ROUTE, FILES_ROUTE, RECENT_ROUTE
from graph.domains.earthquakes.usgs.errors import InvalidUpstreamResponse
from graph.domains.earthquakes.usgs.requests import EventQuery, RecentEvents
from graph.domains.payloads.model import IngestEnding, Payload
from graph.store.contract import Database
from tests.domains.earthquakes.ingest.ingests import NOW, a_feature, file_of
from tests.domains.earthquakes.usgs.usgs_server import UsgsServer, week_features
from tests.domains.payloads.kept import a_keeper
from tests.domains.watches.cuts import Cut
from tests.processes import TIMEOUT_S

DAY_MS = 86_400_000


class Notes:
    """Writes down what it is told, and how many events are stored then."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self.received_payloads: list[tuple[Payload, int]] = []
        self.ended_payloads: list[tuple[Payload, Mapping[str, int], str | None]] = []

    async def received(self, payload: Payload) -> None:
        self.received_payloads.append((payload, len([item async for item in self._database.scan(EVENT)])))

    async def ended(self, payload: Payload, ending: IngestEnding) -> None:
        self.ended_payloads.append((payload, ending.counts, ending.error))


async def test_each_payload_is_told_of_before_and_after(usgs: UsgsServer, tmp_path: Path) -> None:
    usgs.forget()
    usgs.hold(week_features()[:10])
    async with a_keeper("sqlite", tmp_path, usgs.url) as keeper:
        notes = Notes(keeper.database)
        keeper.payloads.add(lambda: notes)
        await keeper.ingest.recent(RecentEvents(limit=10))
        await keeper.ingest.file(file_of([a_feature()]))
        await keeper.ingest.events([{"event_id": "us1", "status": "deleted"}])

    (answer, before), (file, after), (call, _) = notes.received_payloads
    assert [each.route for each in (answer, file, call)] == [RECENT_ROUTE, FILES_ROUTE, EVENTS_ROUTE]
    assert answer.url == "https://earthquake.usgs.gov/fdsnws/event/1/query?format=geojson&orderby=time&limit=10"
    assert (before, after) == (0, 10)
    assert file.size is None
    ended = [(payload.payload_id, counts["fetched"], error) for payload, counts, error in notes.ended_payloads]
    assert ended == [(answer.payload_id, 10, None), (file.payload_id, 1, None), (call.payload_id, 1, None)]
    assert notes.ended_payloads[1][0].size == len(file_of([a_feature()]).getvalue())


async def test_each_part_of_a_window_is_a_payload_with_its_own_counts(usgs: UsgsServer, tmp_path: Path) -> None:
    usgs.forget()
    usgs.hold(week_features()[:60], limit=30)
    async with a_keeper("sqlite", tmp_path, usgs.url) as keeper:
        notes = Notes(keeper.database)
        keeper.payloads.add(lambda: notes)
        report = await keeper.ingest.window(EventQuery(20_000, NOW - 7 * DAY_MS, NOW))

    counts = [counts["fetched"] for _, counts, _ in notes.ended_payloads]
    assert len(counts) > 2
    assert max(counts) < 30
    assert sum(counts) == report.fetched == 60


async def test_a_failed_ingest_has_ended_with_its_code(tmp_path: Path) -> None:
    async with a_keeper("sqlite", tmp_path) as keeper:
        notes = Notes(keeper.database)
        keeper.payloads.add(lambda: notes)
        with pytest.raises(InvalidUpstreamResponse):
            await keeper.ingest.file(BytesIO(b'{"type": "FeatureCollection", "features": ['))
        cut = Cut(keeper.database, "refused")
        cut.left = 1
        with pytest.raises(DatabaseUnavailable):
            await keeper.through(cut).file(file_of([a_feature()]))
        with pytest.raises(BadUserInput):
            await keeper.ingest.events([{}] * 1001)  # which are no payload

    codes = [error for _, _, error in notes.ended_payloads]
    assert codes == ["INVALID_UPSTREAM_RESPONSE", "DATABASE_UNAVAILABLE"]


async def test_nothing_is_stored_of_a_payload_that_cannot_be_recorded(tmp_path: Path) -> None:
    class Failing(Notes):
        async def received(self, payload: Payload) -> None:
            raise DatabaseUnavailable("the recorder's table is missing")

    async with a_keeper("sqlite", tmp_path) as keeper:
        keeper.payloads.add(lambda: Failing(keeper.database))
        with pytest.raises(DatabaseUnavailable):
            await keeper.ingest.file(file_of([a_feature()]))

        assert [item async for item in keeper.database.scan(EVENT)] == []


class Waiting(Notes):
    """Ends when it may."""

    def __init__(self, database: Database) -> None:
        super().__init__(database)
        self.may_end = asyncio.Event()

    async def ended(self, payload: Payload, ending: IngestEnding) -> None:
        await self.may_end.wait()
        await super().ended(payload, ending)


@pytest.mark.parametrize("waits_s", [TIMEOUT_S, 0], ids=["waits", "hurries"])
async def test_a_cancellation_waits_for_the_record_of_its_end_only_at_the_shutdown_and_not_long(
    waits_s: float, tmp_path: Path
) -> None:
    async with a_keeper("sqlite", tmp_path, cancelled_ends_within_s=waits_s) as keeper:
        notes = Waiting(keeper.database)
        keeper.payloads.add(lambda: notes)
        cut = Cut(keeper.database, "cancelled")
        cut.left = 1
        with pytest.raises(asyncio.CancelledError):
            await asyncio.create_task(keeper.through(cut).file(file_of([a_feature()])))
        assert notes.ended_payloads == []

        if waits_s:
            notes.may_end.set()
        await keeper.payloads.close()
        assert [error for _, _, error in notes.ended_payloads] == (["CANCELLED"] if waits_s else [])
