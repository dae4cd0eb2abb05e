"""Ingests of files, which are read and stored a bounded number of events at a time."""

import tracemalloc
from collections.abc import Collection
from hashlib import sha256
from io import BytesIO

import orjson

from graph.domains.earthquakes.model import is_listed
from graph.store.contract import Database
from graph.store.entity import Item, Key
from tests.domains.earthquakes.ingest.ingests import (
    NOW,
    Station,
    a_feature,
    counts,
    events_in,
    file_of,
    recounted,
    summaries_in,
)
from tests.domains.earthquakes.watched_database import WatchedDatabase


async def test_progress_is_reported_while_a_file_is_read(station: Station) -> None:
    content = file_of(a_feature(f"us{n}") for n in range(2500)).getvalue()
    told: list[tuple[int, int]] = []

    report = await station.ingest.file(BytesIO(content), lambda now: told.append((now.fetched, now.upstream_size or 0)))

    assert [fetched for fetched, _ in told] == [1000, 2000, 2500]
    sizes = [size for _, size in told]
    assert sizes == sorted(sizes)
    assert (0 < sizes[0] < len(content), sizes[-1]) == (True, len(content))
    assert (report.upstream_size, report.upstream_hash) == (len(content), sha256(content).hexdigest())


class Endless:
    """A file of so many lines, which exist only as they are read."""

    def __init__(self, line: bytes, count: int) -> None:
        self._line = line
        self._left = count

    def read(self, size: int, /) -> bytes:
        lines = min(max(size // len(self._line), 1), self._left)
        self._left -= lines
        return self._line * lines


async def test_memory_does_not_grow_with_the_events_of_a_file(station: Station) -> None:
    line = orjson.dumps(a_feature("us1", mag=None)) + b"\n"

    async def peak_of(count: int) -> int:
        tracemalloc.start()
        try:
            assert counts(await station.ingest.file(Endless(line, count))) == (count, 0, 0, count)
            return tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()

    short, long = await peak_of(4000), await peak_of(20_000)
    assert long < short + 500_000


async def test_a_later_duplicate_in_a_file_is_skipped(station: Station) -> None:
    once = [a_feature(f"us{n}", mag=1.0) for n in range(1200)]
    again = [a_feature(f"us{n}", mag=2.0) for n in range(1200)]

    report = await station.ingest.file(file_of([*once, *again]))

    assert counts(report) == (2400, 1200, 1200, 0)
    assert {event["mag"] for event in (await events_in(station.database)).values()} == {1.0}
    assert await summaries_in(station.database) == await recounted(station.database)


class LookUps(WatchedDatabase):
    """Keeps of how many keys it was asked at once."""

    def __init__(self, database: Database) -> None:
        super().__init__(database)
        self.sizes: list[int] = []

    async def get_many(self, keys: Collection[Key], *, attributes: Collection[str] | None = None) -> dict[Key, Item]:
        self.sizes.append(len(keys))
        return await super().get_many(keys, attributes=attributes)


async def test_events_are_looked_up_first_until_all_are_new_and_again_once_one_is_not(station: Station) -> None:
    database = LookUps(station.database)
    features = [a_feature(f"us{n}") for n in range(4999)]

    await station.ingest_into(database).file(file_of([*features[:2500], features[0], *features[2500:]]))

    by_alias = 1000
    assert database.sizes == [
        *(1000, by_alias),  # the first thousand
        *(by_alias, by_alias, 1),  # the third shows that one of its events is stored
        *(1000, by_alias, 1000, by_alias),
    ]
    assert await summaries_in(station.database) == await recounted(station.database)


async def test_a_deletion_after_many_new_events_is_applied(station: Station) -> None:
    """Events that are probably new are not looked up first. A deletion is, since no insert finds its event."""
    features = [a_feature(f"us{n}", updated=NOW) for n in range(1000)]

    report = await station.ingest.file(file_of([*features, a_feature("us7", status="deleted", updated=NOW + 1)]))

    assert (report.upserted, report.revised, report.deleted, report.skipped) == (1000, 1, 1, 0)
    assert not is_listed((await events_in(station.database))["us7"])
