"""Migrates a file of version 0.1 to the present layout.

Version 0.1 kept a table for each design, with each whole item as JSON beside its keys. The migration moves its rows to
the tables of their entities, some thousand at a time. Each batch is one transaction, so the process may be killed at
any point: the next one goes on from there. `PRAGMA user_version` names the layout of a migrated file.

A row of no known entity stays where it is. It may belong to a domain that is switched off. When the domain is
switched on, and the old table has keys that begin like its keys, these rows are moved.
"""

import sqlite3
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import orjson

from graph.observability.logs import get_logger
from graph.store.attributes import Attribute, Document, Real, Text, Truth
from graph.store.design import TableDesign
from graph.store.entity import ENTITY, Entity, Item
from graph.store.sqlite.claiming import mark
from graph.store.sqlite.schema import ensure, ensure_table
from graph.store.sqlite.sql import quoted
from graph.store.sqlite.table import EntityTable

LAYOUT = 2
ROWS_PER_BATCH = 4000
PROGRESS_S = 1.0  # between two lines of the log
WAIT_S = 0.5  # for another process that migrates, before checking whether to stop
WORTH_SHRINKING = 4  # the file is made smaller if at least one page in four is free

logger = get_logger(__name__)

Clock = Callable[[], float]


def prepare(
    db: sqlite3.Connection, path: Path, tables: Mapping[Entity, EntityTable], is_stopped: Callable[[], bool]
) -> None:
    """Make the tables and indexes of entities, and migrate an older file first.

    This blocks, perhaps for minutes. Once `is_stopped` returns true, it raises SQLite's error for an interruption.

    Raises:
        LaterLayout: A later version has written the file.
    """
    db.set_progress_handler(is_stopped, 10_000)
    try:
        if is_older(db, tables):
            with _alone(path, is_stopped):
                if is_older(db, tables):  # another process may have migrated it meanwhile
                    Migration(db, tables).run()
        with _transaction(db):
            ensure(db, tables.values())
            if _layout(db) < LAYOUT:
                db.execute(f"PRAGMA user_version = {LAYOUT}")
            mark(db)
    finally:
        db.set_progress_handler(None, 0)


class LaterLayout(Exception):
    """The file has a layout that this version does not know."""


def is_older(db: sqlite3.Connection, tables: Mapping[Entity, EntityTable]) -> bool:
    """Whether something in the file must be migrated."""
    layout = _layout(db)
    if layout > LAYOUT:
        raise LaterLayout(f"a later version wrote it: its layout is {layout}, this version knows {LAYOUT}: upgrade")
    if layout < LAYOUT and db.execute("SELECT 1 FROM sqlite_master").fetchone():
        return True
    return any(_has_keys_of(db, old, entity) for old in _old_tables(db, tables) for entity in old.entities)


@dataclass(frozen=True, slots=True)
class OldTable:
    """A table of version 0.1, and the entities that it may hold."""

    design: TableDesign
    entities: tuple[Entity, ...]

    @property
    def table(self) -> str:
        """Its name in SQL."""
        return quoted(self.design.name)

    @property
    def keys(self) -> tuple[str, str]:
        """Its columns with the primary key."""
        return quoted(self.design.partition_key.name), quoted(self.design.sort_key.name)


def _old_tables(db: sqlite3.Connection, tables: Mapping[Entity, EntityTable]) -> list[OldTable]:
    of_design: dict[str, list[Entity]] = {}
    for entity in tables:
        of_design.setdefault(entity.table.name, []).append(entity)
    present = {name for (name,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    old = [OldTable(entities[0].table, tuple(entities)) for name, entities in of_design.items() if name in present]
    return [
        each for each in old if any(name == "item" for _, name, *_ in db.execute(f"PRAGMA table_info({each.table})"))
    ]


def _has_keys_of(db: sqlite3.Connection, old: OldTable, entity: Entity) -> bool:
    """Whether the table has a key that begins like the entity's keys."""
    prefix = entity.templates[entity.table.primary].partition.literals[0]
    condition, values = (
        ("1", []) if not prefix else (f"{old.keys[0]} >= ? AND {old.keys[0]} < ?", [prefix, _end(prefix)])
    )
    return db.execute(f"SELECT 1 FROM {old.table} WHERE {condition} LIMIT 1", values).fetchone() is not None


def _end(prefix: str) -> str:
    """The least text after all texts with the prefix. The prefix must not end with Unicode's last character."""
    return prefix[:-1] + chr(ord(prefix[-1]) + 1)


def _layout(db: sqlite3.Connection) -> int:
    return int(db.execute("PRAGMA user_version").fetchone()[0])


@contextmanager
def _transaction(db: sqlite3.Connection) -> Iterator[None]:
    db.execute("BEGIN IMMEDIATE")
    try:
        yield
        db.execute("COMMIT")
    finally:
        if db.in_transaction:
            db.execute("ROLLBACK")


@contextmanager
def _alone(path: Path, is_stopped: Callable[[], bool]) -> Iterator[None]:
    """Keep other processes from migrating the file, by a lock on a second file beside it.

    It is SQLite's own lock, which works on every system and ends with its process.
    """
    beside = Path(f"{path}-migration")
    while True:
        with closing(sqlite3.connect(beside, timeout=WAIT_S, isolation_level=None)) as lock:
            try:
                lock.execute("BEGIN EXCLUSIVE")
            except sqlite3.OperationalError as error:
                code = error.sqlite_errorcode & 0xFF
                was_removed = code == sqlite3.SQLITE_IOERR and not beside.exists()  # by the process that held it
                if is_stopped() or not (code == sqlite3.SQLITE_BUSY or was_removed):
                    raise
                continue
            yield
            with suppress(OSError):  # a file that cannot be removed does no harm
                beside.unlink()
            return


class Migration:
    """Moves the rows of old tables."""

    def __init__(self, db: sqlite3.Connection, tables: Mapping[Entity, EntityTable], clock: Clock = time.monotonic):
        self._db = db
        self._tables = tables
        self._old = _old_tables(db, tables)
        self._clock = clock  # seconds
        self._dropped: set[tuple[Entity, str]] = set()  # attributes that were dropped
        self._progress = Progress(self._old_rows(), clock)

    def run(self) -> None:
        """Do all remaining steps of the migration."""
        with _transaction(self._db):
            for table in self._tables.values():
                ensure_table(self._db, table)  # its other indexes are made last, which is faster and makes them smaller
        for old in self._old:
            self._drop_indexes(old)
            self._move(old)
        with _transaction(self._db):
            ensure(self._db, self._tables.values())
            for old in self._old:
                if not self._db.execute(f"SELECT 1 FROM {old.table}").fetchone():
                    self._db.execute(f"DROP TABLE {old.table}")
        if self._old or _layout(self._db) < LAYOUT:
            self._shrink()
        self._db.execute(f"PRAGMA user_version = {LAYOUT}")
        self._progress.end()

    def _old_rows(self) -> int:
        return sum(self._db.execute(f"SELECT count(*) FROM {old.table}").fetchone()[0] for old in self._old)

    def _drop_indexes(self, old: OldTable) -> None:
        """Drop all indexes but that of the primary key, so that removing a row costs less."""
        found = self._db.execute(
            "SELECT name FROM sqlite_master WHERE type = 'index' AND tbl_name = ? AND sql IS NOT NULL",
            (old.design.name,),
        ).fetchall()
        with _transaction(self._db):
            for (name,) in found:
                self._db.execute(f"DROP INDEX {quoted(name)}")

    def _move(self, old: OldTable) -> None:
        """Move the rows of known entities, in the order in which they were written."""
        partition, sort = old.keys
        select = f"SELECT rowid, {partition}, {sort}, item FROM {old.table} WHERE rowid > ? ORDER BY rowid LIMIT ?"
        reader = Reader(old)
        last, left, example = -1, 0, None
        while True:
            with _transaction(self._db):
                rows = self._db.execute(select, (last, ROWS_PER_BATCH)).fetchall()
                found = [(rowid, *reader.read(pk, sk, item)) for rowid, pk, sk, item in rows]
                moved = [(rowid, entity, item) for rowid, entity, item in found if entity is not None]
                self._insert((entity, item) for _, entity, item in moved)
                self._db.executemany(f"DELETE FROM {old.table} WHERE rowid = ?", [(rowid,) for rowid, *_ in moved])
            if not rows:
                break
            last = rows[-1][0]
            if len(moved) < len(rows):
                left += len(rows) - len(moved)
                moved_rows = {rowid for rowid, *_ in moved}
                example = example or next(tuple(row[1:3]) for row in rows if row[0] not in moved_rows)
            self._progress.add(len(rows))
        if left:
            logger.warning(
                "Some items are of no known entity: they stay in the table of version 0.1",
                table=old.design.name,
                items=left,
                such_as=example,
            )

    def _insert(self, items: Iterable[tuple[Entity, Item]]) -> None:
        of_entity: dict[Entity, list[Item]] = {}
        for entity, item in items:
            of_entity.setdefault(entity, []).append(self._declared(entity, item))
        for entity, some in of_entity.items():
            table = self._tables[entity]
            # An existing item is newer: it was written after the migration of its table.
            columns = table.columns_of(some)
            insert = f"{table.insert(columns)} DO NOTHING"
            encode = table.encoder(columns)
            self._db.executemany(insert, (encode([item]) for item in some))

    def _declared(self, entity: Entity, item: Item) -> Item:
        """The item without attributes that the entity cannot have; each is told once."""
        kept: Item = {}
        for name, value in item.items():
            attribute = entity.named.get(name)
            fitting = value if attribute is None and entity.open else _fitting(attribute, value)
            if fitting is not None:
                kept[name] = fitting
            elif value is not None and (entity, name) not in self._dropped:
                self._dropped.add((entity, name))
                logger.warning("An undeclared attribute was dropped", entity=entity.name, attribute=name)
        return kept

    def _shrink(self) -> None:
        pages, free = (self._db.execute(f"PRAGMA {name}").fetchone()[0] for name in ("page_count", "freelist_count"))
        if free * WORTH_SHRINKING < pages:
            return
        logger.info("The store's file is being made smaller", free_pages=free, pages=pages)
        try:
            self._db.execute("VACUUM")
            self._db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        except sqlite3.Error as error:
            if error.sqlite_errorcode == sqlite3.SQLITE_INTERRUPT:
                raise
            logger.warning("The store's file could not be made smaller: it works as it is", cause=str(error))


def _fitting(attribute: Attribute | None, value: Any) -> Any:
    """The value for the attribute's column; None if it does not fit. Bounds are not checked for stored values."""
    match attribute, value:
        case (None, _) | (_, None):
            return None
        case (Truth(), bool()) | (Text(), str()) | (Document(), list() | dict()):
            return value
        case (Truth() | Text() | Document(), _) | (_, bool()):
            return None
        case (Real(), int() | float()):
            return float(value)
        case (_, int()):
            return value
        case (_, float()) if value.is_integer():
            return int(value)
        case _:
            return None


class Reader:
    """Finds the entities of an old table's rows."""

    def __init__(self, old: OldTable) -> None:
        design = old.design
        self._entities = [(entity, *entity.templates[design.primary]) for entity in old.entities]
        self._keys = {attribute.name for attribute in design.key_attributes} | {ENTITY}

    def read(self, partition: Any, sort: Any, json: bytes) -> tuple[Entity | None, Item]:
        """The entity whose templates match the keys, and the item with the keys' attributes; None if none matches."""
        for entity, partition_template, sort_template in self._entities:
            if (of_partition := partition_template.parse(partition)) is None:
                continue
            if (of_sort := sort_template.parse(sort)) is None:
                continue
            if any(of_sort[name] != value for name, value in of_partition.items() if name in of_sort):
                continue
            item: Item = orjson.loads(json)
            for index in entity.indexes:
                for template in entity.templates[index]:
                    if template.key.name in item and any(name not in item for name in template.names):
                        item |= {**(template.parse(item[template.key.name]) or {}), **item}
            for name in self._keys:
                if name not in entity.named:
                    item.pop(name, None)
            return entity, {**item, **of_partition, **of_sort}
        return None, {}


@dataclass
class Progress:
    """Logs the progress, at most once in `PROGRESS_S`."""

    total: int
    clock: Clock
    done: int = 0
    _began: float = field(init=False)
    _logged_at: float = field(init=False)

    def __post_init__(self) -> None:
        self._began = self._logged_at = self.clock()

    def add(self, rows: int) -> None:
        """Count rows that were read."""
        self.done += rows
        if (now := self.clock()) - self._logged_at >= PROGRESS_S:
            self._logged_at = now
            logger.info("The store's file is being migrated", items=self.done, of=self.total)

    def end(self) -> None:
        """Log the end."""
        if self.total:
            seconds = round(self.clock() - self._began, 1)
            logger.info("The store's file was migrated", items=self.done, seconds=seconds)
