"""The catalogue of another time is what the ingests up to then had made."""

from collections.abc import Callable
from functools import partial
from itertools import count, product
from typing import Any

import pytest
from hypothesis import example, given

from graph.core.days import DAY_MS
from graph.core.errors import DatabaseUnavailable
from graph.core.paging import Paging
from graph.domains.earthquake_events import TIME_ORDERED
from graph.domains.earthquakes.entities import EVENT, REVISION
from graph.domains.earthquakes.magnitudes import MagnitudeRange
from graph.domains.earthquakes.model import Event
from graph.domains.earthquakes.revisions.history import HistoryUnavailable
from graph.domains.earthquakes.revisions.views import AsOf, Deleted, View
from graph.domains.earthquakes.selection import Selection
from graph.domains.export.source import ExportRequest, ExportSource
from graph.store.contract import Database
from graph.store.query import Query
from tests.domains.earthquakes.builders import catalogue_of, ids
from tests.domains.earthquakes.catalogue.test_catalogue import page_of, pages, sides
from tests.domains.earthquakes.ingest.ingests import counted_in, recounted
from tests.domains.earthquakes.oracle import PLACE_OF
from tests.domains.earthquakes.revisions.histories import (
    BEGIN,
    MIDNIGHT,
    Record,
    Source,
    a_record,
    histories,
    listed,
    tracked_values,
)
from tests.domains.earthquakes.strategies import A_FEW
from tests.domains.earthquakes.watched_database import WatchedDatabase
from tests.domains.entities import ENTITIES
from tests.domains.watches.cuts import Meanwhile
from tests.store.engines import empty_database

STRONG = Selection(magnitudes=MagnitudeRange(4.55))


async def listed_since_begin(database: Database, view: View, selection: Selection) -> list[Event]:
    """All events of a view; none before the first one was stored."""
    try:
        found = await listed(database, view, selection, size=2)
    except HistoryUnavailable:
        return []
    assert await catalogue_of(database).total(selection, view) == len(found)
    return found


@A_FEW
@given(history=histories)
async def test_a_list_as_of_any_time_equals_the_list_at_that_time_and_the_summaries_count_the_last(
    engine: str, history: list[list[Record]]
) -> None:
    """So it equals a replay of the ingests up to then: each list was read when only these had run."""
    views = [(selection, deleted) for selection in (Selection(), STRONG) for deleted in Deleted]
    async with empty_database(engine, ENTITIES) as database:
        source, expected = Source(database), []
        for records in history:
            await source.say(*records)
            now = [tracked_values(await listed(database, View(deleted=deleted), each)) for each, deleted in views]
            expected.append((source.clock.now, now))
        assert await counted_in(database) == await recounted(database)
        for recorded_ms, lists in expected:
            for (selection, deleted), then in zip(views, lists, strict=True):
                found = await listed_since_begin(database, View(AsOf(recorded_ms=recorded_ms), deleted), selection)
                assert tracked_values(found) == then
                assert len(found) == len(then)


@A_FEW
@example(history=[[a_record(updated=2, lat=1.0), a_record(updated=1, lat=1.5)]])
@given(history=histories)
async def test_the_first_versions_are_the_catalogue_of_first_writes(history: list[list[Record]]) -> None:
    """Of events that no record names by two ids, which a catalogue without versions stores twice."""
    alone = [[{**record, "ids": None} for record in records] for records in history]
    async with empty_database("sqlite", ENTITIES) as database, empty_database("sqlite", ENTITIES) as first_wins:
        for source in (Source(database), Source(first_wins, revises=False)):
            for records in alone:
                await source.say(*records)

        found = await listed(database, View(AsOf(first=True)), size=2)

        assert tracked_values(found) == tracked_values(await listed(first_wins))
        assert [each.felt for each in found if each.revision > 1] == []


async def test_before_the_first_ingest_there_is_no_history_but_what_a_back_fill_has_stored_of_publications(
    database: Database, source: Source
) -> None:
    """Nothing else is known of that time, so everything else is no answer."""
    catalogue = catalogue_of(database)
    with pytest.raises(HistoryUnavailable) as caught:
        await catalogue.page(Selection(), Paging(1), view=View(AsOf(recorded_ms=BEGIN)))
    assert caught.value.earliest is None
    for mag, updated in ((4.0, 100), (5.0, 200)):
        await source.say(a_record("us1", mag=mag, updated=updated))
    assert BEGIN > 200

    for published_ms, mag in ((100, 4.0), (199, 4.0), (200, 5.0), (BEGIN - 1, 5.0)):
        as_of = AsOf(published_ms=published_ms)
        found = await catalogue.version("us1", as_of)
        assert found is not None
        assert [each.mag for each in await listed(database, View(as_of))] == [found.mag] == [mag]
        behind = Paging(1, after=found.item)
        assert not (await catalogue.page(Selection(), behind, view=View(as_of))).records
        for counted in (catalogue.total, catalogue.count):
            assert await counted(Selection(), View(as_of)) == 1
        with pytest.raises(HistoryUnavailable):
            await catalogue.version("us2", as_of)

    too_early = AsOf(published_ms=99)
    before = View(too_early)
    for refused in (
        catalogue.version("us1", too_early),
        catalogue.page(Selection(), Paging(1), view=before),
        catalogue.page(Selection(), Paging(1), view=View(AsOf(recorded_ms=BEGIN + 999))),
        catalogue.page_by_magnitude(Selection(), Paging(1), view=before),
        catalogue.total(Selection(), before),
        catalogue.count(Selection(), before),
    ):
        with pytest.raises(HistoryUnavailable) as caught:
            await refused
        assert caught.value.extensions == {
            "code": "HISTORY_UNAVAILABLE",
            "classification": "BAD_USER_INPUT",
            "earliest": "2023-08-04T00:00:01.000Z",
        }
    assert len(await listed(database, View(AsOf(recorded_ms=BEGIN + 1000)))) == 1
    since = AsOf(published_ms=BEGIN + 1000)
    assert await catalogue.version("us2", since) is None
    assert await catalogue.total(Selection(magnitudes=MagnitudeRange(9)), View(since)) == 0


class Revised(WatchedDatabase):
    """A database in which an event is revised after each count of latest versions."""

    def __init__(self, database: Database, source: Source) -> None:
        super().__init__(database)
        self.left = 0  # revisions
        self._source = source

    async def count(self, query: Query) -> int:
        counted = await super().count(query)
        if query.entity is EVENT and self.left:
            self.left -= 1
            updated = self._source.clock.now
            await self._source.say(a_record("us0", mag=updated % 1000 / 1000, updated=updated), later=1)
        return counted


async def test_a_total_of_a_past_time_is_exact_or_null_while_events_are_revised(engine: str) -> None:
    """Versions move from the latest ones to the superseded ones between the counts of both."""
    async with empty_database(engine, ENTITIES) as database:
        source = Source(database)
        await source.say(*(a_record(f"us{n}") for n in range(5)))
        view = View(AsOf(recorded_ms=source.clock.now))
        revised = Revised(database, source)
        catalogue = catalogue_of(revised)
        revised.left = 1
        assert await catalogue.total(Selection(), view) == 5
        assert revised.left == 0
        revised.left = 1000
        assert await catalogue.total(Selection(), view) is None
        with pytest.raises(DatabaseUnavailable):
            await catalogue.count(Selection(), view)


async def test_what_its_source_had_published_by_a_time_is_another_axis(database: Database, source: Source) -> None:
    await source.say(a_record("old"))
    begin = source.clock.now
    for mag, updated in ((4.0, begin), (5.0, begin + 100), (6.0, begin + 300)):
        await source.say(a_record("us1", mag=mag, updated=updated))

    async def magnitudes(as_of: AsOf) -> list[float]:
        return [each.mag for each in await listed(database, View(as_of)) if each.event_id == "us1"]

    assert [await magnitudes(AsOf(published_ms=begin + after)) for after in (0, 99, 100, 299, 300)] == [
        *([4.0], [4.0], [5.0], [5.0], [6.0])
    ]
    assert [await magnitudes(AsOf(recorded_ms=begin + after)) for after in (999, 1000, 2000, 3000)] == [
        *([], [4.0], [5.0], [6.0])
    ]
    catalogue = catalogue_of(database)
    for as_of, mag in ((AsOf(published_ms=begin + 100), 5.0), (AsOf(recorded_ms=begin + 1000), 4.0)):
        found = await catalogue.version("us1", as_of)
        assert found is not None
        assert found.mag == mag
    assert await catalogue.version("us1", AsOf(recorded_ms=begin)) is None


async def test_pages_of_a_past_time_are_walked_in_both_directions_over_ties(engine: str) -> None:
    async with empty_database(engine, ENTITIES) as database:
        source = Source(database)
        await source.say(*(a_record(f"us{n}", event_ts_ms=MIDNIGHT + n // 4) for n in range(12)))
        then = View(AsOf(recorded_ms=source.clock.now))
        await source.say(*(a_record(f"us{n}", mag=5.0, updated=2) for n in range(0, 12, 2)))
        expected = sorted(((MIDNIGHT + n // 4, f"us{n}") for n in range(12)), reverse=True)

        catalogue = catalogue_of(database)
        for size, backward in product((1, 5, 12, 13), (False, True)):
            turned = await pages(catalogue, "time", Selection(), size, backward=backward, view=then)
            step = -1 if backward else 1
            found = [each for page in turned[::step] for each in page.records]
            assert [(each.event_ts_ms, each.event_id) for each in found] == expected
            assert {each.mag for each in found} == {4.5}
            ends = [(n > 0, n < len(turned) - 1)[::step] for n in range(len(turned))]
            assert [await sides(page) for page in turned] == ends


@pytest.mark.parametrize("order", PLACE_OF)
async def test_a_cursor_of_one_list_goes_on_in_every_other_one(engine: str, order: str) -> None:
    """Within a millisecond, too: present and past lists, those with deleted events, and exports."""
    async with empty_database(engine, ENTITIES) as database:
        source, catalogue = Source(database), catalogue_of(database)
        tied = [a_record(f"us{n}", event_ts_ms=MIDNIGHT + n // 4, mag=4.5 + n % 2) for n in range(8)]
        await source.say(*tied)
        await source.say(*({**record, "place": "There", "updated": 2} for record in tied[::3]))
        now = AsOf(recorded_ms=source.clock.now)
        views = [View(as_of, deleted) for as_of in (None, now) for deleted in (Deleted.EXCLUDE, Deleted.INCLUDE)]
        for view, ascending in product(views, (False, True)):
            read = partial(page_of, catalogue, order, Selection(), ascending=ascending, view=view)
            expected = sorted((await read(Paging(99))).records, key=PLACE_OF[order], reverse=not ascending)
            for at, event in list(enumerate(expected))[:: 1 if engine == "sqlite" else 3]:
                assert ids((await read(Paging(99, after=event.item))).records) == ids(expected[at + 1 :])
                assert ids((await read(Paging(99, backward=True, before=event.item))).records) == ids(expected[:at])
                if order == "time" and view.as_of is None:
                    request = ExportRequest(Selection(), ascending, event.item, deleted=view.deleted)
                    export = await ExportSource.begin(catalogue, database, source.clock, request)
                    assert ids(await export.next_page(frozenset())) == ids(expected[at + 1 :])


async def test_a_list_of_what_was_updated_since_reads_only_the_days_that_changed(
    database: Database, source: Source
) -> None:
    await source.say(*(a_record(f"us{n}", event_ts_ms=MIDNIGHT + n * DAY_MS) for n in range(1, 9)))
    await source.say(a_record("us3", event_ts_ms=MIDNIGHT + 3 * DAY_MS, mag=5.0, updated=2))
    await source.say({"event_id": "us5", "status": "deleted", "updated": 2})
    since = Selection(updated_since_ms=BEGIN + 2000)

    changed = await catalogue_of(database).page(since, Paging(9))

    assert ([each.event_id for each in changed.records], changed.partitions) == (["us3"], 1)
    gone = await catalogue_of(database).page(since, Paging(9), view=View(deleted=Deleted.INCLUDE))
    assert [each.event_id for each in gone.records] == ["us5", "us3"]
    assert await catalogue_of(database).total(since, View(deleted=Deleted.INCLUDE)) == 2


async def test_what_was_updated_since_has_values_that_make_no_version(database: Database, source: Source) -> None:
    """So a regular request, or an export, misses nothing that a whole one would show."""
    catalogue = catalogue_of(database)
    days = [MIDNIGHT + n * DAY_MS for n in range(1, 4)]
    await source.say(*(a_record(f"us{n}", event_ts_ms=day, felt=1) for n, day in enumerate(days)))
    known: Record = {}
    changes: list[Record] = [{"felt": 2}, {"cdi": 3.1}, {"nst": 9}]
    for updated, values in enumerate(changes, 2):
        known |= values
        report = await source.say(a_record("us1", event_ts_ms=days[1], updated=updated, **known))
        assert report.skipped == 1
        since = Selection(updated_since_ms=source.clock.now)
        for view in (View(), View(deleted=Deleted.INCLUDE), View(AsOf(recorded_ms=source.clock.now))):
            page = await catalogue.page(since, Paging(9), view=view)
            assert [(each.event_id, each.felt, each.cdi, each.nst) for each in page.records] == [
                ("us1", known["felt"], known.get("cdi"), known.get("nst"))
            ]
            assert await catalogue.total(since, view) == 1
        assert (await catalogue.page(since, Paging(9))).partitions == 1
        export = await ExportSource.begin(catalogue, database, source.clock, ExportRequest(since))
        assert ids(await export.next_page(frozenset())) == ["us1"]
    assert (await catalogue.page(Selection(updated_since_ms=source.clock.now + 1), Paging(9))).records == []


async def test_a_page_of_a_past_time_reads_at_most_twice_the_partitions_of_a_present_one(
    database: Database, source: Source
) -> None:
    days = 40
    for version in range(1, 5):
        await source.say(
            *(
                a_record(f"us{n}", event_ts_ms=MIDNIGHT - n * DAY_MS, mag=4.0 + version, updated=version)
                for n in range(days)
            )
        )
    times = [BEGIN + 1000 * version for version in range(1, 5)]
    watched = WatchedDatabase(database)
    catalogue = catalogue_of(watched)

    async def read(view: View) -> int:
        watched.calls.clear()
        page = await catalogue.page(Selection(), Paging(10), view=view)
        assert [each.event_id for each in page.records] == [f"us{n}" for n in range(10)]
        return len(watched.read(EVENT, TIME_ORDERED)) + len(watched.read(REVISION, TIME_ORDERED))

    await read(View())  # reads the summaries
    present = await read(View())
    for time_ms in times:
        assert await read(View(AsOf(recorded_ms=time_ms))) <= 2 * present
    assert await read(View(AsOf(first=True))) <= 2 * present


# A version that moves while pages are read


def reading(number: int) -> Callable[[str, Any], bool]:
    """Tells the query of versions with this number, from 0."""
    numbers = count()
    return lambda method, asked: method == "query" and asked.entity in (EVENT, REVISION) and next(numbers) == number


async def test_a_version_that_moves_while_pages_are_read_is_found_once(database: Database, source: Source) -> None:
    """From the latest versions to the superseded ones, before any of the queries."""
    records = [a_record(f"us{number}", event_ts_ms=MIDNIGHT + (number + 3) // 4) for number in range(6)]
    await source.say(*records)
    moved = set()
    for updated, (moving, before, ascending) in enumerate(product((1, 3), range(6), (True, False)), 2):
        then = source.clock.now
        revision = {**records[moving], "mag": updated / 10, "updated": updated}
        meanwhile = Meanwhile(database, partial(source.say, revision), reading(before))
        turned = await pages(
            catalogue_of(meanwhile), "time", Selection(), 2, ascending=ascending, view=View(AsOf(recorded_ms=then))
        )
        found = [each.event_id for page in turned for each in page.records]
        assert found == [f"us{number}" for number in range(6)][:: 1 if ascending else -1], (moving, before)
        if source.clock.now > then:
            moved.add(before)
    assert moved == set(range(6))
