"""The same records, in any order and in any batches, end in the same catalogue."""

from collections.abc import Sequence
from itertools import permutations
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graph.core.days import DAY_MS
from graph.domains.earthquakes.ingest.deciding import MOST_EVENTS, MOST_NAMES
from graph.domains.earthquakes.model import Event, is_deleted
from graph.domains.earthquakes.revisions.names import MOST_LISTERS
from graph.domains.earthquakes.revisions.views import Deleted, View
from graph.domains.earthquakes.usgs.requests import UsgsFeed, changes_since
from graph.store.contract import Database
from tests.domains.earthquakes.builders import catalogue_of
from tests.domains.earthquakes.ingest.ingests import NOW, a_feature, a_station, counted_in, file_of, recounted
from tests.domains.earthquakes.revisions.histories import IDS, MIDNIGHT, Record, Source, a_record, listed
from tests.domains.earthquakes.strategies import A_FEW
from tests.domains.earthquakes.usgs.usgs_server import UsgsServer
from tests.domains.entities import ENTITIES
from tests.domains.watches.cuts import Meanwhile
from tests.effort import THOROUGH
from tests.store.engines import empty_database

Catalogue = dict[str, Any]


def deletion(event_id: str, updated: int, ids: list[str] | None = None) -> Record:
    return {"event_id": event_id, "status": "deleted", "updated": updated, "ids": ids}


def apart(records: Sequence[Record], number: int) -> list[Record]:
    """The records with ids of their own, so that one store has room for many orders of them."""

    def renamed(event_id: str) -> str:
        return f"{number}-{event_id}"

    return [
        {**each, "event_id": renamed(each["event_id"]), "ids": each.get("ids") and [*map(renamed, each["ids"])]}
        for each in records
    ]


async def catalogue_in(database: Database, number: int, ids: Sequence[str]) -> Catalogue:
    """What a client sees of the events with these ids: in lists, under each id, and after each merge."""
    catalogue, seen = catalogue_of(database), Catalogue()
    for event_id in ids:
        event = await catalogue.event(f"{number}-{event_id}")
        while event and event.merged_into:
            event = await catalogue.event(event.merged_into)
        seen[event_id] = event and _without(number, event)
    for deleted in (Deleted.EXCLUDE, Deleted.ONLY):
        events = sorted(await listed(database, View(deleted=deleted)), key=lambda event: event.event_id)
        seen[deleted.value] = [each for event in events if (each := _without(number, event))]
    return seen


def _without(number: int, event: Event) -> dict[str, Any] | None:
    prefix = f"{number}-"
    if not event.event_id.startswith(prefix):
        return None
    names = sorted(each.removeprefix(prefix) for each in event.aliases)
    return {
        "id": event.event_id.removeprefix(prefix),
        "preferred": event.preferred_id.removeprefix(prefix),
        "names": names,
        "mag": event.mag,
        "updated": event.updated,
        "status": event.status,
        "deleted": is_deleted(event.item),
    }


async def ends_of(database: Database, records: Sequence[Record], orders: Sequence[Sequence[Any]]) -> list[Catalogue]:
    """The catalogues in which orders end, each ingested in its batches."""
    ids = sorted({each for record in records for each in (record["event_id"], *(record.get("ids") or ()))})
    source = Source(database)
    for number, batches in enumerate(orders):
        for batch in batches:
            await source.say(*apart([records[at] for at in batch], number))
    assert await counted_in(database) == await recounted(database)
    return [await catalogue_in(database, number, ids) for number in range(len(orders))]


def one_event(
    event_id: str, mag: float, updated: int, *names: str, preferred: str | None = None, status: str | None = None
) -> dict[str, Any]:
    """What is seen of an event that is deleted if it has a status."""
    ids = {"id": event_id, "preferred": preferred or event_id, "names": [*names]}
    return {**ids, "mag": mag, "updated": updated, "status": status, "deleted": status is not None}


MERGED = [
    a_record("us1", updated=5, mag=4.1, ids=["us1", "nc1"]),
    a_record("nc1", updated=1, mag=4.2, ids=["nc1"]),
    a_record("us1", updated=20, mag=4.3, ids=["us1", "nc1"]),
    a_record("nc1", updated=30, mag=4.4, ids=["us1", "nc1"]),
]
RESTORED = [
    a_record("us1", updated=1, mag=4.1, ids=["us1", "ci2"]),
    deletion("ci2", 2),
    a_record("us1", updated=3, mag=4.3),
]
DROPPED = [
    a_record("us1", updated=1, mag=4.1, ids=["us1"]),
    a_record("nc1", updated=2, mag=4.2, ids=["nc1"]),
    a_record("us1", updated=3, mag=4.3, ids=["us1", "nc1"]),
    a_record("us1", updated=4, mag=4.4, ids=["us1"]),
]
FOLLOWED = [
    a_record("nc1", updated=1, mag=4.1, ids=["nc1"]),
    a_record("us1", updated=2, mag=4.2, ids=["us1"]),
    a_record("us1", updated=3, mag=4.3, ids=["us1", "nc1"]),
    a_record("nc1", updated=4, mag=4.4, ids=["nc1"]),
]
SPLIT = [
    a_record("us1", updated=1, mag=4.1, ids=["us1"]),
    a_record("us1", updated=2, mag=4.2, ids=["us1", "nc1"]),
    a_record("nc1", updated=3, mag=4.3, ids=["nc1"]),
    a_record("us1", updated=4, mag=4.4, ids=["us1"]),
]
FOLLOWED_WHILE_DELETED = [
    deletion("us1", 1),
    a_record("us1", updated=1, mag=4.1, ids=["us1", "ci1"]),
    a_record("ci1", updated=1, mag=4.2, ids=["ci1"]),
    a_record("ci1", updated=2, mag=4.3, ids=["ci1"]),
]
TAKEN_BACK = [
    a_record("us2", updated=3, mag=4.1, ids=["us2", "ci1", "nc1"]),
    a_record("nc1", updated=1, mag=4.2, ids=["nc1"]),
    a_record("us1", updated=4, mag=4.3, ids=["us1", "ci1"]),
    a_record("us2", updated=6, mag=4.4, ids=["us2", "ci1"]),
]
EXAMPLES = {
    "merged": (MERGED, [one_event("nc1", 4.4, 30, "nc1", "us1")], []),
    "restored": (RESTORED, [one_event("us1", 4.3, 3, "ci2", "us1")], []),
    "deleted": (RESTORED[:2], [], [one_event("us1", 4.1, 2, "ci2", "us1", status="deleted")]),
    "dropped": (DROPPED, [one_event("us1", 4.4, 4, "nc1", "us1")], []),
    "followed": (FOLLOWED, [one_event("nc1", 4.4, 4, "nc1", "us1")], []),
    "followed while deleted": (FOLLOWED_WHILE_DELETED, [one_event("ci1", 4.3, 2, "ci1", "us1")], []),
    "taken back": (
        TAKEN_BACK,
        [one_event("nc1", 4.4, 6, "ci1", "nc1", "us2", preferred="us2"), one_event("us1", 4.3, 4, "us1")],
        [],
    ),
    "split": (SPLIT, [one_event("nc1", 4.3, 3, "nc1"), one_event("us1", 4.4, 4, "us1")], []),
}


@pytest.mark.parametrize("name", EXAMPLES)
async def test_every_order_of_some_records_ends_in_the_right_catalogue(engine: str, name: str) -> None:
    records, present, gone = EXAMPLES[name]
    orders: list[list[Sequence[int]]] = []
    for order in permutations(range(len(records))):
        half = len(order) // 2
        orders += [[[at] for at in order], [order], [order[:half], order[half:]]]  # each alone, all at once, and halves
    step = 1 if THOROUGH or len(records) < 4 else 5  # coprime to the number of batchings
    orders = orders[:: step if engine == "sqlite" else 4 * step]
    async with empty_database(engine, ENTITIES) as database:
        for batches, found in zip(orders, await ends_of(database, records, orders), strict=True):
            assert (found["EXCLUDE"], found["ONLY"]) == (present, gone), batches


def feature_of(record: Record) -> dict[str, Any]:
    """A record as a feature of USGS."""
    others = {name: record[name] for name in ("updated", "mag", "status") if name in record}
    return a_feature(record["event_id"], **others, ids=f",{','.join(record['ids'] or [record['event_id']])},")


@pytest.mark.parametrize("name", ["merged", "deleted"])
async def test_every_order_ends_in_the_right_catalogue_whatever_brings_the_records(usgs: UsgsServer, name: str) -> None:
    records, present, gone = EXAMPLES[name]
    orders = list(permutations(range(len(records))))
    async with a_station("sqlite", usgs) as station:

        async def bring(record: Record, at: int) -> None:
            usgs.hold([feature_of(record)])
            match at % 4:
                case 0:
                    await station.ingest.events([record])
                case 1:
                    await station.ingest.file(file_of([feature_of(record)]))
                case 2:
                    await station.ingest.feed(UsgsFeed.ALL_WEEK)
                case _:
                    await station.ingest.window(changes_since(NOW - at))

        for number, order in enumerate(orders):
            renamed = apart([records[at] for at in order], number)
            for turn, record in enumerate(renamed):
                await bring(record, number * len(order) + turn + number // len(order))
        for number, order in enumerate(orders):
            found = await catalogue_in(station.database, number, [])
            assert (found["EXCLUDE"], found["ONLY"]) == (present, gone), order


LISTED_BY_ANOTHER = [
    a_record("us1", updated=5, mag=4.1, ids=["us1", "nc1"]),
    a_record("nc1", updated=6, mag=4.2, ids=["nc1", "us1"]),
]
AT_ONCE = {
    "a deletion": EXAMPLES["deleted"],
    "two ids of one event": (LISTED_BY_ANOTHER, [one_event("us1", 4.2, 6, "nc1", "us1", preferred="nc1")], []),
    "an older id": (MERGED[:2], [one_event("nc1", 4.1, 5, "nc1", "us1", preferred="us1")], []),
}


@pytest.mark.parametrize("turn", [1, -1], ids=["first", "second"])
@pytest.mark.parametrize("name", AT_ONCE)
async def test_two_records_that_are_stored_at_once_find_each_other(engine: str, name: str, turn: int) -> None:
    records, present, gone = AT_ONCE[name]
    one, other = apart(records, 0)[::turn]
    async with empty_database(engine, ENTITIES) as database:
        await Source(Meanwhile(database, lambda: Source(database).say(other))).say(one)

        found = await catalogue_in(database, 0, [])
        assert (found["EXCLUDE"], found["ONLY"]) == (present, gone)


async def test_a_payload_may_have_any_number_of_versions_of_an_event() -> None:
    records = [a_record("us1", updated=at, mag=at / 100, ids=["us1", f"nc{at % 7}"]) for at in range(1, 100)]
    async with empty_database("sqlite", ENTITIES) as database:
        report = await Source(database).say(*records[::-1])

        assert (report.upserted, report.revised) == (1, 98)
        (event,) = await listed(database)
        assert (event.mag, event.revision, len(event.aliases)) == (0.99, 99, 8)


@st.composite
def _records(draw: st.DrawFn) -> Record:
    event_id, updated = draw(st.sampled_from(IDS)), draw(st.integers(1, 6))
    others = draw(st.lists(st.sampled_from(IDS), max_size=2))
    if draw(st.integers(0, 4)) == 0:
        return deletion(event_id, updated, draw(st.sampled_from([None, [event_id, *others]])))
    mag = draw(st.sampled_from([4.5, 4.6, 6.0]))
    return a_record(event_id, updated=updated, mag=mag, ids=[event_id, *others])


@st.composite
def _orders(draw: st.DrawFn, size: int) -> list[list[int]]:
    """An order in batches."""
    order = draw(st.permutations(range(size)))
    cuts = sorted(draw(st.sets(st.integers(1, size - 1)))) if size > 1 else []
    return [list(order[low:high]) for low, high in zip([0, *cuts], [*cuts, size], strict=True)]


@A_FEW
@given(data=st.data())
async def test_any_records_end_in_one_catalogue_in_any_order_and_in_any_batches(data: st.DataObject) -> None:
    records = data.draw(st.lists(_records(), min_size=2, max_size=7))
    in_order = [[at] for at in sorted(range(len(records)), key=lambda at: records[at]["updated"])]
    orders = [in_order, *data.draw(st.lists(_orders(len(records)), min_size=3, max_size=3))]
    async with empty_database("sqlite", ENTITIES) as database:
        first, *others = await ends_of(database, records, orders)
        for found in others:
            assert found == first


async def test_an_id_finds_as_many_events_whose_records_list_it_as_are_remembered() -> None:
    """They follow it, since it is older, and its last record is later than theirs."""
    listers = [a_record(f"us{n}", updated=10 + n, ids=[f"us{n}", "nc1"]) for n in range(MOST_LISTERS)]
    own = [a_record("nc1", updated=1, ids=["nc1"]), a_record("nc1", updated=100, mag=5.0, ids=["nc1"])]
    records = [own[0], *listers, own[1]]
    onwards = [[at] for at in range(len(records))]
    async with empty_database("sqlite", ENTITIES) as database:
        for found in await ends_of(database, records, [onwards, onwards[::-1]]):
            names = sorted({each["event_id"] for each in records})
            assert found["EXCLUDE"] == [one_event("nc1", 5.0, 100, *names)]


async def test_a_record_makes_one_event_of_as_many_as_fit_a_transaction(engine: str) -> None:
    """One that lists more speaks for its own id alone."""
    years = [a_record(f"us{n}", updated=n + 1, event_ts_ms=MIDNIGHT - n * 366 * DAY_MS) for n in range(MOST_EVENTS + 1)]
    others = [f"nc{n}" for n in range(MOST_NAMES - MOST_EVENTS)]
    ids = [each["event_id"] for each in years]
    async with empty_database(engine, ENTITIES) as database:
        source = Source(database)
        await source.say(*years)
        await source.say(a_record("us0", updated=50, mag=5.0, ids=[*ids, *others[1:]]))
        assert len(await listed(database)) == len(ids)

        await source.say(a_record("us0", updated=60, mag=6.0, ids=[*ids[:-1], *others]))

        assert {each.event_id: each.mag for each in await listed(database)} == {"us0": 6.0, ids[-1]: 4.5}
        found = await catalogue_of(database).event("nc7")
        assert found is not None
        assert (found.event_id, len(found.aliases)) == ("us0", MOST_NAMES)
        assert await counted_in(database) == await recounted(database)
