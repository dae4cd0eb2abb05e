"""The location of the tables: a URL that names the engine and the place.

`sqlite:///quakegraph.db` is a file in the working folder, `sqlite:////var/lib/quakegraph.db`
one by its full path. `dynamodb://` are the tables, by their documented names, of the AWS account (or
endpoint) that the usual AWS configuration names; `dynamodb://test-` those whose names have `test-` before them.
"""

from collections.abc import AsyncIterator, Callable, Collection
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from typing import Literal

from graph.core.clock import Clock, now_ms
from graph.core.errors import DatabaseUnavailable
from graph.store.choices import TableChoices
from graph.store.contract import Database
from graph.store.design import TableDesign
from graph.store.entity import Entity
from graph.store.meter import Meter, MeteredDatabase
from graph.store.policy import Job

ENVIRONMENT = "dev"
TIMEOUT_S = 2.0


@dataclass(frozen=True, slots=True)
class StoreLocation:
    """A parsed store URL."""

    engine: Literal["sqlite", "dynamodb"]
    name: str  # of the file, or the prefix of each table's name

    @classmethod
    def of(cls, url: str) -> "StoreLocation":
        """Parse a store URL. Raises ValueError with the reason."""
        if (path := url.removeprefix("sqlite:///")) != url and path:
            return cls("sqlite", path)
        if (name := url.removeprefix("dynamodb://")) != url and "/" not in name:
            return cls("dynamodb", name)
        raise ValueError(f"{url!r} is not a store URL: write sqlite:///FILE, dynamodb:// or dynamodb://PREFIX.")

    @asynccontextmanager
    async def open(
        self,
        entities: Collection[Entity],
        *,
        environment: str = ENVIRONMENT,
        clock: Clock = now_ms,
        meter: Meter | None = None,
        timeout_s: float = TIMEOUT_S,
    ) -> AsyncIterator[Database]:
        """Open the tables of entities. An engine is imported only when it is used: DynamoDB's takes half a second.

        Args:
            environment: the value of `{env}` in the names of tables.
            timeout_s: seconds for one attempt.

        Raises:
            DatabaseUnavailable: The store does not answer, or DynamoDB lacks a table.
        """
        if self.engine == "sqlite":
            from graph.store.sqlite import open_sqlite

            opening = open_sqlite(self.name, entities, clock=clock, meter=meter, busy_s=timeout_s)
        else:
            from graph.store.dynamodb import RetryPolicy, open_dynamodb

            retry_policy = RetryPolicy(connect_seconds=timeout_s, read_seconds=timeout_s)
            opening = open_dynamodb(
                entities, prefix=self.name, environment=environment, clock=clock, retry_policy=retry_policy, meter=meter
            )
        async with opening as database:
            # A damaged file is served as far as possible; see `/readyz`.
            with suppress(*[DatabaseUnavailable] if self.engine == "sqlite" else ()):
                await database.ping()
            yield MeteredDatabase(database, meter) if meter else database

    async def administer(
        self,
        entities: Collection[Entity],
        job: Job,
        *,
        choices: TableChoices,
        say: Callable[[str], None],
        progress: Callable[[str], None],
    ) -> bool:
        """Check, adopt or create the tables; see `graph.store.dynamodb.administration`. SQLite makes its own."""
        if self.engine == "dynamodb":
            from graph.store.dynamodb import administer

            return await administer(entities, job, choices=choices, say=say, progress=progress)
        async with self.open(entities):
            for name in dict.fromkeys(entity.table.name for entity in entities):
                say(f"The file {self.name} holds the table {name}.")
        return True

    def template(self, designs: Collection[TableDesign], choices: TableChoices) -> str:
        """The CloudFormation template of the tables, for the configured region."""
        from graph.store.cloudformation import template
        from graph.store.dynamodb.client import region
        from graph.store.dynamodb.errors import translating_errors

        with translating_errors(*(design.name for design in designs)):
            where = region()
        return template(designs, region=where, choices=choices)

    @property
    def prefix(self) -> str:
        """The prefix of each table's name on DynamoDB, also for someone whose store is a file."""
        return self.name if self.engine == "dynamodb" else ""
