"""Checks the filter of a query."""

from graph.store.conditions import Condition, SameText, simple_conditions, values_of
from graph.store.values import InvalidItem, check_value

MOST_TEXTS = 100  # of one `SameText`


def check_filter(where: Condition | None) -> None:
    """Raise `InvalidItem` for a filter with a value that no attribute can have, or with too many texts."""
    for value in values_of(where):
        check_value(value)
    for part in simple_conditions(where):
        if isinstance(part, SameText) and len(part.texts) > MOST_TEXTS:
            raise InvalidItem(f"a filter names {len(part.texts)} texts, but may name at most {MOST_TEXTS}")
