"""Each version of an event leads to the payload that brought it, and each payload to its versions, page by page."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graph.core.errors import InvalidCursor
from graph.core.paging import Paging
from graph.domains.earthquakes.entities import EVENT, EVENT_SEQUENCE, REVISION
from graph.domains.earthquakes.usgs.requests import RecentEvents, UsgsFeed
from graph.domains.payloads.folder import places_in
from graph.domains.payloads.journal import header_of, read_lines
from graph.domains.payloads.versions import VERSIONS, PayloadVersion
from graph.store.contract import Put
from tests.domains.data_files.in_store import walked
from tests.domains.earthquakes.ingest.ingests import a_feature, file_of
from tests.domains.earthquakes.strategies import A_FEW
from tests.domains.earthquakes.usgs.usgs_server import UsgsServer, week_features
from tests.domains.payloads.kept import Keeper, a_keeper


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
