"""Inputs of the graph for values: a resolver gets the value that a client describes.

    value_input(NewNote, "WriteNoteInput")

    @mutation("Write a note.", scope=NOTES_WRITE)
    async def write_note(self, info: Info, input: NewNote) -> WriteReport: …

An input has the `described` parts of a dataclass. A part that has a default may be left out, or be null.
"""

from dataclasses import MISSING, fields
from typing import Any

import strawberry

from graph.api import shown
from graph.api.record_type import parts_of, text_of, type_of_part
from graph.core.described import DESCRIPTION


def value_input(of: Any, name: str, **types: Any) -> None:
    """Make an input of the graph for a dataclass, whose docstring describes it.

    Args:
        of: parts of it that are not described are not shown.
        name: of the input.
        types: of parts that the graph has as another scalar.
    """
    parts, declared = parts_of(of), {each.name: each for each in fields(of)}
    members: dict[str, Any] = {"__annotations__": {}}
    for part in parts:
        taken, default = types.get(part.name, type_of_part(part, shown.InputOf)), declared[part.name].default
        if default == () or declared[part.name].default_factory is not MISSING:
            default = None  # a client leaves out what is empty
        members["__annotations__"][part.name] = taken | None if default is None else taken
        members[part.name] = strawberry.field(description=part.words[DESCRIPTION], default=default)
    members["__new__"] = lambda cls, **given: of(**{part: each for part, each in given.items() if each is not None})
    shown.inputs[of] = strawberry.input(type(name, (), members), description=text_of(of))
