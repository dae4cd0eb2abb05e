"""Applying actions, inside a transaction that the caller began."""

import sqlite3

import orjson

from graph.store.conditions import Condition, kind_of, predicate
from graph.store.contract import Action, Delete, InvalidItem, Item, Key, Put, Update
from graph.store.limits import check_item
from graph.store.sqlite.statements import Statements


def apply(db: sqlite3.Connection, sql: Statements, action: Action, now: int) -> bool:
    """Change one item; False where its condition does not hold. `now` is in seconds."""
    match action:
        case Put(item, if_absent):
            row = (*sql.row(item), orjson.dumps(item))
            if if_absent:
                return db.execute(sql.put_if_absent, (*row, now)).rowcount == 1
            db.execute(sql.put, row)
            return True
        case Update():
            return _update(db, sql, action, now)
        case Delete(key, condition):
            stored = _stored(db, sql, key)
            if stored is None or not _applies(sql, stored, condition, now):
                return False
            db.execute(sql.delete, key)
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
    db.execute(sql.put, (*sql.row(item), orjson.dumps(item)))
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
