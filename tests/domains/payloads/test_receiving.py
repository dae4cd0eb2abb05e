"""Recorders of other domains are told of each payload before its records are stored, and when its ingest has ended.

Its bytes are kept before its first record is stored, and nothing is stored without them.
"""

import asyncio
import gzip
import shutil
from collections.abc import Callable, Mapping
from hashlib import sha256
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest

from graph.core.errors import BadUserInput, DatabaseUnavailable
from graph.domains.earthquakes.entities import EVENT
from graph.domains.earthquakes.ingest.ingest import EVENTS_ROUTE, FILES_ROUTE, RECENT_ROUTE
from graph.domains.earthquakes.usgs.errors import InvalidUpstreamResponse
from graph.domains.earthquakes.usgs.requests import EventQuery, RecentEvents, UsgsFeed
from graph.domains.payloads.folder import PayloadNotKept, Place, places_in
from graph.domains.payloads.journal import read_lines
from graph.domains.payloads.model import IngestEnding, Payload
from graph.domains.payloads.rebuilding import CannotRebuild, rebuild
from graph.store.contract import Database
from tests.domains.earthquakes.ingest.ingests import NOW, a_feature, file_of
from tests.domains.earthquakes.usgs.usgs_server import UsgsServer, cut_json, week, week_features
from tests.domains.entities import ENTITIES
from tests.domains.payloads.kept import Keeper, a_keeper, catalogue_in, rebuilt
from tests.domains.watches.cuts import Cut
from tests.processes import TIMEOUT_S
from tests.store.engines import empty_database

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
        keeper.payloads.recorders.append(lambda: notes)
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
        keeper.payloads.recorders.append(lambda: notes)
        report = await keeper.ingest.window(EventQuery(20_000, NOW - 7 * DAY_MS, NOW))

    counts = [counts["fetched"] for _, counts, _ in notes.ended_payloads]
    assert len(counts) > 2
    assert max(counts) < 30
    assert sum(counts) == report.fetched == 60


async def test_a_failed_ingest_has_ended_with_its_code(tmp_path: Path) -> None:
    async with a_keeper("sqlite", tmp_path) as keeper:
        notes = Notes(keeper.database)
        keeper.payloads.recorders.append(lambda: notes)
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
        keeper.payloads.recorders.append(lambda: Failing(keeper.database))
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
        keeper.payloads.recorders.append(lambda: notes)
        cut = Cut(keeper.database, "cancelled")
        cut.left = 1
        with pytest.raises(asyncio.CancelledError):
            await asyncio.create_task(keeper.through(cut).file(file_of([a_feature()])))
        assert notes.ended_payloads == []

        if waits_s:
            notes.may_end.set()
        await keeper.payloads.close()
        assert [error for _, _, error in notes.ended_payloads] == (["CANCELLED"] if waits_s else [])


def lines_of(place: Place) -> list[dict[str, Any]]:
    with place.journal.open("rb") as file:
        return [dict(line.values) for line in read_lines(file)]


async def test_an_answer_of_usgs_is_kept_as_it_came_if_it_has_events(usgs: UsgsServer, tmp_path: Path) -> None:
    usgs.forget()
    async with a_keeper("sqlite", tmp_path, usgs.url) as keeper:
        usgs.answer_next(cut_json())  # and the next attempt succeeds
        report = await keeper.ingest.recent(RecentEvents(feed=UsgsFeed.ALL_WEEK))
        _, version = await keeper.ingest.feed(UsgsFeed.ALL_WEEK)
        await keeper.ingest.feed(UsgsFeed.ALL_WEEK, version)  # 304
        usgs.hold([])
        await keeper.ingest.recent(RecentEvents(limit=1))

    assert report.retries == 1
    place, _ = places_in(tmp_path)
    header, *transactions, end = lines_of(place)
    assert gzip.decompress(place.body.read_bytes()) == week()
    assert place.stem.parent.name == "2023-08-04"
    assert place.stem.name.startswith("20230804T030857.")
    assert place.stem.name.endswith(header["payload_id"])
    assert header["url"] == "https://earthquake.usgs.gov/earthquakes/feed/v1.0/summary/all_week.geojson"
    assert (header["size"], header["sha256"]) == (len(week()), sha256(week()).hexdigest())
    assert [line["change"] for line in transactions[::2]] == list(range(1, len(transactions) // 2 + 1))
    assert transactions[1::2] == [{"stored": True, "crc32": line["crc32"]} for line in transactions[1::2]]
    assert (end["end"]["counts"], end["end"]["error"]) == (report.counts, None)


async def test_a_file_is_kept_as_it_is_read_with_its_hash_at_the_end(tmp_path: Path) -> None:
    content = gzip.compress(file_of([a_feature()]).getvalue() + b"\n")
    source = tmp_path / "week.geojson.gz"
    source.write_bytes(content)
    async with a_keeper("sqlite", tmp_path / "kept") as keeper:
        with source.open("rb") as stream:
            await keeper.ingest.file(stream)

    [place] = places_in(tmp_path / "kept")
    assert gzip.decompress(place.body.read_bytes()) == content
    assert lines_of(place)[0]["sha256"] is None
    assert lines_of(place)[-1]["sha256"] == sha256(content).hexdigest()


async def test_nothing_is_stored_if_the_folder_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    async with a_keeper("sqlite", tmp_path / "file" / "kept") as keeper:
        with pytest.raises(PayloadNotKept, match="cannot be kept"):
            await keeper.ingest.file(file_of([a_feature()]))

        assert await catalogue_in(keeper.database) == set()


DAMAGES: dict[str, tuple[Callable[[Place], object], str]] = {
    "a changed body": (lambda place: flip(place.body, 100), r"\.gz: "),
    "a body that breaks off": (lambda place: place.body.write_bytes(place.body.read_bytes()[:-9]), "breaks off"),
    "another body": (lambda place: place.body.write_bytes(gzip.compress(b"{}")), "by its size and SHA-256"),
    "a missing body": (lambda place: place.body.unlink(), "missing"),
    "a changed journal": (lambda place: flip(place.journal, 500), r"\.journal: line 2"),
    "a missing journal": (lambda place: place.journal.unlink(), "change 1 of the catalogue is in no journal"),
    "a cut journal": (lambda place: cut(place.journal, lines=1), "change 1 of the catalogue is in no journal"),
}


def flip(path: Path, at: int) -> None:
    content = bytearray(path.read_bytes())
    content[at] ^= 1
    path.write_bytes(content)


def cut(path: Path, *, lines: int) -> None:
    path.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[:lines]))


async def test_a_damaged_file_is_named_before_anything_is_rebuilt(tmp_path: Path) -> None:
    async with a_keeper("sqlite", tmp_path / "whole") as keeper:
        await two_payloads(keeper)

    async with empty_database("sqlite", ENTITIES) as database:
        for damage, (apply, message) in DAMAGES.items():
            damaged = shutil.copytree(tmp_path / "whole", tmp_path / damage)
            apply(next(places_in(damaged)))
            with pytest.raises(CannotRebuild, match=message):
                await rebuild(database, damaged, lambda progress: None)
        assert await catalogue_in(database) == set()


async def two_payloads(keeper: Keeper) -> None:
    await keeper.ingest.file(file_of([a_feature(f"us{number}", updated=1) for number in range(30)]))
    await keeper.ingest.file(file_of([a_feature("us1", mag=5.0, updated=2)]))


async def test_the_last_line_may_be_torn_by_a_crash(tmp_path: Path) -> None:
    async with a_keeper("sqlite", tmp_path) as keeper:
        await two_payloads(keeper)
        before = {item["eventId"] async for item in keeper.database.scan(EVENT)}
    *_, place = places_in(tmp_path)
    cut(place.journal, lines=2)
    place.journal.write_bytes(place.journal.read_bytes() + b'{"stor')
    place.body.rename(place.part)

    async with rebuilt("sqlite", tmp_path) as (database, report):
        assert {item["eventId"] async for item in database.scan(EVENT)} == before
        assert report.versions == 31
