"""The requests to every server: six queries and an ingest, for the peers' schema and for ours.

The answers have the same shape in both. Our filters take times in ISO 8601, with an inclusive end; those of the peers
take milliseconds, with an exclusive end.
"""

import random
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
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
    number: int = 1  # 200 is the page after the end cursor of page 199


@dataclass(frozen=True, slots=True)
class Lookup:
    """One event by its id."""

    event_id: str


@dataclass(frozen=True, slots=True)
class Count:
    """The number of matching events."""

    selection: Selection


Question = Page | Lookup | Count

LAST_DAY = _ms(2024, 12, 31)
YEAR_2023 = Selection(_ms(2023, 1, 1), _ms(2024, 1, 1), min_mag=2.5)
SINCE_INGEST = Selection(start_ms=_ms(2025, 1, 1))  # after the whole catalogue
DEEP_PAGE = 200


@dataclass(frozen=True, slots=True)
class Query:
    """A question with its name in the table."""

    name: str
    meaning: str
    question: Question


def queries(events: int) -> tuple[Query, ...]:
    """The queries for a catalogue with this number of events."""
    last_days = Selection(LAST_DAY - 30 * DAY_MS, LAST_DAY, min_mag=2.0)
    return (
        Query("Q1", "first 100 of 30 days, M ≥ 2.0", Page(100, last_days)),
        Query("Q2", "one event by id", Lookup(event_id(events // 2))),
        Query("Q3", "first 100 of ten years, M ≥ 6.5, which are few", Page(100, Selection(min_mag=6.5))),
        Query("Q4", f"page {DEEP_PAGE} of 100, by cursor", Page(100, number=DEEP_PAGE)),
        Query("Q5", "count of a year, M ≥ 2.5", Count(YEAR_2023)),
        Query("Q6", "first 1,000", Page(1000)),
    )


# The two dialects

NODE = "eventId eventTsMs mag place lat lon depth source ingestedAt dayBucket"
PAGE = f"edges {{ cursor node {{ {NODE} }} }} pageInfo {{ hasNextPage endCursor }}"


@dataclass(frozen=True, slots=True)
class Dialect:
    """The questions in the terms of one schema."""

    page: str
    count: str
    lookup: str
    ingest: str
    variables: Callable[[Selection], Mapping[str, Any]]  # the variables of a selection

    def body(self, question: Question, after: str | None = None) -> bytes:
        """The body of the request."""
        match question:
            case Page(first, selection):
                return _body("Events", self.page, first=first, after=after, **self.variables(selection))
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
    f"{{ events(first: $first, after: $after, {_PEER_GIVEN}) {{ {PAGE} }} }}",
    count=f"query Count({_PEER_FILTER}) {{ events({_PEER_GIVEN}) {{ totalCount }} }}",
    lookup=f"query Event($eventId: ID!) {{ event(eventId: $eventId) {{ {NODE} }} }}",
    ingest="mutation Ingest($events: [EventInput!]!) { ingestEvents(events: $events) { accepted } }",
    variables=_peer_variables,
)


OURS = Dialect(
    page="query Events($first: Int!, $after: String, $filter: EventFilter) "
    f"{{ events(first: $first, after: $after, filter: $filter) {{ {PAGE} }} }}",
    count="query Count($filter: EventFilter) { events(filter: $filter) { totalCount } }",
    lookup=f"query Event($eventId: String!) {{ event(eventId: $eventId) {{ {NODE} }} }}",
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
