"""The store of the Python peers: one connection of `sqlite3`; keyset pages, newest first and then by id.

`EVENTS_DB` names the file, which `benchmarks.stores` makes. Times are epoch milliseconds; an end is exclusive.
"""

import base64
import os
import sqlite3
import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

MAX_PAGE = 1000
COLUMNS = "event_id, event_ts_ms, mag, place, lat, lon, depth, source, ingested_at, day_bucket"
UPSERT = f"""
INSERT INTO events ({COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (event_id) DO UPDATE SET
  event_ts_ms = excluded.event_ts_ms, mag = excluded.mag, place = excluded.place, lat = excluded.lat,
  lon = excluded.lon, depth = excluded.depth, source = excluded.source, ingested_at = excluded.ingested_at,
  day_bucket = excluded.day_bucket"""

Row = tuple[Any, ...]  # the columns, in order

db = sqlite3.connect(os.environ["EVENTS_DB"], check_same_thread=False)
db.executescript(
    "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA cache_size = -64000; PRAGMA busy_timeout = 5000;"
)


@dataclass(frozen=True, slots=True)
class Filter:
    """Which events to select; without conditions, all."""

    start_ms: float | None = None
    end_ms: float | None = None
    min_mag: float | None = None

    def where(self, after: str | None = None) -> tuple[str, list[object]]:
        """The clause and its parameters."""
        terms: list[str] = []
        parameters: list[object] = []
        for term, value in (
            ("event_ts_ms >= ?", self.start_ms),
            ("event_ts_ms < ?", self.end_ms),
            ("mag >= ?", self.min_mag),
        ):
            if value is not None:
                terms.append(term)
                parameters.append(value)
        if after is not None:
            event_ts_ms, event_id = base64.b64decode(after, validate=True).decode().split(":", 1)
            terms.append("event_ts_ms <= ? AND NOT (event_ts_ms = ? AND event_id >= ?)")
            parameters += (int(event_ts_ms), int(event_ts_ms), event_id)
        return (f"WHERE {' AND '.join(terms)}" if terms else ""), parameters


def cursor_of(row: Row) -> str:
    """The cursor of a row: its time and id."""
    return base64.b64encode(f"{row[1]}:{row[0]}".encode()).decode()


def event(event_id: str) -> Row | None:
    """One event."""
    found: Row | None = db.execute(f"SELECT {COLUMNS} FROM events WHERE event_id = ?", (event_id,)).fetchone()
    return found


def page(filter: Filter, first: int, after: str | None) -> tuple[list[Row], bool]:
    """A page, and whether there is a next one."""
    first = max(0, min(first, MAX_PAGE))
    where, parameters = filter.where(after)
    sql = f"SELECT {COLUMNS} FROM events {where} ORDER BY event_ts_ms DESC, event_id DESC LIMIT ?"
    rows = db.execute(sql, (*parameters, first + 1)).fetchall()
    return rows[:first], len(rows) > first


def count(filter: Filter) -> int:
    """The number of matching events."""
    where, parameters = filter.where()
    number: int = db.execute(f"SELECT count(*) FROM events {where}", parameters).fetchone()[0]
    return number


def ingest(events: Sequence[Row]) -> int:
    """Store events, given by their columns up to `source`."""
    now = time.time_ns() // 1_000_000
    with db:
        db.executemany(UPSERT, [(*each, now, day_bucket(each[1])) for each in events])
    return len(events)


def day_bucket(event_ts_ms: float) -> str:
    """The UTC day, `YYYYMMDD`."""
    return datetime.fromtimestamp(event_ts_ms / 1000, UTC).strftime("%Y%m%d")
