"""Spans of operations and store calls, as the endpoint sees them. `otel` makes them, where tracing is on.

Without tracing nothing of OpenTelemetry is imported, and it need not be installed.
"""

from collections.abc import AsyncIterator, Mapping
from contextlib import AbstractContextManager, asynccontextmanager
from typing import Protocol


class StoreSpans(Protocol):
    """Makes a span of each call of the store."""

    def call(self, operation: str) -> AbstractContextManager[object]:
        """Around one call, by the name of the contract's method. What it raises is its outcome."""


class OperationSpan(Protocol):
    """The span of one operation, while it is open."""

    def end(self, operation: str | None, name: str | None, code: str | None) -> None:
        """Say what it was and how it went: its type and name as far as known, the code of its first error."""


class Tracing(Protocol):
    """Makes spans."""

    def operation(self, headers: Mapping[str, str]) -> AbstractContextManager[OperationSpan]:
        """Around an operation, as a part of the trace that the request's headers name."""

    def store(self, engine: str, table: str) -> StoreSpans | None:
        """What makes a span of each store call of an operation; None where none is made."""


class Untraced:
    """Makes none."""

    def operation(self, headers: Mapping[str, str]) -> "Untraced":
        """Around an operation."""
        return self

    def __enter__(self) -> "Untraced":
        return self

    def __exit__(self, *raised: object) -> None:
        pass

    def store(self, engine: str, table: str) -> None:
        """No meter."""

    def end(self, operation: str | None, name: str | None, code: str | None) -> None:
        """Nothing to say."""


@asynccontextmanager
async def open_tracing(on: bool) -> AsyncIterator[Tracing]:
    """Export spans for as long as this is open, and at its end those that wait; or make none."""
    if not on:
        yield Untraced()
        return
    from graph.observability.otel import exporting

    async with exporting() as tracing:
        yield tracing
