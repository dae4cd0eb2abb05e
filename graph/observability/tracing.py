"""The interface of tracing: spans of operations and store calls. `otel` implements it.

With tracing off, OpenTelemetry is not imported, and need not be installed.
"""

from collections.abc import AsyncIterator, Iterable, Mapping
from contextlib import AbstractContextManager, asynccontextmanager
from typing import Protocol


class CallMeter(Protocol):
    """Meters calls of the store: by numbers, or by a span of each."""

    def call(self, operation: str, tables: Iterable[str] = ()) -> AbstractContextManager[object]:
        """Meter one call, by the name of the contract's method. An exception is its outcome.

        Args:
            tables: the names of the tables that it concerns; some may be repeated.
        """


class OperationSpan(Protocol):
    """The span of one operation, while it is open."""

    def end(self, operation: str | None, name: str | None, code: str | None) -> None:
        """Set the operation's type and name, if known, and the code of its first error."""


class Tracing(Protocol):
    """Makes spans."""

    def operation(self, headers: Mapping[str, str]) -> AbstractContextManager[OperationSpan]:
        """Open the span of an operation, in the trace that the request's headers name."""

    def store(self, engine: str) -> CallMeter | None:
        """The maker of spans of a store's calls; None where none are made."""


class Untraced:
    """Makes no spans."""

    def operation(self, headers: Mapping[str, str]) -> "Untraced":
        """Open nothing."""
        return self

    def __enter__(self) -> "Untraced":
        return self

    def __exit__(self, *raised: object) -> None:
        pass

    def store(self, engine: str) -> None:
        """Make no spans."""

    def end(self, operation: str | None, name: str | None, code: str | None) -> None:
        """Record nothing."""


@asynccontextmanager
async def open_tracing(on: bool) -> AsyncIterator[Tracing]:
    """Export spans while this is open, and the remaining ones at its end. With tracing off, make none."""
    if not on:
        yield Untraced()
        return
    from graph.observability.otel import exporting

    async with exporting() as tracing:
        yield tracing
