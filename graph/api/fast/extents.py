"""Bounds the lists and objects of variables before graphql-core walks through them, which takes some 10 µs a value."""

from collections.abc import Iterable
from typing import Any

from graphql import GraphQLError, GraphQLInputObjectType, GraphQLInputType, GraphQLList, get_nullable_type

MOST_ELEMENTS = 1000  # of a list; no argument takes more


def extent_error(given: Iterable[tuple[str, GraphQLInputType, Any]]) -> GraphQLError | None:
    """The error of a list that is too long, or of an object with more fields than its type has.

    Args:
        given: the names, types and values of variables.
    """
    left = [(f"'${name}' has invalid value", type_, value) for name, type_, value in given]
    while left:
        place, type_, value = left.pop()
        named = get_nullable_type(type_)
        if isinstance(named, GraphQLList) and isinstance(value, list):
            if len(value) > MOST_ELEMENTS:
                return _error(place, f"a list takes at most {MOST_ELEMENTS:,} values, and this one has {len(value):,}")
            left += [(place, named.of_type, each) for each in value]
        elif isinstance(named, GraphQLList):
            left.append((place, named.of_type, value))
        elif isinstance(named, GraphQLInputObjectType) and isinstance(value, dict):
            if len(value) > len(named.fields):
                unknown = next(name for name in value if name not in named.fields)
                return _error(place, f"{named.name} has no field '{unknown[:100]}'")
            present = [(name, field.type) for name, field in named.fields.items() if name in value]
            left += [(f"{place} at .{name}", of, value[name]) for name, of in present]
    return None


def _error(place: str, problem: str) -> GraphQLError:
    return GraphQLError(f"Variable {place}: {problem}.")
