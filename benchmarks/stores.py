"""The catalogue in three forms: a file, an SQLite file for the peers, and a store of ours.

The first two are made once and kept in the cache. Our store is made again each time, by `quakegraph ingest` of this
checkout, since this import is measured too.
"""

import os
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from time import perf_counter

import orjson

from benchmarks.cache import CACHE, CHECKOUT
from benchmarks.catalogue import DAY_MS, Catalogue
from benchmarks.contenders import clean_environment
from benchmarks.cpus import on_cpu
from benchmarks.varied_catalogue import varied_lines
from graph.domains.earthquakes.entities import EVENT

INGESTED_AT = 1_735_689_600_000  # every event in the peers' file has this time, epoch milliseconds
TABLE = """
CREATE TABLE events (
  event_id TEXT PRIMARY KEY, event_ts_ms BIGINT NOT NULL, mag DOUBLE, place TEXT, lat DOUBLE, lon DOUBLE, depth DOUBLE,
  source TEXT NOT NULL, ingested_at BIGINT NOT NULL, day_bucket TEXT NOT NULL)"""
PEERS_INDEX = "(event_ts_ms DESC, event_id)"


def catalogue_file(events: int) -> Path:
    """The catalogue as a file with one GeoJSON feature on each line."""

    def write(scratch: Path) -> None:
        with scratch.open("wb") as file:
            file.writelines(Catalogue(events).lines())

    return made_once(CACHE / f"catalogue-{events}.ndjson", write)


def varied_file(events: int) -> Path:
    """The catalogue with what filters ask for, in the same form."""

    def write(scratch: Path) -> None:
        with scratch.open("wb") as file:
            file.writelines(varied_lines(events))

    return made_once(CACHE / f"varied-{events}.ndjson", write)


def peers_file(events: int) -> Path:
    """The catalogue in SQLite: one table, its primary key, and one index."""

    def write(scratch: Path) -> None:
        with sqlite3.connect(scratch) as db:
            db.executescript(f"PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; {TABLE}")
            db.executemany("INSERT INTO events VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", _rows(catalogue_file(events)))
            db.executescript(f"CREATE INDEX events_by_time ON events {PEERS_INDEX}; ANALYZE")
        db.close()

    return made_once(CACHE / f"peers-{events}.db", write)


def made_once(path: Path, write: Callable[[Path], None]) -> Path:
    """Make the file if it is missing. It gets its name when it is complete."""
    if not path.is_file():
        path.parent.mkdir(parents=True, exist_ok=True)
        scratch = path.with_name(f"{path.name}.{os.getpid()}")
        try:
            write(scratch)
            scratch.rename(path)
        finally:
            scratch.unlink(missing_ok=True)
    return path


def _rows(file: Path) -> Iterator[tuple[object, ...]]:
    day_buckets: dict[int, str] = {}
    with file.open("rb") as lines:
        for line in lines:
            feature = orjson.loads(line)
            properties = feature["properties"]
            lon, lat, depth = feature["geometry"]["coordinates"]
            time_ms = properties["time"]
            day = time_ms // DAY_MS
            if day not in day_buckets:
                day_buckets[day] = datetime.fromtimestamp(day * DAY_MS / 1000, UTC).strftime("%Y%m%d")
            numbers = (properties["mag"], properties["place"], lat, lon, depth)
            yield (feature["id"], time_ms, *numbers, "USGS", INGESTED_AT, day_buckets[day])


def import_ours(events: int, store: Path, cpu: int | None) -> float:
    """Fill a new store of ours with the catalogue. Returns the events per second, the start included."""
    return import_file(catalogue_file(events), events, store, cpu)


def import_file(file: Path, events: int, store: Path, cpu: int | None) -> float:
    """Fill a new store of ours with `quakegraph ingest`. Returns the events per second, its start included."""
    command = [sys.executable, "-m", "graph", "ingest", str(file), "--json", "--store", f"sqlite:///{store}"]
    with on_cpu(cpu):
        began = perf_counter()
        done = subprocess.run(command, cwd=CHECKOUT, env=clean_environment(), stdout=subprocess.PIPE, check=True)
        took = perf_counter() - began
    upserted = orjson.loads(done.stdout)["upserted"]
    if upserted != events:
        raise RuntimeError(f"the import stored {upserted:,} of {events:,} events")
    return events / took


def indexes(store: Path) -> list[str]:
    """The indexes that our store really has on events."""
    db = sqlite3.connect(store)
    table, found = f"{EVENT.table.name}.{EVENT.name}", []
    for (name,) in db.execute("SELECT name FROM pragma_index_list(?)", (table,)).fetchall():
        columns = [column for (column,) in db.execute("SELECT name FROM pragma_index_info(?)", (name,))]
        found.append(f"({', '.join(columns)})")
    db.close()
    return found
