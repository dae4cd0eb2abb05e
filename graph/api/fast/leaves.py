"""Completes values of scalars and enums by compiled lines, see `completion`.

Most values pass as they are stored. The others are serialized as the executor does, and each value of an enum
once: graphql-core finds its name by some comparisons.
"""

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from types import CoroutineType, GeneratorType, NoneType
from typing import Any

from graphql import GraphQLEnumType, GraphQLLeafType, GraphQLScalarType, Undefined, is_specified_scalar_type

from graph.api.fast.passing import PASSING
from graph.core.compilation import Namespace

KNOWN_CLASSES = 16  # of values
MOST_NAMES = 256  # of an enum's values, as they are stored

Convert = Callable[[Any], Any]
"""A stored value → the resolver's value."""


class Unplain(Exception):
    """A value does not fit its type, or only the executor can complete it."""


@dataclass(frozen=True, slots=True)
class LeafCompletion:
    """How values of a scalar or an enum are completed."""

    nullable: bool
    complete: Callable[[Any], Any]  # the resolver's value → the value in the answer

    @abstractmethod
    def __call__(self, namespace: Namespace, name: str, convert: Convert | None = None) -> list[str]:
        """Lines that complete the variable `name`.

        Args:
            convert: makes the resolver's value of what is stored.
        """


def completion_of_leaf(leaf: GraphQLLeafType, *, nullable: bool) -> LeafCompletion:
    """How values of this scalar or enum are completed."""
    if isinstance(leaf, GraphQLEnumType):
        return _Enum(nullable, _serializing(leaf))
    return _Scalar(nullable, _serializing(leaf), _passing(leaf))


@dataclass(frozen=True, slots=True)
class _Scalar(LeafCompletion):
    passing: str  # the test of a value that needs no completion

    def __call__(self, namespace: Namespace, name: str, convert: Convert | None = None) -> list[str]:
        function = namespace.constant("complete", self.complete)
        value = name if convert is None else f"{namespace.constant('convert', convert)}({name})"
        unless_none = f"{name} is not None and " if self.nullable else ""
        # A class, such as `float`, would convert such a value to itself. Another function may change it.
        passing = self.passing if convert is None or isinstance(convert, type) else "False"
        return [f"if {unless_none}not ({passing.format(name)}): {name} = {function}({value})"]


@dataclass(frozen=True, slots=True)
class _Enum(LeafCompletion):
    def __call__(self, namespace: Namespace, name: str, convert: Convert | None = None) -> list[str]:
        names = namespace.constant("names", _Names(self.complete, convert))
        unless_none = f"if {name} is not None: " if self.nullable else ""
        return [f"{unless_none}{name} = {names}[{name}]"]


class _Names(dict[Any, Any]):
    """A value of an enum → its name in the answer."""

    def __init__(self, complete: Callable[[Any], Any], convert: Convert | None) -> None:
        super().__init__()
        self._complete = complete
        self._convert = convert

    def __missing__(self, value: Any) -> Any:
        if value is None:
            raise Unplain
        name = self._complete(value if self._convert is None else self._convert(value))
        if len(self) >= MOST_NAMES:
            self.clear()
        self[value] = name
        return name


def _passing(leaf: GraphQLLeafType) -> str:
    """The test of a value that the type's serializer would not change."""
    if is_specified_scalar_type(leaf):
        return PASSING[leaf.name]
    if isinstance(leaf, GraphQLScalarType) and leaf.coerce_output_value is int:
        return "{0}.__class__ is int"
    return "False"


def _serializing(leaf: GraphQLLeafType) -> Callable[[Any], Any]:
    """The function that serializes a leaf's values as the executor does."""
    serialize = leaf.coerce_output_value

    def serialized(value: Any) -> Any:
        if PASSES[value.__class__]:
            found = serialize(value)
            if found is not None and found is not Undefined:
                return found
        raise Unplain

    return serialized


class _Passes(dict[type, bool]):
    """Whether the executor would complete values of a class, and neither wait for them nor report them as errors."""

    def __missing__(self, of_class: type) -> bool:
        if len(self) >= KNOWN_CLASSES:
            self.clear()
        self[of_class] = passes = not (
            of_class in (NoneType, type(Undefined), CoroutineType, GeneratorType)
            or issubclass(of_class, Exception)
            or hasattr(of_class, "__await__")
        )
        return passes


PASSES = _Passes()
