"""The layout of a file: its version, `PRAGMA user_version`, and the tables and indexes of its entities."""

import sqlite3
from collections.abc import Callable, Iterable

from graph.store.sqlite.claiming import mark
from graph.store.sqlite.schema import ensure
from graph.store.sqlite.table import EntityTable

LAYOUT = 2
STEPS_BETWEEN_CHECKS = 10_000  # of SQLite's virtual machine


class OtherLayout(Exception):
    """The file has a layout that this version does not read."""


def prepare(db: sqlite3.Connection, tables: Iterable[EntityTable], is_stopped: Callable[[], bool]) -> None:
    """Make the tables and indexes of entities, or update them to their declarations.

    An index of a large file blocks for minutes. Once `is_stopped` returns true, this raises SQLite's error for an
    interruption, and the file is as it was.

    Raises:
        OtherLayout: Another version has written the file. It is not changed.
    """
    db.set_progress_handler(is_stopped, STEPS_BETWEEN_CHECKS)
    try:
        db.execute("BEGIN IMMEDIATE")
        _check(db)
        ensure(db, tables)
        db.execute(f"PRAGMA user_version = {LAYOUT}")
        mark(db)
        db.execute("COMMIT")
    finally:
        if db.in_transaction:
            db.execute("ROLLBACK")
        db.set_progress_handler(None, 0)


def _check(db: sqlite3.Connection) -> None:
    layout = int(db.execute("PRAGMA user_version").fetchone()[0])
    if layout > LAYOUT:
        raise OtherLayout(f"a later version wrote it: its layout is {layout}, this version knows {LAYOUT}: upgrade")
    if layout < LAYOUT and db.execute("SELECT 1 FROM sqlite_master").fetchone():
        raise OtherLayout(
            f"an earlier version wrote it: its layout is {layout}, this version knows {LAYOUT}: "
            "name a new file, and import the events again with `quakegraph ingest`"
        )
