"""The requests to every server: six kinds of queries and an ingest, for the peers' schema and for ours.

All questions of a kind are different, and every server is asked the same ones: a generator with a fixed seed draws
windows, ids, depths and thresholds. The answers have the same shape in both schemas. Our filters take times in ISO
8601, with an inclusive end; those of the peers take milliseconds, with an exclusive end.
"""

import random
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import repeat
from typing import Any

import orjson

from benchmarks.catalogue import DAY_MS, event_id

INGEST_CALLS, INGEST_CALL = 40, 500  # mutations in each run, events in each mutation


def _ms(year: int, month: int, day: int) -> int:
    return int(datetime(year, month, day, tzinfo=UTC).timestamp() * 1000)


@dataclass(frozen=True, slots=True)
class Selection:
    """Which events to select; without conditions, all. Epoch milliseconds, with an exclusive end."""

    start_ms: int | None = None
    end_ms: int | None = None
    min_mag: float | None = None


@dataclass(frozen=True, slots=True)
class Page:
    """A page of events, newest first and then by id."""

    first: int
    selection: Selection = Selection()
    behind: int = 0  # so many of the selected events


@dataclass(frozen=True, slots=True)
class Lookup:
    """One event by its id."""

    event_id: str


@dataclass(frozen=True, slots=True)
class Count:
    """The number of matching events."""

    selection: Selection


Question = Page | Lookup | Count

FIRST_DAY, LAST_DAY = _ms(2015, 1, 1), _ms(2024, 12, 31)
SINCE_INGEST = Selection(start_ms=_ms(2025, 1, 1))  # after the whole catalogue
SHALLOWEST, DEEPEST = 2_000, 20_000  # events before a deep page
FEW = tuple(magnitude / 100 for magnitude in range(630, 661))  # M ≥ 6.5 has twenty events among a million
TRIES = 1000  # draws in vain, after which there are no other questions


@dataclass(frozen=True, slots=True)
class Query:
    """A kind of questions with its name in the table."""

    name: str
    meaning: str
    draw: Callable[[random.Random], Question]

    def questions(self) -> Iterator[Question]:
        """Questions of this kind, always the same ones and no two of them equal."""
        rng = random.Random(self.name)  # noqa: S311 - reproducible on purpose
        asked: set[Question] = set()
        while other := next((one for one in map(self.draw, repeat(rng, TRIES)) if one not in asked), None):
            asked.add(other)
            yield other


def queries(events: int) -> tuple[Query, ...]:
    """The queries for a catalogue with this number of events."""
    return (
        Query("Q1", "first 100 of 30 days, M ≥ 2.0", lambda rng: Page(100, window(rng, 30, 2.0))),
        Query("Q2", "one event by id", lambda rng: Lookup(event_id(rng.randrange(events)))),
        Query("Q3", "first 100 of nearly ten years, M ≥ 6.3 to 6.6, which are few", lambda rng: Page(100, _few(rng))),
        Query("Q4", "100 behind 2,000 to 20,000, by cursor", lambda rng: Page(100, behind=_depth(rng))),
        Query("Q5", "count of a year, M ≥ 2.5", lambda rng: Count(window(rng, 365, 2.5))),
        Query("Q6", "first 1,000 until a time", lambda rng: Page(1000, Selection(end_ms=_time(rng, 365)))),
    )


def _time(rng: random.Random, least_days: int) -> int:
    """A time, so many days after the beginning at least."""
    return rng.randrange(FIRST_DAY + least_days * DAY_MS, LAST_DAY)


def window(rng: random.Random, days: int, min_mag: float | None = None) -> Selection:
    """So many days."""
    end_ms = _time(rng, days)
    return Selection(end_ms - days * DAY_MS, end_ms, min_mag)


def _few(rng: random.Random) -> Selection:
    return Selection(FIRST_DAY + rng.randrange(30 * DAY_MS), LAST_DAY, rng.choice(FEW))


def _depth(rng: random.Random) -> int:
    return rng.randrange(SHALLOWEST, DEEPEST)


# The two dialects

NODE = "eventId eventTsMs mag place lat lon depth source ingestedAt dayBucket"
PAGE = f"edges {{ cursor node {{ {NODE} }} }} pageInfo {{ hasNextPage endCursor }}"
CURSORS = "edges { cursor } pageInfo { endCursor }"


@dataclass(frozen=True, slots=True)
class Dialect:
    """The questions in the terms of one schema."""

    page: str  # without what it selects of the connection
    count: str
    lookup: str
    ingest: str
    variables: Callable[[Selection], Mapping[str, Any]]  # the variables of a selection

    def body(self, question: Question, after: str | None = None, selected: str = PAGE) -> bytes:
        """The body of the request. What is selected of a page can be something else."""
        match question:
            case Page(first, selection):
                document = f"{self.page} {{ {selected} }} }}"
                return _body("Events", document, first=first, after=after, **self.variables(selection))
            case Lookup(id_):
                return _body("Event", self.lookup, eventId=id_)
            case Count(selection):
                return _body("Count", self.count, **self.variables(selection))

    def ingest_bodies(self, run: int) -> list[bytes]:
        """The bodies of one run of ingests."""
        events = list(new_events(run))
        starts = range(0, len(events), INGEST_CALL)
        return [_body("Ingest", self.ingest, events=events[start : start + INGEST_CALL]) for start in starts]


def _body(operation: str, document: str, **variables: Any) -> bytes:
    given = {name: value for name, value in variables.items() if value is not None}
    return orjson.dumps({"operationName": operation, "query": document, "variables": given})


def _peer_variables(selection: Selection) -> dict[str, Any]:
    return {"startMs": selection.start_ms, "endMs": selection.end_ms, "minMag": selection.min_mag}


def _our_variables(selection: Selection) -> dict[str, Any]:
    given = {
        "startTime": selection.start_ms and iso(selection.start_ms),
        "endTime": selection.end_ms and iso(selection.end_ms - 1),
        "minMagnitude": selection.min_mag,
    }
    return {"filter": {name: value for name, value in given.items() if value is not None} or None}


def iso(time_ms: int) -> str:
    """A time in ISO 8601."""
    return datetime.fromtimestamp(time_ms / 1000, UTC).isoformat(timespec="milliseconds")


_PEER_FILTER = "$startMs: Float, $endMs: Float, $minMag: Float"
_PEER_GIVEN = "startMs: $startMs, endMs: $endMs, minMag: $minMag"

PEERS = Dialect(
    page=f"query Events($first: Int!, $after: String, {_PEER_FILTER}) "
    f"{{ events(first: $first, after: $after, {_PEER_GIVEN})",
    count=f"query Count({_PEER_FILTER}) {{ events({_PEER_GIVEN}) {{ totalCount }} }}",
    lookup=f"query Event($eventId: ID!) {{ event(eventId: $eventId) {{ {NODE} }} }}",
    ingest="mutation Ingest($events: [EventInput!]!) { ingestEvents(events: $events) { accepted } }",
    variables=_peer_variables,
)


OURS = Dialect(
    page="query Events($first: Int!, $after: String, $filter: EventFilter) "
    "{ events(first: $first, after: $after, filter: $filter)",
    count="query Count($filter: EventFilter) { events(filter: $filter) { totalCount } }",
    lookup=f"query Event($eventId: ID!) {{ event(eventId: $eventId) {{ {NODE} }} }}",
    ingest="mutation Ingest($events: [EventInput!]!) { ingestEvents(input: {events: $events}) { upserted } }",
    variables=_our_variables,
)


def new_events(run: int) -> Iterator[dict[str, Any]]:
    """Events of 2025; each run has others."""
    rng = random.Random(run)  # noqa: S311 - reproducible on purpose
    assert SINCE_INGEST.start_ms is not None
    time_ms = SINCE_INGEST.start_ms + run * 100 * DAY_MS
    for number in range(INGEST_CALLS * INGEST_CALL):
        time_ms += rng.randrange(1, 300_000)
        yield {
            "eventId": f"in{run:02x}{number:06x}",
            "eventTsMs": time_ms,
            "mag": round(0.5 + rng.expovariate(2.3), 2),
            "place": f"{rng.randrange(1, 180)} km N of Kaikōura, New Zealand",
            "lat": round(rng.uniform(-45, -40), 4),
            "lon": round(rng.uniform(170, 178), 4),
            "depth": round(rng.expovariate(0.05), 2),
            "source": "USGS",
        }
