"""Events are numbered in the order in which they are stored, without a gap, whoever stores them."""

from graph.domains.earthquakes.entities import EVENT, EVENT_SEQUENCE
from graph.domains.earthquakes.live import event_sequence
from graph.store.contract import Database
from tests.domains.earthquakes.builders import an_event, catalogue_of, events_at
from tests.domains.earthquakes.builders import ingest as store
from tests.domains.earthquakes.ingest.ingests import Station, a_feature, counts, file_of
from tests.domains.entities import documented


async def numbered(database: Database) -> list[tuple[int, tuple[str, ...]]]:
    """Number and events of every change."""
    return [(change.number, change.keys) for change in await event_sequence(database).since(0, 10_000)]


async def test_each_transaction_has_the_next_number_and_its_events_have_it_too(any_station: Station) -> None:
    assert await event_sequence(any_station.database).latest() == 0

    await store(any_station.database, events_at(30, 10, 20))
    assert await store(any_station.database, events_at(30, 10)) == 0, "a stored event gets no second number"
    await store(any_station.database, [an_event("late", 5), an_event("e001", 10)])

    assert await numbered(any_station.database) == [(1, ("e001", "e002", "e000")), (2, ("late",))]
    events = await catalogue_of(any_station.database).events(["e000", "late"])
    assert [EVENT_SEQUENCE.number_of(events[name].item) for name in ("e000", "late")] == [1, 2]
    assert await event_sequence(any_station.database).latest() == 2
    assert EVENT_SEQUENCE.number_of(an_event().item) == 0, "of an older table: stored before all that are numbered"


async def test_more_than_one_transaction_holds_takes_as_many_numbers(any_station: Station) -> None:
    limit = any_station.database.transaction_limit = 100
    report = await any_station.ingest.file(file_of(a_feature(f"us{number:05}") for number in range(limit)))

    assert counts(report) == (limit, limit, 0, 0)
    sizes = [(number, len(event_ids)) for number, event_ids in await numbered(any_station.database)]
    beside = 6  # actions: two each for the change, the day and the year
    assert sizes == [(1, limit - beside), (2, beside)]


async def test_the_items_have_the_documented_names(any_station: Station) -> None:
    await store(any_station.database, events_at(10))

    (change,) = [
        documented(EVENT_SEQUENCE.change, item) async for item in any_station.database.scan(EVENT_SEQUENCE.change)
    ]
    payload = change["payload"]
    assert change == {
        "pk": "ARRIVALS",
        "sk": "000000000001",
        "entity": "ARRIVAL",
        "eventIds": ["e000"],
        "payload": payload,
        "gsi1pk": f"PAYLOAD#{payload}",
        "gsi1sk": 1,
    }
    latest = documented(EVENT_SEQUENCE.latest, await any_station.database.get(EVENT_SEQUENCE.latest.key_for()) or {})
    assert latest == {"pk": "ARRIVALS#LATEST", "sk": "STATE", "entity": "ARRIVAL", "number": 1}
    event = await any_station.database.get(EVENT.key_for("e000"))
    assert event
    assert event["arrival"] == 1
