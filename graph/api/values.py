"""Types of the graph for values, with the descriptions and types of their `described` parts."""

from collections.abc import Sequence
from dataclasses import fields
from typing import Any, get_type_hints

import strawberry

from graph.api.record_type import record_type
from graph.api.shown import shown
from graph.core.described import DESCRIPTION


def value_type(
    of: Any, name: str | None = None, *, each: Sequence[object] = (), **directives: Sequence[object]
) -> None:
    """Make a type of the graph that shows a dataclass, whose docstring describes it. Resolvers return the dataclass.

    Args:
        of: parts of it that are not described are not shown.
        name: of the type; by default that of the dataclass.
        each: directives of all fields.
        directives: of single fields.
    """
    described = {part.name: part.metadata[DESCRIPTION] for part in fields(of) if DESCRIPTION in part.metadata}
    hints = get_type_hints(of)
    members: dict[str, Any] = {"__annotations__": {part: shown(hints[part]) for part in described}}
    for part, description in described.items():
        members[part] = strawberry.field(description=description, directives=[*each, *directives.get(part, ())])
    made = type(name or of.__name__, (), members)
    record_type(of, " ".join(of.__doc__.split()))(made)
