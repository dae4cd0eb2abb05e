"""Combines actions, since a transaction takes one for each item."""

from collections.abc import Sequence
from dataclasses import replace

from graph.store.conditions import all_of
from graph.store.contract import Action, Put, Update
from graph.store.entity import Key
from graph.store.values import InvalidItem


def combined(actions: Sequence[Action]) -> list[Action]:
    """The actions, at most one for each item. It has the effect of all given ones on the item, in order."""
    by_key: dict[Key, Action] = {}
    for action in actions:
        before = by_key.get(action.key)
        by_key[action.key] = action if before is None else _one_of(before, action)
    return list(by_key.values())


def _one_of(first: Action, second: Action) -> Action:
    """Both actions as one. The condition of an action behind a put holds for what is put."""
    match first, second:
        case Update(), Update():
            return Update(
                first.key,
                set={**first.set, **second.set},
                add={**first.add, **second.add},
                condition=all_of(first.condition, second.condition),
            )
        case Put(), Update():
            return replace(first, item={**first.item, **second.set})
        case Put(), Put():
            return replace(second, condition=first.condition)
    raise InvalidItem("two writes at once to one item")
