"""A catalogue that is rebuilt from kept payloads equals the original in every attribute of every item.

Each version of an event leads to the payload that brought it, and each payload to its versions, page by page.
"""

import asyncio
from contextlib import suppress
from copy import deepcopy
from functools import partial
from pathlib import Path
from typing import Any

import orjson
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from graph.core.errors import DatabaseUnavailable, InvalidCursor
from graph.core.paging import Paging
from graph.domains.earthquakes.entities import EVENT, EVENT_SEQUENCE, REVISION
from graph.domains.earthquakes.usgs.requests import EventQuery, RecentEvents, UsgsFeed
from graph.domains.payloads.folder import places_in
from graph.domains.payloads.journal import header_of, read_lines
from graph.domains.payloads.versions import VERSIONS, PayloadVersion
from graph.store.contract import Put
from tests.domains.data_files.in_store import walked
from tests.domains.earthquakes.ingest.ingests import NOW, a_feature, a_reconciler, file_of
from tests.domains.earthquakes.revisions.histories import a_record, ingests
from tests.domains.earthquakes.strategies import A_FEW
from tests.domains.earthquakes.usgs.usgs_history import DAY_MS, UsgsHistory
from tests.domains.earthquakes.usgs.usgs_server import UsgsServer, week_features
from tests.domains.payloads.kept import Keeper, a_keeper, assert_it_rebuilds, rebuilt
from tests.domains.watches.cuts import Cut, Meanwhile
from tests.processes import quakegraph

WEEK = RecentEvents(feed=UsgsFeed.ALL_WEEK)


def revised(features: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The features a second later: every third with another magnitude, the others with another time of publication."""
    later = deepcopy(features)
    for at, feature in enumerate(later):
        feature["properties"]["updated"] += 1000
        if at % 3 == 0 and feature["properties"]["mag"] is not None:
            feature["properties"]["mag"] += 0.1
    return later


async def test_a_week_with_its_revisions_is_rebuilt_item_by_item_on_the_other_engine(
    engine: str, dynamodb_endpoint: str, usgs: UsgsServer, tmp_path: Path
) -> None:
    usgs.forget()
    features = week_features()[::20]
    async with a_keeper(engine, tmp_path, usgs.url) as keeper:
        usgs.hold(features)
        first = await keeper.ingest.recent(WEEK)
        usgs.hold(revised(features))
        second = await keeper.ingest.recent(WEEK)
        third = await keeper.ingest.recent(WEEK)

        assert first.upserted == len(features) - first.rejected
        assert second.revised > len(features) // 4
        assert third.skipped == first.upserted
        await assert_it_rebuilds(keeper, "dynamodb" if engine == "sqlite" else "sqlite")


async def test_feeds_windows_changes_and_look_ups_of_a_usgs_with_a_history_are_rebuilt(
    usgs: UsgsServer, tmp_path: Path
) -> None:
    usgs.forget()
    history = UsgsHistory(7, limit=40)
    usgs.stand_in(history.application)
    async with a_keeper("sqlite", tmp_path, usgs.url) as keeper:
        for step in (2, 4, 7, 20):
            history.now = NOW + (step - 7) * DAY_MS
            await keeper.ingest.feed(UsgsFeed.ALL_MONTH)
            query = EventQuery(20_000, NOW - 9 * DAY_MS, history.now, include_deleted=True)
            await keeper.ingest.window(query, only_stored_before=NOW - 6 * DAY_MS)
            http = keeper.ingest.usgs.http
            reconciler = a_reconciler(keeper.database, keeper.ingest, usgs, http, keeper.clock, copies=True)
            await reconciler.reconcile(query)

        await assert_it_rebuilds(keeper)


async def test_events_of_callers_are_rebuilt(tmp_path: Path) -> None:
    async with a_keeper("sqlite", tmp_path) as keeper:
        event = {"event_id": "ours1", "event_ts_ms": NOW, "mag": 4.5, "place": "Hér \ud800", "lat": 1, "lon": 2.5}
        given_events = [event, {**event, "event_id": "ours2", "mag": 99}, {**event, "event_id": ""}]
        await keeper.ingest.events([{"depth": None, "source": "", "updated": 5, **each} for each in given_events])
        await keeper.ingest.events([{"event_id": "ours1", "status": "deleted", "updated": 6}])

        await assert_it_rebuilds(keeper)


async def test_a_catalogue_in_which_the_first_write_wins_is_rebuilt(tmp_path: Path) -> None:
    features = week_features()[:100]
    async with a_keeper("sqlite", tmp_path, revises=False) as keeper:
        await keeper.ingest.file(file_of(features[:60]))
        await keeper.ingest.file(file_of(revised(features)))

        await assert_it_rebuilds(keeper)


# Random histories

steps = st.lists(
    st.tuples(ingests, st.none() | ingests, st.sampled_from(Cut.WAYS[:2]), st.integers(0, 9)), min_size=1, max_size=6
)


@example(steps=[([a_record("us2", updated=None, status="deleted")], None, Cut.WAYS[0], 3)])  # broke off, and was redone
@given(steps=steps)
@A_FEW
async def test_any_history_is_rebuilt_with_ingests_at_once_and_stores_that_fail(
    steps: list[Any], tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Inserts, revisions, updates in place, renames, merges, deletions and restorations; some break off at any call."""
    async with a_keeper("sqlite", tmp_path_factory.mktemp("kept")) as keeper:
        for first, second, way, calls in steps:
            cut = Cut(keeper.database, way)
            cut.left = calls
            at_once = [keeper.through(cut).events(first), *([keeper.ingest.events(second)] if second else [])]
            await asyncio.gather(*map(done, at_once))
            await keeper.ingest.events(first)  # completes what broke off

        await assert_it_rebuilds(keeper)


async def test_an_event_that_was_stored_while_another_one_took_its_id_is_rebuilt(tmp_path: Path) -> None:
    both = set(EVENT.keys_for(("us1", "nc1")))

    def is_last_look(method: str, asked: Any) -> bool:
        return method == "get_many" and both == set(asked)

    async with a_keeper("sqlite", tmp_path) as keeper:
        await keeper.ingest.events([a_record("us1", mag=4.1)])
        other = partial(keeper.ingest.events, [a_record("nc1", updated=6, mag=4.2)])
        meanwhile = Meanwhile(keeper.database, other, is_last_look, after=True)
        await keeper.through(meanwhile).events([a_record("us1", mag=4.1, ids=["us1", "nc1"])])

        assert [item.get("mergedInto") async for item in keeper.database.scan(EVENT)] == [None, "us1"]
        await assert_it_rebuilds(keeper)


async def done(ingest: Any) -> None:
    with suppress(DatabaseUnavailable):
        await ingest


@pytest.mark.parametrize("way", Cut.WAYS[:2], ids=["refused", "lost"])
async def test_what_broke_off_is_rebuilt_whether_or_not_somebody_completes_it(way: str, tmp_path: Path) -> None:
    """Each file updates one event in place, revises another, and brings a third, and breaks off at another call."""
    async with a_keeper("sqlite", tmp_path) as keeper:
        cut = Cut(keeper.database, way)
        for calls in range(1, 100):
            cut.left = calls
            records = [
                a_feature("us1", updated=calls, felt=calls),
                a_feature("us2", updated=calls, mag=calls / 100),
                a_feature(f"new{calls}", updated=calls),
            ]
            await done(keeper.through(cut).file(file_of(records)))
            if cut.left > 0:
                break
            stored = {item["eventId"] async for item in keeper.database.scan(EVENT)}
            async with rebuilt("sqlite", tmp_path) as (database, _):
                again = {item["eventId"] async for item in database.scan(EVENT)}
            assert stored <= again <= stored | {"us1", "us2", f"new{calls}"}
            assert way == "refused" or stored == again
            if calls % 2:
                await keeper.ingest.file(file_of(records))
                await assert_it_rebuilds(keeper)
        assert calls > 5
        await assert_it_rebuilds(keeper)


# The command


@pytest.fixture
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """Settings that keep payloads in the working folder, in which two events and a revision are ingested."""
    monkeypatch.chdir(tmp_path)
    settings = {"GRAPH_KEEP_PAYLOADS": "kept"}
    features = [a_feature("us1", updated=1), a_feature("us2", updated=1)]
    for name, some in (("first", features), ("second", [a_feature("us1", updated=2, mag=5.0)])):
        Path(f"{name}.geojson").write_bytes(file_of(some).getvalue())
        assert quakegraph("ingest", f"{name}.geojson", settings=settings).exit_code == 0
    return settings


def exported(store: str) -> list[dict[str, object]]:
    """The events of a store, without the last line, which has the time of the export."""
    lines = quakegraph("export", "-", "--format", "ndjson", "--store", store).stdout.splitlines()
    return [orjson.loads(line) for line in lines[:-1]]


def test_the_catalogue_is_rebuilt_into_another_store(kept: dict[str, str]) -> None:
    result = quakegraph("rebuild", "--from-payloads", "kept", "--store", "sqlite:///rebuilt.db")

    assert (result.exit_code, result.stderr) == (0, "")
    assert result.stdout == "3 versions of events from 2 payloads, in 2 transactions.\n"
    assert exported("sqlite:///rebuilt.db") == exported("sqlite:///quakegraph.db")
    assert len(exported("sqlite:///rebuilt.db")) == 2


def test_a_store_with_events_is_refused_and_a_damaged_payload_named(kept: dict[str, str]) -> None:
    refused = quakegraph("rebuild", "--from-payloads", "kept")
    assert refused.exit_code == 1
    assert refused.stderr.startswith("Error: The store has events: a catalogue is rebuilt into an empty store.")

    [first, _] = sorted(Path("kept").glob("*/*.gz"))
    first.write_bytes(first.read_bytes()[:-1])
    damaged = quakegraph("rebuild", "--from-payloads", "kept", "--store", "sqlite:///rebuilt.db")
    assert (damaged.exit_code, damaged.stdout) == (1, "")
    assert damaged.stderr == f"Error: {first}: it breaks off before its end.\n"


def payloads_in(folder: Path) -> list[str]:
    """The ids of the kept payloads in order of time."""
    ids = []
    for place in places_in(folder):
        with place.journal.open("rb") as file:
            ids.append(header_of(next(read_lines(file)).values).payload_id)
    return ids


def named(versions: list[PayloadVersion]) -> list[tuple[str, int]]:
    return [(version.item["eventId"], version.number) for version in versions]


async def all_versions(keeper: Keeper, payload_id: str) -> list[tuple[str, int]]:
    return named(list((await keeper.versions.page(payload_id, Paging(1000))).records))


async def test_versions_lead_to_their_payload_and_back(usgs: UsgsServer, tmp_path: Path) -> None:
    usgs.forget()
    features = week_features()[:120]
    async with a_keeper("sqlite", tmp_path, usgs.url) as keeper:
        usgs.hold(features)
        await keeper.ingest.recent(RecentEvents(feed=UsgsFeed.ALL_WEEK))
        changed = [{**each, "properties": {**each["properties"], "mag": 1.5, "updated": 2**41}} for each in features]
        await keeper.ingest.file(file_of(changed[::2]))
        first, second = payloads_in(tmp_path)

        stored = [item async for item in keeper.database.scan(EVENT)]
        stored += [item async for item in keeper.database.scan(REVISION)]
        payloads = await keeper.versions.payloads_of({item["arrival"] for item in stored})
        brought: dict[str, set[tuple[str, int]]] = {first: set(), second: set()}
        for item in stored:
            brought[payloads[item["arrival"]]].add((item["eventId"], item["revision"]))

        assert {revision for _, revision in brought[first]} == {1}
        for payload_id, versions in brought.items():
            assert set(await all_versions(keeper, payload_id)) == versions
        assert await all_versions(keeper, "unknown") == []


async def test_a_cursor_of_another_payload_is_refused(tmp_path: Path) -> None:
    async with a_keeper("sqlite", tmp_path) as keeper:
        await keeper.ingest.file(file_of([a_feature("us1")]))
        await keeper.ingest.file(file_of([a_feature("us2")]))
        first, second = payloads_in(tmp_path)
        [version] = (await keeper.versions.page(first, Paging(1))).records

        with pytest.raises(InvalidCursor):
            await keeper.versions.page(second, Paging(1, after=VERSIONS.place_of(version.cursor, "after")))
        with pytest.raises(InvalidCursor):
            VERSIONS.place_of(version.event.cursor, "after")


@given(sizes=st.lists(st.integers(1, 4), min_size=1, max_size=14), size=st.integers(1, 9), forward=st.booleans())
@A_FEW
async def test_pages_of_any_size_in_both_directions_have_each_version_once(
    sizes: list[int], size: int, forward: bool, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """The changes of a payload are small here, and those of another one stand between them."""
    folder = tmp_path_factory.mktemp("kept")
    async with a_keeper("sqlite", folder) as keeper:
        changes = [[f"us{number}-{at}" for at in range(versions)] for number, versions in enumerate(sizes)]
        expected = [(key, 1) for keys in changes for key in keys]
        await keeper.ingest.file(file_of([a_feature(key) for key, _ in expected]))
        for number, keys in enumerate(changes):
            change = {"number": 100 + 2 * number, "eventIds": keys, "payload": "ours"}
            other = {"number": 101 + 2 * number, "eventIds": keys[:1], "payload": "other"}
            await keeper.database.put_many([Put(EVENT_SEQUENCE.change, item) for item in (change, other)])

        versions = await walked(
            lambda paging: keeper.versions.page("ours", paging),
            lambda version: VERSIONS.place_of(version.cursor, "after"),
            size,
            backward=not forward,
        )
        assert named(versions) == expected
