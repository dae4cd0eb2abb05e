"""Which types of the graph show which records, so that a resolver's annotation names records alone."""

from collections.abc import Mapping, Sequence
from enum import Enum
from types import UnionType
from typing import Any, Union, get_args, get_origin

from strawberry.scalars import JSON
from strawberry.types import has_object_definition
from strawberry.types.lazy_type import LazyType

types: dict[type, type] = {}
"""The class of a record → its type in the graph."""

pages: dict[type, type] = {}
"""The class of a record → the type of a page of such records."""

inputs: dict[type, type] = {}
"""The class of a value → its input."""


class TypeOf(LazyType[Any, Any]):
    """The type that shows the records of a class. It may be declared later."""

    def resolve_type(self) -> type[Any]:
        """The type: the class, if it shows itself, or one of its described parts, if none is declared."""
        from graph.api.record_type import parts_of, value_type  # which builds on this module

        record = super().resolve_type()
        if record not in types and parts_of(record):
            value_type(record)
        return types.get(record, record)


class InputOf(LazyType[Any, Any]):
    """The input for the values of a class."""

    def resolve_type(self) -> type[Any]:
        """The input, which may be declared later."""
        return inputs[super().resolve_type()]


class PageOf(LazyType[Any, Any]):
    """The type of a page of such records."""

    def resolve_type(self) -> type[Any]:
        """The type: that of the class, or of the one that it extends."""
        return next(pages[each] for each in super().resolve_type().__mro__ if each in pages)


def shown(annotation: Any, kind: type[LazyType[Any, Any]] = TypeOf) -> Any:
    """The type in the graph of what a resolver returns, or takes if the kind is `InputOf`."""
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin in (Union, UnionType):
        return Union[tuple(shown(each, kind) for each in arguments)]  # noqa: UP007 - its members are only known here
    if origin in (list, tuple, Sequence):
        return list[shown(arguments[0], kind)]  # type: ignore[misc]
    if annotation is Any or origin in (dict, Mapping):
        return JSON
    if not isinstance(annotation, type) or has_object_definition(annotation) or issubclass(annotation, Enum):
        return annotation
    is_scalar = annotation.__module__ in ("builtins", "datetime")
    return annotation if is_scalar else kind(annotation.__qualname__, annotation.__module__)
