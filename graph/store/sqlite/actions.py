"""Applying actions, inside a transaction that the caller began."""

import sqlite3
from collections.abc import Sequence
from itertools import groupby

import orjson

from graph.store.conditions import Condition, kind_of, predicate
from graph.store.contract import Action, Delete, InvalidItem, Item, Key, Put, Update
from graph.store.limits import check_item
from graph.store.sqlite.statements import Statements

ROWS_A_STATEMENT = 100  # SQLite takes that many without a word to Python in between, and without its lock


def apply(db: sqlite3.Connection, sql: Statements, actions: Sequence[Action], now: int) -> list[int]:
    """Change items; the positions of the actions whose condition does not hold. `now` is in seconds."""
    refused: list[int] = []
    at = 0
    for if_absent, alike in groupby(actions, _puts_if_absent):
        some = list(alike)
        if if_absent is None:
            refused += [at + i for i, action in enumerate(some) if not _apply(db, sql, action, now)]
        else:
            refused += [at + i for i in _put(db, sql, [put.item for put in some], if_absent, now)]  # type: ignore[union-attr]
        at += len(some)
    return refused


def _puts_if_absent(action: Action) -> bool | None:
    """What tells puts apart that one statement can do; None for any other action."""
    return action.if_absent if isinstance(action, Put) else None


def _put(db: sqlite3.Connection, sql: Statements, items: Sequence[Item], if_absent: bool, now: int) -> list[int]:
    """Write items many at a time; the positions of those that were there and should not have been."""
    refused: list[int] = []
    for begin in range(0, len(items), ROWS_A_STATEMENT):
        some = items[begin : begin + ROWS_A_STATEMENT]
        values = [value for item in some for value in (*sql.row(item), orjson.dumps(item))]
        if not if_absent:
            db.execute(sql.put(len(some)), values)
            continue
        db.execute("SAVEPOINT some")
        if db.execute(sql.put(len(some), if_absent=True), (*values, now)).rowcount < len(some):
            # Which of them it was, the statement does not say.
            db.execute("ROLLBACK TO some")
            put, columns = sql.put(if_absent=True), len(values) // len(some)
            rows = (values[i : i + columns] for i in range(0, len(values), columns))
            refused += [begin + i for i, row in enumerate(rows) if db.execute(put, (*row, now)).rowcount != 1]
        db.execute("RELEASE some")
    return refused


def _apply(db: sqlite3.Connection, sql: Statements, action: Action, now: int) -> bool:
    """Change one item; False where its condition does not hold."""
    if isinstance(action, Update):
        return _update(db, sql, action, now)
    if isinstance(action, Delete):
        stored = _stored(db, sql, action.key)
        if stored is None or not _applies(sql, stored, action.condition, now):
            return False
        db.execute(sql.delete, action.key)
    return True


def _update(db: sqlite3.Connection, sql: Statements, update: Update, now: int) -> bool:
    before = _stored(db, sql, update.key) or {}
    if not _applies(sql, before, update.condition, now):
        return False
    for name in update.add:
        if kind_of(before.get(name, 0)) is not float:
            raise InvalidItem(f"nothing can be added to `{name}`, which is no number")
    item = {
        sql.design.partition_key.name: update.key[0],
        sql.design.sort_key.name: update.key[1],
        **before,
        **update.set,
        **{name: before.get(name, 0) + number for name, number in update.add.items()},
    }
    check_item(sql.design, item)
    db.execute(sql.put(), (*sql.row(item), orjson.dumps(item)))
    return True


def _applies(sql: Statements, stored: Item, condition: Condition | None, now: int) -> bool:
    """Whether an item, empty where there is none, has not expired and fulfils the condition."""
    ttl = stored.get(sql.design.ttl) if sql.design.ttl else None
    if isinstance(ttl, int | float) and ttl <= now:
        return False
    return condition is None or predicate(condition)(stored)


def _stored(db: sqlite3.Connection, sql: Statements, key: Key) -> Item | None:
    """The item as it stands in the file, expired or not."""
    found = db.execute(f"SELECT item FROM {sql.table} WHERE {sql.has_key}", key).fetchone()
    return orjson.loads(found[0]) if found else None
