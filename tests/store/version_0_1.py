"""Files as version 0.1 of the service wrote them: a table for each design, each item whole as JSON."""

import json
import sqlite3
from collections.abc import Iterable
from contextlib import closing
from pathlib import Path
from typing import Any

from graph.store.design import TableDesign
from graph.store.entity import ENTITY, Entity, Item


def old_item(entity: Entity, item: Item, **more: Any) -> Item:
    """The item as it was stored: with its keys beside its attributes, and what stood in them alone left out."""
    keys: Item = {}
    for templates in entity.templates.values():
        for template in templates:
            if all(name in item for name in template.names):
                keys[template.key.name] = template.render([item[name] for name in template.names])
    kept = {name: value for name, value in item.items() if not getattr(entity.named.get(name), "in_key_alone", False)}
    return {**keys, ENTITY: entity.label or entity.name, **kept, **more}


def write(path: Path, design: TableDesign, items: Iterable[Item]) -> None:
    """Make a file with one table."""
    columns = [attribute.name for attribute in design.key_attributes] + ([design.ttl] if design.ttl else [])
    keys = f'"{design.partition_key.name}", "{design.sort_key.name}"'
    names = ", ".join(f'"{name}"' for name in columns)
    with closing(sqlite3.connect(path)) as db, db:
        db.execute("PRAGMA journal_mode = WAL")
        db.execute(f'CREATE TABLE "{design.name}" ({names}, item BLOB NOT NULL, UNIQUE ({keys}))')
        for index in design.indexes:
            indexed = f'"{index.partition_key.name}", "{index.sort_key.name}"'
            db.execute(f'CREATE INDEX "{design.name}.{index.name}" ON "{design.name}" ({indexed})')
        marks = ", ".join("?" * (len(columns) + 1))
        rows = ([*(item.get(name) for name in columns), json.dumps(item).encode()] for item in items)
        db.executemany(f'INSERT INTO "{design.name}" VALUES ({marks})', rows)  # noqa: S608
