"""Shared by `completion` and `coercion`: functions from lines of source, and tests of plain values."""

from collections.abc import Callable, Sequence
from typing import Any

PASSING = {
    "String": "{0}.__class__ is str",
    "ID": "{0}.__class__ is str",
    "Boolean": "{0}.__class__ is bool",
    "Int": "{0}.__class__ is int and -2147483648 <= {0} <= 2147483647",
    "Float": "{0}.__class__ is float and -1.7976931348623157e308 <= {0} <= 1.7976931348623157e308",
}
"""GraphQL's own scalars → the test of a value that needs no conversion."""


class Namespace:
    """Compiles functions from lines of source, and holds the values that they refer to.

    Only names of fields enter a line from a client's text, and always quoted.
    """

    def __init__(self, **values: Any) -> None:
        # A plain dictionary: the interpreter looks globals up twice as fast in it as in a subclass.
        self.values: dict[str, Any] = values

    def constant(self, prefix: str, value: Any) -> str:
        """A name for a value."""
        name = f"{prefix}{len(self.values)}"
        self.values[name] = value
        return name

    def define(self, parameters: str, lines: Sequence[str]) -> Callable[..., Any]:
        """Compile a function of these parameters with these lines as its body."""
        scope: dict[str, Any] = {}
        exec("\n    ".join((f"def compiled({parameters}):", *lines)), self.values, scope)  # noqa: S102
        function: Callable[..., Any] = scope["compiled"]
        return function
