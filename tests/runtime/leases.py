"""Leases of jobs that mean nothing, as domains declare theirs, and a database that is out of reach at times."""

import asyncio
import logging
from collections.abc import Collection

import pytest

from graph.core.errors import DatabaseUnavailable
from graph.runtime.lease import LEASE_ATTRIBUTES
from graph.store.attributes import Text, Whole
from graph.store.contract import Update
from graph.store.entity import Entity, Item, Key
from tests.domains.earthquakes.watched_database import WatchedDatabase
from tests.store.samples import SAMPLES

ON_BOTH = pytest.mark.parametrize("engine", ["sqlite", "dynamodb"], indirect=True)

LEASE = Entity(
    "LEASE",
    SAMPLES,
    key=("LEASE#{job}", "STATE"),
    attributes=(Text("job", in_key_alone=True), *LEASE_ATTRIBUTES, Whole("done", optional=True)),
)

POLL = Entity(
    "POLL",
    SAMPLES,
    key=("POLL", "STATE"),
    attributes=(
        Text("turn", optional=True),
        Whole("nextAttempt", optional=True),
        Whole("open", optional=True),
        Whole("done", optional=True),
    ),
)


class CutOffDatabase(WatchedDatabase):
    """A real database that does not answer while it is cut off: it fails, or with `hangs` says nothing."""

    cut_off = False
    failure: Exception = DatabaseUnavailable("the network is down")
    hangs = False

    async def _reach(self) -> None:
        if self.cut_off:
            if self.hangs:
                await asyncio.Event().wait()
            raise self.failure

    async def get(self, key: Key, *, attributes: Collection[str] | None = None) -> Item | None:
        await self._reach()
        return await super().get(key, attributes=attributes)

    async def update(self, update: Update) -> bool:
        await self._reach()
        return await super().update(update)


def warnings(caplog: pytest.LogCaptureFixture) -> list[logging.LogRecord]:
    """What was logged of leases."""
    logged = [record for record in caplog.records if record.name == "graph.runtime.lease"]
    assert all(record.levelno == logging.WARNING for record in logged)
    return logged


def causes(caplog: pytest.LogCaptureFixture) -> list[str]:
    """The causes of the failures that were logged."""
    return [record.__dict__["keywords"]["cause"] for record in warnings(caplog)]
