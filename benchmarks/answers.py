"""Checks answers of a server: compares them, value by value, with the result of plain SQL.

Events of one millisecond may come in any order, since every store has its own order, but always in the same one.
"""

import sqlite3
from collections.abc import Iterable
from itertools import islice
from pathlib import Path
from typing import Any

from benchmarks.depth import cursors_behind
from benchmarks.servers import Connection, Refused, Server
from benchmarks.workload import DEEPEST, PAGE, SHALLOWEST, Count, Lookup, Page, Question, Selection

TRIES = 3  # a compiled or cached plan must give the same answer as the first execution
SAMPLES = 5  # questions of a kind whose answers are checked
FROM_SELECTION = "FROM events WHERE event_ts_ms >= ? AND event_ts_ms < ? AND mag >= ?"
EVENT = """
  SELECT event_id AS eventId, event_ts_ms AS eventTsMs, mag, place, lat, lon, depth, source, day_bucket AS dayBucket
  FROM events WHERE event_id = ?"""


class Wrong(Exception):
    """The answer of the server is wrong; the message says how."""


class Reference:
    """The right answers."""

    def __init__(self, peers_file: Path) -> None:
        self._db = sqlite3.connect(f"file:{peers_file}?mode=ro", uri=True)
        self._db.row_factory = sqlite3.Row

    def close(self) -> None:
        """Close the file."""
        self._db.close()

    def event(self, event_id: str) -> dict[str, Any]:
        """An event, without the time of its ingest."""
        row = self._db.execute(EVENT, (event_id,)).fetchone()
        return dict(row) if row else {}

    def times(self, page: Page) -> tuple[list[int], bool]:
        """The origin times on a page, and whether there is a next page."""
        sql = f"SELECT event_ts_ms {FROM_SELECTION} ORDER BY event_ts_ms DESC LIMIT ? OFFSET ?"
        extent = (page.first + 1, page.behind)
        times = [time for (time,) in self._db.execute(sql, (*_bounds(page.selection), *extent))]
        return times[: page.first], len(times) > page.first

    def count(self, selection: Selection) -> int:
        """The number of matching events."""
        found = self._db.execute(f"SELECT count(*) {FROM_SELECTION}", _bounds(selection)).fetchone()
        return int(found[0])


def _bounds(selection: Selection) -> tuple[float, float, float]:
    start_ms, end_ms, min_mag = selection.start_ms, selection.end_ms, selection.min_mag
    return (start_ms or 0, end_ms or float("inf"), float("-inf") if min_mag is None else min_mag)


class Asking:
    """What asks a server questions, and knows its cursors."""

    def __init__(self, server: Server) -> None:
        self._server, self._dialect = server, server.contender.dialect
        depths = range(SHALLOWEST, DEEPEST)
        with Connection(server) as connection:
            self._cursors = cursors_behind(connection, depths, Selection(), self._dialect)

    def body(self, question: Question, selected: str = PAGE) -> bytes:
        """The body of the request. What is selected of a page can be something else."""
        after = self._cursors[question.behind] if isinstance(question, Page) else None
        return self._dialect.body(question, after, selected)

    def verify(self, questions: Iterable[Question], reference: Reference) -> None:
        """Ask some of the questions, and check the answers.

        Raises:
            Wrong: An answer is wrong.
        """
        with Connection(self._server) as connection:
            for question in islice(questions, SAMPLES):
                body = self.body(question)
                try:
                    _compare(question, connection.ask(body), reference)
                    answers = {connection.post(body) for _ in range(TRIES)}
                except Refused as refused:
                    raise Wrong(str(refused)) from refused
                if len(answers) > 1:
                    raise Wrong("the same request was answered differently")


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
