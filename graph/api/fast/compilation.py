"""What `completion` and `coercion` have in common: functions made from lines, and tests of plain values."""

from collections.abc import Callable, Sequence
from typing import Any

PASSING = {
    "String": "{0}.__class__ is str",
    "ID": "{0}.__class__ is str",
    "Boolean": "{0}.__class__ is bool",
    "Int": "{0}.__class__ is int and -2147483648 <= {0} <= 2147483647",
    "Float": "{0}.__class__ is float and -1.7976931348623157e308 <= {0} <= 1.7976931348623157e308",
}
"""GraphQL's own scalars → the test of a value that they take, and give back, as it is."""


class Namespace:
    """Functions made from lines of source, and the values that they refer to.

    Of a client's text, names of fields are all that ever comes into a line, and they come quoted.
    """

    def __init__(self, **values: Any) -> None:
        # No class of its own: the interpreter looks globals up twice as fast in a plain dictionary.
        self.values: dict[str, Any] = values

    def constant(self, prefix: str, value: Any) -> str:
        """A name for a value."""
        name = f"{prefix}{len(self.values)}"
        self.values[name] = value
        return name

    def define(self, parameter: str, lines: Sequence[str]) -> Callable[[Any], Any]:
        """The function of one argument that these lines are the body of."""
        scope: dict[str, Any] = {}
        exec("\n    ".join((f"def compiled({parameter}):", *lines)), self.values, scope)  # noqa: S102
        function: Callable[[Any], Any] = scope["compiled"]
        return function
