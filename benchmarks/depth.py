"""Finds cursors deep in the catalogue, after a number of events."""

from collections.abc import Collection

from benchmarks.servers import Connection
from benchmarks.workload import CURSORS, OURS, Dialect, Page, Selection

STRIDE = 1000  # events: the largest page


def cursors_behind(
    connection: Connection, places: Collection[int], selection: Selection, dialect: Dialect = OURS
) -> dict[int, str | None]:
    """Number of events → the cursor after them, or None after 0 events. All are found on one walk."""
    found: dict[int, str | None] = {0: None}
    wanted, at, cursor = set(places), 0, None
    deepest = max(wanted, default=0)
    while at < deepest:
        page = Page(min(STRIDE, deepest - at), selection)
        edges = connection.ask(dialect.body(page, cursor, CURSORS))["events"]["edges"]
        for place, edge in enumerate(edges, at + 1):
            if place in wanted:
                found[place] = edge["cursor"]
        at, cursor = at + len(edges), edges[-1]["cursor"]
    return found
