"""Types of the graph for values, with the descriptions and types of their `described` parts."""

from collections.abc import Sequence
from dataclasses import fields
from typing import Any, get_type_hints

import strawberry
from strawberry.types import get_object_definition

from graph.core.described import DESCRIPTION


def value_type(
    of: Any, name: str | None = None, *, each: Sequence[object] = (), **directives: Sequence[object]
) -> None:
    """Make a dataclass a type of the graph, so that resolvers return it as it is. Its docstring describes the type.

    Args:
        of: parts of it that are not described are not shown.
        name: of the type; by default that of the dataclass.
        each: directives of all fields.
        directives: of single fields.
    """
    shown = {part.name: part.metadata[DESCRIPTION] for part in fields(of) if DESCRIPTION in part.metadata}
    hints = get_type_hints(of)
    members: dict[str, Any] = {"__annotations__": {part: hints[part] for part in shown}, "__module__": of.__module__}
    for part, description in shown.items():
        members[part] = strawberry.field(description=description, directives=[*each, *directives.get(part, ())])
    made = strawberry.type(type(name or of.__name__, (), members), description=" ".join(of.__doc__.split()))
    # A resolver returns the dataclass: Strawberry takes a class for the type whose definition names it.
    of.__strawberry_definition__ = definition = get_object_definition(made, strict=True)
    definition.origin = of
