"""What records of a source make of stored events: versions, aliases, merges and deletions."""

import asyncio

from graph.domains.earthquakes.entities import ALIAS, EVENT, REVISION
from graph.domains.earthquakes.ingest.report import IngestReport
from graph.domains.earthquakes.model import Event
from graph.domains.earthquakes.revisions.merges import follow_merges
from graph.domains.earthquakes.revisions.versions import RevisionKind, kind_of
from graph.domains.earthquakes.revisions.views import Deleted, View
from graph.store.contract import Database, Put
from graph.store.entity import Item
from tests.domains.earthquakes.builders import an_event, catalogue_of
from tests.domains.earthquakes.ingest.ingests import counted_in, recounted, summaries_in
from tests.domains.earthquakes.revisions.histories import MIDNIGHT, Record, Source, a_record, listed
from tests.domains.entities import ENTITIES
from tests.domains.watches.cuts import Noted
from tests.store.engines import empty_database


async def event(database: Database, event_id: str = "us1") -> Event:
    found = await catalogue_of(database).event(event_id)
    assert found is not None
    return found


async def versions(database: Database, event_id: str = "us1") -> list[tuple[int, RevisionKind, float]]:
    """Number, kind and magnitude of each version."""
    superseded = [item async for item in database.scan(REVISION) if item["eventId"] == event_id]
    latest = await database.get(EVENT.key_for(event_id))
    items: list[Item] = [*sorted(superseded, key=lambda item: int(item["revision"])), *([latest] if latest else [])]
    return [(item["revision"], kind_of(item), item["mag"]) for item in items]


def outcome(report: IngestReport) -> tuple[int, int, int]:
    """Upserted, revised, skipped."""
    return report.upserted, report.revised, report.skipped


async def test_a_tracked_value_makes_a_version_and_the_one_before_is_kept_whole(engine: str) -> None:
    """What the source takes back is gone in the next one."""
    async with empty_database(engine, ENTITIES) as database:
        source = Source(database)
        await source.say(a_record(mag=4.5, felt=1, alert="green"))
        first = await database.get(EVENT.key_for("us1"))
        assert first is not None

        assert outcome(await source.say(a_record(mag=4.7, updated=2))) == (0, 1, 0)

        latest = await event(database)
        assert (latest.mag, latest.felt, latest.alert, latest.revision, latest.published_at) == (4.7, None, None, 2, 2)
        kept = await database.get(REVISION.key_for("us1", 1))
        assert kept == {**first, "supersededAt": source.clock.now, "supersededPublishedAt": 2}
        assert latest.item["ingestedAt"] == first["ingestedAt"]


async def test_a_record_that_is_not_later_changes_nothing(database: Database, source: Source) -> None:
    await source.say(a_record(mag=4.5))

    for updated in (None, 0, 1):
        assert outcome(await source.say(a_record(mag=4.7, felt=9, updated=updated))) == (0, 0, 1)

    assert await versions(database) == [(1, RevisionKind.CREATED, 4.5)]
    assert (await event(database)).felt is None


async def test_other_attributes_follow_along_without_a_version(database: Database, source: Source) -> None:
    await source.say(a_record(felt=1))
    summaries = await summaries_in(database)

    assert outcome(await source.say(a_record(felt=7, sig=300, updated=5))) == (0, 0, 1)

    found = await event(database)
    assert (found.felt, found.sig, found.updated, found.published_at, found.revision) == (7, 300, 5, 1, 1)
    assert await summaries_in(database) == summaries
    assert outcome(await source.say(a_record(felt=8, updated=4))) == (0, 0, 1)
    assert (await event(database)).felt == 7


async def test_a_new_preferred_id_renames_the_event_whose_id_stays(database: Database, source: Source) -> None:
    await source.say(a_record("us1", ids=["us1"]))

    assert outcome(await source.say(a_record("ci9", ids=["ci9", "us1"], updated=2))) == (0, 1, 0)

    found = await event(database, "ci9")
    assert (found.event_id, found.preferred_id, found.aliases) == ("us1", "ci9", ["us1", "ci9"])
    assert [kind for _, kind, _ in await versions(database)] == [RevisionKind.CREATED, RevisionKind.RENAMED]
    assert len(await listed(database)) == 1
    assert outcome(await source.say(a_record("ci9", ids=["ci9", "us1", "at5"], mag=5.0, updated=3))) == (0, 1, 0)
    for name in ("us1", "ci9", "at5"):
        assert (await event(database, name)).mag == 5.0
    assert await catalogue_of(database).event("nc8") is None


async def test_two_events_that_turn_out_to_be_one_are_merged(database: Database, source: Source) -> None:
    await source.say(a_record("us1", mag=4.5))
    await source.say(a_record("ci9", mag=4.6, ids=["ci9", "pas3"], updated=2))

    assert outcome(await source.say(a_record("ci9", mag=4.7, ids=["ci9", "us1"], updated=3))) == (0, 1, 0)

    assert [(each.event_id, each.mag) for each in await listed(database)] == [("us1", 4.7)]
    younger = await event(database, "ci9")
    assert (younger.event_id, younger.merged_into, younger.mag) == ("ci9", "us1", 4.6)
    assert (await event(database, "pas3")).event_id == "us1"
    assert [kind for _, kind, _ in await versions(database, "ci9")] == [RevisionKind.CREATED, RevisionKind.MERGED]
    assert sum(item["events"] for key, item in (await summaries_in(database)).items() if len(key.values) == 1) == 1
    assert await listed(database, View(deleted=Deleted.INCLUDE)) == await listed(database)


async def test_a_split_event_is_one_of_its_own_even_if_it_was_merged_before(database: Database, source: Source) -> None:
    await source.say(a_record("us1", ids=["us1", "ci9"]), a_record("us2"))
    await source.say(a_record("ci8", updated=2))
    await source.say(a_record("us2", ids=["us2", "ci8"], updated=3))
    assert {each.event_id for each in await listed(database)} == {"us1", "us2"}

    assert outcome(await source.say(a_record("ci9", mag=5.0, ids=["ci9"], updated=2))) == (1, 0, 0)
    assert outcome(await source.say(a_record("ci9", mag=5.1, ids=["ci9"], updated=3))) == (0, 1, 0)
    assert outcome(await source.say(a_record("ci8", mag=5.2, ids=["ci8"], updated=4))) == (0, 1, 0)

    magnitudes = {each.event_id: each.mag for each in await listed(database)}
    assert magnitudes == {"us1": 4.5, "ci9": 5.1, "us2": 4.5, "ci8": 5.2}
    assert (await event(database, "ci8")).merged_into is None


async def test_a_deleted_event_leaves_the_lists_and_answers_with_its_last_values(
    database: Database, source: Source
) -> None:
    await source.say(a_record(mag=4.5))

    assert outcome(await source.say({"event_id": "us1", "status": "deleted", "updated": 2})) == (0, 1, 0)

    assert await listed(database) == []
    found = await event(database)
    assert (found.mag, found.status, found.day_bucket) == (4.5, "deleted", "20230803")
    assert [each.event_id for each in await listed(database, View(deleted=Deleted.ONLY))] == ["us1"]
    assert outcome(await source.say({"event_id": "us1", "status": "deleted", "updated": 3})) == (0, 0, 1)
    assert outcome(await source.say({"event_id": "us2", "status": "deleted", "updated": 3})) == (0, 0, 1)

    assert outcome(await source.say(a_record(mag=4.5, updated=4))) == (0, 1, 0)
    assert [each.event_id for each in await listed(database)] == ["us1"]
    assert [kind for _, kind, _ in await versions(database)] == [
        *(RevisionKind.CREATED, RevisionKind.DELETED, RevisionKind.RESTORED)
    ]


async def test_an_event_of_version_0_1_is_version_1(database: Database, source: Source) -> None:
    old = an_event("us1", MIDNIGHT, 4.5, updated=1).item
    old.pop("sourceDepth")
    await database.put(Put(EVENT, old))
    found = await event(database)
    assert (found.revision, found.recorded_at, found.published_at) == (1, old["ingestedAt"], 1)

    await source.say(a_record(mag=4.7, updated=2))

    assert await versions(database) == [(1, RevisionKind.CREATED, 4.5), (2, RevisionKind.REVISED, 4.7)]


async def test_where_revisions_are_ignored_the_first_write_wins(database: Database) -> None:
    source = Source(database, revises=False)
    await source.say(a_record(mag=4.5))

    assert outcome(await source.say(a_record(mag=4.7, updated=2))) == (0, 0, 1)
    deleted = [{"event_id": event_id, "status": "deleted", "updated": 3} for event_id in ("us1", "us2")]
    assert outcome(await source.say(a_record("us2"), *deleted)) == (1, 0, 2)

    assert await versions(database) == [(1, RevisionKind.CREATED, 4.5)]
    assert len(await listed(database)) == 2


async def test_ingests_that_race_lose_no_version_and_count_no_event_twice(engine: str) -> None:
    """Four ingests store the same five versions of four events in different orders."""
    records: list[Record] = [
        a_record(f"us{number}", mag=4.5 + version / 10, ids=[f"us{number}", f"ci{number}"], updated=version)
        for version in range(1, 6)
        for number in range(4)
    ]

    async def race(database: Database, step: int) -> None:
        source = Source(database)
        for at in range(len(records)):
            await source.say(records[(at * step) % len(records)], later=0)

    async with empty_database(engine, ENTITIES) as database:
        await asyncio.gather(*(race(database, step) for step in (1, 3, 7, 19)))

        events = await listed(database)
        assert {each.event_id: each.mag for each in events} == {f"us{number}": 5.0 for number in range(4)}
        for each in events:
            numbers = [number for number, _, _ in await versions(database, each.event_id)]
            assert numbers == list(range(1, each.revision + 1))
        assert await counted_in(database) == await recounted(database)
        assert len([item async for item in database.scan(ALIAS)]) == 4


async def test_a_feed_in_which_nothing_changed_takes_one_read_an_event_and_no_write(database: Database) -> None:
    source = Source(noted := Noted(database))
    feed = [a_record(f"us{n}", ids=[f"us{n}", f"ci{n}"]) for n in range(20)]
    await source.say(*feed)
    renamed = [{**record, "event_id": record["ids"][1], "updated": 2} for record in feed[:5]]
    await source.say(*renamed, *feed[5:])
    noted.noted.clear()

    assert outcome(await source.say(*renamed, *feed[5:])) == (0, 0, 20)

    assert [(method, len(asked)) for method, asked in noted.noted] == [("get_many", 20)]


async def test_a_revision_takes_one_write_more_than_an_insert_and_three_if_its_day_changes(database: Database) -> None:
    source = Source(noted := Noted(database))
    await source.say(a_record(event_ts_ms=MIDNIGHT))
    await source.say(a_record(event_ts_ms=MIDNIGHT, mag=5.0, updated=2))
    await source.say(a_record(event_ts_ms=MIDNIGHT - 1, mag=5.0, updated=3))

    assert [len(actions) for method, actions in noted.noted if method == "transact"] == [7, 8, 10]


async def test_a_merged_event_leads_to_the_end_of_its_merges_and_a_circle_of_them_ends() -> None:
    into = {"us1": "ci2", "ci2": "nc3", "nc3": None, "us4": "unknown", "us5": "us6", "us6": "us5"}
    stored: dict[str, Item] = {name: {"eventId": name, "mergedInto": end} for name, end in into.items() if end}
    stored["nc3"] = {"eventId": "nc3"}

    async def read(event_id: str) -> Item | None:
        return stored.get(event_id)

    for event_id, end in {"us1": "nc3", "ci2": "nc3", "nc3": "nc3", "us4": ""}.items():
        assert await follow_merges(stored[event_id], read) == stored.get(end)
    assert await follow_merges(stored["us5"], read) in (stored["us5"], stored["us6"])
