"""Checks the answers of a server: compares each, value by value, with the result of plain SQL.

Events of one millisecond may come in any order, since every store has its own order, but always in the same one.
"""

import sqlite3
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Any

from benchmarks.servers import Connection, Refused, Server
from benchmarks.workload import Count, Lookup, Page, Question, Selection

TRIES = 3  # a compiled or cached plan must give the same answer as the first execution
FROM_SELECTION = "FROM events WHERE event_ts_ms >= ? AND event_ts_ms < ? AND mag >= ?"
EVENT = """
  SELECT event_id AS eventId, event_ts_ms AS eventTsMs, mag, place, lat, lon, depth, source, day_bucket AS dayBucket
  FROM events WHERE event_id = ?"""


class Wrong(Exception):
    """The answer of the server is wrong; the message says how."""


@dataclass(frozen=True, slots=True)
class Verified:
    """A request whose answer was checked."""

    body: bytes
    answer_bytes: int
    unloaded_s: float  # time of its answer without any other load


class Reference:
    """The right answers."""

    def __init__(self, peers_file: Path) -> None:
        self._db = sqlite3.connect(f"file:{peers_file}?mode=ro", uri=True)
        self._db.row_factory = sqlite3.Row

    def event(self, event_id: str) -> dict[str, Any]:
        """An event, without the time of its ingest."""
        row = self._db.execute(EVENT, (event_id,)).fetchone()
        return dict(row) if row else {}

    def times(self, page: Page) -> tuple[list[int], bool]:
        """The origin times on a page, and whether there is a next page."""
        sql = f"SELECT event_ts_ms {FROM_SELECTION} ORDER BY event_ts_ms DESC LIMIT ? OFFSET ?"
        extent = (page.first + 1, (page.number - 1) * page.first)
        times = [time for (time,) in self._db.execute(sql, (*_bounds(page.selection), *extent))]
        return times[: page.first], len(times) > page.first

    def count(self, selection: Selection) -> int:
        """The number of matching events."""
        found = self._db.execute(f"SELECT count(*) {FROM_SELECTION}", _bounds(selection)).fetchone()
        return int(found[0])


def _bounds(selection: Selection) -> tuple[float, float, float]:
    start_ms, end_ms, min_mag = selection.start_ms, selection.end_ms, selection.min_mag
    return (start_ms or 0, end_ms or float("inf"), float("-inf") if min_mag is None else min_mag)


def verified(server: Server, question: Question, reference: Reference) -> Verified:
    """Send a query, and check its answer.

    Raises:
        Wrong: The answer is wrong.
    """
    connection, dialect = Connection(server), server.contender.dialect
    try:
        after = None
        for _ in range(question.number - 1 if isinstance(question, Page) else 0):
            after = connection.ask(dialect.body(question, after))["events"]["pageInfo"]["endCursor"]
        body = dialect.body(question, after)
        _compare(question, connection.ask(body), reference)
        first, unloaded_s = connection.post(body), float("inf")
        for _ in range(TRIES):
            began = perf_counter()
            again = connection.post(body)
            unloaded_s = min(unloaded_s, perf_counter() - began)
            if again != first:
                raise Wrong("the same request was answered differently")
    except Refused as refused:
        raise Wrong(str(refused)) from refused
    return Verified(body, len(first), unloaded_s)


def _compare(question: Question, data: Any, reference: Reference) -> None:
    match question:
        case Count(selection):
            _same("totalCount", data["events"]["totalCount"], reference.count(selection))
        case Lookup(event_id):
            _same(event_id, _stored(data["event"] or {}), reference.event(event_id))
        case Page():
            _compare_page(data["events"], *reference.times(question), reference)


def _compare_page(page: Any, times: list[int], more: bool, reference: Reference) -> None:
    nodes = [edge["node"] for edge in page["edges"]]
    cursors = [edge["cursor"] for edge in page["edges"]]
    _same("origin times", [node["eventTsMs"] for node in nodes], times)
    _same("number of different events", len({node["eventId"] for node in nodes}), len(times))
    _same("number of different cursors", len(set(cursors)), len(times))
    _same("pageInfo", page["pageInfo"], {"hasNextPage": more, "endCursor": cursors[-1] if cursors else None})
    for node in nodes:
        _same(node["eventId"], _stored(node), reference.event(node["eventId"]))


def _stored(node: dict[str, Any]) -> dict[str, Any]:
    """The event without the time of its ingest, which differs between servers."""
    return {name: value for name, value in node.items() if name != "ingestedAt"}


def _same(what: str, found: object, expected: object) -> None:
    if found != expected:
        raise Wrong(f"{what}: {str(found)[:300]}, expected {str(expected)[:300]}")
