"""Finds cursors deep in the catalogue, after a number of events."""

from collections.abc import Collection

import orjson

from benchmarks.servers import Connection
from benchmarks.workload import OURS, Selection

STRIDE = 1000  # events: the largest page
DOCUMENT = """query Cursor($first: Int!, $after: String, $filter: EventFilter) {
  events(first: $first, after: $after, filter: $filter) { pageInfo { endCursor } }
}"""


def cursors_behind(connection: Connection, places: Collection[int], selection: Selection) -> dict[int, str | None]:
    """Number of events → the cursor after them, or None after 0 events. All are found on one walk."""
    found: dict[int, str | None] = {}
    at, cursor = 0, None
    for place in sorted(places):
        while at < place:
            step = min(STRIDE, place - at)
            asked = {"first": step, "after": cursor, **OURS.variables(selection)}
            data = connection.ask(orjson.dumps({"query": DOCUMENT, "variables": asked}))
            at, cursor = at + step, data["events"]["pageInfo"]["endCursor"]
        found[place] = cursor
    return found
