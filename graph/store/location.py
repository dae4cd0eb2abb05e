"""Where a table is kept: a URL that names the engine and the place.

`sqlite:///quakegraph.db` is a file in the working folder, `sqlite:////var/lib/quakegraph.db`
one by its full path, and `dynamodb://earthquake-events` a table of the AWS account (or
endpoint) that the usual AWS configuration names.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from typing import Literal

from graph.core.clock import Clock, now_ms
from graph.core.errors import DatabaseUnavailable
from graph.store.contract import Table
from graph.store.design import TableDesign
from graph.store.meter import Meter, MeteredTable

TIMEOUT_S = 2.0


@dataclass(frozen=True, slots=True)
class StoreLocation:
    """A parsed store URL."""

    engine: Literal["sqlite", "dynamodb"]
    name: str  # of the file, or of the table

    @classmethod
    def of(cls, url: str) -> "StoreLocation":
        """Parse a store URL; ValueError says what is wrong with it."""
        if (path := url.removeprefix("sqlite:///")) != url and path:
            return cls("sqlite", path)
        if (name := url.removeprefix("dynamodb://")) != url and name and "/" not in name:
            return cls("dynamodb", name)
        raise ValueError(f"{url!r} is no store: write sqlite:///FILE or dynamodb://TABLE.")

    @asynccontextmanager
    async def open(
        self, design: TableDesign, *, clock: Clock = now_ms, meter: Meter | None = None, timeout_s: float = TIMEOUT_S
    ) -> AsyncIterator[Table]:
        """Open the table. An engine is imported only where it is used: DynamoDB's takes half a second.

        Args:
            timeout_s: seconds for one attempt on the store.

        Raises:
            DatabaseUnavailable: The store does not answer, or DynamoDB has no such table.
        """
        if self.engine == "sqlite":
            from graph.store.sqlite import open_sqlite

            async with open_sqlite(self.name, design, clock=clock, meter=meter, busy_s=timeout_s) as table:
                with suppress(DatabaseUnavailable):  # A damaged file is served as far as it goes; `/readyz` tells.
                    await table.ping()
                yield MeteredTable(table, meter) if meter else table
        else:
            from graph.store.dynamodb import RetryPolicy, open_dynamodb

            retry_policy = RetryPolicy(connect_seconds=timeout_s, read_seconds=timeout_s)
            async with open_dynamodb(self.name, design, clock=clock, retry_policy=retry_policy, meter=meter) as table:
                await table.ping()
                yield MeteredTable(table, meter) if meter else table

    async def create(self, design: TableDesign, *, stream: bool = True) -> list[str]:
        """Make the table where it is missing; what was done, a line each. SQLite needs no stream."""
        if self.engine == "sqlite":
            async with self.open(design):
                return [f"The file {self.name} holds the table {design.name}."]
        from graph.store.dynamodb import create_table

        return await create_table(self.name, design, stream=stream)
