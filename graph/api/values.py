"""Types of the graph for values, with the descriptions and types of their `described` parts."""

from collections.abc import Mapping
from dataclasses import fields
from datetime import datetime
from typing import Any, get_args, get_type_hints

from graph.api.fields import Options, strawberry_field
from graph.api.record_type import record_type
from graph.api.shown import shown
from graph.api.times import time_field
from graph.core.described import DESCRIPTION, INSTANT


def value_type(
    of: Any,
    name: str | None = None,
    *,
    computed: Mapping[str, int] | None = None,
    **single: Options,
) -> Any:
    """Make a type of the graph that shows a dataclass, whose docstring describes it. Resolvers return the dataclass.

    A dataclass may have several types: a field names the one it shows, see `fields.Options.of`.

    Args:
        of: parts of it that are not described are not shown. An `instant` is a `DateTime`.
        name: of the type; by default that of the dataclass.
        computed: properties that are shown, too, and their places among the parts. Their docstrings describe them.
        single: options of single fields.
    """
    hints = get_type_hints(of)
    parts: list[tuple[str, Any, Mapping[str, str]]] = [
        (part.name, hints[part.name], part.metadata) for part in fields(of) if DESCRIPTION in part.metadata
    ]
    for part, place in (computed or {}).items():
        compute = getattr(of, part).fget
        parts.insert(place, (part, get_type_hints(compute)["return"], {DESCRIPTION: _text(compute)}))
    members: dict[str, Any] = {"__annotations__": {}}
    for part, hint, words in parts:
        if INSTANT in words:
            members["__annotations__"][part] = datetime | None if type(None) in get_args(hint) else datetime
            members[part] = time_field(part, words[DESCRIPTION])
            continue
        shows = shown(hint)
        members["__annotations__"][part] = shows
        members[part] = strawberry_field(words[DESCRIPTION], {"of": shows, **single.get(part, {})})
    return record_type(of, _text(of))(type(name or of.__name__, (), members))


def _text(described: Any) -> str:
    return " ".join(described.__doc__.split())
