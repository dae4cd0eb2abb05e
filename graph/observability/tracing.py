"""Tracing: spans of operations and store calls. `otel` makes them.

With tracing off, OpenTelemetry is not imported, and need not be installed.
"""

from collections.abc import AsyncIterator, Iterable, Mapping
from contextlib import AbstractContextManager, asynccontextmanager, nullcontext
from typing import Protocol


class CallMeter(Protocol):
    """Meters calls of the store: by numbers, or by a span of each."""

    def call(self, operation: str, tables: Iterable[str] = ()) -> AbstractContextManager[object]:
        """Meter one call, by the name of the contract's method. An exception is its outcome.

        Args:
            tables: the names of the tables that it concerns; some may be repeated.
        """


class OperationSpan:
    """The span of one operation, while it is open. This class records nothing."""

    def end(self, operation: str | None, name: str | None, code: str | None) -> None:
        """Set the operation's type and name, if known, and the code of its first error."""


class Tracing:
    """Makes spans. This class makes none."""

    def operation(self, headers: Mapping[str, str]) -> AbstractContextManager[OperationSpan]:
        """Open the span of an operation, in the trace that the request's headers name."""
        return _UNTRACED

    def store(self, engine: str) -> CallMeter | None:
        """The maker of spans of a store's calls; None where none are made."""
        return None


_UNTRACED = nullcontext(OperationSpan())


@asynccontextmanager
async def open_tracing(on: bool) -> AsyncIterator[Tracing]:
    """Export spans while this is open, and the remaining ones at its end. With tracing off, make none."""
    if not on:
        yield Tracing()
        return
    from graph.observability.otel import exporting

    async with exporting() as tracing:
        yield tracing
