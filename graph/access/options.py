"""The types of the options of `quakegraph token`."""

import re
from collections.abc import Collection
from typing import Any

import click

from graph.access.callers import Scope
from graph.access.tokens import LONGEST_SUBJECT
from graph.core.names import is_line

UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86_400}
LONGEST_S = 366 * UNITS["d"]


class Scopes(click.ParamType[frozenset[Scope]]):
    """Known scopes, separated by commas."""

    name = "scopes"

    def __init__(self, scopes: Collection[Scope]) -> None:
        self._scopes = {str(scope): scope for scope in scopes}

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> frozenset[Scope]:
        """Read names of scopes."""
        try:
            return frozenset(self._scopes[name.strip()] for name in value.split(","))
        except KeyError:
            self.fail(f"{value!r} names an unknown scope: choose from {', '.join(self._scopes)}.", param, ctx)


class Duration(click.ParamType[int]):
    """A time as seconds."""

    name = "duration"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Read a number and its unit."""
        found = re.fullmatch(r"([1-9]\d{0,8})([smhd])", value)
        if not found or (seconds := int(found[1]) * UNITS[found[2]]) > LONGEST_S:
            self.fail(f"{value!r} is not a duration: give one such as 30m, 1h or 7d, of 366d at most.", param, ctx)
        return seconds


class Subject(click.ParamType[str]):
    """The name of a caller."""

    name = "name"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Check a name."""
        if not 0 < len(value) <= LONGEST_SUBJECT or not is_line(value):
            self.fail(f"a subject has 1 to {LONGEST_SUBJECT} characters, without control characters.", param, ctx)
        return str(value)
