"""Conditions and changes in DynamoDB's expression language.

Every attribute has an alias, `#n0`, and every value a placeholder, `:v0`. So a name may be a reserved
word or hold any character, and nothing needs to be quoted.
"""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from graph.store.conditions import Absent, AllOf, AnyOf, Compare, Condition, HasText, Not, OneOf, Present, SameText
from graph.store.dynamodb.codec import AttributeValue, encode
from graph.store.values import InvalidItem


class Aliases:
    """The names and values of one request, shared by its expressions."""

    def __init__(self) -> None:
        self._names: dict[str, str] = {}
        self._values: dict[str, AttributeValue] = {}

    def name(self, attribute: str) -> str:
        """The alias of an attribute. It is always the same."""
        return self._names.setdefault(attribute, f"#n{len(self._names)}")

    def value(self, value: Any) -> str:
        """A placeholder for a value."""
        placeholder = f":v{len(self._values)}"
        self._values[placeholder] = encode(value)
        return placeholder

    def parameters(self) -> dict[str, Any]:
        """The request's parameters that define its aliases and placeholders."""
        parameters: dict[str, Any] = {}
        if self._names:
            parameters["ExpressionAttributeNames"] = {alias: name for name, alias in self._names.items()}
        if self._values:
            parameters["ExpressionAttributeValues"] = self._values
        return parameters


def condition_expression(condition: Condition, aliases: Aliases, nullable: Collection[str] = ()) -> str:
    """The condition, in parentheses if it is a conjunction or disjunction.

    Args:
        nullable: the attributes that an item also lacks if they are NULL, as some programs write them.

    Raises:
        InvalidItem: It tests a folded text, which the language cannot.
    """
    match condition:
        case Compare(attribute, sign, value):
            return f"{aliases.name(attribute)} {sign} {aliases.value(value)}"
        case OneOf(attribute, ()):
            name = aliases.name(attribute)  # no item fulfils this: the language has no empty list and no constants
            return f"(attribute_exists({name}) AND attribute_not_exists({name}))"
        case OneOf(attribute, values):
            return f"{aliases.name(attribute)} IN ({', '.join(aliases.value(value) for value in values)})"
        case Present(attribute) | Absent(attribute):
            name, is_absent = aliases.name(attribute), isinstance(condition, Absent)
            test = f"attribute_not_exists({name})" if is_absent else f"attribute_exists({name})"
            if attribute not in nullable:
                return test
            null = is_null(name, aliases)
            return f"({test} OR {null})" if is_absent else f"({test} AND NOT {null})"
        case AllOf(conditions):
            return joined(" AND ", [condition_expression(part, aliases, nullable) for part in conditions])
        case AnyOf(conditions):
            return joined(" OR ", [condition_expression(part, aliases, nullable) for part in conditions])
        case Not(part):
            return f"NOT {condition_expression(part, aliases, nullable)}"
        case SameText() | HasText():
            raise InvalidItem("DynamoDB cannot fold a text")


def is_null(name: str, aliases: Aliases) -> str:
    """The condition that the attribute with this alias is DynamoDB's NULL."""
    return f"attribute_type({name}, {aliases.value('NULL')})"


def joined(operator: str, parts: Sequence[str]) -> str:
    """The parts as one expression, in parentheses only if needed: DynamoDB refuses redundant ones."""
    return parts[0] if len(parts) == 1 else f"({operator.join(parts)})"


def update_expression(
    set_: Mapping[str, Any], add: Mapping[str, int | float], starts: Mapping[str, Any], aliases: Aliases
) -> str:
    """The changes of an update, at least one.

    Args:
        starts: the numbers that are added to where the item lacks the attribute; otherwise that is 0.
    """
    assigned = [f"{aliases.name(name)} = {aliases.value(value)}" for name, value in set_.items()]
    for name in add.keys() & starts.keys():
        alias = aliases.name(name)
        start = f"if_not_exists({alias}, {aliases.value(starts[name])})"
        assigned.append(f"{alias} = {start} + {aliases.value(add[name])}")
    added = [f"{aliases.name(name)} {aliases.value(add[name])}" for name in add if name not in starts]
    clauses = [("SET", assigned), ("ADD", added)]
    return " ".join([f"{verb} {', '.join(parts)}" for verb, parts in clauses if parts])
