"""Fills a store of ours and a plain table with the same sightings, without the service.

The expired ones stay in both: triggers keep ours from deleting them, so that it is measured as between two sweeps.
"""

import sqlite3
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from contextlib import closing
from itertools import islice
from pathlib import Path

import orjson

from benchmarks.sightings.world import World
from benchmarks.triggers.stores import done
from graph.core.times import utc_time
from graph.domain import entities_of
from graph.domains import DOMAINS
from graph.domains.sightings.entities import AREA, LISTED_SIGHTING, SIGHTING, SIGHTING_BY_ID, TALLY
from graph.store.entity import Entity, Item
from graph.store.sqlite import open_sqlite
from graph.store.sqlite.table import EntityTable

FILLED = (SIGHTING, SIGHTING_BY_ID, LISTED_SIGHTING, AREA, TALLY)
AT_ONCE = 10_000  # sightings
PLAIN_COLUMNS = ("sightingId", "category", "areaSlug", "text", "reportedAt", "expiresAt", "lat", "lon")
COUNTED_COLUMNS = ("reporterTier", "confirmationCount")


def filled(world: World, ours: Path, plain: Path | None = None) -> list[str]:
    """Fill one or both files. Returns the slugs of the areas with active sightings."""
    done(_made(ours))
    rest = Rest()
    with closing(_bulk(ours)) as db, closing(_plain(plain or ":memory:")) as plain_db:
        _without_indexes(db)
        for some in _parts(world.sightings()):
            for entity, items in rest.stored(some):
                _insert(db, entity, items)
            if plain:
                _insert_plain(plain_db, some)
        for entity, items in rest.at_last():
            _insert(db, entity, items)
        for entity in FILLED:
            name = f"{entity.table.name}.{entity.name}"
            db.execute(f'CREATE TRIGGER "{name}.kept" BEFORE DELETE ON "{name}" BEGIN SELECT RAISE(IGNORE); END')
        plain_db.executescript("CREATE UNIQUE INDEX k ON blip (PK, SK); CREATE INDEX t ON blip (GSI1PK, GSI1SK);")
    done(_made(ours))
    return rest.active_areas(world.now)


class Rest:
    """What is stored with sightings: their copies, the areas, and the tallies."""

    def __init__(self) -> None:
        self._tallies: Counter[tuple[str, int, int]] = Counter()
        self._areas: dict[str, int] = defaultdict(int)

    def stored(self, sightings: list[Item]) -> Iterator[tuple[Entity, list[Item]]]:
        """The items of some sightings."""
        yield SIGHTING, sightings
        yield SIGHTING_BY_ID, sightings
        yield LISTED_SIGHTING, [{**item, "list": each} for item in sightings for each in item["lists"]]
        for item in sightings:
            slug, expires_at = item["areaSlug"], item["expiresAt"]
            self._areas[slug] = max(self._areas[slug], expires_at)
            self._tallies[item["category"], expires_at, utc_time(item["reportedAt"]).hour] += 1

    def at_last(self) -> Iterator[tuple[Entity, list[Item]]]:
        """The items that follow from all of them."""
        yield AREA, [{"areaSlug": slug, "name": slug, "expiresAt": at} for slug, at in self._areas.items()]
        tallies: dict[tuple[str, int], Item] = {}
        for (category, expires_at, hour), number in self._tallies.items():
            tally = tallies.setdefault((category, expires_at), {"category": category, "expiresAt": expires_at})
            tally[f"hour{hour:02}"] = number
        yield TALLY, list(tallies.values())

    def active_areas(self, now: int) -> list[str]:
        """The slugs of the areas with active sightings."""
        return sorted(slug for slug, expires_at in self._areas.items() if expires_at > now)


async def _made(path: Path) -> None:
    """Make what is missing of the tables and indexes."""
    async with open_sqlite(path, entities_of(DOMAINS)):
        pass


def _bulk(path: Path | str) -> sqlite3.Connection:
    db = sqlite3.connect(path, isolation_level=None)
    db.executescript("PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF;")
    return db


def _plain(path: Path | str) -> sqlite3.Connection:
    db = _bulk(path)
    names = ", ".join((*PLAIN_COLUMNS, *COUNTED_COLUMNS))
    db.execute(f"CREATE TABLE blip (PK, SK, GSI1PK, GSI1SK, {names})")
    return db


def _without_indexes(db: sqlite3.Connection) -> None:
    """Drop the indexes that are filled, since it takes far less time to make them at the end."""
    for entity in FILLED:
        table = f"{entity.table.name}.{entity.name}"
        found = db.execute(
            "SELECT name FROM sqlite_master WHERE type = 'index' AND tbl_name = ? AND sql IS NOT NULL", (table,)
        )
        for (name,) in found.fetchall():
            db.execute(f'DROP INDEX "{name}"')


def _insert(db: sqlite3.Connection, entity: Entity, items: list[Item]) -> None:
    table = EntityTable(entity)
    names = tuple(name for name, _ in table.columns)
    places, width = ", ".join("?" * len(names)), len(names)
    columns = ", ".join(f'"{name}"' for name in names)
    values = table.encoder(names)(items)
    rows = (values[at : at + width] for at in range(0, len(values), width))
    db.execute("BEGIN")
    db.executemany(f"INSERT INTO {table.table} ({columns}) VALUES ({places})", rows)
    db.execute("COMMIT")


def _insert_plain(db: sqlite3.Connection, items: Iterable[Item]) -> None:
    """As documented: one item each, under its area and its category."""
    rows = [
        (
            f"AREA#{item['areaSlug']}",
            f"SIGHTING#{item['reportedAt']}#{item['sightingId']}",
            f"CATEGORY#{item['category']}",
            f"{item['reportedAt']}#{item['sightingId']}",
            *map(item.get, (*PLAIN_COLUMNS, *COUNTED_COLUMNS)),
        )
        for item in items
    ]
    db.execute("BEGIN")
    db.executemany(f"INSERT INTO blip VALUES ({', '.join('?' * len(rows[0]))})", rows)
    db.execute("COMMIT")


def quakes_file(world: World, path: Path) -> Path:
    """The earthquakes as a file that `quakegraph ingest` reads, each with all of its ids."""
    with path.open("wb") as file:
        for quake in world.quakes:
            properties = {
                "mag": 7.0,
                "place": "Somewhere",
                "time": 1000 * quake.at,
                "ids": f",{','.join(quake.aliases)},",
                "type": "earthquake",
            }
            geometry = {"type": "Point", "coordinates": [quake.centre.lon, quake.centre.lat, 10.0]}
            feature = {"type": "Feature", "id": quake.event_id, "properties": properties, "geometry": geometry}
            file.write(orjson.dumps(feature, option=orjson.OPT_APPEND_NEWLINE))
    return path


def _parts(items: Iterator[Item]) -> Iterator[list[Item]]:
    while some := list(islice(items, AT_ONCE)):
        yield some
