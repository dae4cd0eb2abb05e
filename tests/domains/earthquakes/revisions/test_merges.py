"""Following a merged event to the one that it turned out to be."""

from graph.domains.earthquakes.revisions.merges import follow_merges
from graph.store.entity import Item

STORED: dict[str, Item] = {
    "us1": {"eventId": "us1", "mergedInto": "ci2"},
    "ci2": {"eventId": "ci2", "mergedInto": "nc3"},
    "nc3": {"eventId": "nc3"},
    "us4": {"eventId": "us4", "mergedInto": "us5"},
}


async def read(event_id: str) -> Item | None:
    return STORED.get(event_id)


async def test_a_merged_event_leads_to_the_end_of_its_merges() -> None:
    for event_id, end in {"us1": "nc3", "ci2": "nc3", "nc3": "nc3", "us4": ""}.items():
        assert await follow_merges(STORED[event_id], read) == STORED.get(end)


async def test_a_circle_of_merges_ends() -> None:
    around = {"us1": "us2", "us2": "us1"}
    circle = {event_id: {"eventId": event_id, "mergedInto": into} for event_id, into in around.items()}

    async def read(event_id: str) -> Item | None:
        return circle[event_id]

    assert await follow_merges(circle["us1"], read) in circle.values()
