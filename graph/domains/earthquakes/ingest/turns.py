"""The turns of polling: of many processes one has each, and leaves what the next one has to know.

All of it is one item. Whoever takes a turn puts the next attempt off to the end of that turn, so
that nobody else begins, and only for as long as a turn lasts if the process dies in it. Whoever
ends a turn says when the next attempt is, and how this one went. Both are conditional writes by
the turn's id: of two that take it one succeeds, and one that outlasted its turn changes nothing.
"""

from collections.abc import Mapping
from typing import Any
from uuid import uuid4

from graph.domains.earthquakes.entities import POLL
from graph.domains.earthquakes.usgs.client import NO_VALIDATORS, Validators
from graph.domains.earthquakes.usgs.requests import UsgsFeed
from graph.store.conditions import Absent, AllOf, Compare, Condition
from graph.store.contract import Database, Update
from graph.store.records import Record, Stored

KEY = POLL.key_for()
TURN_MS = 120_000  # at least: a month's feed takes less, and as late is the poll after a process that died
LONGEST_TURN_MS = 1_800_000  # after several processes that died in theirs
FARTHEST_MS = 25 * 3_600_000  # that a next attempt may be off; one that is farther off was set by a clock that is wrong


class PollState(Record):
    """How polling goes, whichever process did it."""

    __slots__ = ()

    turn = Stored[str | None]("turn", optional=True)  # id of the latest one
    next_attempt = Stored[int | None]("nextAttempt", optional=True)  # epoch milliseconds; not before this
    last_success = Stored[int | None]("lastSuccess", optional=True)  # when it began, epoch milliseconds
    last_wide_success = Stored[int | None]("lastWideSuccess", optional=True)  # the same, of a feed wider than the day's
    last_error = Stored[str | None]("lastError", optional=True)  # a stable code, which stays when polls succeed again
    last_error_at = Stored[int | None]("lastErrorAt", optional=True)  # epoch milliseconds
    failures_in_a_row = Stored[int | None]("failures", optional=True)  # since the last success
    unended_turns = Stored[int | None]("unended", optional=True)  # since one was ended
    versions = Stored[Mapping[str, Mapping[str, str]] | None]("versions", optional=True)  # name of a feed → validators

    @property
    def failures(self) -> int:
        """Failures in a row, up to the latest attempt; to die in a turn is one."""
        return (self.failures_in_a_row or 0) + max(self.unended - 1, 0)

    @property
    def unended(self) -> int:
        """How many turns were begun since one was ended: the latest may be under way."""
        return self.unended_turns or 0

    def due(self, now: int) -> int:
        """When the next attempt is, epoch milliseconds."""
        due = self.next_attempt or 0
        return now if due - now > FARTHEST_MS else due

    def validators(self, feed: UsgsFeed) -> Validators:
        """Of the version of a feed that was stored last."""
        version = (self.versions or {}).get(feed.value)
        return Validators(**version) if version else NO_VALIDATORS


class Turns:
    """Takes and ends turns in one database."""

    def __init__(self, database: Database, turn_ms: int = TURN_MS) -> None:
        self._database = database
        self._turn_ms = turn_ms

    async def state(self) -> PollState:
        """How polling goes; with nothing in it where nobody ever polled."""
        return PollState(await self._database.get(KEY) or {})

    async def take(self, state: PollState, now: int) -> str | None:
        """The id of the turn that begins now; None where another process has taken it since `state` was read."""
        turn = str(uuid4())
        lasts = max(self._turn_ms, min(self._turn_ms * 2 ** min(state.unended, 8), LONGEST_TURN_MS))
        begun = {"turn": turn, "nextAttempt": now + lasts, "unended": state.unended + 1}
        unchanged: Condition = Absent("turn")
        if state.turn and state.next_attempt is not None:
            unchanged = AllOf((Compare("turn", "=", state.turn), Compare("nextAttempt", "=", state.next_attempt)))
        return turn if await self._database.update(Update(KEY, set=begun, condition=unchanged)) else None

    async def succeed(
        self, turn: str, state: PollState, feed: UsgsFeed, stored: Validators, *, began: int, next_attempt: int
    ) -> None:
        """End a turn in which a version of a feed was stored, or was so before and still is the latest."""
        version = {"etag": stored.etag, "last_modified": stored.last_modified}
        versions = {**(state.versions or {}), feed.value: {name: value for name, value in version.items() if value}}
        wide = {} if feed is UsgsFeed.ALL_DAY else {"lastWideSuccess": began}
        await self._end(turn, lastSuccess=began, failures=0, versions=versions, nextAttempt=next_attempt, **wide)

    async def fail(self, turn: str, state: PollState, code: str, *, now: int, next_attempt: int) -> None:
        """End a turn in which nothing was stored, or not all."""
        failures = state.failures + 1
        await self._end(turn, lastError=code, lastErrorAt=now, failures=failures, nextAttempt=next_attempt)

    async def _end(self, turn: str, **told: Any) -> None:
        await self._database.update(Update(KEY, set={**told, "unended": 0}, condition=Compare("turn", "=", turn)))
