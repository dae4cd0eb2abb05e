"""What the tests of faults ingest, and what must hold of the catalogue afterwards."""

from typing import Any

from graph.store.location import StoreLocation
from tests.domains.earthquakes.builders import NOON
from tests.domains.earthquakes.ingest.ingests import recounted, summaries_in
from tests.domains.entities import ENTITIES
from tests.processes import TIMEOUT_S

INGEST = """mutation($events: [EventInput!]!) {
  ingestEvents(input: {events: $events}) { fetched upserted skipped rejected }
}"""


def events(first: int, number: int, *, every_ms: int = 3_600_000, **others: Any) -> list[dict[str, Any]]:
    """Events, each an hour before the one before it unless another time is named."""
    return [
        {"eventId": f"us{n}", "eventTsMs": NOON - every_ms * n, "mag": n % 7, "lat": 0, "lon": 0, **others}
        for n in range(first, first + number)
    ]


def large_events(first: int, number: int) -> list[dict[str, Any]]:
    """Events of a kilobyte, each a minute before the one before it."""
    return events(first, number, every_ms=60_000, url="https://example.org/" + "x" * 900)


async def check_summaries(store: str) -> None:
    """That each event of a store with this URL is counted once."""
    async with StoreLocation.of(store).open(ENTITIES, timeout_s=TIMEOUT_S) as database:
        assert await summaries_in(database) == await recounted(database)
