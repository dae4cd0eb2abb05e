"""Documents made of the schema: `selection(type)` selects all that a type answers."""

from typing import Any

from graphql import GraphQLObjectType, get_named_type, is_composite_type, is_required_argument

DEPTH = 5  # levels of a selection


def selection(of: Any, depth: int = DEPTH) -> str:
    """All fields of a type without required arguments, so many levels deep."""
    named = get_named_type(of)
    if not isinstance(named, GraphQLObjectType):
        return ""
    parts = []
    for name, field in named.fields.items():
        if any(map(is_required_argument, field.args.values())):
            continue
        if not is_composite_type(get_named_type(field.type)):
            parts.append(name)
        elif depth > 1 and (inner := selection(field.type, depth - 1)):
            parts.append(f"{name}{'(first: 2)' if 'first' in field.args else ''} {inner}")
    return f"{{ {' '.join(parts)} }}" if parts else ""
