"""Pages of a user's inbox among many events, beside plain SQL by the same indexes, and creation by mutation."""

import random
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from pathlib import Path
from statistics import quantiles
from typing import Any

import orjson

from benchmarks.cpus import Cpus
from benchmarks.markdown import table
from benchmarks.servers import Server
from benchmarks.triggers.delays import CREATE
from benchmarks.triggers.programs import USER, Client, serving
from benchmarks.triggers.stores import STATUSES, TYPE, TYPES, InboxOf, done, payload, store_inbox
from graph.domains.triggers.model import TriggerEvent

PAGE = 50
CREATED, CONNECTIONS = 4000, 16
PAGES = """query ($filter: TriggerEventFilter, $after: String) {
  triggerEvents(first: 50, after: $after, filter: $filter) {
    nodes { eventId type payload status timestamp retryCount metadata } pageInfo { hasNextPage endCursor }
  }
}"""

PLAIN = """
CREATE TABLE events (user_id, timestamp, event_id, event_type, payload, status, retry_count, metadata);
CREATE INDEX by_time ON events (user_id, timestamp);
CREATE INDEX by_type ON events (user_id, event_type, timestamp);
CREATE INDEX by_status ON events (user_id, status, timestamp);
"""

Wanted = Mapping[str, str]
Ask = Callable[[Wanted, int], int]
"""Asks for the page behind an event, by its number. Returns how many events it has."""


def measured(number: int, pages: int, folder: Path, cpus: Cpus) -> str:
    """Pages among so many events, each way."""
    inbox = InboxOf(USER, number, time.time_ns() // 1000)
    path = folder / "inbox.db"
    done(store_inbox(path, inbox))
    rows: dict[str, list[str]] = {}
    with serving(path, cpus.server, folder) as (server, client):
        rows["ours, over HTTP"] = _row(lambda wanted, at: _ours(client, inbox, wanted, at), number, pages)
        rate, per_cpu = _created(server)
    with closing(_plain(folder / "plain.db", inbox)) as db:
        rows["SQL in this process, behind a key"] = _row(lambda wanted, at: _sql(db, inbox, wanted, at), number, pages)
        few = max(pages // 30, 3)
        rows["SQL in this process, by OFFSET"] = _row(lambda wanted, at: _offset(db, wanted, number - at), number, few)
    head = [f"page of {PAGE}, ms p50 / p95", *(name for name, _ in _wanted(random.Random(0)))]  # noqa: S311
    shown = table(head, [[name, *cells] for name, cells in rows.items()])
    return f"{shown}\n\n{rate:,.0f} events a second were created by mutations, {per_cpu:,.0f} per CPU second."


def _wanted(rng: random.Random) -> Iterator[tuple[str, Wanted]]:
    """What pages are asked for."""
    yield "all", {}
    yield "by type", {"type": rng.choice(TYPES)}
    yield "by status", {"status": rng.choice(sorted(set(STATUSES)))}
    yield "by type, received", {"type": rng.choice(TYPES), "status": "received"}


def _row(ask: Ask, number: int, pages: int) -> list[str]:
    rng = random.Random(4)  # noqa: S311 - the same pages for all
    took: dict[str, list[float]] = {}
    for _ in range(pages):
        at = rng.randrange(number // 10, number)
        for name, wanted in _wanted(rng):
            began = time.perf_counter()
            found = ask(wanted, at)
            took.setdefault(name, []).append((time.perf_counter() - began) * 1000)
            if found < PAGE and number >= 100_000:
                raise RuntimeError(f"a page {name} has only {found} events")
    cuts = [quantiles(times, n=20) for times in took.values()]
    return [f"{cut[9]:.2f} / {cut[18]:.2f}" for cut in cuts]


def _ours(client: Client, inbox: InboxOf, wanted: Wanted, at: int) -> int:
    plural = {"type": "types", "status": "statuses"}
    filter_ = {plural[name]: [value.upper() if name == "status" else value] for name, value in wanted.items()}
    after = TriggerEvent(inbox.item(at)).cursor
    return len(client.ask(PAGES, {"filter": filter_, "after": after})["triggerEvents"]["nodes"])


def _plain(path: Path, inbox: InboxOf) -> sqlite3.Connection:
    """The same events in a plain table."""
    db = sqlite3.connect(path, isolation_level=None)
    db.executescript("PRAGMA journal_mode = WAL;" + PLAIN + "BEGIN;")
    rows = (
        (
            *(item[name] for name in ("user_id", "timestamp", "event_id", "event_type")),
            *(orjson.dumps(item["payload"]), item["status"], item["retry_count"], orjson.dumps(item["metadata"])),
        )
        for item in inbox.items()
    )
    db.executemany("INSERT INTO events VALUES (?, ?, ?, ?, ?, ?, ?, ?)", rows)
    db.execute("COMMIT")
    return db


def _conditions(wanted: Wanted) -> tuple[str, list[Any]]:
    names = {"type": "event_type", "status": "status"}
    conditions = "".join(f" AND {names[name]} = ?" for name in wanted)
    return f"SELECT * FROM events WHERE user_id = ?{conditions}", [USER, *wanted.values()]


def _sql(db: sqlite3.Connection, inbox: InboxOf, wanted: Wanted, at: int) -> int:
    select, values = _conditions(wanted)
    query = f"{select} AND timestamp < ? ORDER BY timestamp DESC LIMIT {PAGE}"
    return _read(db, query, [*values, inbox.item(at)["timestamp"]])


def _offset(db: sqlite3.Connection, wanted: Wanted, at: int) -> int:
    select, values = _conditions(wanted)
    share = 1 / (len(TYPES) if "type" in wanted else 1)
    share *= STATUSES.count(wanted["status"]) / len(STATUSES) if "status" in wanted else 1
    query = f"{select} ORDER BY timestamp DESC LIMIT {PAGE} OFFSET ?"
    return _read(db, query, [*values, int(at * share * 0.9)])


def _read(db: sqlite3.Connection, query: str, values: list[Any]) -> int:
    rows = db.execute(query, values).fetchall()
    return len([(*row[:4], orjson.loads(row[4]), *row[5:7], orjson.loads(row[7])) for row in rows])


def _created(server: Server) -> tuple[float, float]:
    """Events created per second, and per second of a processor, over some connections."""

    def create(share: int) -> None:
        client = Client(server)
        for each in range(share, CREATED, CONNECTIONS):
            client.ask(CREATE, {"type": TYPE, "payload": payload(each)})

    cpu, began = server.cpu_seconds(), time.perf_counter()
    threads = [threading.Thread(target=create, args=(share,)) for share in range(CONNECTIONS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return CREATED / (time.perf_counter() - began), CREATED / (server.cpu_seconds() - cpu)
