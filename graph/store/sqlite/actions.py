"""Applies actions inside a transaction that the caller has begun."""

import sqlite3
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from graph.store.conditions import Condition, are_numbers, kind_of, predicate
from graph.store.contract import Action, Delete, Put, Update
from graph.store.entity import Entity, Item, Key
from graph.store.sqlite.sql import OTHERS
from graph.store.sqlite.table import EntityTable
from graph.store.values import InvalidItem

ROWS_PER_STATEMENT = 100  # SQLite writes them in one call, without Python's lock

Tables = Mapping[Entity, EntityTable]


def apply(db: sqlite3.Connection, tables: Tables, actions: Sequence[Action], now: int) -> list[int]:
    """Apply actions on distinct items. Returns the positions of those whose condition does not hold.

    Args:
        now: seconds.
    """
    refused: list[int] = []
    puts: dict[tuple[Entity, bool], _Puts] = {}
    for at, action in enumerate(actions):
        if action.__class__ is Put and action.condition is None:
            kind = action.entity, action.if_absent
            if (alike := puts.get(kind)) is None:
                alike = puts[kind] = _Puts([], [])
            alike.items.append(action.item)
            alike.positions.append(at)
        elif not _apply(db, tables, action, now):
            refused.append(at)
    for (entity, if_absent), alike in puts.items():
        refused += [alike.positions[at] for at in _put(db, tables[entity], alike.items, if_absent, now)]
    return sorted(refused)


class _Puts(NamedTuple):
    """Unconditional puts of one entity, which are written together."""

    items: list[Item]
    positions: list[int]


def _put(db: sqlite3.Connection, table: EntityTable, items: Sequence[Item], if_absent: bool, now: int) -> list[int]:
    """Write items many at a time. Returns the positions of those that should have been absent and were not."""
    refused: list[int] = []
    at_once = min(ROWS_PER_STATEMENT, table.rows_per_statement)
    live_at = table.live_at(now)
    columns = table.columns_of(items)
    encode, width = table.encoder(columns), len(columns)
    for begin in range(0, len(items), at_once):
        some = items[begin : begin + at_once]
        values = encode(some)
        if not if_absent:
            db.execute(table.put(columns, len(some)), values)
            continue
        db.execute("SAVEPOINT some")
        if db.execute(table.put(columns, len(some), if_absent=True), (*values, *live_at)).rowcount < len(some):
            # The statement does not say which items were refused.
            db.execute("ROLLBACK TO some")
            put = table.put(columns, if_absent=True)
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
    db.execute(table.put(columns), table.encoder(columns)([item]))


def _update(db: sqlite3.Connection, table: EntityTable, update: Update, now: int) -> bool:
    stored = _stored(db, table, update.key)
    before = stored or {}
    if not _applies(table, before, update.condition, now):
        return False
    if not are_numbers([before[name] for name in update.add if name in before]):
        wrong = next(name for name in update.add if kind_of(before.get(name, 0)) is not float)
        raise InvalidItem(f"nothing can be added to `{wrong}`, which is not a number")
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
    return dict(zip(columns, table.encoder(columns)([item]), strict=True))


def _applies(table: EntityTable, stored: Item, condition: Condition | None, now: int) -> bool:
    """Whether an item has not expired and fulfils the condition. A missing item is empty."""
    if table.ttl and (ttl := stored.get(table.ttl)) is not None and ttl <= now:
        return False
    return condition is None or predicate(condition)(stored)


def _stored(db: sqlite3.Connection, table: EntityTable, key: Key) -> Item | None:
    """The item in the file, expired or not."""
    found = db.execute(f"SELECT {table.whole.sql} FROM {table.table} WHERE {table.has_key}", key.values).fetchone()
    return table.whole.items([found])[0] if found else None
