"""The embedded engine: one SQLite file, durable before a write answers."""

from graph.store.sqlite.engine import SqliteTable, open_sqlite

__all__ = ["SqliteTable", "open_sqlite"]
