"""Compiles functions from lines of source, for work that is done for each of many values."""

from collections.abc import Callable, Sequence
from typing import Any


class Namespace:
    """Compiles functions, and holds the values that they refer to.

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
