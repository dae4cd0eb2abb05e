"""Applies actions inside a transaction that the caller has begun."""

import sqlite3
from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Any

from graph.store.conditions import Condition, kind_of, predicate
from graph.store.contract import Action, Delete, Put, Update
from graph.store.entity import Entity, Item, Key
from graph.store.sqlite.projection import OTHERS
from graph.store.sqlite.table import EntityTable
from graph.store.values import InvalidItem

ROWS_PER_STATEMENT = 100  # SQLite writes them in one call, without Python's lock

Tables = Mapping[Entity, EntityTable]


def apply(db: sqlite3.Connection, tables: Tables, actions: Sequence[Action], now: int) -> list[int]:
    """Apply actions. Returns the positions of those whose condition does not hold. `now` is in seconds."""
    refused: list[int] = []
    at = 0
    for kind, alike in groupby(actions, _kind_of_put):
        some = list(alike)
        if kind is None:
            refused += [at + i for i, action in enumerate(some) if not _apply(db, tables, action, now)]
        else:
            entity, if_absent = kind
            items = [put.item for put in some if isinstance(put, Put)]
            refused += [at + i for i in _put(db, tables[entity], items, if_absent, now)]
        at += len(some)
    return refused


def _kind_of_put(action: Action) -> tuple[Entity, bool] | None:
    """The key by which puts are grouped into one statement; None for any other action."""
    return (action.entity, action.if_absent) if isinstance(action, Put) and action.condition is None else None


def _put(db: sqlite3.Connection, table: EntityTable, items: Sequence[Item], if_absent: bool, now: int) -> list[int]:
    """Write items many at a time. Returns the positions of those that should have been absent and were not."""
    refused: list[int] = []
    at_once = min(ROWS_PER_STATEMENT, table.rows_per_statement)
    live_at = table.live_at(now)
    for begin in range(0, len(items), at_once):
        some = items[begin : begin + at_once]
        columns = table.columns_of(some)
        values = table.values(some, columns)
        if not if_absent:
            db.execute(table.put(columns, len(some)), values)
            continue
        db.execute("SAVEPOINT some")
        if db.execute(table.put(columns, len(some), if_absent=True), (*values, *live_at)).rowcount < len(some):
            # The statement does not say which items were refused.
            db.execute("ROLLBACK TO some")
            put, width = table.put(columns, if_absent=True), len(columns)
            rows = (values[i : i + width] for i in range(0, len(values), width))
            refused += [begin + i for i, row in enumerate(rows) if db.execute(put, (*row, *live_at)).rowcount != 1]
        db.execute("RELEASE some")
    return refused


def _apply(db: sqlite3.Connection, tables: Tables, action: Action, now: int) -> bool:
    """Change one item. False if its condition does not hold."""
    if isinstance(action, Update):
        return _update(db, tables[action.key.entity], action, now)
    if isinstance(action, Put):
        table = tables[action.entity]
        if not _applies(table, _stored(db, table, action.key) or {}, action.condition, now):
            return False
        _replace(db, table, action.item)
        return True
    if isinstance(action, Delete):
        table = tables[action.key.entity]
        stored = _stored(db, table, action.key)
        if stored is None or not _applies(table, stored, action.condition, now):
            return False
        db.execute(table.delete, action.key.values)
    return True


def _replace(db: sqlite3.Connection, table: EntityTable, item: Item) -> None:
    columns = table.columns_of([item])
    db.execute(table.put(columns), table.values([item], columns))


def _update(db: sqlite3.Connection, table: EntityTable, update: Update, now: int) -> bool:
    stored = _stored(db, table, update.key)
    before = stored or {}
    if not _applies(table, before, update.condition, now):
        return False
    for name in update.add:
        if kind_of(before.get(name, 0)) is not float:
            raise InvalidItem(f"nothing can be added to `{name}`, which is not a number")
    sums = {name: before.get(name, 0) + number for name, number in update.add.items()}
    key = dict(zip(table.entity.key_names, update.key.values, strict=True))
    item = {**key, **before, **update.set, **sums}
    table.entity.check_changed(item, sums)
    if stored is None:
        _replace(db, table, item)
    else:
        changed = _changed_columns(table, item, [*update.set, *sums])
        db.execute(table.update(changed), (*changed.values(), *update.key.values))
    return True


def _changed_columns(table: EntityTable, item: Item, names: Sequence[str]) -> dict[str, Any]:
    """Column → value of the changed columns only, so that other indexes are not written."""
    columns = tuple(dict.fromkeys([name if name in table.entity.named else OTHERS for name in names]))
    return dict(zip(columns, table.values([item], columns), strict=True))


def _applies(table: EntityTable, stored: Item, condition: Condition | None, now: int) -> bool:
    """Whether an item has not expired and fulfils the condition. A missing item is empty."""
    if table.ttl and (ttl := stored.get(table.ttl)) is not None and ttl <= now:
        return False
    return condition is None or predicate(condition)(stored)


def _stored(db: sqlite3.Connection, table: EntityTable, key: Key) -> Item | None:
    """The item in the file, expired or not."""
    found = db.execute(f"SELECT {table.whole.sql} FROM {table.table} WHERE {table.has_key}", key.values).fetchone()
    return table.whole.items([found])[0] if found else None
