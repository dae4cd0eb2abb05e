"""Pages of 100 of each domain. All requests of a kind are different, and equal arguments give equal requests."""

import random
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from itertools import count
from typing import Any

import orjson

from benchmarks.answers import Asking
from benchmarks.data_files.reading import FIELDS as FILE_FIELDS
from benchmarks.data_files.world import date_of
from benchmarks.domains.stores import Stores
from benchmarks.paces import Kind
from benchmarks.servers import Connection, Server
from benchmarks.service_logs import PAGES as LOGS
from benchmarks.service_logs import SERVICES, SPAN_S
from benchmarks.service_logs import TYPES as LOG_TYPES
from benchmarks.sightings.reading import PLAIN_FIELDS as SIGHTING_FIELDS
from benchmarks.sightings.world import ACTIVE_EVERY
from benchmarks.triggers.stores import APART_US
from benchmarks.triggers.stores import TYPES as EVENT_TYPES
from benchmarks.workload import iso, queries

PAGE = 100
MOST_PAGES = 20_000  # of days
DEEPEST = 0.9  # of the items of a kind lie between the newest one and the deepest page
INBOX = f"""query ($filter: TriggerEventFilter) {{
  triggerEvents(first: {PAGE}, filter: $filter) {{
    nodes {{ eventId type payload status timestamp retryCount metadata }} pageInfo {{ hasNextPage endCursor }}
  }}
}}"""
FILES = f"""query ($filter: DataFileFilter, $after: String) {{
  dataFiles(first: {PAGE}, filter: $filter, after: $after) {{
    nodes {{ {FILE_FIELDS} }} pageInfo {{ hasNextPage endCursor }}
  }}
}}"""
AREA = f"""query ($area: String!, $after: String) {{
  sightings(first: {PAGE}, after: $after, filter: {{areas: [$area]}}) {{
    nodes {{ {SIGHTING_FIELDS} }} pageInfo {{ hasNextPage endCursor }}
  }}
}}"""
CURSORS = """query ($area: String!, $after: String) {
  sightings(first: 1000, after: $after, filter: {areas: [$area]}) { edges { cursor } pageInfo { hasNextPage } }
}"""
TRENDING = f"""query ($window: Int!, $first: Int!) {{
  trending(windowSeconds: $window) {{
    category count startsAt sightings(first: $first) {{ nodes {{ {SIGHTING_FIELDS} }} }}
  }}
}}"""
HOURS, RANKED = range(6, 25), range(8, 17)  # so many of each of eight categories; about a page on average


def kinds(stores: Stores, main: Server, blips: Server) -> dict[str, Kind]:
    """The kinds of pages, Q1 first. All requests have a token."""
    (first, *_) = queries(stores.sizes.events)
    all_ = {
        "Q1: events of 30 days, M ≥ 2": (main, map(Asking(main).body, first.questions())),
        "logs by service": (main, _logs(stores, lambda at: {"services": [f"service-{at % SERVICES:03}"]})),
        "logs by type": (main, _logs(stores, lambda at: {"types": [LOG_TYPES[-(at % 3) - 1].upper()]})),
        "recent logs": (main, _logs(stores, lambda _: {})),
        "inbox": (main, _inbox(stores, lambda _: {})),
        "inbox by type": (main, _inbox(stores, lambda at: {"types": [EVENT_TYPES[at % len(EVENT_TYPES)]]})),
        "files of a day": (main, _files(stores, main)),
        "sightings of an area": (blips, _areas(stores, blips)),
        "trending": (blips, _trending()),
    }
    return {name: Kind(server, bodies, server.contender.headers) for name, (server, bodies) in all_.items()}


def body(query: str, **variables: Any) -> bytes:
    """The body of a request. It has no line break."""
    return orjson.dumps({"query": " ".join(query.split()), "variables": variables})


Wanted = Mapping[str, Any]


def _logs(stores: Stores, wanted: Callable[[int], Wanted]) -> Iterator[bytes]:
    """Pages until a time, before which each service has a full page of logs."""
    rng = random.Random(1)  # noqa: S311 - reproducible on purpose
    for number in count():
        before_ms = stores.end_ns // 1_000_000 - rng.randrange(round(SPAN_S * 1000 * DEEPEST))
        yield body(LOGS, filter={"endTime": iso(before_ms), **wanted(number)})


def _inbox(stores: Stores, wanted: Callable[[int], Wanted]) -> Iterator[bytes]:
    rng = random.Random(2)  # noqa: S311
    for number in count():
        before_us = rng.randrange(round(stores.sizes.inbox * APART_US * DEEPEST))
        yield body(INBOX, filter={"endTime": iso((stores.end_ns // 1000 - before_us) // 1000), **wanted(number)})


def _files(stores: Stores, server: Server) -> Iterator[bytes]:
    """The first page of each day, and then pages behind each of its files, as far as they are full."""
    days = [date_of(day).isoformat() for day in range(stores.sizes.days)]
    random.Random(3).shuffle(days)  # noqa: S311
    pages = [body(FILES, filter={"startDate": day, "endDate": day}) for day in days]
    cursors = FILES.replace(FILE_FIELDS, "__typename").replace("nodes {", "edges { cursor } nodes {")
    for day in days:
        if len(pages) < MOST_PAGES:
            behind = _cursors(server, "dataFiles", body(cursors, filter={"startDate": day, "endDate": day}))
            pages += [body(FILES, filter={"startDate": day, "endDate": day}, after=cursor) for cursor in behind]
    return iter(pages)


def _areas(stores: Stores, server: Server) -> Iterator[bytes]:
    """Pages of the areas with most active sightings, behind each sighting, as far as they are full."""
    world = stores.sightings
    active = Counter(world.sighting(number)["areaSlug"] for number in range(0, world.number, ACTIVE_EVERY))
    pages = []
    for area, number in active.most_common():
        if number < 2 * PAGE:
            break
        after = None
        for _ in range(0, number, 1000):
            cursors = _cursors(server, "sightings", body(CURSORS, area=area, after=after))
            pages += [(area, cursor) for cursor in cursors]
            after = cursors[-1] if cursors else after
        del pages[-PAGE:]
    random.Random(4).shuffle(pages)  # noqa: S311
    return (body(AREA, area=area, after=after) for area, after in pages)


def _cursors(server: Server, connection: str, request: bytes) -> list[str]:
    """The cursors of a page."""
    with Connection(server, server.contender.headers) as http:
        return [edge["cursor"] for edge in http.ask(request)[connection]["edges"]]


def _trending() -> Iterator[bytes]:
    wanted = [(hours, first) for hours in HOURS for first in RANKED]
    random.Random(5).shuffle(wanted)  # noqa: S311
    return (body(TRENDING, window=3600 * hours, first=first) for hours, first in wanted)
