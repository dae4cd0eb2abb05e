"""What the service takes from the catalogue beside pages: earlier versions, deleted events, other ids, and sources.

The sources are those of the latest events: no index counts by source, and every network of the world reports within
days.
"""

from collections.abc import Sequence

from graph.core.paging import Paging
from graph.domains.earthquakes.catalogue import Catalogue
from graph.domains.earthquakes.model import Event, is_deleted
from graph.domains.earthquakes.revisions.merges import follow_merges
from graph.domains.earthquakes.revisions.views import Deleted
from graph.domains.earthquakes.selection import Selection
from graph.domains.fdsn.formats import NO_EARLIER, Earlier
from graph.domains.fdsn.query import FdsnQuery
from graph.store.entity import Item
from graph.work.account import charge_rows

MOST_EARLIER = 100  # versions of an event, the latest ones


async def earlier_versions(catalogue: Catalogue, query: FdsnQuery, events: Sequence[Event]) -> Earlier:
    """The earlier versions of events, if the query asks for them."""
    if not (query.all_origins or query.all_magnitudes):
        return NO_EARLIER
    await charge_rows(read=sum(min(event.revision - 1, MOST_EARLIER) for event in events))
    return await catalogue.earlier_versions(events, MOST_EARLIER)


async def named_events(catalogue: Catalogue, query: FdsnQuery, event_ids: Sequence[str]) -> list[Event]:
    """The events with these ids or aliases that fulfil the other conditions, each once.

    An event that turned out to be another one is answered with that one.
    """
    await charge_rows(read=len(event_ids))
    stored = await catalogue.events(event_ids)

    async def read(event_id: str) -> Item | None:
        event = stored.get(event_id) or await catalogue.event(event_id)
        return event.item if event else None

    found = [await follow_merges(await read(event_id), read) for event_id in event_ids]
    events = {item["eventId"]: Event(item) for item in found if item and "mergedInto" not in item}
    admits = query.selection.admits
    wanted = {Deleted.EXCLUDE: (False,), Deleted.ONLY: (True,), Deleted.INCLUDE: (False, True)}[query.view.deleted]
    return [event for event in events.values() if is_deleted(event.item) in wanted and admits(event.item)]


LATEST = 2_000  # events, which take a hundredth of what an operation may cost by default
PAGE = 1000


async def sources_of(catalogue: Catalogue) -> tuple[list[str], list[str]]:
    """The sources and the networks of the latest events, each in alphabetical order."""
    catalogs, contributors = set[str](), set[str]()
    after = None
    for _ in range(0, LATEST, PAGE):
        await charge_rows(read=PAGE)
        page = await catalogue.page(Selection(), Paging(PAGE, after=after), attributes=frozenset(("source", "net")))
        for event in page.records:
            catalogs.add(event.source)
            if event.net:
                contributors.add(event.net)
        if not page.has_more:
            break
        after = page.records[-1].item
    return sorted(catalogs), sorted(contributors)
