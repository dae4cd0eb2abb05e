"""Compiles functions from lines of source, for work that is done for each of many values."""

import linecache
from collections.abc import Callable, Sequence
from itertools import count
from typing import Any
from weakref import finalize

_numbers = count(1)


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
        """Compile a function of these parameters with these lines as its body, which tracebacks show."""
        source = "\n    ".join((f"def compiled({parameters}):", *lines))
        file, scope = f"<compiled {next(_numbers)}>", dict[str, Any]()
        exec(compile(source, file, "exec"), self.values, scope)  # noqa: S102
        function: Callable[..., Any] = scope["compiled"]
        linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)
        finalize(function, linecache.cache.pop, file, None).atexit = False
        return function

    def define_list(
        self, parameters: str, loop: str, lines: Sequence[str], *, before: Sequence[str] = ()
    ) -> Callable[..., list[Any]]:
        """Compile a function that returns the list of what these lines `append` in each turn of a loop."""
        body = [f"    {line}" for line in lines]
        return self.define(parameters, [*before, "found = []", "append = found.append", loop, *body, "return found"])
