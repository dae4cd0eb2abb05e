"""The sources and networks of the catalogue, for `catalogs` and `contributors`.

They are those of the latest events: no index counts by source, and every network of the world reports within days.
"""

from graph.core.paging import Paging
from graph.domains.earthquakes.catalogue import Catalogue
from graph.domains.earthquakes.selection import Selection
from graph.work.account import charge_rows

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
