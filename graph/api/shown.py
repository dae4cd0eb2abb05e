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


class TypeOf(LazyType[Any, Any]):
    """The type that shows the records of a class. It may be declared later."""

    def resolve_type(self) -> type[Any]:
        """The type: the class, if it shows itself, or one of its described parts, if none is declared."""
        from graph.api.record_type import parts_of, value_type  # which builds on this module

        record = super().resolve_type()
        if record not in types and parts_of(record):
            value_type(record)
        return types.get(record, record)


class PageOf(LazyType[Any, Any]):
    """The type of a page of such records."""

    def resolve_type(self) -> type[Any]:
        """The type: that of the class, or of the one that it extends."""
        return next(pages[each] for each in super().resolve_type().__mro__ if each in pages)


def shown(annotation: Any) -> Any:
    """The type in the graph of what a resolver returns."""
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin in (Union, UnionType):
        return Union[tuple(map(shown, arguments))]  # noqa: UP007 - its members are only known here
    if origin in (list, tuple, Sequence):
        return list[shown(arguments[0])]  # type: ignore[misc]
    if annotation is Any or origin in (dict, Mapping):
        return JSON
    if not isinstance(annotation, type) or has_object_definition(annotation) or issubclass(annotation, Enum):
        return annotation
    is_scalar = annotation.__module__ in ("builtins", "datetime")
    return annotation if is_scalar else TypeOf(annotation.__qualname__, annotation.__module__)
