"""The embedded engine: one SQLite file. A write is on the disk before it returns."""

from graph.store.sqlite.engine import SqliteDatabase
from graph.store.sqlite.opening import open_sqlite

__all__ = ["SqliteDatabase", "open_sqlite"]
