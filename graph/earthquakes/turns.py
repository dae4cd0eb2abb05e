"""The turns of polling: of many processes one has each, and leaves what the next one has to know.

All of it is one item. Whoever takes a turn puts the next attempt off to the end of that turn, so
that nobody else begins, and only for as long as a turn lasts if the process dies in it. Whoever
ends a turn says when the next attempt is, and how this one went. Both are conditional writes by
the turn's id: of two that take it one succeeds, and one that outlasted its turn changes nothing.
"""

from collections.abc import Mapping
from typing import Any
from uuid import uuid4

from graph.earthquakes.usgs import NO_VALIDATORS, Validators
from graph.earthquakes.usgs_requests import UsgsFeed
from graph.records import Record, Stored
from graph.store.conditions import Absent, Compare
from graph.store.contract import Key, Table, Update

KEY: Key = ("POLL#USGS", "STATE")
TURN_MS = 120_000  # a month's feed is fetched and stored in less; as late is the poll after a process that died


class PollState(Record):
    """How polling goes, whichever process did it."""

    __slots__ = ()

    turn = Stored[str | None]("turn", optional=True)  # id of the latest one
    next_attempt = Stored[int | None]("nextAttempt", optional=True)  # epoch milliseconds; not before this
    last_success = Stored[int | None]("lastSuccess", optional=True)  # epoch milliseconds
    last_error = Stored[str | None]("lastError", optional=True)  # a stable code, which stays when polls succeed again
    last_error_at = Stored[int | None]("lastErrorAt", optional=True)  # epoch milliseconds
    failures_in_a_row = Stored[int | None]("failures", optional=True)  # since the last success
    versions = Stored[Mapping[str, Mapping[str, str]] | None]("versions", optional=True)  # name of a feed → validators

    @property
    def failures(self) -> int:
        """Failures in a row, up to the latest attempt."""
        return self.failures_in_a_row or 0

    def validators(self, feed: UsgsFeed) -> Validators:
        """Of the version of a feed that was stored last."""
        version = (self.versions or {}).get(feed.value)
        return Validators(**version) if version else NO_VALIDATORS


class Turns:
    """Takes and ends turns on one table."""

    def __init__(self, table: Table) -> None:
        self._table = table

    async def state(self) -> PollState:
        """How polling goes; with nothing in it where nobody ever polled."""
        return PollState(await self._table.get(KEY) or {})

    async def take(self, state: PollState, now: int) -> str | None:
        """The id of the turn that begins now; None where another process has taken it since `state` was read."""
        turn = str(uuid4())
        begun = {"entity": "POLL", "turn": turn, "nextAttempt": now + TURN_MS}
        unchanged = Compare("turn", "=", state.turn) if state.turn else Absent("turn")
        return turn if await self._table.update(Update(KEY, set=begun, condition=unchanged)) else None

    async def succeed(
        self, turn: str, state: PollState, feed: UsgsFeed, stored: Validators, *, now: int, next_attempt: int
    ) -> None:
        """End a turn in which a version of a feed was stored, or was so before and still is the latest."""
        version = {"etag": stored.etag, "last_modified": stored.last_modified}
        versions = {**(state.versions or {}), feed.value: {name: value for name, value in version.items() if value}}
        await self._end(turn, lastSuccess=now, failures=0, versions=versions, nextAttempt=next_attempt)

    async def fail(self, turn: str, state: PollState, code: str, *, now: int, next_attempt: int) -> None:
        """End a turn in which nothing was stored, or not all."""
        failures = state.failures + 1
        await self._end(turn, lastError=code, lastErrorAt=now, failures=failures, nextAttempt=next_attempt)

    async def _end(self, turn: str, **told: Any) -> None:
        await self._table.update(Update(KEY, set=told, condition=Compare("turn", "=", turn)))
