"""Compares a catalogue with that of a simulated USGS, or with one that other runs have made."""

from graph.domains.earthquakes.entities import ALIAS, EVENT
from graph.domains.earthquakes.model import Event, is_deleted, is_listed
from graph.domains.earthquakes.usgs.normalise import read_record
from graph.store.contract import Database
from graph.store.entity import Item
from tests.domains.earthquakes.ingest.ingests import counted_in, recount
from tests.domains.earthquakes.usgs.usgs_history import UsgsHistory
from tests.domains.entities import everything_in


async def assert_it_is_the_truth(database: Database, history: UsgsHistory) -> None:
    """The catalogue holds what USGS says, under every id, and its summaries count it."""
    truth = history.truth
    stored = [Event(item) async for item in database.scan(EVENT)]
    ours = {event.preferred_id: event for event in stored if is_listed(event.item)}
    assert len(ours) == sum(is_listed(event.item) for event in stored)
    assert ours.keys() == truth.events.keys()
    for preferred, feature in truth.events.items():
        expected = read_record(feature, ingested_at=history.now)
        assert isinstance(expected, Event)
        theirs = {name: value for name, value in expected.item.items() if name not in ("eventId", "ingestedAt")}
        assert {name: ours[preferred].item.get(name) for name in theirs} == theirs
    by_id = {event.event_id: event for event in stored}
    aliases = await database.get_many([ALIAS.key_for(name) for name in truth.names.keys() - by_id.keys()])
    for name, preferred in truth.names.items():
        event = by_id.get(name) or by_id[aliases[ALIAS.key_for(name)]["eventId"]]
        while event.merged_into is not None:
            event = by_id[event.merged_into]
        assert event.preferred_id == preferred, name
    assert all(is_deleted(by_id[name].item) for name in truth.deleted & by_id.keys())
    assert await counted_in(database) == recount(event.item for event in stored)


async def contents_of(database: Database) -> dict[tuple[str, str], Item]:
    """The catalogue, but for when and in which transaction it was written. Each ingest has data files of its own."""
    left_out = ("LOG", "LOG_COUNT", "ARRIVAL", "BACKFILL")
    of_the_run = {"ingestedAt", "recordedAt", "supersededAt", "changedAt", "arrival"}
    items = [item for item in await everything_in(database) if "pk" in item and item["entity"] not in left_out]
    for item in items:
        if item["entity"] in ("SUMMARY", "FACETS"):
            del item["revision"]  # which counts writes
    return {
        (item["pk"], item["sk"]): {name: value for name, value in item.items() if name not in of_the_run}
        for item in items
    }
