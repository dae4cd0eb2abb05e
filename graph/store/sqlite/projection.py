"""Which columns of an entity a statement selects, and how its rows become items."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

import orjson

from graph.store.attributes import Document, Truth
from graph.store.entity import Entity, Item
from graph.store.sqlite.sql import quoted

Row = tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Projection:
    """Some attributes of an entity, or all of them."""

    names: tuple[str, ...]  # of the columns, in order
    truths: tuple[str, ...]
    documents: tuple[str, ...]
    others: frozenset[str] | None  # the attributes that are not declared and wanted; None for all of them
    has_others: bool  # whether the last column is that of attributes that are not declared

    @classmethod
    def of(cls, entity: Entity, wanted: Collection[str] | None) -> "Projection":
        """Select these attributes, all with None. Those that the entity cannot have are left out."""
        named = entity.named
        names = tuple(named) if wanted is None else tuple(name for name in named if name in wanted)
        others = None if wanted is None else frozenset(name for name in wanted if name not in named)
        return cls(
            names=names,
            truths=tuple(name for name in names if isinstance(named[name], Truth)),
            documents=tuple(name for name in names if isinstance(named[name], Document)),
            others=others,
            has_others=entity.open and others != frozenset(),
        )

    @property
    def width(self) -> int:
        """How many columns there are."""
        return len(self.names) + self.has_others

    @property
    def sql(self) -> str:
        """The columns as SELECT lists them."""
        return self.sql_with()

    def sql_with(self, *before: str) -> str:
        """The columns behind some others."""
        listed = [*before, *map(quoted, self.names), *(["others"] if self.has_others else [])]
        return ", ".join(listed) or "1"

    def items(self, rows: Sequence[Row]) -> list[Item]:
        """Items of rows of these columns, and no others."""
        names = self.names
        # Behind the names, `others` and what an empty list of columns has in its place are left out.
        items = [{name: value for name, value in zip(names, row) if value is not None} for row in rows]  # noqa: B905
        for name in self.truths:
            for item in items:
                if name in item:
                    item[name] = item[name] == 1
        for name in self.documents:
            for item in items:
                if name in item:
                    item[name] = orjson.loads(item[name])
        if self.has_others:
            for item, row in zip(items, rows, strict=True):
                if row[-1] is not None:
                    item.update(self._picked(orjson.loads(row[-1])))
        return items

    def _picked(self, others: Item) -> Item:
        if self.others is None:
            return others
        return {name: others[name] for name in self.others if name in others}
