"""Makes the tables and indexes of entities, and updates those of a file to their declarations."""

import sqlite3
from collections.abc import Iterable

from graph.store.sqlite.reading import reading
from graph.store.sqlite.sql import quoted
from graph.store.sqlite.table import ONLY, EntityTable


def ensure(db: sqlite3.Connection, tables: Iterable[EntityTable]) -> None:
    """Make missing tables, columns and indexes, and changed indexes again. Call it inside a transaction."""
    for table in tables:
        _ensure_table(db, table)
        _ensure_indexes(db, table)


def _ensure_table(db: sqlite3.Connection, table: EntityTable) -> None:
    present = {name for _, name, *_ in db.execute(f"PRAGMA table_info({table.table})")}
    if not present:
        columns = [f"{quoted(name)} {kind}" for name, kind in table.columns]
        if not table.entity.key_names:
            columns.append(f"{quoted(ONLY)} INTEGER NOT NULL DEFAULT 1")
        db.execute(f"CREATE TABLE {table.table} ({', '.join(columns)})")
    else:
        for name, kind in table.columns:
            if name not in present:
                db.execute(f"ALTER TABLE {table.table} ADD COLUMN {quoted(name)} {kind}")


def _ensure_indexes(db: sqlite3.Connection, table: EntityTable) -> None:
    wanted = dict([_key(table), *_indexes(table)])
    found = dict(
        db.execute(
            "SELECT name, sql FROM sqlite_master WHERE type = 'index' AND tbl_name = ? AND sql IS NOT NULL",
            (table.name,),
        )
    )
    for name in [name for name, sql in found.items() if wanted.get(name) != sql]:
        db.execute(f"DROP INDEX {quoted(name)}")
        del found[name]
    for name, sql in wanted.items():  # in one order, so that files of one version have one layout
        if name not in found:
            db.execute(sql)


def _key(table: EntityTable) -> tuple[str, str]:
    """Name and SQL of the index of the primary key."""
    name = f"{table.name}.key"
    return name, f"CREATE UNIQUE INDEX {quoted(name)} ON {table.table} ({', '.join(table.key_columns)})"


def _indexes(table: EntityTable) -> list[tuple[str, str]]:
    """Name and SQL of each other index. It holds all columns that its queries order, filter and count by."""
    entity = table.entity
    ttl = [quoted(table.ttl)] if table.ttl else []
    indexes = []
    # That of the primary key can have no other column, since it is unique.
    primary = {entity.table.primary: entity.narrowed_by} if entity.narrowed_by else {}
    for index, narrowed_by in (primary | {each: each.narrowed_by for each in entity.indexes}).items():
        partition, sort = ([quoted(name) for name in template.names] for template in entity.templates[index])
        narrowing = [quoted(name) for name in narrowed_by if name in entity.named]
        wanted = [(table.index_name(index), [*partition, *reading(table, index, True).order, *ttl, *narrowing])]
        if ranked_by := table.ranked_by(index):
            wanted.append((table.index_name(index, ranked_by), [*partition, quoted(ranked_by), *sort, *ttl]))
        made_of = " AND ".join(f"{name} IS NOT NULL" for name in dict.fromkeys([*partition, *sort]))
        where = f" WHERE {made_of}" if made_of and index not in primary else ""
        for name, columns in wanted:
            listed = ", ".join(_once(columns))
            indexes.append((name, f"CREATE INDEX {quoted(name)} ON {table.table} ({listed}){where}"))
    if table.ttl:
        name, column = f"{table.name}.{table.ttl}", quoted(table.ttl)
        indexes.append((name, f"CREATE INDEX {quoted(name)} ON {table.table} ({column}) WHERE {column} IS NOT NULL"))
    return indexes


def _once(columns: Iterable[str]) -> list[str]:
    """The columns, each only at its first place, with or without its order."""
    found: dict[str, str] = {}
    for column in columns:
        found.setdefault(column.removesuffix(" ASC"), column)
    return list(found.values())
