"""The embedded engine: one SQLite file, durable before a write answers."""

from graph.store.sqlite.engine import SqliteDatabase
from graph.store.sqlite.opening import open_sqlite

__all__ = ["SqliteDatabase", "open_sqlite"]
