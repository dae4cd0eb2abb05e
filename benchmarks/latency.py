"""How long a running service takes for its typical queries, one at a time, over HTTP.

    quakegraph ingest catalogue.ndjson --store sqlite:///bench.db
    quakegraph serve --store sqlite:///bench.db &
    python benchmarks/latency.py http://127.0.0.1:8000/graphql

Prints the median, the 99th percentile and the greatest of so many answers, in milliseconds.
What matters is how the lines compare: a page at any depth should cost what the first costs.
"""

import sys
from datetime import UTC, datetime
from statistics import median, quantiles
from time import perf_counter
from typing import Any

import httpx

ROUNDS = 200

PAGE = """query ($first: Int, $after: String, $filter: EventFilter) {
  events(first: $first, after: $after, filter: $filter) {
    nodes { eventId eventTsMs time mag place lat lon depth dayBucket source ingestedAt }
    pageInfo { hasNextPage endCursor }
    bucketsScanned
  }
}"""
COUNT = "query ($filter: EventFilter) { events(first: 0, filter: $filter) { totalCount } }"
EVENT = "query ($eventId: String!) { event(eventId: $eventId) { eventId time mag place } }"


def main(url: str) -> None:
    """Measure and print."""
    with httpx.Client() as http:

        def ask(query: str, **variables: Any) -> Any:
            answer = http.post(url, json={"query": query, "variables": variables}).json()
            if "errors" in answer:
                raise SystemExit(answer["errors"])
            return answer["data"]

        def edge(order: str) -> dict[str, Any]:
            query = f"{{ events(first: 1, orderBy: {order}) {{ nodes {{ eventId time eventTsMs }} }} }}"
            node: dict[str, Any] = ask(query)["events"]["nodes"][0]
            return node

        oldest, newest = edge("TIME_ASC"), edge("TIME_DESC")
        span = newest["eventTsMs"] - oldest["eventTsMs"]
        cases: dict[str, tuple[str, dict[str, Any]]] = {"page of 100, the first": (PAGE, {"first": 100})}
        for percent in (10, 50, 90, 99):
            until = newest["eventTsMs"] - span * percent // 100
            before = {"endTime": _iso(until)}
            cursor = ask(PAGE, first=1, filter=before)["events"]["pageInfo"]["endCursor"]
            cases[f"page of 100, {percent} % down the catalogue"] = (PAGE, {"first": 100, "after": cursor})
        year = {"startTime": _iso(newest["eventTsMs"] - 365 * 86_400_000), "endTime": newest["time"]}
        month = {"startTime": _iso(newest["eventTsMs"] - 30 * 86_400_000), "minMagnitude": 2}
        cases |= {
            "page of 100, M ≥ 2, the last 30 days": (PAGE, {"first": 100, "filter": month}),
            "page of 100, M ≥ 6.5, all years": (PAGE, {"first": 100, "filter": {"minMagnitude": 6.5}}),
            "page of 1,000": (PAGE, {"first": 1000}),
            "totalCount of a year, M ≥ 2.5": (COUNT, {"filter": year | {"minMagnitude": 2.5}}),
            "one event by id": (EVENT, {"eventId": newest["eventId"]}),
        }
        print(f"{'':44}{'median':>9}{'p99':>9}{'max':>9}  ms")
        for name, (query, variables) in cases.items():
            took = [_timed(lambda q=query, v=variables: ask(q, **v)) for _ in range(ROUNDS)]
            print(f"{name:44}{median(took):9.2f}{quantiles(took, n=100)[98]:9.2f}{max(took):9.2f}")


def _timed(work: Any) -> float:
    began = perf_counter()
    work()
    return (perf_counter() - began) * 1000


def _iso(time_ms: int) -> str:
    return datetime.fromtimestamp(time_ms / 1000, UTC).isoformat()


main(*sys.argv[1:])
