"""The columns that a statement selects, and the function that makes items of its rows.

The function is compiled for each selection of columns. It takes less than half the time of one that loops
over names and values (0.2 ms instead of 0.55 ms for a thousand rows of five columns).
"""

from collections.abc import Callable, Collection, Sequence
from functools import lru_cache
from typing import Any

import orjson

from graph.core.compilation import Namespace
from graph.store.attributes import JsonDocument, Truth
from graph.store.entity import Entity, Item
from graph.store.rows import Row
from graph.store.sqlite.sql import OTHERS, quoted


class Projection:
    """Some or all attributes of an entity. Attributes that the entity cannot have are left out."""

    def __init__(self, entity: Entity, wanted: frozenset[str] | None) -> None:
        """Select these attributes, all with None."""
        self.names = tuple(name for name in entity.named if wanted is None or name in wanted)
        others = None if wanted is None else wanted - entity.named.keys()
        has_others = entity.open and others != frozenset()
        self.sql = ", ".join([*map(quoted, self.names), *([OTHERS] if has_others else [])]) or "1"
        self._entity = entity
        self.width = max(len(self.names) + has_others, 1)
        self.items = _compiled(entity, self.names, others if has_others else frozenset())
        """Makes items of rows with these columns."""

    def reading(self, name: str) -> Callable[[Any], Any] | None:
        """The function that makes an attribute of its column's value; None if it is the value itself."""
        match self._entity.named[name]:
            case Truth():
                return (1).__eq__
            case JsonDocument():
                return orjson.loads
            case _:
                return None


@lru_cache(maxsize=512)
def projection(entity: Entity, wanted: frozenset[str] | None) -> Projection:
    """The columns of these attributes, cached: requests select the same ones again and again."""
    return Projection(entity, wanted)


def _compiled(
    entity: Entity, names: Sequence[str], others: Collection[str] | None
) -> Callable[[Sequence[Row]], list[Item]]:
    """Compile the function that makes items of rows; `others` are the wanted undeclared attributes, None for all."""
    values = [f"v{at}" for at in range(len(names))]
    always = entity.key_names  # other attributes may be missing, since an update can make an item
    known = [f"{name!r}: {value}" for name, value in zip(names, values, strict=True) if name in always]
    lines = [
        f"if {value} is not None: item[{name!r}] = {_reading(entity, name, value)}"
        for name, value in zip(names, values, strict=True)
        if name not in always
    ]
    if others is None or others:
        values.append("others")
        lines.append("if others is not None: item.update(picked(loads(others)))")

    def picked(others_of_item: Item) -> Item:
        if others is None:
            return others_of_item
        return {name: others_of_item[name] for name in others if name in others_of_item}

    namespace = Namespace(loads=orjson.loads, picked=picked)
    body = [f"item = {{{', '.join(known)}}}", *lines, "append(item)"]
    return namespace.define_list("rows", f"for {', '.join(values or ['_'])}, in rows:", body)


def _reading(entity: Entity, name: str, value: str) -> str:
    """The expression that makes an attribute's value of its column's value."""
    match entity.named[name]:
        case Truth():
            return f"{value} == 1"
        case JsonDocument():
            return f"loads({value})"
        case _:
            return value
