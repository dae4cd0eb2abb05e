"""A query's filter in two parts: what an engine's own language tests, and the rest, which Python tests on the items.

Only whole conjuncts are divided so: a part inside OR that the engine cannot translate makes all of it rest.
"""

from collections.abc import Callable, Sequence
from typing import Generic, TypeVar

from graph.store.conditions import (
    AllOf,
    Condition,
    SameText,
    conjuncts,
    names_in,
    predicate,
    simple_conditions,
    values_of,
)
from graph.store.entity import Item
from graph.store.query import Query
from graph.store.values import InvalidItem, check_value

T = TypeVar("T")

MOST_TEXTS = 100  # of one `SameText`


class DividedFilter(Generic[T]):
    """The filter of a query, divided by what an engine can translate."""

    def __init__(self, query: Query, translate: Callable[[Condition], T | None]) -> None:
        """Divide the filter. `translate` returns None for what the engine cannot test.

        Raises:
            InvalidItem: The filter has a value that no attribute can have, or too many texts.
        """
        check_filter(query.where)
        self.translated: list[T] = []
        rest: list[Condition] = []
        for part in conjuncts(query.where):
            if (translated := translate(part)) is None:
                rest.append(part)
            else:
                self.translated.append(translated)
        self.needed = query.needed  # the attributes to read; None for all
        self._not_needed = frozenset[str]()
        self._holds: Callable[[Item], bool] | None = None
        if rest:
            tested = names_in(AllOf(tuple(rest)))
            self._holds = predicate(AllOf(tuple(rest)))
            if self.needed is not None:
                self._not_needed = tested - self.needed
                self.needed |= tested

    @property
    def has_rest(self) -> bool:
        """Whether Python must test the items."""
        return self._holds is not None

    def matching(self, items: Sequence[Item]) -> Sequence[Item]:
        """The items that pass the rest, without attributes that only the rest needed."""
        if self._holds is None:
            return items
        matching = list(filter(self._holds, items))
        for name in self._not_needed:
            for item in matching:
                item.pop(name, None)
        return matching


def check_filter(where: Condition | None) -> None:
    """Raise `InvalidItem` for a filter with a value that no attribute can have, or with too many texts."""
    for value in values_of(where):
        check_value(value)
    for part in simple_conditions(where):
        if isinstance(part, SameText) and len(part.texts) > MOST_TEXTS:
            raise InvalidItem(f"a filter names {len(part.texts)} texts, but may name at most {MOST_TEXTS}")
