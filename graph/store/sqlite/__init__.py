"""The embedded engine: one SQLite file, durable before a write answers."""

from graph.store.sqlite.engine import SqliteTable
from graph.store.sqlite.opening import open_sqlite

__all__ = ["SqliteTable", "open_sqlite"]
