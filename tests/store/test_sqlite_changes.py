"""Changes of a SQLite file, whose version is asked for again and again."""

import asyncio
from contextlib import aclosing
from pathlib import Path

import pytest

from graph.store.sqlite import open_sqlite
from graph.store.sqlite.changes import POLL_S, changes
from tests.processes import TIMEOUT_S
from tests.store.samples import SAMPLE


class Revisions:
    """The revisions that are told one after the other, the last of them for ever, and the pauses between them."""

    def __init__(self, *revisions: int | None) -> None:
        self.left = list(revisions)
        self.pauses: list[float] = []

    async def revision(self) -> int | None:
        return self.left.pop(0) if len(self.left) > 1 else self.left[0]

    async def pause(self, seconds: float) -> None:
        self.pauses.append(seconds)
        if len(self.pauses) > 100:
            raise TooLong


class TooLong(Exception):
    """A ring that does not come."""


async def test_changes_ring_at_once_and_whenever_the_revision_changes_or_is_unknown() -> None:
    told = Revisions(1, 1, 1, 2, 2, 3)

    async with aclosing(changes(told.revision, told.pause)) as rings:
        at = []
        for _ in range(3):
            await anext(rings)
            at.append(len(told.pauses))
        with pytest.raises(TooLong):
            await anext(rings)

    assert at == [0, 3, 5]
    assert set(told.pauses) == {POLL_S}
    assert POLL_S >= 1 / 10, "it rings at most ten times a second"

    unknown = Revisions(1, None, None, 1, 1)
    async with aclosing(changes(unknown.revision, unknown.pause)) as rings:
        for _ in range(4):
            await anext(rings)
        with pytest.raises(TooLong):
            await anext(rings)


async def test_an_iteration_of_changes_survives_the_close_of_the_database(tmp_path: Path) -> None:
    """Whoever iterates ends before the database does; where not, no error of SQLite's is what they get."""
    async with open_sqlite(tmp_path / "table.db", [SAMPLE]) as database:
        rings = database.changes()
        await anext(rings)

    async with asyncio.timeout(TIMEOUT_S):
        await anext(rings)
    await rings.aclose()
